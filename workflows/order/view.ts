import { compareText } from '../canonical-json.js';
import { chainOf, currentOrder, needsSuccessor, outcomeOf, replacementOf, type Case, type ChainOrder } from './case.js';
import { deadlinesOf, isKit, type Deadline } from './deadlines.js';
import type {
  Attention,
  ChainLink,
  KitOrderResult,
  OrderPhase,
  OrderState,
  TimelineEntry,
  Waiting,
} from './messages.js';

/** What `state` and every command answer with. */
export function stateOf(kase: Case): OrderState {
  const current = currentOrder(kase);
  const { standing, greatest } = current;
  const outcome = outcomeOf(kase);
  return {
    rootOrderId: kase.rootOrderId,
    orderId: current.orderId,
    ...(kase.reference !== undefined && { reference: kase.reference }),
    ...(greatest.userId !== undefined && { userId: greatest.userId }),
    phase: standing.phase,
    status: statusOf(current),
    registered: standing.registered,
    ...(greatest.sampleId !== undefined && { sampleId: greatest.sampleId }),
    ...(standing.problem && { problem: problemOf(standing.problem) }),
    ...(greatest.interpretation !== undefined && { interpretation: greatest.interpretation }),
    ...(greatest.shipment && { shipment: greatest.shipment }),
    waiting: waitingOf(kase),
    attention: attentionOf(kase),
    chain: linksOf(kase),
    timeline: timelineOf(kase),
    ...(outcome !== undefined && { outcome }),
  };
}

export function resultOf(kase: Case): KitOrderResult {
  const current = currentOrder(kase);
  const { interpretation } = current.greatest;
  return {
    outcome: outcomeOf(kase) ?? 'unresolved',
    orderId: current.orderId,
    rootOrderId: kase.rootOrderId,
    ...(kase.reference !== undefined && { reference: kase.reference }),
    ...(interpretation !== undefined && { interpretation }),
    chain: linksOf(kase),
    timeline: timelineOf(kase),
    policy: kase.policy,
    replacements: kase.replacements,
  };
}

export function attentionOf(kase: Case): Attention[] {
  return kase.attention.map(({ key: _key, time: _time, ...attention }) => attention);
}

function linksOf(kase: Case): ChainLink[] {
  const chain = chainOf(kase);
  return chain.map((order) => {
    const replaces = predecessorOf(kase, chain, order);
    const replacedBy = chain.find((other) => predecessorOf(kase, chain, other) === order.orderId)?.orderId;
    return {
      orderId: order.orderId,
      origin: originOf(kase, order),
      phase: order.standing.phase,
      status: statusOf(order),
      ...(replaces !== undefined && { replaces }),
      ...(replacedBy !== undefined && { replacedBy }),
    };
  });
}

function originOf(kase: Case, { orderId, greatest }: ChainOrder): string {
  return kase.replacements.some((replacement) => replacement.orderId === orderId)
    ? 'replacement'
    : (greatest.origin ?? 'initial');
}

/** The order that was replaced, or the one that a redraw of the same transaction follows. */
function predecessorOf(kase: Case, chain: readonly ChainOrder[], order: ChainOrder): string | undefined {
  const replaced = kase.replacements.find(({ orderId }) => orderId === order.orderId)?.replaces;
  const { parentId } = order.greatest;
  if (replaced !== undefined || (originOf(kase, order) === 'initial' && parentId === undefined)) return replaced;
  const sameTransaction = (other: ChainOrder) => other.greatest.transaction?.id === order.greatest.transaction?.id;
  const earlier = chain.slice(0, chain.indexOf(order)).findLast(sameTransaction)?.orderId;
  const parent = chain.find(({ orderId }) => orderId === parentId && orderId !== order.orderId)?.orderId;
  return parent ?? earlier;
}

function timelineOf(kase: Case): TimelineEntry[] {
  return kase.orders
    .flatMap(({ orderId, events }) => events.map(({ id, ...event }) => ({ orderId, eventId: id, ...event })))
    .toSorted((a, b) => compareText(a.at, b.at) || a.eventId - b.eventId);
}

function statusOf({ standing, greatest }: ChainOrder): string {
  return standing.last?.status ?? greatest.status ?? 'unknown';
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

/** Until when: the limit that is nearest. Reminders on the way to it are no limits. */
function waitingOf(kase: Case): Waiting {
  if (outcomeOf(kase) !== undefined) return { for: 'nothing' };
  const limit = deadlinesOf(kase).find(({ key, name }) => !kase.met.includes(key) && !name.endsWith('_reminder'));
  return {
    for: whatFor(kase, currentOrder(kase), limit),
    ...(limit && { until: new Date(limit.at).toISOString() }),
  };
}

function whatFor(kase: Case, current: ChainOrder, limit: Deadline | undefined): string {
  const { phase, problem, deliveredAt } = current.standing;
  const claim = replacementOf(kase, current.orderId);
  if (limit?.name === 'redraw') return 'the order that follows';
  if (needsSuccessor(current))
    return claim && claim.orderId === undefined ? 'the order that follows' : waitedFor.failed;
  if (problem) return phase === 'at_lab' ? 'the lab to go on with the sample' : 'the problem in transit to clear';
  if (phase === 'awaiting_registration' && deliveredAt === undefined) return 'the kit to be shipped and registered';
  return phase === 'preparing' && !isKit(current) ? waitedFor.collecting_sample : waitedFor[phase];
}
