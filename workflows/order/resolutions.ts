import { isSameSample } from '../../protocol/order/lifecycle.js';
import type { AttentionReason, Decision } from '../../protocol/order/state.js';
import { currentOrder, findOrder, lastEventId, registeredAs, replacementOf, type Chain } from './chain.js';
import type { Command } from './validation.js';

/*
 * The decision about an order's problem. A command whose answer was lost is sent again: it then does not do more,
 * and it does not undo what somebody else decided meanwhile.
 */

/** Attention that `resolveProblem` does not answer. */
const otherwiseAnswered: readonly AttentionReason[] = [
  'late_arrival',
  'registered_another_order',
  'critical_result',
  'notifications_undelivered',
];

/** Keeps the answer; the latest of each order counts. */
export function recordResolution(chain: Chain, orderId: string, decision: Decision): void {
  const order = findOrder(chain, orderId);
  if (!order) return;
  const others = chain.answers.filter((answer) => answer.orderId !== orderId);
  chain.answers = [...others, { orderId, eventId: lastEventId(order), decision }];
}

/** True if what the command asks for has happened already. */
export function isDone(chain: Chain, command: Command): boolean {
  const { orderId } = command;
  switch (command.kind) {
    case 'register':
      return isSameSample(registeredAs(chain, orderId), command.registration.sample_id);
    case 'cancel':
      return findOrder(chain, orderId)?.standing.phase === 'cancelled';
    case 'replaceKit':
      return isReplaced(chain, orderId);
    case 'resolveProblem':
      return isResolved(chain, orderId, command.decision);
    default:
      return command satisfies never;
  }
}

/** The order that is registered with a sample id. */
export function registeredOrder(chain: Chain, sampleId: string): string | undefined {
  return chain.orders.find(({ orderId }) => isSameSample(registeredAs(chain, orderId), sampleId))?.orderId;
}

function isReplaced(chain: Chain, orderId: string): boolean {
  return replacementOf(chain, orderId)?.orderId !== undefined;
}

function isResolved(chain: Chain, orderId: string, decision: Decision): boolean {
  if (decision === 'replace') return isReplaced(chain, orderId);
  const isAnsweredSo = chain.answers.some((answer) => answer.orderId === orderId && answer.decision === decision);
  if (decision === 'abandon') return isAnsweredSo && chain.ending === 'abandoned';
  return isAnsweredSo && !asks(chain, orderId);
}

/** The decision that stands for an order that asks nothing any more, and has not moved on since. */
export function resolutionOf(chain: Chain, orderId: string): Decision | undefined {
  const order = findOrder(chain, orderId);
  if (!order || asks(chain, orderId)) return undefined;
  if (isReplaced(chain, orderId) && currentOrder(chain).orderId !== orderId) return 'replace';
  return chain.answers.find((answer) => answer.orderId === orderId && answer.eventId === lastEventId(order))?.decision;
}

function asks(chain: Chain, orderId: string): boolean {
  return chain.attention.some(
    (attention) => attention.orderId === orderId && !otherwiseAnswered.includes(attention.reason),
  );
}
