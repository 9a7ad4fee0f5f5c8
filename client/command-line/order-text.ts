import type { PlacingState } from '../../protocol/order/placing-messages.js';
import type { CriticalResult, OrderState } from '../../protocol/order/state.js';
import type { CancelledPlacing } from '../order/order-handle.js';
import type { PolicyChanged } from '../order/orders.js';
import { attentionText, facts, line, moment, sections, table, waiting, words } from './output.js';
import type { FailureReport } from './failures.js';

/* Orders as text for people. */

interface FailedChange {
  rootOrderId: string;
  reference?: string;
  error: FailureReport;
}

/** The effect of a change of the policy on each order: a line for everything that moves. */
export function policyChangeText(changed: readonly PolicyChanged[], failed: readonly FailedChange[]): string {
  if (changed.length + failed.length === 0) return 'No orders.';
  const rows = changed.flatMap(({ rootOrderId, reference, moved }) => {
    if (moved.length === 0) return [[rootOrderId, reference, 'nothing moves']];
    return moved.map(({ name, before, after }) => [rootOrderId, reference, words(name), moment(before), moment(after)]);
  });
  const failures = failed.map(({ rootOrderId, reference, error }) => [
    rootOrderId,
    reference,
    `${error.name}: ${error.message}`,
  ]);
  return sections(
    rows.length > 0 ? table(['Order', 'Reference', 'What', 'Before', 'Afterwards'], rows) : undefined,
    failures.length > 0 ? table(['Not changed', 'Reference', 'Why'], failures) : undefined,
  );
}

/** The case file: the order's phase, what it waits for, and its timeline. */
export function orderText(state: OrderState | PlacingState | CancelledPlacing): string {
  if (!('chain' in state)) return placingText(state);
  const { chain, timeline, attention, problem } = state;
  const kits = chain.map(({ orderId, origin, phase, replacedBy }) => [orderId, origin, words(phase), replacedBy]);
  const happened = timeline.map(({ at, orderId, status, detail, by, note }) => {
    const who = by === undefined ? [] : [`by ${by}`];
    const details = [...(detail === undefined ? [] : [detail]), ...who, ...(note === undefined ? [] : [note])];
    return [moment(at), orderId.slice(0, 8), status, details.join(', ')];
  });
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
      ['Critical result', state.criticalResult && criticalText(state.criticalResult)],
      ['Alarm', state.criticalResult?.alarm],
      ['Forwards to', state.forwardsTo],
    ]),
    attentionText(attention),
    kits.length > 1 ? table(['Kit', 'Origin', 'Phase', 'Followed by'], kits) : undefined,
    table(['When', 'Order', 'Status', 'Detail'], happened),
  );
}

function placingText(state: PlacingState | CancelledPlacing): string {
  if (!('phase' in state)) return `The placing of ${state.reference} was cancelled: there is no order.`;
  const { reference, userId, labTestIds, phase, attention } = state;
  return sections(
    facts([
      ['Reference', reference],
      ['User', userId],
      ['Lab tests', labTestIds?.join(', ')],
      ['Phase', words(phase)],
      ['Waits for', waiting(state.waiting)],
    ]),
    attentionText(attention),
  );
}

function criticalText({ orderId, status, since, isOpen, reminders }: CriticalResult): string {
  const answer = isOpen ? `not acknowledged, reminders sent: ${reminders}` : 'acknowledged';
  return `${status}, of order ${orderId}, since ${moment(since)}: ${answer}`;
}

/** One change in a line. */
export function orderLine(state: OrderState | PlacingState): string {
  if (state.phase === 'placing') {
    const asks = state.attention.map(({ reason }) => `attention: ${words(reason)}`);
    return line(state.reference, words(state.phase), ...asks, `waits for ${waiting(state.waiting)}`);
  }
  const { timeline, phase, status, attention, outcome } = state;
  const asks = attention.map(({ reason }) => `attention: ${words(reason)}`);
  const end = outcome === undefined ? `waits for ${waiting(state.waiting)}` : `ended: ${words(outcome)}`;
  return line(moment(timeline.at(-1)?.at) ?? '', words(phase), status, ...asks, end);
}
