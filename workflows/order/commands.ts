import type { ApplicationFailure } from '@temporalio/workflow';
import type { RegisterCommand } from '../../protocol/order/messages.js';
import type { AttentionReason, Decision, OrderAttention, OrderState } from '../../protocol/order/state.js';
import { activities, aheadOfBacklog } from '../activities.js';
import { isNotFound, refusalOf, refuse } from '../entity/commands.js';
import { note } from '../entity/journal.js';
import { iso } from '../entity/spans.js';
import { clear, raise } from './announcements.js';
import { currentOrder, findOrder, outcomeOf, type Chain } from './chain.js';
import { deadlinesOf, isOverdueName, type Deadline } from './deadlines.js';
import { awaitIdentity } from './identify.js';
import { receiveSnapshot } from './intake.js';
import { endWaitingUnlessDue } from './decisions.js';
import { readOrder } from './reading.js';
import { allReplacements, replaceKit } from './replacement-order.js';
import { isDone, recordResolution } from './resolutions.js';
import { bringInLine } from './bring-in-line.js';
import { meant, requireOpen, validate, type Command, type Requested } from './validation.js';
import { stateOf } from './view.js';
import type { KitOrderRun } from './run.js';

/**
 * Carries out one command and answers with the state after it. It waits for the commands before it on the same order, and
 * for a replacement of that order, but not for the main loop. The order that it means is settled when it comes, or as soon as
 * the run knows its orders, not when its turn comes.
 */
export function carryOutInTurn(run: KitOrderRun, requested: Requested): Promise<OrderState> {
  return answerCaller(run, () => {
    const command = meant(run.chain, requested);
    return run.lanes.run(command.orderId, () => carryOut(run, command));
  });
}

/** Does what a caller waits for, once it is known whose order this is. The main loop looks at what came of it. */
export async function answerCaller(run: KitOrderRun, work: () => Promise<OrderState>): Promise<OrderState> {
  run.callers += 1;
  try {
    await awaitIdentity(run);
    return await work();
  } catch (error) {
    throw refusalOf(error);
  } finally {
    run.callers -= 1;
    run.hasNews = true;
  }
}

async function carryOut(run: KitOrderRun, command: Command): Promise<OrderState> {
  const { orderId } = command;
  // Commands before it may have changed what this one was accepted for.
  validate(run, command);
  if (isDone(run.chain, command)) return stateOf(run.chain);
  switch (command.kind) {
    case 'register':
      await register(run, orderId, command.registration);
      break;
    case 'cancel':
      await cancel(run, orderId);
      break;
    case 'replaceKit':
      await replaceKit(run, orderId);
      break;
    case 'resolveProblem':
      await resolveProblem(run, orderId, command.decision);
      recordResolution(run.chain, orderId, command.decision);
      break;
    default:
      return command satisfies never;
  }
  note(run.chain, doneBy(command), Date.now(), orderId);
  // A forwarder shows and announces nothing.
  if (run.forwardsTo === undefined) bringInLine(run);
  return stateOf(run.chain);
}

function doneBy(command: Command): string {
  switch (command.kind) {
    case 'register':
      return 'the product registered the kit';
    case 'cancel':
      return 'the product cancelled the order';
    case 'replaceKit':
      return 'the product asked for a new kit';
    case 'resolveProblem':
      return `decided: ${command.decision}`;
    default:
      return command satisfies never;
  }
}

/**
 * Cancels an order whose placing was cancelled. Nobody waits for the answer, so a person is asked to look if it fails. It is
 * not tried again: that person may decide to let the order go on.
 */
export async function carryOutCancelRequest(run: KitOrderRun): Promise<void> {
  const { chain } = run;
  const { orderId } = currentOrder(chain);
  try {
    if (outcomeOf(chain) === undefined) await carryOutInTurn(run, { kind: 'cancel', orderId });
  } catch (error) {
    const { type } = refusalOf(error);
    note(chain, `the cancellation of its placing could not be carried out: ${type}`, Date.now(), orderId);
    if (outcomeOf(chain) === undefined) raise(chain, cancellationFailed(orderId), Date.now());
  }
  chain.cancelRequest = 'carried_out';
}

function cancellationFailed(orderId: string) {
  return { key: `${orderId}/cancellation`, reason: 'cancellation_failed', orderId } as const;
}

async function cancel(run: KitOrderRun, orderId: string): Promise<void> {
  try {
    receiveSnapshot(
      run,
      await activities.cancelOrder.executeWithOptions({ summary: `cancel ${orderId.slice(0, 8)}` }, [orderId]),
    );
  } catch (error) {
    throw await refused(run, orderId, refusalOf(error));
  }
  const { key } = cancellationFailed(orderId);
  clear(run.chain, (raised) => raised.key === key && raised.reason === 'cancellation_failed', Date.now());
}

/** An order that the service does not find any more is gone, which ends the chain. */
async function refused(run: KitOrderRun, orderId: string, refusal: ApplicationFailure): Promise<ApplicationFailure> {
  if (isNotFound(refusal)) await readOrder(run, orderId, aheadOfBacklog());
  return refusal;
}

async function register(
  run: KitOrderRun,
  orderId: string,
  registration: RegisterCommand['registration'],
): Promise<void> {
  const { chain } = run;
  const question = { key: orderId, reason: 'registered_another_order', orderId } as const;
  try {
    const account = chain.labAccountId === undefined ? {} : { labAccountId: chain.labAccountId };
    const call = { orderId, registration, chain: chain.orders.map((order) => order.orderId), ...account };
    receiveSnapshot(
      run,
      await activities.registerKit.executeWithOptions({ summary: `register ${orderId.slice(0, 8)}` }, [call]),
    );
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal.type === 'RegisteredAnotherOrder') raise(chain, question, Date.now());
    throw await refused(run, orderId, refusal);
  }
  chain.registered = { ...chain.registered, [orderId]: registration.sample_id };
  clear(chain, ({ key, reason }) => key === question.key && reason === question.reason, Date.now());
}

async function resolveProblem(run: KitOrderRun, orderId: string, decision: Decision): Promise<void> {
  const { chain } = run;
  switch (decision) {
    case 'wait':
      extendLimits(chain, orderId);
      endWaitingUnlessDue(run);
      return;
    case 'replace':
      return replaceKit(run, orderId);
    case 'abandon':
      // Anyone who gives the order up learns of every kit that was ordered for it.
      return run.lanes.run(allReplacements, async () => {
        requireOpen(chain);
        chain.ending = 'abandoned';
      });
    default:
      return decision satisfies never;
  }
}

/** Attention that needs no more than somebody's `wait`. */
const acknowledged: readonly AttentionReason[] = [
  'reference_conflict',
  'foreign_order',
  'cancellation_failed',
  'unknown_interpretation',
  'unreadable_signal',
];

/**
 * Every limit that was missed, and the time to decide, count again from now. A conflict of references is acknowledged: the
 * first reference keeps the order. So is a cancellation that failed: the order goes on.
 */
function extendLimits(chain: Chain, orderId: string): void {
  const now = Date.now();
  const isAcknowledged = (raised: OrderAttention) => acknowledged.includes(raised.reason) && raised.orderId === orderId;
  const isMissed = ({ key, at }: Deadline) => chain.met.includes(key) || at <= now;
  const asked = deadlinesOf(chain).filter(
    (deadline) =>
      deadline.orderId === orderId &&
      (deadline.name === 'decision' || (isOverdueName(deadline.name) && isMissed(deadline))),
  );
  if (asked.length === 0 && !chain.attention.some(isAcknowledged)) {
    throw refuse(
      'NothingToResolve',
      `Order ${orderId} (${findOrder(chain, orderId)?.standing.phase}) has missed no deadline: there is nothing to decide`,
    );
  }
  clear(chain, isAcknowledged, now);
  const since = iso(now);
  chain.patience.push(...asked.map(({ baseKey }) => ({ key: baseKey, since })));
}
