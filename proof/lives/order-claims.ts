import { kitOrderId } from '../../protocol/ids.js';
import { standingOf } from '../../protocol/order/lifecycle.js';
import type { KitOrderResult } from '../../protocol/order/messages.js';
import type { PlacingEnd } from '../../protocol/order/placing-messages.js';
import type { OrderState } from '../../protocol/order/state.js';
import { lowOf } from './kits.js';
import type { Order } from './order.js';
import { claims, resultOf, type Stage } from './stage.js';
import type { Reply } from './temporal.js';

/* What must be so of a chain of orders when the dust has settled. */

/** The one kit that the product registers. */
export const registeredSample = 'SAMPLE-1';

type Orders = readonly Order[];

const { endsAreTrue, reflected } = claims;

export function checkOrders(stage: Stage, orders: Orders, chainId: string): void {
  oneKit(stage, orders);
  for (const reply of stage.server.replies) if (reply.refused === undefined) isReflected(stage, orders, reply);
  endIsTrue(stage, orders, chainId);
  nothingGoesBack(stage);
  everyEvent(stage, orders);
  everyAlarm(stage, orders);
}

/** Each creation has a number of its own; where it is not echoed, there is one first kit. */
function oneKit({ life }: Stage, orders: Orders): void {
  const kits = new Map<string, number>();
  for (const { by, passthrough } of orders) {
    if (by === 'product' && passthrough !== undefined) kits.set(passthrough, (kits.get(passthrough) ?? 0) + 1);
  }
  for (const [key, many] of kits) if (many > 1) life.broken('never two kits for one number', `${many} for ${key}`);
}

function isReflected({ life }: Stage, orders: Orders, { name, argument, value }: Reply): void {
  const { orderId } = (argument ?? {}) as { orderId?: string };
  const order = orders.find((each) => each.orderId === orderId);
  const isCancelled = order?.events.some(({ status }) => status.startsWith('cancelled.')) === true;
  if (name === 'cancel' && order && !isCancelled) life.broken(reflected, `cancel, and the order is ${lowOf(order)}`);
  const isRegistered = orders.some(({ sampleId }) => sampleId === registeredSample);
  if (name === 'register' && !isRegistered) life.broken(reflected, 'register, and no kit is registered');
  const { attention, outcome, criticalResult, ...state } = (value ?? {}) as OrderState;
  const isAlarming = criticalResult?.orderId === orderId && criticalResult?.isOpen;
  if (name === 'acknowledgeCriticalResult' && isAlarming)
    life.broken(reflected, 'the alarm was acknowledged, and is open');
  const { decision } = (argument ?? {}) as { decision?: string };
  if (
    decision === 'wait' &&
    attention.some((raised) => raised.orderId === orderId && raised.reason.endsWith('_overdue'))
  )
    life.broken(reflected, 'more time was given, and the question stands');
  // The results of another kit, or the service, may have ended it.
  if (decision === 'abandon' && state.orderId === orderId && !/^(abandoned|completed|cancelled)$/.test(outcome ?? ''))
    life.broken(reflected, `it was given up, and is ${outcome ?? 'open'}`);
  if (name === 'replaceKit' && (value as OrderState).chain.length < 2)
    life.broken(reflected, 'replaceKit, and there is one kit');
}

function endIsTrue({ life, server }: Stage, orders: Orders, chainId: string): void {
  const { outcome, chain = [] } = resultOf<KitOrderResult>(server.latest(chainId));
  const isCompleted = (orderId: string) =>
    orders.some((order) => order.orderId === orderId && standingOf(order.events).phase === 'completed');
  const completed = chain.filter(({ orderId }) => isCompleted(orderId));
  if (outcome === 'cancelled' && chain.length > 0 && completed.length === chain.length)
    life.broken(endsAreTrue, 'cancelled, and there are results');
  if (outcome === 'completed' && completed.length === 0)
    life.broken(endsAreTrue, 'completed, and there are no results');
}

/** After an end is announced, nothing that comes before it in any order's life is. */
function nothingGoesBack({ life, announced }: Stage): void {
  const ended = new Map<string, string>();
  for (const { type, data } of announced) {
    const { orderId, phase } = data as { orderId?: string; phase?: string };
    const before = ended.get(orderId ?? '');
    if (type === 'order.cancellation') ended.set(orderId ?? '', 'cancelled');
    if (type !== 'order.phase_changed' || phase === undefined) continue;
    if (before !== undefined && phase === 'preparing')
      life.broken('nothing that was announced goes back', `${phase} after ${before}`);
    if (phase === 'cancelled' || phase === 'completed') ended.set(orderId ?? '', phase);
  }
}

/** Every result, correction and cancellation that the service has is announced. */
function everyEvent({ life, server, announced }: Stage, orders: Orders): void {
  // If an operator cancels the run, it announces nothing any more.
  if (server.hasCancelled) return;
  const types: Readonly<Record<string, string>> = {
    ...{ completed: 'result', corrected: 'correction', cancelled: 'cancellation' },
  };
  for (const { orderId, events } of orders) {
    for (const { id, status } of events) {
      const type = types[status.split('.').at(-1) ?? ''];
      const isAnnounced = announced.some((each) => each.id === `${orderId}/${id}/${type}`);
      if (type !== undefined && !isAnnounced) life.broken('every event is announced', `${type} of ${orderId.at(-1)}`);
    }
  }
}

function everyAlarm({ life, server, receiver }: Stage, orders: Orders): void {
  // If an operator cancels the run, it raises no alarm any more.
  if (server.hasCancelled) return;
  for (const { orderId, interpretation } of orders) {
    const isAlarmed = receiver.got.some(
      ({ type, data }) => type.endsWith('critical_result') && data['orderId'] === orderId,
    );
    if (interpretation === 'critical' && !isAlarmed)
      life.broken('every critical result is announced', `that of order ${orderId.at(-1)} is not`);
  }
}

export function checkPlacing({ life, server }: Stage, orders: Orders, placingId: string): void {
  const placings = server.executions.filter(({ workflowId }) => workflowId === placingId);
  const first = orders.filter(({ by, origin }) => by === 'product' && origin === 'initial');
  for (const { name, argument, value, repliedAt = 0 } of server.replies) {
    const { outcome } = (value ?? {}) as Partial<PlacingEnd>;
    const isAgain = placings.some(({ startedAt }) => startedAt >= repliedAt);
    if (name === 'cancel' && argument === undefined && outcome === 'cancelled' && first.length > 0 && !isAgain)
      life.broken(endsAreTrue, 'the placing was cancelled, and there is a kit');
  }
  for (const placing of placings) {
    const { orderId } = resultOf<{ orderId: string }>(placing);
    if (orderId !== undefined && !server.latest(kitOrderId(orderId)))
      life.broken(claims.handedOver, 'nobody follows the order');
  }
}
