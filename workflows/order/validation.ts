import type { ApplicationFailure } from '@temporalio/workflow';
import { canonicalId, isReference, referencePattern } from '../../protocol/ids.js';
import type {
  CancelCommand,
  RegisterCommand,
  ReplaceKitCommand,
  ResolveProblemCommand,
  AcknowledgeCriticalResultCommand,
} from '../../protocol/order/messages.js';
import type { AcknowledgementOutcome } from '../../protocol/order/state.js';
import { currentOrder, findOrder, outcomeOf, rootElsewhere, type Chain } from './chain.js';
import { alarmsOf, findCriticalResult, isRepeated } from './critical-results.js';
import { isDone, registeredOrder, resolutionOf } from './resolutions.js';
import type { KitOrderRun } from './run.js';
import { refuse } from '../entity/commands.js';

/** A command as the product sends it. */
export type Requested =
  | ({ kind: 'register' } & RegisterCommand)
  | ({ kind: 'cancel' } & CancelCommand)
  | ({ kind: 'resolveProblem' } & ResolveProblemCommand)
  | ({ kind: 'replaceKit' } & ReplaceKitCommand);

/** The same with the order that is meant. */
export type Command = Requested & { orderId: string };

/*
 * The conditions for accepting a command at all; a validator's refusal leaves no trace in the history. Whether the
 * service will do it, only the service knows.
 */

/** A command with the order that it means: the one that it names, else the one that its sample id belongs to, else the current one. */
export function meant(chain: Chain, requested: Requested): Command {
  const ofSample = requested.kind === 'register' ? registeredOrder(chain, requested.registration.sample_id) : undefined;
  return { ...requested, orderId: named(requested).orderId ?? ofSample ?? currentOrder(chain).orderId };
}

/** The command with its order's id as we write it; whatever else a caller may have sent stays as it is. */
export function named<T extends { orderId?: string }>(command: T | undefined): T {
  const { orderId } = command ?? {};
  return { ...command, ...(typeof orderId === 'string' && { orderId: canonicalId(orderId) }) } as T;
}

/**
 * A command that asks for what has happened already is accepted, also at the end: its caller lost the answer. So is any
 * command while the run finds out which orders its chain has; it is validated again then.
 */
export function validate({ chain, forwardsTo }: KitOrderRun, command: Command): void {
  const { orderId } = command;
  if (forwardsTo !== undefined) throw forwarded(forwardsTo);
  if (!chain.identified) return;
  const isKnown = findOrder(chain, orderId) !== undefined;
  if (isKnown && isDone(chain, command)) return;
  requireOpen(chain);
  if (!isKnown) throw refuse('OrderNotInChain', 'The command names an order that is not in this chain');
  if (command.kind === 'resolveProblem') requireUnresolved(chain, command);
}

/** Also for what had to wait: the order may have got its results meanwhile. */
export function requireOpen(chain: Chain): void {
  const outcome = outcomeOf(chain);
  if (outcome !== undefined) throw refuse('OrderEnded', `The order has ended: ${outcome}`, { reason: outcome });
}

/** Commands are for the run that follows a chain, and once it knows an order. */
function requireOrder({ chain, forwardsTo }: KitOrderRun): void {
  if (forwardsTo !== undefined) throw forwarded(forwardsTo);
  if (chain.orders.length === 0) throw refuse('OrderNotFound', 'No order was reported to this workflow yet');
}

/** Two people who do not know of each other must not undo each other's decision. */
function requireUnresolved(chain: Chain, { orderId, insteadOf }: Command & { kind: 'resolveProblem' }): void {
  const decision = resolutionOf(chain, orderId);
  if (decision === undefined || (decision === 'wait' && insteadOf === 'wait')) return;
  const message = `The problem of order ${orderId} was resolved already: ${decision}`;
  throw refuse('AlreadyResolved', message, { reason: decision });
}

export function validateRegistration(run: KitOrderRun, command: RegisterCommand): void {
  if (typeof command?.registration?.sample_id !== 'string') {
    const fields = [{ field: 'sample_id', message: 'must be a string' }];
    throw refuse('RegistrationRefused', 'sample_id must be a string', { fields });
  }
  requireOrder(run);
  validate(run, meant(run.chain, { ...command, kind: 'register' }));
}

export function validateCancellation(run: KitOrderRun, command: CancelCommand | undefined): void {
  requireOrder(run);
  validate(run, meant(run.chain, { ...command, kind: 'cancel' }));
}

export function validateReplacement(run: KitOrderRun, command: ReplaceKitCommand): void {
  requireOrderId(command);
  requireOrder(run);
  requireOwnChain(run.chain);
  validate(run, meant(run.chain, { ...command, kind: 'replaceKit' }));
}

export function validateDecision(run: KitOrderRun, command: ResolveProblemCommand): void {
  const decisions: readonly unknown[] = ['wait', 'replace', 'abandon'];
  if (!decisions.includes(command?.decision)) {
    throw refuse('InvalidCommand', 'decision must be wait, replace or abandon');
  }
  requireOrderId(command);
  requireOrder(run);
  if (command.decision === 'replace') requireOwnChain(run.chain);
  validate(run, meant(run.chain, { ...command, kind: 'resolveProblem' }));
}

/** Two workflows may follow an order that was reported before its transaction, but one kit is ordered for it. */
function requireOwnChain(chain: Chain): void {
  const root = rootElsewhere(chain);
  if (root !== undefined && chain.replacements.length === 0) throw forwarded(root);
}

/** The current order may be another one by the time that the command is repeated. */
function requireOrderId(command: { orderId?: unknown } | undefined): void {
  if (typeof command?.orderId === 'string') return;
  const fields = [{ field: 'orderId', message: 'is required: the order that the command is about' }];
  throw refuse('InvalidCommand', 'orderId is required: name the order', { fields });
}

const acknowledgementOutcomes: readonly unknown[] = [
  'confirmed',
  'reached_no_readback',
  'unable_to_reach',
] satisfies AcknowledgementOutcome[];

/** Enough to say who was reached and when; anything longer belongs in the product. */
const longestNote = 2000;

/**
 * An order that has ended takes it, too. The refusals repeat no value: somebody may have typed a name instead of an id.
 */
export function validateAcknowledgement(
  { chain, forwardsTo }: KitOrderRun,
  command: AcknowledgeCriticalResultCommand | undefined,
): void {
  const fields = faultsOf({ ...command });
  if (fields.length > 0) {
    const message = fields.map(({ field, message: rule }) => `${field} ${rule}`).join('; ');
    throw refuse('InvalidCommand', message, { fields });
  }
  if (forwardsTo !== undefined) throw forwarded(forwardsTo);
  if (chain.identified && command) requireAlarm(chain, named(command));
}

/** A late answer to an earlier alarm must not clear one that nobody has seen. */
function requireAlarm(chain: Chain, command: AcknowledgeCriticalResultCommand): void {
  const { orderId, alarm } = command;
  const result = findCriticalResult(chain, orderId);
  if (!result) {
    throw refuse('NothingToAcknowledge', 'No critical result of this order was reported; check the order id');
  }
  const alarms = alarmsOf(result);
  if (alarm === alarms.at(-1) || isRepeated(result, command)) return;
  // Without a name the latest one is meant, unless it may be an earlier answer that was sent again.
  if (alarm === undefined && !(result.isOpen && result.acknowledgements.length > 0)) return;
  if (alarm !== undefined && !alarms.includes(alarm)) {
    throw refuse('NothingToAcknowledge', 'No such alarm was raised for this order; check the id of the notification');
  }
  const message =
    'The critical result was raised again after this alarm; look at it, then acknowledge the latest alarm by its id';
  const latest = alarms.at(-1);
  throw refuse('AlarmOutdated', message, latest === undefined ? {} : { reason: latest });
}

function faultsOf({ orderId, alarm, by, outcome, note }: Record<string, unknown>) {
  return [
    ...(isReference(orderId)
      ? []
      : [{ field: 'orderId', message: 'must be the id of the order that has the critical result' }]),
    ...(alarm === undefined || typeof alarm === 'string'
      ? []
      : [{ field: 'alarm', message: 'must be the id of a critical_result notification' }]),
    ...(isReference(by)
      ? []
      : [{ field: 'by', message: `must be an id that matches ${referencePattern.source}, not a name` }]),
    ...(acknowledgementOutcomes.includes(outcome)
      ? []
      : [{ field: 'outcome', message: `must be ${acknowledgementOutcomes.join(' or ')}` }]),
    ...(note === undefined || (typeof note === 'string' && note.length <= longestNote)
      ? []
      : [{ field: 'note', message: `must be a string of at most ${longestNote} characters` }]),
  ];
}

export function forwarded(rootOrderId: string): ApplicationFailure {
  return refuse('OrderForwarded', `The order belongs to the chain of order ${rootOrderId}`, { reason: rootOrderId });
}
