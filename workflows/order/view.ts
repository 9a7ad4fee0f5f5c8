import { workflowInfo } from '@temporalio/workflow';
import { compareText, omitNullish } from '../../protocol/json.js';
import { meaningOf, readStatus } from '../../protocol/order/lifecycle.js';
import type { KitOrderResult } from '../../protocol/order/messages.js';
import type {
  ChainLink,
  OrderPhase,
  OrderState,
  TimelineEntry,
  Waiting,
  CriticalResult,
} from '../../protocol/order/state.js';
import { attentionLines, attentionAttributes } from '../entity/attention.js';
import {
  byActor,
  code,
  moment,
  plain,
  sentence,
  table,
  untilResumed,
  waitingLine,
  words,
  showToOperators,
} from '../entity/operators.js';
import { iso } from '../entity/spans.js';
import {
  ordersOf,
  currentOrder,
  isAwaitedImport,
  isKit,
  isOfTransactionOf,
  isTaken,
  needsSuccessor,
  outcomeOf,
  registeredAs,
  replacementOf,
  shipsKit,
  type Chain,
  type ChainOrder,
} from './chain.js';
import { isAlarmed, shownCriticalResult } from './critical-results.js';
import { deadlinesOf, givingUpAt, isKeyOfReminder, isReminder, type Deadline } from './deadlines.js';
import { firstVersion } from '../entity/versions.js';
import {
  labAttentionSinceKey,
  labPhaseKey,
  labReferenceKey,
  ofOrders,
  ofTransaction,
  ofUser,
} from '../../protocol/search-attributes.js';

/** The answer of `state` and of every command. */
export function stateOf(chain: Chain): OrderState {
  const current = currentOrder(chain);
  const { standing, latest } = current;
  const { userId, sampleId, interpretation, shipment } = latest;
  const outcome = outcomeOf(chain);
  const criticalResult = shownCriticalResult(chain);
  return {
    rootOrderId: chain.rootOrderId,
    orderId: current.orderId,
    ...omitNullish({ reference: chain.reference, userId, sampleId, interpretation, criticalResult, shipment, outcome }),
    phase: standing.phase,
    status: statusOf(current),
    registered: standing.registered,
    ...(standing.problem && { problem: problemOf(standing.problem) }),
    waiting: waitingOf(chain),
    attention: chain.attention.map(({ key: _key, time: _time, ...attention }) => attention),
    chain: linksOf(chain),
    timeline: timelineOf(chain),
  };
}

export function resultOf(chain: Chain): KitOrderResult {
  const { policy, handedOver, replacements, resolutions: answers, attention, raised, criticalResults } = chain;
  const { labTestId, labAccountId, madeElsewhere } = chain;
  const reminded = chain.handledDeadlines.filter(isKeyOfReminder);
  const outcome = outcomeOf(chain) ?? 'unresolved';
  return {
    version: firstVersion,
    ...stateOf(chain),
    ...{ outcome, policy, handedOver, replacements, answers, attention, raised, criticalResults },
    ...omitNullish({ labTestId, labAccountId, madeElsewhere }),
    ...(reminded.length > 0 && { reminded }),
  };
}

function linksOf(chain: Chain): ChainLink[] {
  const orders = ordersOf(chain);
  return orders.map((order) => {
    const { interpretation, flaggedCritical } = order.latest;
    const sampleId = registeredAs(chain, order.orderId);
    const replaces = predecessorOf(chain, orders, order);
    const replacedBy = orders.find((other) => predecessorOf(chain, orders, other) === order.orderId)?.orderId;
    return {
      orderId: order.orderId,
      origin: originOf(chain, order),
      phase: order.standing.phase,
      status: statusOf(order),
      ...omitNullish({ interpretation, flaggedCritical, sampleId, replaces, replacedBy }),
    };
  });
}

function originOf(chain: Chain, { orderId, latest }: ChainOrder): string {
  return chain.replacements.some((replacement) => replacement.orderId === orderId)
    ? 'replacement'
    : (latest.origin ?? 'initial');
}

/** The order that was replaced, or the one that a redraw of the same transaction follows. */
function predecessorOf(chain: Chain, orders: readonly ChainOrder[], order: ChainOrder): string | undefined {
  const replaced = chain.replacements.find(({ orderId }) => orderId === order.orderId)?.replaces;
  const { parentId } = order.latest;
  if (replaced !== undefined || (originOf(chain, order) === 'initial' && parentId === undefined)) return replaced;
  const sameTransaction = (other: ChainOrder) =>
    other.latest.transaction?.id === order.latest.transaction?.id || isOfTransactionOf(order, other);
  const earlier = orders.slice(0, orders.indexOf(order)).findLast(sameTransaction)?.orderId;
  const parent = orders.find(({ orderId }) => orderId === parentId && orderId !== order.orderId)?.orderId;
  return parent ?? earlier;
}

function timelineOf(chain: Chain): TimelineEntry[] {
  const reported = chain.orders.flatMap(({ orderId, events }) =>
    events.map(({ id, ...event }): TimelineEntry => ({ orderId, eventId: id, ...event })),
  );
  const acknowledged = chain.criticalResults.flatMap(({ orderId, acknowledgements }) =>
    acknowledgements.map(({ outcome, ...acknowledgement }): TimelineEntry => ({
      orderId,
      status: 'critical_result_acknowledged',
      detail: outcome,
      ...acknowledgement,
    })),
  );
  const decided = chain.journal.flatMap(
    ({ orderId = chain.rootOrderId, what: _what, status, by, ...entry }): TimelineEntry[] =>
      status === undefined || by === undefined ? [] : [{ orderId, status, by, ...entry }],
  );
  // `|| 0`: two without an event compare as Infinity - Infinity, which is NaN.
  return [...reported, ...acknowledged, ...decided].toSorted(
    (a, b) => compareText(a.at, b.at) || (a.eventId ?? Infinity) - (b.eventId ?? Infinity) || 0,
  );
}

function statusOf({ standing, latest }: ChainOrder): string {
  const { last, endedByStatus } = standing;
  return (endedByStatus ? latest.status : last?.status) ?? latest.status ?? 'unknown';
}

function problemOf({ eventId: _eventId, ...problem }: NonNullable<ChainOrder['standing']['problem']>) {
  return problem;
}

const waitedFor: Readonly<Record<OrderPhase, string>> = {
  preparing: 'the kit to be shipped',
  awaiting_registration: 'the kit to be registered',
  in_transit_to_customer: 'the kit to be delivered',
  with_customer: 'the sample to be sent back',
  collecting_sample: 'the sample to be collected',
  in_transit_to_lab: 'the sample to reach the lab',
  at_lab: 'the results',
  completed: 'nothing',
  failed: 'a decision: wait, replace or abandon',
  cancelled: 'nothing',
  unknown: 'the next event',
};

/**
 * `until` is the nearest deadline. Once one was missed, the time at which the order is given up counts too. Reminders do not count, nor
 * does the registration deadline while something else is overdue: it is not what the order waits for.
 */
export function waitingOf(chain: Chain): Waiting {
  if (outcomeOf(chain) !== undefined) return { for: 'nothing' };
  const deadlines = deadlinesOf(chain);
  const givingUp = givingUpAt(chain, deadlines);
  const limit = deadlines.find(
    (deadline) =>
      !chain.handledDeadlines.includes(deadline.key) &&
      !isReminder(deadline) &&
      (givingUp === undefined || deadline.name !== 'registration_overdue'),
  );
  const until = Math.min(limit?.at ?? Infinity, givingUp ?? Infinity);
  return {
    for: whatFor(chain, currentOrder(chain), limit),
    ...(Number.isFinite(until) && { until: iso(until) }),
  };
}

function whatFor(chain: Chain, current: ChainOrder, limit: Deadline | undefined): string {
  const { phase, problem, deliveredAt } = current.standing;
  const reservation = replacementOf(chain, current.orderId);
  if (limit?.name === 'redraw') return 'the next order';
  // A replacement that could not be ordered is still needed.
  const isAskedAbout = chain.attention.some(
    ({ reason, orderId }) => reason === 'replacement_failed' && orderId === current.orderId,
  );
  if (reservation?.stopReason !== undefined && isAskedAbout) return untilResumed(reservation.stopReason);
  if (needsSuccessor(current)) {
    if (reservation && reservation.orderId === undefined) return 'the next order';
    return shipsKit(current) ? waitedFor.failed : 'a decision: wait or abandon';
  }
  if (problem) return phase === 'at_lab' ? 'the lab to continue with the sample' : 'the problem in transit to clear';
  if (phase === 'awaiting_registration' && deliveredAt === undefined) return 'the kit to be shipped and registered';
  if (isAwaitedImport(current)) return waitedFor.at_lab;
  const isVisit = !isKit(current) && (phase === 'preparing' || phase === 'collecting_sample');
  if (isVisit) return isTaken(current) ? waitedFor.at_lab : waitedFor.collecting_sample;
  return waitedFor[phase];
}

/** The case file that the Web UI shows, in Markdown: where the order is, what it waits for, and what happened. */
export function caseFileOf(chain: Chain, state = stateOf(chain)): string {
  const reference = state.reference === undefined ? '' : `, reference ${code(state.reference)}`;
  return [
    `### ${sentence(state.phase)}`,
    `Order ${code(state.orderId)}${reference}`,
    state.outcome === undefined ? waitingLine(state.waiting) : outcomeLine(state),
    ...(state.problem ? [`**Problem** ${wordsFor(state.problem.status)} since ${moment(state.problem.since)}`] : []),
    ...(state.criticalResult ? [criticalLine(state.criticalResult)] : []),
    ...attentionLines(state.attention),
    ...(state.chain.length > 1 ? [state.chain.map(kitLine).join('\n')] : []),
    table(['When (UTC)', 'Order', 'What happened'], rowsOf(chain, state)),
  ].join('\n\n');
}

function outcomeLine({ outcome, interpretation }: OrderState): string {
  const results = interpretation === undefined ? '' : `, results ${plain(interpretation)}`;
  return `**Outcome** ${words(outcome ?? '')}${results}`;
}

/** Without the note, which may be personal: a case file is read by more people than it is meant for. */
function criticalLine({ orderId, status, since, isOpen, reminders, acknowledgements }: CriticalResult): string {
  const head = `**Critical result** ${plain(status)}, order ${code(orderId)}, since ${moment(since)}`;
  const last = acknowledgements.at(-1);
  if (isOpen || !last) return `${head}: not acknowledged, reminders sent: ${reminders}`;
  return `${head}: acknowledged by ${code(last.by)}, ${words(last.outcome)}`;
}

function kitLine({ orderId, origin, phase, replacedBy }: ChainLink): string {
  const next = replacedBy === undefined ? '' : `, followed by ${shortened(replacedBy)}`;
  return `- ${shortened(orderId)} ${plain(words(origin))}: ${words(phase)}${next}`;
}

interface Row {
  at: string;
  orderId: string;
  what: string;
}

/** The reports of the service and the actions that followed, in the order of time. */
function rowsOf({ journal, rootOrderId }: Chain, { timeline }: OrderState): string[][] {
  // What people decided stands in the journal, in words of ours.
  const events = timeline.filter(({ eventId }) => eventId !== undefined);
  const reported = events.map(({ at, orderId, status, detail }): Row => {
    const more = detail === undefined ? '' : `, ${plain(words(detail))}`;
    return { at, orderId, what: `${wordsFor(status)}${more} (${code(status)})` };
  });
  const done = journal.map(({ at, orderId = rootOrderId, what, by }): Row => ({
    at,
    orderId,
    what: `**${what}**${byActor(by)}`,
  }));
  return [...reported, ...done]
    .toSorted((a, b) => compareText(a.at, b.at))
    .map(({ at, orderId, what }) => [moment(at), shortened(orderId), what]);
}

/** A status without words here is shown in its own. */
function wordsFor(status: string): string {
  return meaningOf(status).words ?? plain(sentence(readStatus(status).low));
}

function shortened(orderId: string): string {
  return code(orderId.slice(0, 8));
}

/** Operators see an alarm as soon as it comes in. Notifications need the chain: their ids count what an earlier run has announced. */
export function showUnidentified(chain: Chain): void {
  if (chain.identified) return;
  const since = workflowInfo().typedSearchAttributes.get(labAttentionSinceKey)?.toISOString() ?? iso(Date.now());
  const asked = [...(isAlarmed(chain) ? [{ reason: 'critical_result', since }] : []), ...chain.attention];
  if (asked.length === 0) return;
  const what = `Order ${code(chain.rootOrderId)}: the lab service has not answered yet which chain it belongs to`;
  showToOperators(() => [what, ...attentionLines(asked)].join('\n\n'), attentionAttributes(asked));
}

/** Shows the case file and the search attributes of the order as it is now. */
export function show(chain: Chain): void {
  const { rootOrderId, reference, attention } = chain;
  const { orderId, standing, latest } = currentOrder(chain);
  const orderIds = ordersOf(chain).map((order) => order.orderId);
  showToOperators(
    () => caseFileOf(chain),
    [
      { key: labPhaseKey, value: standing.phase },
      ofOrders(rootOrderId, orderId, orderIds),
      ...attentionAttributes(attention),
      ...(reference === undefined ? [] : [{ key: labReferenceKey, value: reference }]),
      ...ofTransaction(latest.transaction?.id),
      ...ofUser(latest.userId),
    ],
  );
}
