import { currentOrder, findOrder, note, type Case, type RaisedAttention } from './case.js';
import { deadlinesOf } from './deadlines.js';
import { enqueue, headOf } from './announcements.js';
import type { AttentionReason } from './messages.js';

/** Questions that stand as long as their deadline does: the order's next move answers them. */
const answeredByMoving: readonly AttentionReason[] = [
  'registration_overdue',
  'shipping_overdue',
  'delivery_overdue',
  'return_overdue',
  'transit_to_lab_overdue',
  'results_overdue',
  'collection_overdue',
  'problem_persists',
  'decision_needed',
  'replacement_failed',
];

export interface Question {
  /** Identifies the question: it is raised once. */
  key: string;
  reason: AttentionReason;
  orderId: string;
}

/** Asks a person to look, once while the question stands, and tells the product. */
export function raise(kase: Case, { key, reason, orderId }: Question, now: number): void {
  if (kase.attention.some((raised) => raised.key === key && raised.reason === reason)) return;
  const since = new Date(now).toISOString();
  const attention: RaisedAttention = { key, reason, orderId, since, time: countRaise(kase, `${key}.${reason}`) };
  kase.attention.push(attention);
  note(kase, orderId, `attention: ${reason.replaceAll('_', ' ')}`, now);
  tell(kase, attention, 'attention_raised', now);
}

function countRaise(kase: Case, key: string): number {
  const before = kase.raised.find((raised) => raised.key === key)?.times ?? 0;
  kase.raised = [...kase.raised.filter((raised) => raised.key !== key), { key, times: before + 1 }];
  return before + 1;
}

export function clear(kase: Case, isAnswered: (attention: RaisedAttention) => boolean, now: number): void {
  const answered = kase.attention.filter(isAnswered);
  if (answered.length === 0) return;
  kase.attention = kase.attention.filter((attention) => !isAnswered(attention));
  for (const attention of answered) {
    note(kase, attention.orderId, `no more attention: ${attention.reason.replaceAll('_', ' ')}`, now);
    tell(kase, attention, 'attention_cleared', now);
  }
}

/** Clears the questions that the order has answered by moving on. */
export function clearAnswered(kase: Case, now: number): void {
  const standing = new Set(deadlinesOf(kase).map(({ key }) => key));
  clear(kase, ({ key, reason }) => answeredByMoving.includes(reason) && !standing.has(key), now);
}

function tell(
  kase: Case,
  attention: RaisedAttention,
  type: 'attention_raised' | 'attention_cleared',
  now: number,
): void {
  const { key, time, ...data } = attention;
  const which = time === 1 ? '' : `.${time}`;
  const order = findOrder(kase, attention.orderId) ?? currentOrder(kase);
  enqueue(kase, {
    ...headOf(kase, order, `${key}.${attention.reason}${which}/${type}`, new Date(now).toISOString()),
    type,
    data,
  });
}
