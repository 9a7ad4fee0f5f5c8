import {
  allHandlersFinished,
  CancellationScope,
  condition,
  makeContinueAsNewFunc,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { readEarlierRun, type EarlierRun } from '../../protocol/earlier-run.js';
import {
  acknowledgeCriticalResultUpdate,
  cancelUpdate,
  criticalResultReportedSignal,
  kitOrderName,
  orderChangedSignal,
  orderPlacedSignal,
  registerUpdate,
  replaceKitUpdate,
  replacementPlacedSignal,
  resolveProblemUpdate,
  stateQuery,
  type KitOrderInput,
  type KitOrderResult,
  type OrderState,
  type AcknowledgeCriticalResultCommand,
  type CancelCommand,
  type RegisterCommand,
  type ReplaceKitCommand,
  type ResolveProblemCommand,
} from '../../protocol/order/messages.js';
import { Alarm } from '../entity/alarm.js';
import { deliveryOf } from '../entity/attention.js';
import { CommandQueue } from '../entity/commands.js';
import { deliverBeforeEnd, keepDelivering } from '../entity/outbox.js';
import { clear, raise } from './announcements.js';
import { openChain, outcomeOf, type Chain } from './chain.js';
import { carryOut, carryOutCancelRequest } from './commands.js';
import { acknowledge, awaitsAcknowledgement } from './critical-results.js';
import { nextMoment } from './deadlines.js';
import { meetDeadlines } from './decisions.js';
import { forward, awaitIdentity, identify } from './identify.js';
import { join, takeOver, hear, receiveCriticalReport } from './intake.js';
import { readUnreadOrders } from './reading.js';
import { announceEnd, review } from './review.js';
import {
  meant,
  validateAcknowledgement,
  validateCancellation,
  validateDecision,
  validateRegistration,
  validateReplacement,
  type Command,
} from './validation.js';
import { resultOf, stateOf } from './view.js';

/**
 * Follows one chain of orders (the first, its redraws, its replacements) to the end. Started by signal-with-start: by
 * the hand-over from `placeKitOrder`, or by the first webhook of an order that nobody placed through us.
 */
export async function kitOrder(input: KitOrderInput): Promise<KitOrderResult> {
  const run: Run = {
    chain: openChain(input.rootOrderId, input.carried),
    earlierRun: readEarlierRun(input.earlierRun),
    commands: new CommandQueue(),
    alarm: new Alarm(),
    heard: false,
  };
  listen(run);
  await identify(run);
  if (run.forwardsTo === undefined) await follow(run);
  return run.forwardsTo === undefined ? resultOf(run.chain) : forward(run, run.forwardsTo);
}

/** Follows the chain until its end is told, or until the order turns out to belong to another chain. */
async function follow(run: Run): Promise<void> {
  const delivery = new CancellationScope();
  const delivering = delivery.run(() =>
    keepDelivering(
      run.chain,
      deliveryOf(run.chain, { raise, clear }, () => (run.heard = true)),
    ),
  );
  do {
    await followToTheEnd(run);
  } while (run.forwardsTo === undefined && !(await isSettled(run)));
  run.alarm.disarm();
  delivery.cancel();
  await delivering;
}

/**
 * Works until there is an outcome, one thing at a time. With a critical result that nobody has acknowledged there is no
 * end: an order that has its outcome then goes on reminding, and everybody is notified of the outcome meanwhile.
 */
async function followToTheEnd(run: Run): Promise<void> {
  const { chain, commands, alarm } = run;
  for (;;) {
    run.heard = false;
    await readUnreadOrders(run);
    await meetDeadlines(run);
    await carryOutCancelRequest(run);
    await commands.carryOutNext((command) => carryOut(run, command));
    review(run);
    if (run.forwardsTo !== undefined || (outcomeOf(chain) !== undefined && !awaitsAcknowledgement(chain))) return;
    announceEnd(run);
    if (workflowInfo().continueAsNewSuggested) await continueAnew(run);
    alarm.set(nextMoment(chain));
    await condition(() => run.heard || alarm.rang || !commands.isEmpty);
  }
}

/**
 * An end holds once everybody was told and answered, and nothing new came in meanwhile: a correction may still reopen
 * the case.
 */
async function isSettled(run: Run): Promise<boolean> {
  run.alarm.disarm();
  announceEnd(run);
  run.heard = false;
  await deliverBeforeEnd(run.chain, () => run.heard || !run.commands.isEmpty);
  await settled(run);
  return run.commands.isEmpty && !run.heard;
}

/** Every command was answered; or another one came, whose handler waits for the main loop. */
async function settled({ commands }: Run): Promise<void> {
  await condition(() => allHandlersFinished() || !commands.isEmpty);
}

/** Starts over with an empty history: what was asked for is answered first, and everything known goes along. */
async function continueAnew(run: Run): Promise<void> {
  await settled(run);
  if (!run.commands.isEmpty) return;
  const { rootOrderId } = run.chain;
  await makeContinueAsNewFunc<typeof kitOrder>({ workflowType: kitOrderName })({ rootOrderId, carried: run.chain });
}

function listen(run: Run): void {
  const { chain } = run;
  setHandler(orderChangedSignal, (snapshot) => hear(run, snapshot), {
    description: 'A webhook reported an order of this chain.',
  });
  setHandler(orderPlacedSignal, (placed) => takeOver(run, placed), {
    description: 'placeKitOrder hands over the order that it placed, with its reference and policy.',
  });
  setHandler(replacementPlacedSignal, (placed) => join(run, placed), {
    description: 'This order is a replacement in the chain of another order, whose workflow follows it.',
  });
  setHandler(criticalResultReportedSignal, (report) => receiveCriticalReport(run, report), {
    description: 'The lab service reported a critical result.',
  });
  setHandler(stateQuery, () => currentState(run), {
    description: 'Where the order stands, what it waits for, its chain and timeline.',
  });
  setHandler(
    registerUpdate,
    (command) => run.commands.ask({ ...command, ...meant(chain, command), kind: 'register' }),
    {
      description: 'Registers the kit with its patient.',
      validator: (command: RegisterCommand) => validateRegistration(run, command),
    },
  );
  setHandler(cancelUpdate, (command) => run.commands.ask({ kind: 'cancel', ...meant(chain, command) }), {
    description: 'Cancels the order, which the service allows until it ships.',
    validator: (command: CancelCommand) => validateCancellation(run, command),
  });
  setHandler(resolveProblemUpdate, (command) => run.commands.ask({ ...command, kind: 'resolveProblem' }), {
    description: 'Answers a problem: wait, replace or abandon.',
    validator: (command: ResolveProblemCommand) => validateDecision(run, command),
  });
  setHandler(replaceKitUpdate, ({ orderId }) => run.commands.ask({ kind: 'replaceKit', orderId }), {
    description: 'Orders a new kit for one that is lost, failed or stuck on its way.',
    validator: (command: ReplaceKitCommand) => validateReplacement(run, command),
  });
  setHandler(acknowledgeCriticalResultUpdate, (command) => acknowledgeNow(run, command), {
    description: 'A person has taken up the critical result, which ends its reminders.',
    validator: (command: AcknowledgeCriticalResultCommand) => validateAcknowledgement(run, command),
  });
}

/** It needs nothing from outside, and waits for no other command: the next reminder may be due. */
async function acknowledgeNow(run: Run, command: AcknowledgeCriticalResultCommand): Promise<OrderState> {
  await awaitIdentity(run);
  validateAcknowledgement(run, command);
  acknowledge(run.chain, command, Date.now());
  run.heard = true;
  return currentState(run);
}

function currentState({ chain, forwardsTo }: Run): OrderState {
  return { ...stateOf(chain), ...(forwardsTo !== undefined && { forwardsTo }) };
}

/** One run of `kitOrder`: the case it works on, and what wakes it. */
export interface Run {
  chain: Chain;
  earlierRun: EarlierRun | undefined;
  commands: CommandQueue<Command, OrderState>;
  alarm: Alarm;
  /** Something was heard that the main loop has not looked at yet. */
  heard: boolean;
  /** Set when another root order's workflow does the work, and this run only passes things on. */
  forwardsTo?: string;
}
