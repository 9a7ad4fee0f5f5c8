import type { ApplicationFailure } from '@temporalio/workflow';
import { canonicalId } from '../../protocol/ids.js';
import { isSameSample } from '../../protocol/order/lifecycle.js';
import type {
  CancelCommand,
  RegisterCommand,
  ReplaceKitCommand,
  ResolveProblemCommand,
} from '../../protocol/order/messages.js';
import { type Decision, decisions, type OrderAttention, type OrderState } from '../../protocol/order/state.js';
import { activities, aheadOfBacklog } from '../activity-options.js';
import { actorOf, isNotFound, refusalOf, refuse, refuseField } from '../entity/commands.js';
import { note, noteDecided, type Decided } from '../entity/journal.js';
import { words } from '../entity/operators.js';
import { iso } from '../entity/spans.js';
import { clear, raise } from './announcements.js';
import {
  currentOrder,
  findOrder,
  isGivenUp,
  isReplaced,
  lastEventId,
  outcomeOf,
  registeredAs,
  requireOpen,
  rootElsewhere,
  type Chain,
} from './chain.js';
import { endObsoleteWait } from './decisions.js';
import { deadlinesOf, isOverdueName, type Deadline } from './deadlines.js';
import { receiveSnapshot } from './intake.js';
import { publish } from './publish.js';
import { stateOf } from './view.js';
import { asksForDecision, needsOnlyWait } from './questions.js';
import { readOrder } from './reading.js';
import { allReplacements, replaceKit } from './replacing.js';
import { answerCaller, requireNoOtherRoot, type KitOrderRun } from './run.js';

/*
 * A product's commands on an order: register its kit, cancel it, replace its kit, decide about its problem; critical results are
 * acknowledged in `acknowledging.ts`. Each function checks what it is given and answers with the command. Whether the service
 * will do it, only the service knows; how it is asked, and what a lost answer means, is in `activities/order/orders.ts`.
 */

/** A command after the check of what was given. */
export interface CheckedCommand {
  orderId: string;
  /** The order meant by now: the new kit, if one has replaced `orderId`. */
  meant?: () => string;
  /** True if what it asks for has happened already. A command whose answer was lost is sent again: it then does not do more. */
  isDone: () => boolean;
  /** Two people who do not know of each other must not undo each other's decision. */
  requireUnresolved?: () => void;
  /** Resolves to the order that it has concerned, if that may be another one; to null if the service had done it already. */
  work: () => Promise<string | null | void>;
  decided: Decided;
}

export function registration(run: KitOrderRun, given: RegisterCommand): CheckedCommand {
  const { chain } = run;
  const sampleId: unknown = given?.registration?.sample_id;
  if (typeof sampleId !== 'string') {
    const fields = [{ field: 'sample_id', message: 'must be a string' }];
    throw refuse('RegistrationRefused', 'sample_id must be a string', { fields });
  }
  const orderId = commandedOrder(run, given);
  return {
    orderId,
    // A repeated one finds its kit wherever the service has registered it.
    isDone: () => chain.orders.some((order) => isSameSample(registeredAs(chain, order.orderId), sampleId)),
    work: () => register(run, orderId, given.registration),
    decided: { ...actorOf(given), status: 'kit_registered' },
  };
}

export function cancellation(run: KitOrderRun, given?: CancelCommand): CheckedCommand {
  const orderId = commandedOrder(run, given);
  // One that names no order means the kit that has replaced this one before its turn came.
  const isOutdated = () => typeof given?.orderId !== 'string' && isReplaced(run.chain, orderId);
  const meant = () => (isOutdated() ? currentOrder(run.chain).orderId : orderId);
  return {
    orderId,
    meant,
    isDone: () => findOrder(run.chain, meant())?.standing.phase === 'cancelled',
    work: async () => {
      const id = meant();
      await (id === orderId ? cancel(run, id) : run.lanes.run(id, () => cancel(run, id)));
      return id;
    },
    decided: { ...actorOf(given), status: 'order_cancelled' },
  };
}

export function replacement(run: KitOrderRun, given: ReplaceKitCommand): CheckedCommand {
  requireOrderId(given);
  const orderId = commandedOrder(run, given);
  requireOwnChain(run.chain);
  return {
    orderId,
    isDone: () => isReplaced(run.chain, orderId),
    work: () => replace(run, orderId),
    decided: { ...actorOf(given), status: 'kit_replaced' },
  };
}

export function resolution(run: KitOrderRun, given: ResolveProblemCommand): CheckedCommand {
  const { chain } = run;
  const { decision, insteadOf } = given ?? {};
  if (!decisions.includes(decision)) {
    throw refuse('InvalidCommand', 'decision must be wait, replace or abandon');
  }
  requireOrderId(given);
  const orderId = commandedOrder(run, given);
  if (decision === 'replace') requireOwnChain(chain);
  return {
    orderId,
    isDone: () => isResolved(chain, orderId, decision),
    requireUnresolved: () => {
      const before = resolutionOf(chain, orderId);
      if (before === undefined || (before === 'wait' && insteadOf === 'wait')) return;
      throw refuse('AlreadyResolved', `The problem of order ${orderId} was resolved already: ${before}`, {
        reason: before,
      });
    },
    work: () => resolveProblem(run, orderId, decision),
    decided: { ...actorOf(given), status: 'problem_resolved', detail: decision },
  };
}

/** The order that a command names, else the current one. */
function commandedOrder(run: KitOrderRun, given: { orderId?: unknown } | undefined): string {
  requireNoOtherRoot(run.forwardsTo);
  if (run.chain.orders.length === 0) throw refuse('OrderNotFound', 'No order was reported to this workflow yet');
  const named: unknown = given?.orderId;
  return typeof named === 'string' ? canonicalId(named) : currentOrder(run.chain).orderId;
}

/** The current order may be another one by the time that the command is repeated. */
function requireOrderId(given: { orderId?: unknown } | undefined): void {
  if (typeof given?.orderId === 'string') return;
  throw refuseField('orderId', 'is required: the order that the command is about');
}

/** Two workflows may follow an order that was reported before its transaction, but one kit is ordered for it. */
function requireOwnChain(chain: Chain): void {
  if (chain.replacements.length === 0) requireNoOtherRoot(rootElsewhere(chain));
}

/**
 * A command that asks for what has happened already is accepted, also at the end. So is any command while the run finds out
 * which orders its chain has; it is checked again then.
 */
export function requireAllowed(run: KitOrderRun, { orderId, isDone, requireUnresolved }: CheckedCommand): void {
  const { chain } = run;
  requireNoOtherRoot(run.forwardsTo);
  if (!chain.identified) return;
  const isKnown = findOrder(chain, orderId) !== undefined;
  if (isKnown && isDone()) return;
  requireOpen(chain);
  if (!isKnown) throw refuse('OrderNotInChain', 'The command names an order that is not in this chain');
  requireUnresolved?.();
}

/**
 * Carries out one command and answers with the state after it. It waits for the commands before it on the same order, and for a
 * replacement of that order, but not for the main loop. A command that names no order means the order that is current when the command
 * comes, or as soon as the run knows its orders. If that kit is replaced before the turn of a cancellation, the cancellation means the new
 * kit.
 */
export function carryOut(run: KitOrderRun, commandOf: () => CheckedCommand): Promise<OrderState> {
  return answerCaller(run, () => {
    const command = commandOf();
    return run.lanes.run(command.orderId, async () => {
      // Commands before it may have changed what this one was accepted for.
      requireAllowed(run, command);
      if (command.isDone()) return stateOf(run.chain);
      const concerned = await command.work().catch((error: unknown) => noteFailed(run.chain, command, error));
      if (concerned !== null) noteDecided(run.chain, command.decided, Date.now(), concerned ?? command.orderId);
      // A forwarder shows and announces nothing.
      if (run.forwardsTo === undefined) publish(run);
      return stateOf(run.chain);
    });
  });
}

/** The case file says who tried: the answer that was lost may have said that it was done. */
function noteFailed(chain: Chain, { decided: { status, by }, orderId, meant }: CheckedCommand, error: unknown): never {
  const { type } = refusalOf(error);
  if (by !== undefined) note(chain, `${words(status)}: failed with ${type}`, Date.now(), meant?.() ?? orderId, { by });
  throw error;
}

/**
 * Cancels an order whose placing was cancelled. Nobody waits for the answer, so a person is asked to look if it fails. It is
 * not tried again: that person may decide to let the order go on.
 */
export async function carryOutCancelRequest(run: KitOrderRun): Promise<void> {
  const { chain } = run;
  try {
    if (outcomeOf(chain) === undefined) await carryOut(run, () => cancellation(run, chain.cancelRequestedBy));
  } catch (error) {
    const { type } = refusalOf(error);
    const { orderId } = currentOrder(chain);
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

/** A 404 may mean that the order is gone: the read notes it, and the chain ends if it is the current one and stays gone. */
async function refused(run: KitOrderRun, orderId: string, refusal: ApplicationFailure): Promise<ApplicationFailure> {
  if (isNotFound(refusal)) await readOrder(run, orderId, aheadOfBacklog());
  return refusal;
}

/** A sample id belongs to one kit, which may be another one of the chain than that of the command. */
async function register(
  run: KitOrderRun,
  orderId: string,
  registration: RegisterCommand['registration'],
): Promise<string> {
  const { chain } = run;
  const reason = 'registered_another_order';
  const account = chain.labAccountId === undefined ? {} : { labAccountId: chain.labAccountId };
  const call = { orderId, registration, chain: chain.orders.map((order) => order.orderId), ...account };
  const options = { summary: `register ${orderId.slice(0, 8)}` };
  const snapshot = await activities.registerKit.executeWithOptions(options, [call]).catch(async (error: unknown) => {
    const refusal = refusalOf(error);
    if (refusal.type === 'RegisteredAnotherOrder') raise(chain, { key: orderId, reason, orderId }, Date.now());
    throw await refused(run, orderId, refusal);
  });
  receiveSnapshot(run, snapshot);
  const registered = snapshot.orderId;
  chain.registered = { ...chain.registered, [registered]: registration.sample_id };
  clear(chain, (raised) => raised.key === registered && raised.reason === reason, Date.now());
  return registered;
}

async function resolveProblem(run: KitOrderRun, orderId: string, decision: Decision): Promise<null | void> {
  const { chain } = run;
  switch (decision) {
    case 'wait':
      extendLimits(chain, orderId);
      endObsoleteWait(run);
      return recordResolution(chain, orderId, decision);
    case 'replace':
      if ((await replace(run, orderId)) === null) return null;
      return recordResolution(chain, orderId, decision);
    case 'abandon':
      // Anyone who gives the order up learns of every kit that was ordered for it.
      return run.lanes.run(allReplacements, async () => {
        requireOpen(chain);
        recordResolution(chain, orderId, decision);
        // Another order that is under way, or has brought the results, is the current one now.
        if (outcomeOf(chain) === undefined && isGivenUp(chain, currentOrder(chain))) chain.ending = 'abandoned';
      });
    default:
      return decision satisfies never;
  }
}

/** The service may have redrawn the kit itself: then none was ordered, and nobody has replaced it. */
async function replace(run: KitOrderRun, orderId: string): Promise<null | void> {
  await replaceKit(run, orderId);
  if (!isReplaced(run.chain, orderId)) return null;
}

/**
 * Every limit that was missed counts again from now. So does the time to decide, but only once: nobody is asked again, the policy does
 * nothing about this failure, and at its end the order fails. What needs only a `wait` is acknowledged.
 */
function extendLimits(chain: Chain, orderId: string): void {
  const now = Date.now();
  const isAcknowledged = (raised: OrderAttention) => needsOnlyWait(raised) && raised.orderId === orderId;
  const isMissed = ({ key, at }: Deadline) => chain.handledDeadlines.includes(key) || at <= now;
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
  chain.extensions.push(...asked.map(({ baseKey }) => ({ baseKey, since })));
}

/** Keeps the answer; the latest of each order counts. */
function recordResolution(chain: Chain, orderId: string, decision: Decision): void {
  const order = findOrder(chain, orderId);
  if (!order) return;
  const others = chain.resolutions.filter((answer) => answer.orderId !== orderId);
  chain.resolutions = [...others, { orderId, eventId: lastEventId(order), decision }];
}

function isResolved(chain: Chain, orderId: string, decision: Decision): boolean {
  if (decision === 'replace') return isReplaced(chain, orderId);
  const isAnsweredSo = chain.resolutions.some((answer) => answer.orderId === orderId && answer.decision === decision);
  if (decision === 'abandon')
    return isAnsweredSo && (outcomeOf(chain) !== undefined || currentOrder(chain).orderId !== orderId);
  return isAnsweredSo && !asksForDecision(chain, orderId);
}

/** The decision that stands for an order that asks nothing any more, and has not moved on since. */
function resolutionOf(chain: Chain, orderId: string): Decision | undefined {
  const order = findOrder(chain, orderId);
  if (!order || asksForDecision(chain, orderId)) return undefined;
  if (isReplaced(chain, orderId) && currentOrder(chain).orderId !== orderId) return 'replace';
  return chain.resolutions.find((answer) => answer.orderId === orderId && answer.eventId === lastEventId(order))
    ?.decision;
}
