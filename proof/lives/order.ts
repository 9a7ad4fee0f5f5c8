import { TypedSearchAttributes } from '@temporalio/common';
import { orderSchema } from '../../service/order/order.js';
import { signed, defaultInstallation } from '../../service/installation.js';
import type { OrderSnapshot } from '../../service/order/snapshot.js';
import { snapshotOf } from '../../service/order/projection.js';
import { kitOrderId, placeKitOrderId } from '../../protocol/ids.js';
import type { ResolvedOrderPolicy } from '../../protocol/order/policy.js';
import { rootOf, writePassthrough } from '../../protocol/order/root-order.js';
import { criticalResultStart, kitOrderStart } from '../../protocol/starts.js';
import { addEvent, lowOf, newOrder, type Low, type OrderAtService } from './kits.js';
import { day, hour, minute, second, type Life } from './life.js';
import { Past, type Request, type ServiceAnswer } from './service.js';
import { checkOrders, checkPlacing, registeredSample } from './order-claims.js';
import { webhook, type Stage, type World } from './stage.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

/* One reference's orders at the service: created here or elsewhere, on their way, redrawn, replaced, cancelled, registered. */

const userId = '00000000-0000-4000-8000-000000000001';
const reference = 'ref-1';
const address = {
  ...{ receiver_name: 'Invented Person', first_line: '1 Invented Street', city: 'Springfield' },
  ...{ state: 'IL', zip: '62701', country: 'US', phone_number: '+12175550100' },
};
const registration = {
  sample_id: registeredSample,
  patient_details: {
    ...{ first_name: 'Invented', last_name: 'Person', dob: '1990-01-01', gender: 'female' },
    ...{ phone_number: '+12175550100', email: 'person@example.com' },
  },
  patient_address: address,
};

export interface Order extends OrderAtService {
  passthrough?: string;
  sampleId?: string;
  /** By our creation, or by the service or somebody else. */
  by: 'product' | 'elsewhere';
  parent?: string;
  changedAt: string;
}

/** Which status follows which, most of the time. */
const ways: Readonly<Record<string, readonly Low[]>> = {
  ordered: ['awaiting_registration', 'transit_customer', 'transit_customer', 'cancelled'],
  awaiting_registration: ['transit_customer', 'transit_customer', 'testkit_registered'],
  testkit_registered: ['transit_customer', 'transit_lab', 'transit_lab'],
  transit_customer: ['with_customer', 'with_customer', 'problem_in_transit_customer', 'lost'],
  problem_in_transit_customer: ['with_customer', 'failure_to_deliver_to_customer'],
  with_customer: ['transit_lab', 'transit_lab', 'awaiting_registration'],
  transit_lab: ['delivered_to_lab', 'delivered_to_lab', 'lost', 'problem_in_transit_lab'],
  problem_in_transit_lab: ['delivered_to_lab', 'failure_to_deliver_to_lab'],
  delivered_to_lab: ['completed', 'completed', 'sample_error', 'lab_processing_blocked'],
  lab_processing_blocked: ['completed', 'sample_error'],
  completed: ['corrected'],
};

/** Orders that exist from the start, handed over or made elsewhere; or, as `PlacingWorld`, one that has to be placed first. */
export class OrderWorld implements World {
  readonly spans = { disturbed: 14 * day, calm: 100 * day };
  readonly dependencies: { echoesPassthrough: boolean };
  readonly orders: Order[] = [];
  protected readonly stage: Stage;
  protected readonly policy: ResolvedOrderPolicy;
  private readonly past: Past<{ orders: Order[] }>;
  private readonly keys = new Map<string, Order>();

  constructor(stage: Stage) {
    const { life, receiver } = stage;
    this.stage = stage;
    this.policy = policyOf(life);
    this.past = new Past(life, { orders: [] });
    this.dependencies = { echoesPassthrough: this.echoes() };
    receiver.onGot = (event) => this.react(event);
  }

  protected echoes(): boolean {
    return true;
  }

  protected get chainId(): string {
    return kitOrderId(this.orders[0]?.orderId ?? '');
  }

  private body(order: Order) {
    const { orderId, origin, events, passthrough, interpretation = null, sampleId = null } = order;
    return {
      ...{ id: orderId, user_id: userId, origin: origin === 'replacement' ? 'initial' : origin },
      ...{ status: events.at(-1)?.status.split('.')[0], sample_id: sampleId, interpretation },
      ...(passthrough !== undefined && this.dependencies.echoesPassthrough && { passthrough }),
      ...{ details: { type: 'testkit', data: {} }, lab_test: { id: 'test-1', method: 'testkit' } },
      ...{ shipping_details: address, created_at: order.createdAt, updated_at: order.changedAt },
      events: events.map(({ id, at, status }) => ({ id, created_at: at, status })),
      order_transaction: this.transactionOf(order),
    };
  }

  /** An order and its redraws; a replacement begins one of its own. */
  private transactionOf(order: Order) {
    const first = (each: Order): Order => {
      const parent = this.orders.find(({ orderId }) => orderId === each.parent);
      return parent ? first(parent) : each;
    };
    const members = this.orders.filter((each) => first(each).orderId === first(order).orderId);
    const orders = members.map(({ orderId: id, origin, parent = null, createdAt }) => ({
      ...{ id, origin: origin === 'redraw' ? origin : 'initial', parent_id: parent, created_at: createdAt },
    }));
    return { id: `transaction-${first(order).orderId}`, orders };
  }

  protected snapshot(order: Order): OrderSnapshot {
    return snapshotOf(orderSchema.parse(this.body(order)), defaultInstallation);
  }

  private report(order: Order): void {
    const { life, server } = this.stage;
    this.past.changed({ orders: this.orders });
    const what = `order ${order.orderId.at(-1)} ${lowOf(order)}`;
    life.tell(`  the service: ${what}${order.interpretation === undefined ? '' : ` (${order.interpretation})`}`);
    const shown = this.snapshot(order);
    const start = kitOrderStart(shown, rootOf(shown));
    webhook(this.stage, what, () => server.signalOrStart(start, 'orderChanged', shown));
  }

  protected add(by: Order['by'], origin: Order['origin'], more: Partial<Order> = {}): Order {
    const { life } = this.stage;
    const orderId = `00000000-0000-4000-8000-00000000000${'abcdef'[this.orders.length] ?? '9'}`;
    const order: Order = {
      ...newOrder(orderId, origin, life.now),
      by,
      changedAt: new Date(life.now).toISOString(),
      ...more,
    };
    this.orders.push(order);
    life.count('kits');
    this.report(order);
    this.goOn(order);
    return order;
  }

  private become(order: Order, status: Low): void {
    const { life } = this.stage;
    addEvent(order, status, life.now);
    order.changedAt = new Date(life.now).toISOString();
    if (status === 'completed' && life.happens(0.3)) order.interpretation = 'critical';
    this.report(order);
    if (order.interpretation === 'critical') this.alarm(order);
    // A redraw follows soon, or never.
    if (status !== 'sample_error' || !life.happens(0.4)) return;
    life.after(life.span(100, this.policy.redrawWait), () =>
      this.add('elsewhere', 'redraw', { parent: order.orderId }),
    );
  }

  private alarm({ orderId, changedAt }: Order): void {
    const critical = { orderId, userId, status: 'final', createdAt: changedAt, updatedAt: changedAt };
    const start = criticalResultStart(critical, orderId);
    webhook(this.stage, `a critical result of ${orderId.at(-1)}`, () =>
      this.stage.server.signalOrStart(start, 'criticalResultReported', critical),
    );
  }

  /** The service goes on with it, in its own time. */
  private goOn(order: Order): void {
    const { life } = this.stage;
    life.after(life.span(life.oneOf([second, minute, hour]), 4 * day), () => {
      const next = ways[lowOf(order)];
      if (next === undefined || this.orders.length > 6 || life.isCalm) return;
      this.become(order, life.oneOf(next));
      this.goOn(order);
    });
  }

  handle({ method, path, params, query, headers, body }: Request): ServiceAnswer {
    const given = (body ?? {}) as { passthrough?: string; sample_id?: string };
    // Soon after a creation the service may not show the order yet.
    const seen = () => this.past.seen(5 * second).orders;
    const order = this.orders.find(({ orderId }) => orderId === params['order_id']);
    switch (`${method} ${path}`) {
      case 'GET /v3/order/{order_id}': {
        const shown = seen().find(({ orderId }) => orderId === params['order_id']);
        return shown ? { status: 200, body: this.body(shown) } : unknown;
      }
      case 'GET /orders': {
        const orders = Number(query['page'] ?? 1) > 1 ? [] : seen().toReversed();
        return { status: 200, body: { orders: orders.map((each) => this.body(each)), page: 1, size: 50 } };
      }
      case 'GET /v3/lab_test/lab_account':
        return { status: 200, body: { data: [] } };
      case 'POST /v3/order/testkit':
        return this.done(this.create(given.passthrough));
      case 'POST /v3/order': {
        const key = headers['x-idempotency-key'] ?? '';
        const made = this.keys.get(key) ?? this.create(given.passthrough);
        this.keys.set(key, made);
        return this.done(made);
      }
      case 'POST /v3/order/{order_id}/cancel':
        return order ? this.cancelled(order) : unknown;
      case 'POST /v3/order/testkit/register':
        return this.registered(given.sample_id ?? '');
      default:
        return { status: 404, body: { detail: 'Not Found' } };
    }
  }

  private done(order: Order): ServiceAnswer {
    return { status: 200, body: { order: this.body(order), status: 'ok', message: '' } };
  }

  protected create(passthrough: string | undefined): Order {
    return this.add('product', 'replacement', passthrough === undefined ? {} : { passthrough });
  }

  private cancelled(order: Order): ServiceAnswer {
    const hasShipped = order.events.some(({ status }) => !status.startsWith('received.'));
    if (hasShipped) return refused('The order can no longer be cancelled.');
    this.become(order, 'cancelled');
    return this.done(order);
  }

  private registered(sampleId: string): ServiceAnswer {
    const isWaiting = (each: Order) => each.sampleId === undefined && !['cancelled', 'completed'].includes(lowOf(each));
    const order = this.orders.findLast(isWaiting);
    const isTaken = this.orders.some((each) => each.sampleId === sampleId);
    if (!order || isTaken) return refused('This kit is registered.');
    order.sampleId = sampleId;
    this.become(order, 'testkit_registered');
    return this.done(order);
  }

  begin(): void {
    this.open();
    const { life, server } = this.stage;
    for (let count = life.between(0, 6); count > 0; count -= 1) life.after(this.soon(), () => this.command());
    if (life.happens(0.07)) life.after(this.soon(), () => server.cancel(this.chainId));
  }

  protected soon(): number {
    const { life } = this.stage;
    return life.span(life.oneOf([50, second, minute, hour]), 10 * day);
  }

  protected open(): void {
    const { life, server } = this.stage;
    if (life.happens(0.3)) return void this.add('elsewhere', 'initial');
    const order = this.add('product', 'initial', {
      passthrough: signed(writePassthrough({ reference, n: 1 }), defaultInstallation),
    });
    const { policy } = this;
    const snapshot = this.snapshot(order);
    const placed = { reference, policy, snapshot, labTestId: 'test-1', adopted: false, notifies: true };
    const start = kitOrderStart(snapshot, order.orderId, reference, policy);
    life.after(life.span(10, life.oneOf([second, second, hour])), () => {
      // As by the creation itself, which names no earlier run, or else by its placing, which looks for one.
      const isNew = life.happens(0.5) && server.latest(start.workflowId) === undefined;
      const first = { ...start, args: [{ ...start.args[0], earlierRun: {} }] as [object] };
      if (isNew) server.start(first, { kind: 'signal', message: { name: 'orderPlaced', argument: placed } });
      else server.signalOrStart(start, 'orderPlaced', placed);
    });
  }

  protected command(): void {
    const { life, server } = this.stage;
    if (this.orders.length === 0) return;
    const { orderId } = life.oneOf(this.orders);
    const decision = life.oneOf(['wait', 'wait', 'replace', 'abandon']);
    const [name, argument] = life.oneOf<[string, object]>([
      ['cancel', { orderId }],
      ['register', { orderId, registration }],
      ['register', { orderId, registration }],
      ['resolveProblem', { orderId, decision }],
      ['replaceKit', { orderId }],
      ['setPolicy', { policy: { shippingDeadline: `${life.span(hour, 4 * day)}ms` } }],
      ['acknowledgeCriticalResult', { orderId, by: 'person-1', outcome: 'confirmed' }],
    ]);
    void server.update(this.chainId, name, argument);
  }

  /** A product that does what it is asked for, some time. */
  private react({ id, type, data }: { id: string; type: string; data: Record<string, unknown> }): void {
    const { life, server } = this.stage;
    const orderId = data['orderId'];
    const later = (name: string, argument: object) =>
      life.after(life.span(second, 2 * day), () => void server.update(this.chainId, name, argument));
    if (type.endsWith('critical_result') && life.happens(0.6))
      later('acknowledgeCriticalResult', { orderId, alarm: id, by: 'person-1', outcome: 'confirmed' });
    if (type.endsWith('attention_raised') && data['reason'] !== 'critical_result' && life.happens(0.5))
      later('resolveProblem', { orderId, decision: life.oneOf(['wait', 'replace', 'abandon']) });
  }

  calmDown(): void {
    const { life, server, receiver } = this.stage;
    const ends = ['completed', 'corrected', 'cancelled'];
    for (const order of this.orders) {
      if (ends.includes(lowOf(order))) this.report(order);
      else this.become(order, 'completed');
    }
    // Without an acknowledgement an alarm reminds forever.
    const acknowledge = () => {
      // A replacement whose answers were lost has a workflow of its own; one that only forwards refuses, and names the chain's.
      const isRunning = (id: string) => server.running(id) !== undefined;
      const following = (orderId: string) => [...new Set([kitOrderId(orderId), this.chainId])].filter(isRunning);
      const open = this.orders.filter(({ orderId }) => following(orderId).length > 0);
      for (const { orderId, interpretation } of open) {
        // The latest alarm, which a reminder may name: an earlier one that was refused is sent again after a later one.
        const last = receiver.got.findLast(
          ({ type, data }) => /critical_result(_reminder)?$/.test(type) && data['orderId'] === orderId,
        );
        const alarm = last?.data['alarm'] ?? last?.id;
        const argument = { orderId, by: 'person-1', outcome: 'confirmed', ...(alarm !== undefined && { alarm }) };
        if (interpretation !== 'critical') continue;
        for (const id of following(orderId)) void server.update(id, 'acknowledgeCriticalResult', argument);
      }
      if (open.length > 0) life.after(day, acknowledge);
    };
    life.after(hour, acknowledge);
  }

  check(): void {
    checkOrders(this.stage, this.orders, this.chainId);
  }
}

/** The reference has no order yet: it is placed, perhaps more than once. */
export class PlacingWorld extends OrderWorld {
  private readonly placingId = placeKitOrderId(reference);

  protected override echoes(): boolean {
    return this.stage.life.happens(0.7);
  }

  protected override create(passthrough: string | undefined): Order {
    const origin = this.orders.some(({ by }) => by === 'product') ? 'replacement' : 'initial';
    return this.add('product', origin, passthrough === undefined ? {} : { passthrough });
  }

  protected override open(): void {
    const { life, server } = this.stage;
    this.place();
    if (life.happens(0.3)) life.after(this.soon(), () => this.place());
    if (life.happens(0.05)) life.after(this.soon(), () => server.cancel(this.placingId));
  }

  private place(): void {
    // A client starts no second run of a reference that has its order.
    if (this.stage.server.latest(this.placingId)?.status === 'COMPLETED') return;
    const order = { user_id: userId, lab_test_id: 'test-1', shipping_details: address };
    const input = { kind: 'unregistered', reference, order, policy: this.policy };
    const typedSearchAttributes = new TypedSearchAttributes([]);
    this.stage.server.start({
      name: 'placeKitOrder',
      workflowId: this.placingId,
      args: [input],
      typedSearchAttributes,
    });
  }

  protected override command(): void {
    const { life, server } = this.stage;
    if (this.orders.length === 0 || life.happens(0.15)) void server.update(this.placingId, 'cancel');
    else super.command();
  }

  override check(): void {
    super.check();
    checkPlacing(this.stage, this.orders, this.placingId);
  }
}

function policyOf(life: Life): ResolvedOrderPolicy {
  const span = () => life.span(hour, 4 * day);
  return resolvePolicy('order', {
    ...resolvePolicy('order'),
    ...{ shippingDeadline: span(), deliveryDeadline: span(), returnDeadline: span(), transitToLabDeadline: span() },
    ...{ resultsDeadline: span(), registrationDeadline: span(), problemLimit: span(), redrawWait: span() },
    ...{ decisionWait: span(), registrationReminders: [span()], returnReminders: [span()], assumedDelivery: span() },
    ...{
      recheckEvery: life.span(6 * hour, day),
      giveUpAfter: span(),
      criticalResultReminder: life.span(12 * hour, day),
    },
    ...{ onLost: life.oneOf(['ask', 'replace', 'fail']), onSampleError: life.oneOf(['ask', 'replace']) },
    replacementLimit: life.between(0, 2),
  });
}

const unknown: ServiceAnswer = { status: 404, body: { detail: "This order doesn't exist." } };

function refused(detail: string): ServiceAnswer {
  return { status: 400, body: { detail } };
}
