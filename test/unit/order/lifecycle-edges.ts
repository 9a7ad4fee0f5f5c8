import type { OrderPhase } from '../../../protocol/order/state.js';

/**
 * Every edge of a test kit's lifecycle that is documented, shown by the specification, or inferred: the statuses that
 * lead to it, where it comes from and goes to, and the phase before and after.
 */
export type Edge = [before: readonly string[], from: string, to: string, phase: OrderPhase, nextPhase: OrderPhase];

/** A status on a way, the phase that it brings, and the phases of what else may follow it than the next one. */
type Step = [status: string, phase: OrderPhase, others?: Record<string, OrderPhase>];

function edgesOf(...way: Step[]): Edge[] {
  return way.flatMap(([from, phase, others = {}], index) => {
    const before = way.slice(0, index).map(([status]) => status);
    const next = way
      .slice(index + 1, index + 2)
      .map(([status, nextPhase]): [string, OrderPhase] => [status, nextPhase]);
    return [...next, ...Object.entries(others)].map(([to, nextPhase]): Edge => [before, from, to, phase, nextPhase]);
  });
}

/** Drawn for an order whose patient is known from the start. */
export const registeredEdges = edgesOf(
  ['ordered', 'preparing', { cancelled: 'cancelled' }],
  ['requisition_created', 'preparing', { cancelled: 'cancelled' }],
  ['transit_customer', 'in_transit_to_customer', { failure_to_deliver_to_customer: 'failed' }],
  ['out_for_delivery', 'in_transit_to_customer', { failure_to_deliver_to_customer: 'failed' }],
  ['with_customer', 'with_customer'],
  ['transit_lab', 'in_transit_to_lab', { failure_to_deliver_to_lab: 'failed' }],
  ['delivered_to_lab', 'at_lab', { sample_error: 'failed' }],
  ['completed', 'completed'],
);

/** Drawn for a kit that is registered once it is with the customer. */
export const registrableEdges = edgesOf(
  ['ordered', 'preparing', { cancelled: 'cancelled' }],
  ['awaiting_registration', 'awaiting_registration', { cancelled: 'cancelled' }],
  ['transit_customer', 'in_transit_to_customer', { failure_to_deliver_to_customer: 'failed' }],
  ['out_for_delivery', 'in_transit_to_customer', { failure_to_deliver_to_customer: 'failed' }],
  ['with_customer', 'awaiting_registration'],
  ['testkit_registered', 'with_customer'],
  ['requisition_created', 'with_customer'],
  ['transit_lab', 'in_transit_to_lab', { failure_to_deliver_to_lab: 'failed' }],
  ['delivered_to_lab', 'at_lab', { sample_error: 'failed' }],
  ['completed', 'completed'],
);

const ordered = ['ordered'];
const awaiting = ['ordered', 'awaiting_registration'];
const shipped = [...awaiting, 'transit_customer'];
const atHome = [...shipped, 'out_for_delivery', 'with_customer'];
const registered = [...atHome, 'testkit_registered', 'requisition_created'];
const sentBack = [...registered, 'transit_lab'];

/** Stated in the documentation's prose. */
export const textEdges: readonly Edge[] = [
  [ordered, 'requisition_bypassed', 'transit_customer', 'preparing', 'in_transit_to_customer'],
  [[...atHome, 'testkit_registered'], 'requisition_bypassed', 'transit_lab', 'with_customer', 'in_transit_to_lab'],
  [awaiting, 'testkit_registered', 'cancelled', 'preparing', 'cancelled'],
  [ordered, 'requisition_bypassed', 'cancelled', 'preparing', 'cancelled'],
];

/** The order that the specification shows for a registration. */
export const seedEdges: readonly Edge[] = [
  [ordered, 'awaiting_registration', 'requisition_created', 'awaiting_registration', 'preparing'],
  [awaiting, 'requisition_created', 'testkit_registered', 'preparing', 'preparing'],
];

const onItsWay = [...shipped, 'problem_in_transit_customer'];
const lostOnItsWayBack = [...sentBack, 'problem_in_transit_lab'];

/** Not documented; inferred. */
export const inferredEdges: readonly Edge[] = [
  [awaiting, 'transit_customer', 'problem_in_transit_customer', 'in_transit_to_customer', 'in_transit_to_customer'],
  [shipped, 'out_for_delivery', 'problem_in_transit_customer', 'in_transit_to_customer', 'in_transit_to_customer'],
  [shipped, 'problem_in_transit_customer', 'out_for_delivery', 'in_transit_to_customer', 'in_transit_to_customer'],
  [shipped, 'problem_in_transit_customer', 'with_customer', 'in_transit_to_customer', 'awaiting_registration'],
  [shipped, 'problem_in_transit_customer', 'failure_to_deliver_to_customer', 'in_transit_to_customer', 'failed'],
  [shipped, 'problem_in_transit_customer', 'lost', 'in_transit_to_customer', 'failed'],
  [registered, 'transit_lab', 'problem_in_transit_lab', 'in_transit_to_lab', 'in_transit_to_lab'],
  [sentBack, 'problem_in_transit_lab', 'transit_lab', 'in_transit_to_lab', 'in_transit_to_lab'],
  [sentBack, 'problem_in_transit_lab', 'delivered_to_lab', 'in_transit_to_lab', 'at_lab'],
  [sentBack, 'problem_in_transit_lab', 'failure_to_deliver_to_lab', 'in_transit_to_lab', 'failed'],
  [sentBack, 'problem_in_transit_lab', 'lost', 'in_transit_to_lab', 'failed'],
  [sentBack, 'delivered_to_lab', 'lab_processing_blocked', 'at_lab', 'at_lab'],
  [[...sentBack, 'delivered_to_lab'], 'lab_processing_blocked', 'delivered_to_lab', 'at_lab', 'at_lab'],
  [[...sentBack, 'delivered_to_lab'], 'lab_processing_blocked', 'completed', 'at_lab', 'completed'],
  [[...sentBack, 'delivered_to_lab'], 'lab_processing_blocked', 'sample_error', 'at_lab', 'failed'],
  [[...sentBack, 'delivered_to_lab'], 'completed', 'corrected', 'completed', 'completed'],
  [lostOnItsWayBack, 'lost', 'delivered_to_lab', 'failed', 'at_lab'],
  [onItsWay, 'lost', 'delivered_to_lab', 'failed', 'at_lab'],
  [sentBack, 'failure_to_deliver_to_lab', 'delivered_to_lab', 'failed', 'at_lab'],
  [lostOnItsWayBack, 'lost', 'completed', 'failed', 'completed'],
];
