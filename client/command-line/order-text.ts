import type { OrderState } from '../../workflows/order/messages.js';
import type { OrderSummary } from '../orders/order-list.js';
import { facts, line, moment, sections, table, waiting, words } from './output.js';

/* How orders look to people. */

export function orderTable(orders: readonly OrderSummary[]): string {
  if (orders.length === 0) return 'No orders.';
  return table(
    ['Order', 'Reference', 'Phase', 'Attention', 'User', 'Followed since', 'Ended'],
    orders.map(({ rootOrderId, reference, phase, attention, userId, startedAt, endedAt }) => [
      rootOrderId,
      reference,
      words(phase ?? ''),
      attention.map(words).join(', '),
      userId,
      moment(startedAt),
      moment(endedAt),
    ]),
  );
}

/** The case file: where the order is, what it waits for, and what happened. */
export function orderText(state: OrderState): string {
  const { chain, timeline, attention, problem } = state;
  const kits = chain.map(({ orderId, origin, phase, replacedBy }) => [orderId, origin, words(phase), replacedBy]);
  const happened = timeline.map(({ at, orderId, status, detail }) => [moment(at), orderId.slice(0, 8), status, detail]);
  return sections(
    facts([
      ['Order', state.orderId],
      ['First order', state.rootOrderId === state.orderId ? undefined : state.rootOrderId],
      ['Reference', state.reference],
      ['User', state.userId],
      ['Phase', words(state.phase)],
      ['Status', state.status],
      ['Registered', state.registered],
      ['Sample', state.sampleId],
      ['Problem', problem && `${problem.status} since ${moment(problem.since)}`],
      ['Waits for', state.outcome === undefined ? waiting(state.waiting) : undefined],
      ['Outcome', words(state.outcome ?? '')],
      ['Interpretation', state.interpretation],
      ['Forwards to', state.forwardsTo],
    ]),
    attention.map(({ reason, since }) => `Attention: ${words(reason)} since ${moment(since)}`).join('\n'),
    kits.length > 1 ? table(['Kit', 'Origin', 'Phase', 'Followed by'], kits) : undefined,
    table(['When (UTC)', 'Order', 'Status', 'Detail'], happened),
  );
}

/** One change in a line. */
export function orderLine(state: OrderState): string {
  const { timeline, phase, status, attention, outcome } = state;
  const asks = attention.map(({ reason }) => `attention: ${words(reason)}`);
  const end = outcome === undefined ? `waits for ${waiting(state.waiting)}` : `ended: ${words(outcome)}`;
  return line(moment(timeline.at(-1)?.at) ?? '', words(phase), status, ...asks, end);
}
