import type { UpdateDefinition } from '@temporalio/common';
import { CancellationScope, setHandler, TemporalFailure, workflowInfo } from '@temporalio/workflow';
import { kitOrderId, idIn } from '../../protocol/ids.js';
import { readEarlierRun } from '../../protocol/signal-or-start.js';
import * as messages from '../../protocol/order/messages.js';
import type { OrderState } from '../../protocol/order/state.js';
import { timeOf } from '../entity/loop-timer.js';
import { mostBeforeCancelling, requireRoom } from '../entity/commands.js';
import { noticeUnreadable, runLoop } from '../entity/loop.js';
import { acknowledgeNow, validateAcknowledgement } from './acknowledging.js';
import { announceEnd, clear, raise } from './announcements.js';
import { openChain, outcomeOf, unreadOrder } from './chain.js';
import * as commands from './commands.js';
import { awaitsAcknowledgement } from './critical-results.js';
import { nextMoment } from './deadlines.js';
import { changePolicy, previewPolicy, validatePolicyChange } from './policy-change.js';
import { decideByPolicy, endObsoleteWait, endRedrawWaits, isDecisionDue, remind } from './decisions.js';
import { forward, hasForeign, passOnAtLast, passOnForeign } from './forwarding.js';
import { identify } from './identify.js';
import { receiveReplacement, receivePlacement, receiveSnapshot, receiveCriticalReport } from './intake.js';
import { publish } from './publish.js';
import { resultOf, stateOf } from './view.js';
import { readUnfinishedOrders, readUnreadOrders } from './reading.js';
import { unfinishedOrders } from './redraws.js';
import { openRun, type KitOrderRun } from './run.js';
import { carriedOrders } from './snapshots.js';
import { omitNullish } from '../../protocol/json.js';

/**
 * Follows one chain of orders (the first, its redraws, its replacements) to the end; the reading begins here. Started by
 * signal-with-start: by the hand-over from `placeKitOrder`, or by whatever comes first about the order, such as a webhook.
 */
export async function kitOrder(given: messages.KitOrderInput): Promise<messages.KitOrderResult> {
  // Webhooks reach a run that another sender has started without a usable input, too: its ID says whose orders it follows.
  const input: Partial<messages.KitOrderInput> = given ?? {};
  const { rootOrderId = idIn(workflowInfo().workflowId, kitOrderId), ...more } = input;
  const run = openRun(openChain({ ...more, rootOrderId }, Date.now()), readEarlierRun(more.earlierRun));
  listen(run);
  await identify(run);
  if (run.forwardsTo === undefined) await follow(run);
  return run.forwardsTo === undefined ? resultOf(run.chain) : forward(run, run.forwardsTo);
}

/** Passes on what comes in for another workflow even after an operator has cancelled this one: it may be an alarm. */
async function follow(run: KitOrderRun): Promise<void> {
  try {
    await runLoop(run, loopOf(run));
  } catch (error) {
    if (error instanceof TemporalFailure) await CancellationScope.nonCancellable(() => passOnAtLast(run));
    throw error;
  }
}

/**
 * With a critical result that nobody has acknowledged there is no end: an order that has its outcome then goes on reminding
 * if anybody is notified, and the outcome is announced meanwhile.
 */
function loopOf(run: KitOrderRun) {
  const { chain } = run;
  return {
    state: chain,
    attention: { raise, clear },
    act: () => act(run),
    // It may have been an alarm, which cannot wait for the next reconciliation.
    readDropped: () => {
      chain.dropped = chain.orders.map(({ orderId }) => orderId);
    },
    isOver: () => outcomeOf(chain) !== undefined && !awaitsAcknowledgement(chain),
    isForwarded: () => run.forwardsTo !== undefined,
    nextMoment: () => nextMoment(chain),
    workflowType: messages.kitOrderName,
    nextInput: (): messages.KitOrderInput => ({
      rootOrderId: chain.rootOrderId,
      carried: { ...chain, orders: carriedOrders(chain.orders) },
    }),
  };
}

/** Awaits only what has something to do: in most turns a report is taken in and announced. */
async function act(run: KitOrderRun): Promise<void> {
  const { chain } = run;
  if (unreadOrder(chain) !== undefined) await readUnreadOrders(run);
  endRedrawWaits(chain);
  endObsoleteWait(run);
  if (isDecisionDue(chain)) await decideByPolicy(run);
  remind(chain, timeOf(chain));
  if (chain.cancelRequest === 'open') await commands.carryOutCancelRequest(run);
  publish(run);
  if (hasForeign(chain)) await passOnForeign(run);
  if (unfinishedOrders(chain).length > 0) await readUnfinishedOrders(run);
  // An order with an open critical result announces its outcome and stays open, so this is not the loop's `announceEnd`.
  announceEnd(run);
}

function listen(run: KitOrderRun): void {
  noticeUnreadable(run);
  setHandler(messages.orderChangedSignal, (snapshot) => receiveSnapshot(run, snapshot), {
    description: 'A webhook reported an order of this chain.',
  });
  setHandler(messages.orderPlacedSignal, (placed) => receivePlacement(run, placed), {
    description: 'placeKitOrder hands over the order that it placed, with its reference and policy.',
  });
  setHandler(messages.replacementPlacedSignal, (placed) => receiveReplacement(run, placed), {
    description: 'This order is a replacement in the chain of another order, whose workflow follows it.',
  });
  setHandler(messages.criticalResultReportedSignal, (report) => receiveCriticalReport(run, report), {
    description: 'The lab service reported a critical result.',
  });
  setHandler(messages.stateQuery, () => ({ ...stateOf(run.chain), ...omitNullish({ forwardsTo: run.forwardsTo }) }), {
    description: 'Where the order stands, what it waits for, its chain and timeline.',
  });
  setHandler(messages.policyPreviewQuery, (changes) => previewPolicy(run, changes, Date.now()), {
    description: 'What the order waits for now, and what it would wait for with other settings of its policy.',
  });
  setHandler(messages.setPolicyUpdate, (command) => changePolicy(run, command), {
    description: 'Changes some settings of the order’s policy.',
    validator: (command: messages.SetPolicyCommand) => validatePolicyChange(run, command),
  });
  onCommand(run, messages.registerUpdate, commands.registration, 'Registers the kit with its patient.');
  onCommand(
    run,
    messages.cancelUpdate,
    commands.cancellation,
    'Cancels the order, which the service allows until it ships.',
    mostBeforeCancelling,
  );
  onCommand(run, messages.resolveProblemUpdate, commands.resolution, 'Answers a problem: wait, replace or abandon.');
  onCommand(
    run,
    messages.replaceKitUpdate,
    commands.replacement,
    'Orders a new kit for one that is lost, failed, on its way or with the customer.',
  );
  setHandler(messages.acknowledgeCriticalResultUpdate, (command) => acknowledgeNow(run, command), {
    description: 'Records that a person handles the critical result, which ends its reminders.',
    validator: (command: messages.AcknowledgeCriticalResultCommand) => validateAcknowledgement(run, command),
  });
}

/**
 * @param commandOf checks what is given; the validator's refusal leaves no trace in the history
 * @param mostWaiting how many commands may wait when this one comes, if not as many as usual
 */
function onCommand<Given>(
  run: KitOrderRun,
  update: UpdateDefinition<OrderState, [Given]>,
  commandOf: (run: KitOrderRun, given: Given) => commands.CheckedCommand,
  description: string,
  mostWaiting?: number,
): void {
  setHandler(update, (given) => commands.carryOut(run, () => commandOf(run, given)), {
    description,
    validator: (given: Given) => {
      commands.requireAllowed(run, commandOf(run, given));
      requireRoom(run.callers, mostWaiting);
    },
  });
}
