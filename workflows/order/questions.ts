import { isKnownInterpretation } from '../../protocol/order/lifecycle.js';
import type { AttentionReason, OrderAttention, RaisedOrderAttention } from '../../protocol/order/state.js';
import { wasRaised } from '../entity/attention.js';
import { shortDigest } from '../entity/outbox.js';
import { clear, raise } from './announcements.js';
import type { Chain } from './chain.js';
import { deadlinesOf } from './deadlines.js';
import { lateArrivals } from './redraws.js';

/* The questions that an order asks a person, and what answers each of them. Their words: `protocol/attention-reasons.ts`. */

type Answer =
  /** The order's next move: the question stands as long as its deadline. `wait` moves that deadline. */
  | 'move'
  /** `resolveProblem`, `wait`: somebody has taken note. */
  | 'wait'
  /** A read of the order. */
  | 'read'
  /** Something else; an earlier decision about a problem stands meanwhile. */
  | 'other'
  /** The placing asks it, not the order. */
  | 'placing';

const answeredBy: Readonly<Record<AttentionReason, Answer>> = {
  registration_overdue: 'move',
  shipping_overdue: 'move',
  delivery_overdue: 'move',
  return_overdue: 'move',
  transit_to_lab_overdue: 'move',
  results_overdue: 'move',
  collection_overdue: 'move',
  problem_persists: 'move',
  decision_needed: 'move',
  replacement_failed: 'move',
  reference_conflict: 'wait',
  foreign_order: 'wait',
  cancellation_failed: 'wait',
  unknown_interpretation: 'wait',
  unreadable_signal: 'wait',
  order_unreadable: 'read',
  late_arrival: 'other',
  registered_another_order: 'other',
  critical_result: 'other',
  notifications_undelivered: 'other',
  ambiguous_order: 'placing',
  placing_delayed: 'placing',
};

/** Attention that needs no more than somebody's `wait`. */
export function needsOnlyWait({ reason }: OrderAttention): boolean {
  return answeredBy[reason] === 'wait';
}

/** The order asks something new, so a person may decide otherwise than before. */
export function asksForDecision(chain: Chain, orderId: string): boolean {
  return chain.attention.some((asked) => asked.orderId === orderId && answeredBy[asked.reason] !== 'other');
}

/** Clears the questions that the order has answered by moving on. */
export function clearAnswered(chain: Chain, now: number): void {
  const standing = new Set(deadlinesOf(chain).map(({ key }) => key));
  clear(chain, ({ key, reason }) => answeredBy[reason] === 'move' && !standing.has(key), now);
}

/** Asks about the orders in play beside the current one, as long as they are. */
export function askAboutLateArrivals(chain: Chain, now: number): void {
  const reason = 'late_arrival';
  const late = lateArrivals(chain).map(({ orderId }) => orderId);
  clear(chain, (asked) => asked.reason === reason && !late.includes(asked.orderId), now);
  for (const orderId of late) raise(chain, { key: `${orderId}/${reason}`, reason, orderId }, now);
}

/** Asks once about a word that may mean an alarm, until another takes its place. The key has a digest: it is logged, and the word is a result. */
export function askAboutWords(chain: Chain, now: number): void {
  const reason = 'unknown_interpretation';
  for (const { orderId, latest } of chain.orders) {
    const { interpretation } = latest;
    if (interpretation === undefined) continue;
    const isKnown = isKnownInterpretation(interpretation);
    const key = `${orderId}/${shortDigest(`${orderId}/${interpretation}`)}`;
    const isOver = (asked: RaisedOrderAttention) => isKnown || asked.key !== key;
    clear(chain, (asked) => asked.reason === reason && asked.orderId === orderId && isOver(asked), now);
    if (!isKnown && !wasRaised(chain, { key, reason })) raise(chain, { key, reason, orderId }, now);
  }
}
