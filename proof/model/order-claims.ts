import { standingOf } from '../../protocol/order/lifecycle.js';
import type { KitOrderResult } from '../../protocol/order/messages.js';
import type { OrderState, RaisedOrderAttention } from '../../protocol/order/state.js';
import { currentOrder, ordersOf, type Chain } from '../../workflows/order/chain.js';
import { carriedIn, type Step } from './model.js';
import type { OrderWorld } from './order-world.js';

/*
 * What every step of an order must keep to. Each function answers with the faults of one step, in words.
 */

type OrderStep = Step<OrderWorld>;

export function orderFaults(step: OrderStep): string[] {
  const claims = [nothingOnOldKnowledge, nothingLost, everythingAnnounced, commandsReflected, endsStay, oneKit];
  return claims.flatMap((claim) => claim(step));
}

/** Questions and ends that silence alone may bring: the order is read first, because only a webhook may be late. */
const drastic = ['failed', 'unresolved', 'order_gone'];

function nothingOnOldKnowledge(step: OrderStep): string[] {
  const { move, after, calls } = step;
  const outcome = resultOf(step)?.outcome;
  const isDrastic = outcome !== undefined && drastic.includes(outcome);
  const asked = raisedIn(step).filter(({ reason }) => isQuestion(reason));
  const orders =
    calls.some(({ call }) => call.name === 'replaceKitOrder') && !move.update ? ['a new kit is ordered'] : [];
  const decided = [
    ...(isDrastic ? [`the end ${outcome}`] : []),
    ...asked.map(({ reason }) => `the question ${reason}`),
    ...orders,
  ];
  if (decided.length === 0) return [];
  const isRead = calls.some(({ call, answer }) => call.name === 'readOrder' && 'value' in answer);
  const isFresh =
    outcome === 'order_gone' || calls.some(({ call }) => call.name === 'replaceKitOrder') || knowsAll(step);
  void after;
  return isRead && isFresh ? [] : decided.map((what) => `${what} without a read that shows the order as it is`);
}

function isQuestion(reason: RaisedOrderAttention['reason']): boolean {
  return reason.endsWith('_overdue') || reason === 'problem_persists' || reason === 'decision_needed';
}

/** The order that the decision is about, as the workflow knows it, is the order as it is at the service. */
function knowsAll(step: OrderStep): boolean {
  const { world } = step.after;
  const chain = chainAfter(step);
  if (!chain) {
    const { orderId, timeline } = resultOf(step) ?? { timeline: [] };
    const truth = world.orders.find((order) => order.orderId === orderId);
    return timeline.filter((entry) => entry.orderId === orderId).length === (truth?.events.length ?? 0);
  }
  const { orderId, events } = currentOrder(chain);
  const truth = world.orders.find((order) => order.orderId === orderId);
  return events.length === truth?.events.length;
}

/** A report is folded in, whatever came before it. */
function nothingLost(step: OrderStep): string[] {
  const { signal } = step.move;
  if (!signal) return [];
  const { orderId, events } = signal.argument as { orderId: string; events: unknown[] };
  const known = chainAfter(step)?.orders.find((order) => order.orderId === orderId)?.events.length;
  const shown = resultOf(step)?.timeline.filter(
    (entry) => entry.orderId === orderId && entry.eventId !== undefined,
  ).length;
  return (known ?? shown ?? 0) < events.length ? ['an event that was reported got lost'] : [];
}

/** Results, corrections, cancellations, the present phase and an end are announced in the step that learnt of them. */
function everythingAnnounced(step: OrderStep): string[] {
  const { announced } = step.after;
  const chain = chainAfter(step);
  const missing = (id: string) => (announced.includes(id) ? [] : [`not announced: ${id}`]);
  const result = resultOf(step);
  const ended = result !== undefined && !['completed', 'cancelled', 'forwarded'].includes(result.outcome);
  const isEndAnnounced = announced.some((id) => id.endsWith(`.${result?.outcome}/ended`));
  const faults = ended && !isEndAnnounced ? [`the end ${result.outcome} was not announced`] : [];
  for (const { orderId, events, standing } of chain ? ordersOf(chain) : []) {
    const said = chain?.announced.find((mark) => mark.orderId === orderId)?.phase;
    if (standing.last && said !== standing.phase) faults.push(`the phase ${standing.phase} was not announced`);
    for (const { id, status } of events) {
      const [top = ''] = status.split('.');
      if (status.endsWith('.corrected')) faults.push(...missing(`${orderId}/${id}/correction`));
      else if (top === 'completed') faults.push(...missing(`${orderId}/${id}/result`));
      if (top === 'cancelled') faults.push(...missing(`${orderId}/${id}/cancellation`));
    }
  }
  return faults;
}

/** A command that was carried out shows in its answer, and in everything that follows. */
function commandsReflected(step: OrderStep): string[] {
  const { reply, move } = step;
  if (!move.update || !reply || reply.refused !== undefined) return [];
  const state = reply.value as OrderState;
  const { orderId = '', decision = move.update.name } = move.update.argument as { orderId?: string; decision?: string };
  return isReflected(step, state, decision, orderId)
    ? []
    : [`the command ${decision} was acknowledged and had no effect`];
}

function isReflected(step: OrderStep, state: OrderState, command: string, orderId: string): boolean {
  const chain = chainAfter(step);
  const link = state.chain.find((order) => order.orderId === orderId);
  switch (command) {
    case 'cancel':
      return link?.phase === 'cancelled';
    case 'register':
      return state.timeline.some((entry) => entry.orderId === orderId && entry.status.endsWith('testkit_registered'));
    case 'replace':
    case 'replaceKit':
      return link?.replacedBy !== undefined || state.chain.length > 1;
    case 'abandon':
      // The results of another kit, or the service, may have ended it; or another kit is under way.
      if (state.outcome === 'completed' || state.outcome === 'cancelled' || state.orderId !== orderId) return true;
      return state.outcome === 'abandoned' && (chain?.ending ?? resultOf(step)?.outcome) === 'abandoned';
    case 'wait':
      return !state.attention.some((raised) => raised.orderId === orderId && raised.reason.endsWith('_overdue'));
    case 'acknowledgeCriticalResult':
      return state.criticalResult?.isOpen === false || state.criticalResult?.orderId !== orderId;
    case 'setPolicy':
      return (chain?.policy ?? resultOf(step)?.policy)?.shippingDeadline === 4 * 86_400_000;
    default:
      return false;
  }
}

/** After an end only what the service itself reports is announced, and an end that a person decided on stays. */
function endsStay(step: OrderStep): string[] {
  const { before, after } = step;
  const outcome = resultOf(step)?.outcome;
  const faults: string[] = [];
  const [initial] = after.world.orders;
  const tops = after.world.orders.map((order) => standingOf(order.events).phase);
  if (outcome === 'completed' && !tops.includes('completed')) faults.push('completed without results');
  if (outcome === 'cancelled' && !tops.includes('cancelled')) faults.push('cancelled while every order goes on');
  const earlier = (before.result as KitOrderResult | undefined)?.outcome;
  const isUnmoved = initial !== undefined && !['completed', 'cancelled'].includes(standingOf(initial.events).phase);
  const isFollowedAgain = outcome !== 'abandoned' && after.world.orders.length === 1 && isUnmoved;
  if (earlier === 'abandoned' && isFollowedAgain) faults.push('an order that a person gave up is followed again');
  return faults;
}

/** No number is created twice, and no more kits than the policy allows. */
function oneKit({ after }: OrderStep): string[] {
  const { created } = after.world;
  return new Set(created).size < created.length ? [`kit ${created.at(-1)} was created twice`] : [];
}

function raisedIn(step: OrderStep): RaisedOrderAttention[] {
  const before = carriedIn<Partial<Chain>>(step.before.input);
  const stood = before.attention ?? (step.before.result as Partial<KitOrderResult> | undefined)?.attention ?? [];
  const now = chainAfter(step)?.attention ?? [];
  return now.filter(({ key, time }) => !stood.some((raised) => raised.key === key && raised.time === time));
}

function chainAfter({ after }: OrderStep): Chain | undefined {
  return after.result === undefined ? carriedIn<Chain>(after.input) : undefined;
}

function resultOf({ after }: OrderStep): KitOrderResult | undefined {
  const result = after.result as Partial<KitOrderResult> | undefined;
  return result?.outcome === undefined ? undefined : (result as KitOrderResult);
}
