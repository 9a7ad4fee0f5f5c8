import { kitOrderId } from '../../protocol/ids.js';
import { readStatus } from '../../protocol/order/lifecycle.js';
import type { RaisedOrderAttention } from '../../protocol/order/state.js';
import type { NotificationHead, OrderNotification } from '../../protocol/order/messages.js';
import type { OrderEvent } from '../../service/order/snapshot.js';
import { attentionVerbsFor } from '../entity/attention.js';
import { enqueue as enqueueIn, notificationOf, shortDigest } from '../entity/outbox.js';
import { iso } from '../entity/spans.js';
import {
  ordersOf,
  findOrder,
  lastEventId,
  type Announced,
  type Chain,
  type ChainOrder,
  currentOrder,
} from './chain.js';
import type { KitOrderRun } from './run.js';
import { omitNullish } from '../../protocol/json.js';

export function enqueue(chain: Chain, notification: OrderNotification): void {
  const { type, orderId, rootOrderId, userId } = notification;
  const from = { area: 'order', source: kitOrderId(rootOrderId), subject: orderId };
  const needsLink = type === 'registration_reminder' && userId !== undefined;
  enqueueIn(chain, { ...notificationOf(from, notification), ...(needsLink && { portalLink: { userId, orderId } }) });
}

export function headOf(chain: Chain, { orderId, latest }: ChainOrder, id: string, at: string): NotificationHead {
  const { rootOrderId, reference } = chain;
  return omitNullish({ id, at, orderId, rootOrderId, reference, userId: latest.userId });
}

/** Announces what is new in any order of the chain: its results, corrections, cancellation, and the phase it is in. */
export function announceNews(chain: Chain): void {
  for (const order of ordersOf(chain)) {
    const before = chain.announced.find(({ orderId }) => orderId === order.orderId);
    // Without an event and an end there is nothing to announce, and nothing that was announced.
    const { last, endedByStatus } = order.standing;
    if ((!last && !endedByStatus) || (before && !isNews(order, before))) continue;
    const fresh = order.events.filter(
      (event) => event.id > (before?.eventId ?? -1) && !(before && isAnnouncedEnd(event, before)),
    );
    for (const event of fresh) announceEvent(chain, order, event, before);
    const endsNow = endedByStatus === true && before?.phase !== order.standing.phase;
    if (before && !endsNow && !fresh.some((event) => isResult(event) || isPartial(event, before))) {
      announceInterpretation(chain, order, before);
    }
    if (endedByStatus) announceEndByStatus(chain, order, before);
    else if (fresh.length > 0) announcePhase(chain, order, before);
    markAnnounced(chain, order);
  }
}

function isNews(order: ChainOrder, before: Announced): boolean {
  const { endedByStatus, phase } = order.standing;
  return (
    lastEventId(order) > before.eventId ||
    hasChanged(order, before) ||
    (endedByStatus === true && phase !== before.phase)
  );
}

/** The end was announced by the order's own status: this is the event that was missing. */
function isAnnouncedEnd({ status }: OrderEvent, { byStatus, phase }: Announced): boolean {
  const { top, low } = readStatus(status);
  return byStatus === true && top === phase && low !== 'corrected';
}

/** A field that is missing for once takes nothing back. */
function hasChanged({ latest: { interpretation } }: ChainOrder, before: Announced): boolean {
  return interpretation !== undefined && interpretation !== before.interpretation;
}

/** Announces each new kit once, whether the creation's answer or a webhook made it known. */
export function announceReplacements(chain: Chain, now: number): void {
  for (const replacement of chain.replacements) {
    const placed = findOrder(chain, replacement.orderId);
    if (replacement.announced || !placed) continue;
    const id = `${placed.orderId}/${placed.events[0]?.id ?? 0}/replacement`;
    const data = { replaces: replacement.replaces };
    enqueue(chain, { ...headOf(chain, placed, id, iso(now)), type: 'replacement', data });
    replacement.announced = true;
  }
}

/** Records what has been announced of the order. */
export function markAnnounced(chain: Chain, order: ChainOrder): void {
  const { status: problem, detail } = order.standing.problem ?? {};
  const before = chain.announced.find(({ orderId }) => orderId === order.orderId);
  const interpretation = order.latest.interpretation ?? before?.interpretation;
  const announced: Announced = {
    orderId: order.orderId,
    eventId: lastEventId(order),
    phase: order.standing.phase,
    ...omitNullish({ problem, detail, interpretation }),
    ...(order.standing.endedByStatus && { byStatus: true }),
  };
  chain.announced = [...chain.announced.filter(({ orderId }) => orderId !== order.orderId), announced];
}

function announceEvent(chain: Chain, order: ChainOrder, event: OrderEvent, before: Announced | undefined): void {
  const { top, low } = readStatus(event.status);
  // A snapshot that leaves it out for once takes nothing back.
  const interpretation = order.latest.interpretation ?? before?.interpretation;
  const head = (type: OrderNotification['type']) =>
    headOf(chain, order, `${order.orderId}/${event.id}/${type}`, event.at);
  const data = interpretation === undefined ? {} : { interpretation };
  const isCorrected = low === 'corrected';
  // The event of the first results may have been skipped.
  if (top === 'completed' && !(isCorrected && wasResultKnown(order, event, before)))
    enqueue(chain, { ...head('result'), type: 'result', data });
  if (isCorrected) enqueue(chain, { ...head('correction'), type: 'correction', data });
  else if (top !== 'completed' && isPartial(event, before)) {
    enqueue(chain, { ...head('partial_results'), type: 'partial_results', data: { status: event.status, ...data } });
  }
  if (top === 'cancelled') {
    enqueue(chain, { ...head('cancellation'), type: 'cancellation', data: { status: event.status } });
  }
}

/** Results that are said to mean something, or something else, without an event that says so. Before any results there is nothing to correct. */
function announceInterpretation(chain: Chain, order: ChainOrder, before: Announced): void {
  if (!hasChanged(order, before)) return;
  const { interpretation = '', updatedAt } = order.latest;
  const result = order.events.findLast(isResult);
  const partial = order.events.findLast((event) => isPartial(event, before));
  const isAnnounced = result !== undefined || before.phase === 'completed';
  const { id, at } = result ?? partial ?? lastMoment(order);
  // A word may come and go: the time of the change distinguishes one from the next. Ids are logged, and the word is part of a result.
  const word = shortDigest(`${order.orderId}/${interpretation}`);
  const what = [id, word, ...(updatedAt === undefined ? [] : [updatedAt])].join('.');
  const head = (type: OrderNotification['type']) =>
    headOf(chain, order, `${order.orderId}/${what}/${type}`, updatedAt ?? at);
  const type = before.interpretation === undefined ? 'result' : 'correction';
  if (isAnnounced) enqueue(chain, { ...head(type), type, data: { interpretation } });
  else if (partial) {
    const data = { status: partial.status, interpretation };
    enqueue(chain, { ...head('partial_results'), type: 'partial_results', data });
  }
}

/** Some results can be read, and all were not announced before. A redraw that follows brings the others. */
function isPartial({ status }: OrderEvent, before: Announced | undefined): boolean {
  const { low } = readStatus(status);
  return before?.phase !== 'completed' && (low === 'partial_results' || low === 'redraw_available');
}

function wasResultKnown({ events }: ChainOrder, { id }: OrderEvent, before: Announced | undefined): boolean {
  return before?.phase === 'completed' || events.some((event) => event.id < id && isResult(event));
}

function isResult({ status }: OrderEvent): boolean {
  return readStatus(status).top === 'completed';
}

/** One announcement for where the order is now, however many events brought it there. */
function announcePhase(chain: Chain, order: ChainOrder, before: Announced | undefined): void {
  const { phase, problem, lastChange } = order.standing;
  if (!lastChange) return;
  // An event that was announced without its detail is not announced again.
  const isSameReason = ({ detail, eventId }: Announced) => detail === problem?.detail || lastChange.id <= eventId;
  if (before?.phase === phase && before.problem === problem?.status && isSameReason(before)) return;
  enqueue(chain, {
    ...headOf(chain, order, `${order.orderId}/${lastChange.id}/phase_changed`, lastChange.at),
    type: 'phase_changed',
    data: omitNullish({ phase, status: lastChange.status, detail: lastChange.detail, problem: problem?.status }),
  });
}

/** An end that no event reports: its ids are made of the last event and the phase. */
function announceEndByStatus(chain: Chain, order: ChainOrder, before: Announced | undefined): void {
  const { phase } = order.standing;
  if (before?.phase === phase) return;
  const { status = phase, interpretation, updatedAt } = order.latest;
  const { id, at } = lastMoment(order);
  const head = (type: OrderNotification['type']) =>
    headOf(chain, order, `${order.orderId}/${id}.${phase}/${type}`, updatedAt ?? at);
  if (phase === 'completed') {
    enqueue(chain, { ...head('result'), type: 'result', data: interpretation === undefined ? {} : { interpretation } });
  }
  if (phase === 'cancelled') enqueue(chain, { ...head('cancellation'), type: 'cancellation', data: { status } });
  enqueue(chain, { ...head('phase_changed'), type: 'phase_changed', data: { phase, status } });
}

/** The last event's id and time; an order without events has 0 and 1970. */
function lastMoment({ standing: { last } }: ChainOrder): Pick<OrderEvent, 'id' | 'at'> {
  return last ?? { id: 0, at: iso(0) };
}

export const { raise, clear } = attentionVerbsFor<RaisedOrderAttention, Chain>({
  questionOf: ({ rootOrderId }, reason) => ({ key: rootOrderId, reason, orderId: rootOrderId }),
  notify(chain, { key: _key, time: _time, ...data }, { id, type }, now) {
    const order = findOrder(chain, data.orderId) ?? currentOrder(chain);
    enqueue(chain, { ...headOf(chain, order, `${id}/${type}`, iso(now)), type, data });
  },
});

/** Announces an end that no event announced. Completion and cancellation were announced as events. */
export function announceEnd(run: KitOrderRun): void {
  const { chain } = run;
  const { ending: outcome } = chain;
  if (outcome === undefined || chain.endAnnounced) return;
  chain.endAnnounced = true;
  const order = currentOrder(chain);
  const head = headOf(
    chain,
    order,
    `${order.orderId}/${order.standing.last?.id ?? 0}.${outcome}/ended`,
    iso(Date.now()),
  );
  enqueue(chain, { ...head, type: 'ended', data: { outcome } });
}
