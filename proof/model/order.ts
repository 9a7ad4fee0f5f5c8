import type { OrderPolicy } from '../../protocol/order/policy.js';
import type { Decision } from '../../protocol/order/state.js';
import { currentOrder, type Chain } from '../../workflows/order/chain.js';
import { kitOrder } from '../../workflows/order/workflow.js';
import {
  afterCommand,
  afterEvent,
  beginning,
  carriedIn,
  endOf,
  fails,
  reportedOrNot,
  type Choose,
  type Left,
  type Model,
  type Move,
  type State,
} from './model.js';
import { orderFaults } from './order-claims.js';
import { orderEssence } from './order-essence.js';
import {
  addEvent,
  first,
  lowOf,
  newOrder,
  reference,
  second,
  snapshotIn,
  statuses,
  type Low,
  type OrderAtService,
  type OrderWorld,
} from './order-world.js';
import type { ActivityCall, Answer } from './run.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

export interface OrderBounds extends Left {
  /** The statuses that the service uses; absent is all of them. */
  statuses?: readonly Low[];
  /** Which status may follow which; absent is any, because nothing binds the service. */
  followers?: Readonly<Record<string, readonly string[]>>;
  /** No webhook gets lost. */
  isReported?: boolean;
  /** What the policy does about a kit that failed; absent is `ask`. */
  onLost?: OrderPolicy['onLost'];
}

/** Short spans that differ, so deadlines come in many orders; the same unit, so states meet again. */
function policyOf(onLost: OrderPolicy['onLost'] = 'ask') {
  return resolvePolicy('order', {
    ...{ shippingDeadline: '2d', deliveryDeadline: '2d', returnDeadline: '2d', transitToLabDeadline: '2d' },
    ...{ resultsDeadline: '2d', registrationDeadline: '3d', problemLimit: '1d', redrawWait: '1d', decisionWait: '2d' },
    ...{ registrationReminders: ['1d'], returnReminders: ['1d'], assumedDelivery: '1d' },
    ...{ recheckEvery: '1d', giveUpAfter: '2d', criticalResultReminder: '1d' },
    ...{ onLost, onSampleError: onLost, onProblem: onLost },
  });
}

/** One chain of orders, from its hand-over to its end, and what the service reports after that. */
export function orderModel(bounds: OrderBounds): Model<OrderWorld> {
  const world: OrderWorld = {
    orders: [newOrder(first, 'initial', beginning)],
    ...{ isGone: false, created: [] },
    left: { events: bounds.events, commands: bounds.commands, faults: bounds.faults },
  };
  const placed = { reference, policy: policyOf(bounds.onLost), adopted: false, notifies: true };
  return {
    name: 'order',
    workflowId: `kit-order/${first}`,
    workflow: kitOrder,
    beginnings: [
      {
        input: { rootOrderId: first },
        signals: [{ name: 'orderPlaced', argument: { ...placed, snapshot: snapshotIn(world, first) } }],
        world,
      },
    ],
    events: (state) => serviceMoves(state, bounds),
    commands: commandsFor,
    repeats: isRepeating,
    answer,
    essence: orderEssence,
    faults: orderFaults,
    // The phase of the order that is expected to bring the results, as the workflow knows it.
    phaseOf: (state) => endOf(state) ?? currentOrder(carriedIn<Chain>(state.input)).standing.phase,
  };
}

/** An open critical result reminds forever, twice is enough to see that. */
function isRepeating({ input }: State<OrderWorld>): boolean {
  const { criticalResults } = carriedIn<Chain>(input);
  return criticalResults.some(({ reminders }) => reminders >= 2);
}

/** Each event is reported, or its webhook is lost. */
function serviceMoves({ world, now }: State<OrderWorld>, bounds: OrderBounds): Move<OrderWorld>[] {
  if (world.isGone) return [];
  const moves = world.orders.flatMap((order, index) =>
    following(order, bounds).map((low) => ({
      name: `${index === 0 ? 'first' : 'second'} order: ${low}`,
      index,
      world: afterEvent(world, (next) => addEvent(orderAt(next, index), low, now)),
    })),
  );
  const redraws = mayRedraw(world)
    ? [
        {
          name: 'a redraw',
          index: 1,
          world: afterEvent(world, (next) => next.orders.push(newOrder(second, 'redraw', now))),
        },
      ]
    : [];
  const critical = world.orders.flatMap((order, index) =>
    lowOf(order) === 'completed' && order.interpretation === undefined
      ? [
          {
            name: 'a critical result',
            index,
            world: afterEvent(world, (next) => (orderAt(next, index).interpretation = 'critical')),
          },
        ]
      : [],
  );
  return [...moves, ...redraws, ...critical].flatMap(({ name, index, world: after }) => {
    const snapshot = snapshotIn(after, orderAt(after, index).orderId);
    const signal = { name: 'orderChanged', argument: snapshot };
    return reportedOrNot(name, after, signal).slice(0, bounds.isReported ? 1 : 2);
  });
}

function following(order: OrderAtService, { statuses: used, followers }: OrderBounds): Low[] {
  const low = lowOf(order);
  const all = Object.keys(statuses) as Low[];
  return all.filter(
    (each) => each !== low && (used?.includes(each) ?? true) && (followers?.[low]?.includes(each) ?? !followers),
  );
}

function orderAt({ orders }: OrderWorld, index: number): OrderAtService {
  const order = orders[index];
  if (!order) throw new RangeError(`The world has no order ${index}`);
  return order;
}

function mayRedraw({ orders }: OrderWorld): boolean {
  const [only] = orders;
  return orders.length === 1 && only !== undefined && ['sample_error', 'redraw_available'].includes(lowOf(only));
}

/** What a product or a person may ask for, sensible or not. */
function commandsFor({ world, input }: State<OrderWorld>): Move<OrderWorld>[] {
  const { orders = [], criticalResults = [] } = carriedIn<Partial<Chain>>(input);
  const decisions: readonly Decision[] = ['wait', 'replace', 'abandon'];
  const registration = { sample_id: 'SAMPLE-1' };
  const open = criticalResults.find(({ isOpen }) => isOpen);
  const updates = [
    ...orders.flatMap(({ orderId }) => [
      { name: 'cancel', argument: { orderId } },
      { name: 'register', argument: { orderId, registration } },
      { name: 'replaceKit', argument: { orderId } },
      ...decisions.map((decision) => ({ name: 'resolveProblem', argument: { orderId, decision } })),
    ]),
    { name: 'setPolicy', argument: { policy: { shippingDeadline: '4d' } } },
    ...(open
      ? [
          {
            name: 'acknowledgeCriticalResult',
            argument: { orderId: open.orderId, by: 'person-1', outcome: 'confirmed' },
          },
        ]
      : []),
  ];
  return updates.map((update) => ({ name: nameOf(update), update, world: afterCommand(world) }));
}

function nameOf({ name, argument }: { name: string; argument: object }): string {
  const { orderId, decision } = argument as { orderId?: string; decision?: string };
  const which = orderId === undefined ? '' : ` ${orderId === first ? 'the first order' : 'the second order'}`;
  return `command ${decision ?? name}${which}`;
}

/** The service answers, fails to, or says that it does not know the order. */
function answer(
  world: OrderWorld,
  { name, argument }: ActivityCall,
  choose: Choose,
  { now, previous }: { now: number; previous?: unknown },
): Answer {
  const isInProcess = name === 'readChain' || name === 'joinChain';
  if (!isInProcess && fails(world, choose)) return { failure: { type: 'ServiceUnavailable' } };
  switch (name) {
    case 'readOrder':
      return read(world, argument, choose);
    case 'readChain':
      return { value: { ...chainReading(world), ...(previous !== undefined && { previous }) } };
    case 'cancelOrder':
      return cancel(world, argument, now);
    case 'registerKit':
      return register(world, argument, now);
    case 'replaceKitOrder':
      return replace(world, argument, now);
    default:
      return { value: null };
  }
}

function read(world: OrderWorld, orderId: string, choose: Choose): Answer {
  if (!world.isGone && fails(world, choose)) world.isGone = true;
  return { value: world.isGone ? null : (snapshotIn(world, orderId) ?? null) };
}

function chainReading(world: OrderWorld) {
  const snapshots = world.orders.map(({ orderId }) => snapshotIn(world, orderId));
  return { snapshots, gone: false, rootOrderId: first, notifies: true };
}

/** The service cancels what has not shipped. */
function cancel(world: OrderWorld, orderId: string, now: number): Answer {
  const order = world.orders.find((each) => each.orderId === orderId);
  const hasShipped = order?.events.some(({ status }) => !status.startsWith('received.')) === true;
  if (!order || hasShipped) return { failure: { type: 'CancelRefused', details: { fields: [], status: 400 } } };
  addEvent(order, 'cancelled', now);
  return { value: snapshotIn(world, orderId) };
}

function register(world: OrderWorld, { orderId }: { orderId: string }, now: number): Answer {
  const order = world.orders.find((each) => each.orderId === orderId);
  const waits = order?.events.some(({ status }) => status.endsWith('awaiting_registration')) === true;
  if (!order || !waits) return { failure: { type: 'RegistrationRefused', details: { fields: [], status: 400 } } };
  addEvent(order, 'testkit_registered', now);
  return { value: snapshotIn(world, orderId) };
}

/** It looks at the order once more, as the activity does, and refuses if more has happened than was decided on. */
function replace(
  world: OrderWorld,
  argument: { failedOrderId: string; decidedOn: { eventId: number }; n: number },
  now: number,
): Answer {
  const { failedOrderId, decidedOn, n } = argument;
  const snapshot = snapshotIn(world, failedOrderId);
  if (!snapshot || (snapshot.events.at(-1)?.id ?? -1) > decidedOn.eventId) {
    return { failure: { type: 'OrderMovedOn', details: { fields: [], snapshot } } };
  }
  world.created.push(n);
  if (world.orders.length > 1) return { failure: { type: 'OrderRefused', details: { fields: [], status: 400 } } };
  world.orders.push(newOrder(second, 'replacement', now));
  return { value: { snapshot: snapshotIn(world, second), adopted: false } };
}
