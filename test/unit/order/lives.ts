import type { KitOrderResult } from '../../../protocol/order/messages.js';
import type { OrderPolicy } from '../../../protocol/order/policy.js';
import type { OrderState } from '../../../protocol/order/state.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';
import type { OrderSnapshot } from '../../../service/order/snapshot.js';
import { kitOrder } from '../../../workflows/order/workflow.js';
import { Life, type Answers } from '../life.js';
import { kitOf, pathTo, start, transactionOf } from './histories.js';

/* What the lives of orders are made of. */

export const orderId = '00000000-0000-4000-8000-00000000000a';
export const newId = '00000000-0000-4000-8000-00000000000b';
export const thirdId = '00000000-0000-4000-8000-00000000000c';

export const opening = { workflow: kitOrder, type: 'kitOrder', workflowId: `kit-order/${orderId}`, now: start };
export const policy = resolvePolicy('order');

export const shipped = pathTo('transit_customer');
export const lost = [...shipped, 'lost'];
export const stuck = [...shipped, 'problem_in_transit_customer'];
export const awaited = ['ordered', 'awaiting_registration'];
export const registered = [...awaited, 'testkit_registered'];
export const atLab = pathTo('delivered_to_lab');
export const spoiled = [...atLab, 'sample_error'];

type Fields = Partial<OrderSnapshot>;

/** The order as the service shows it once it has come so far. */
export const shownAt = (statuses: readonly string[], more: Fields = {}): OrderSnapshot => ({
  ...kitOf(orderId, statuses, more),
  userId: 'user-1',
});

/** The same, with our own passthrough, which promises a hand-over. */
export const ours = (statuses: readonly string[], more: Fields = {}) =>
  shownAt(statuses, { passthrough: 'labops:-:ref-9:1', ...more });

/** The service has redrawn the order itself: the transaction lists both. */
export const transaction = transactionOf({ id: orderId, origin: 'initial' }, { id: newId, origin: 'redraw' });
export const redraw = (statuses: readonly string[], more: Fields = {}) =>
  kitOf(newId, statuses, { userId: 'user-1', origin: 'redraw', parentId: orderId, transaction, ...more });

/** The passthrough of the chain's order with this number. */
export const numbered = (n: number, root = orderId) => ({ passthrough: `labops:${root}:ref-1:${n}` });
/** The replacement that was ordered for the order. */
export const newKit = (statuses: readonly string[], more: Fields = {}) =>
  kitOf(newId, statuses, { userId: 'user-1', ...numbered(2), ...more });
export const replaced = { snapshot: newKit(['ordered']) };

export const refusal = (type: string, details?: object | null) => ({
  failure: { type, ...(details !== undefined && { details }) },
});
export const notFound = { fields: [], status: 404 };
/** The service refuses to show an order. */
export const hidden = refusal('ServiceRefused', { fields: [], status: 400 });

/** What is read of the whole chain of an order that a webhook brings. */
export const reading = (more: object = {}) => ({
  ...{ snapshots: [shownAt(awaited)], gone: false, rootOrderId: orderId, notifies: true },
  ...more,
});

/** A hand-over, but for the order that it shows. */
export const placed = { reference: 'ref-1', policy, adopted: false, notifies: true };
/** Another reference claims the order. */
export const conflict = { ...placed, reference: 'ref-2', adopted: true };
export const alarm = { name: 'criticalResultReported', argument: { orderId, interpretation: 'critical' } };
export const acknowledgement = { orderId, by: 'nurse-17', outcome: 'confirmed' };
export const wait = { orderId, decision: 'wait' };
export const registration = { sample_id: 'SAMPLE-1' };

/** The activity as it resolves a changed policy. */
export const resolvingPolicy = (_now: number, { policy: given, base }: { policy: object; base: typeof policy }) =>
  resolvePolicy('order', given, base);

/** Answers a read of the second order, and of the first. */
export const showing = (second: unknown, first: unknown) => (_now: number, id: string) =>
  id === newId ? second : first;

/** The life of an order. */
export class OrderLife extends Life {
  /** It is reported to have come so far, and shown so from then on. */
  async report(statuses: readonly string[], more: Fields = {}): Promise<void> {
    const snapshot = shownAt(statuses, more);
    this.answers['readOrder'] = snapshot;
    await this.signal('orderChanged', snapshot);
  }

  async state(): Promise<OrderState> {
    return (await this.run.query('state')) as OrderState;
  }

  async reasons(): Promise<string[]> {
    return (await this.state()).attention.map(({ reason }) => reason);
  }

  /** What was announced, and the end, without the hours. */
  happened(from = 0): string[] {
    return this.events.slice(from).map((event) => event.replace(/^\S+ (order\.)?/, ''));
  }

  callsOf(name: string): string[] {
    return this.calls.filter((call) => call.endsWith(name));
  }

  /** What it has passed on to another workflow. */
  get passedOn(): unknown[] {
    return this.argumentsOf('forwardOrder', 'forwardCriticalResult');
  }

  get result(): KitOrderResult {
    return (this.run.end as unknown as { result: KitOrderResult }).result;
  }
}

/** An order that has come so far when it is handed over; its events are a day apart. */
export async function life(
  statuses: readonly string[],
  given: OrderPolicy = {},
  answers: Answers = {},
  more: object = {},
  now = start,
): Promise<OrderLife> {
  const snapshot = shownAt(statuses);
  const readChain = reading({ snapshots: [snapshot] });
  const begun = new OrderLife({ ...opening, now }, { readOrder: snapshot, readChain, ...answers }, start);
  const handOver = { ...placed, policy: resolvePolicy('order', given), snapshot, ...more };
  await begun.start({ rootOrderId: orderId }, { name: 'orderPlaced', argument: handOver });
  return begun;
}

/** The same, handed over right after its last event. Hours are counted from the first. */
export async function lateLife(statuses: readonly string[], ...more: [OrderPolicy?, Answers?]): Promise<OrderLife> {
  const [given, answers] = more;
  return life(statuses, given, answers, {}, Math.max(...shownAt(statuses).events.map(({ at }) => Date.parse(at))));
}

interface Beginning extends Answers {
  /** Hours after the order. */
  after?: number;
  /** Another message than the webhook of the order. */
  signal?: { name: string; argument: unknown };
}

/** An order that a webhook begins, which shows it so. */
export async function begun(
  snapshot: OrderSnapshot | undefined,
  { after = 0, signal, ...answers }: Beginning = {},
  input: object = {},
): Promise<OrderLife> {
  const order = new OrderLife({ ...opening, now: start + after * 3_600_000 }, { readChain: reading(), ...answers });
  const webhook = snapshot === undefined ? [] : [{ name: 'orderChanged', argument: snapshot }];
  await order.start({ rootOrderId: orderId, policy, ...input }, ...webhook, ...(signal ? [signal] : []));
  return order;
}

export const stateIn = (reply: unknown) => (reply as { value: OrderState }).value;
export const attentionIn = (reply: unknown) => stateIn(reply).attention.map(({ reason }) => reason);
