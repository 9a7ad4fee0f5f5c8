import { ApplicationFailure } from '@temporalio/workflow';
import { currentOrder, findOrder, outcomeOf, type Case } from './case.js';
import type { RegisterCommand, ResolveProblemCommand } from './messages.js';
import type { Run } from './run.js';

/**
 * What a command must be to be accepted at all; a validator's refusal leaves no trace in the history. Whether the
 * service will do it, only the service knows.
 */

/** The order a command means: the one it names, else the current one at the time it came. */
export function meant(kase: Case, command: { orderId?: string } | undefined): { orderId: string } {
  return { orderId: command?.orderId ?? currentOrder(kase).orderId };
}

export function validate({ kase, forwardsTo }: Run, command: { orderId?: string } | undefined): void {
  if (forwardsTo !== undefined) throw forwarded(forwardsTo);
  if (kase.orders.length === 0) throw refuse('OrderNotFound', 'No order was reported to this workflow yet');
  const outcome = outcomeOf(kase);
  if (outcome !== undefined) throw refuse('OrderEnded', `The order has ended: ${outcome}`, outcome);
  const { orderId } = meant(kase, command);
  if (!findOrder(kase, orderId))
    throw refuse('OrderNotInChain', 'The command names an order that is not of this chain');
}

export function validateRegistration(run: Run, command: RegisterCommand): void {
  if (typeof command?.registration?.sample_id !== 'string') {
    const fields = [{ field: 'sample_id', message: 'must be a string' }];
    throw ApplicationFailure.nonRetryable('sample_id must be a string', 'RegistrationRefused', { fields });
  }
  validate(run, command);
}

export function validateDecision(run: Run, command: ResolveProblemCommand): void {
  const decisions: readonly unknown[] = ['wait', 'replace', 'abandon'];
  if (!decisions.includes(command?.decision)) {
    throw refuse('InvalidCommand', 'decision must be wait, replace or abandon');
  }
  validate(run, command);
}

export function forwarded(rootOrderId: string): ApplicationFailure {
  return refuse('OrderForwarded', `The order belongs to the chain of order ${rootOrderId}`, rootOrderId);
}

function refuse(type: string, message: string, reason?: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, type, { fields: [], ...(reason !== undefined && { reason }) });
}
