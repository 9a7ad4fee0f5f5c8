import { isCritical } from '../interpretation.js';

/**
 * The state of one lab order at one moment, as far as the lifecycle needs it.
 *
 * Webhooks and reads carry the whole order with names, addresses and birth dates; a snapshot leaves all of that out (`projection.ts`),
 * so it may enter a workflow's history. Timestamps are ISO 8601 in UTC with a zone; a timestamp that the service sent
 * without a zone has been read as UTC (docs/internals/lab-service.md).
 */
export interface OrderSnapshot {
  orderId: string;
  userId?: string;
  /** Collection method: `testkit`, `walk_in_test`, `at_home_phlebotomy`, `on_site_collection`, or one not known yet. */
  method?: string;
  /** `labops:<root order id or ->:<reference>:<n>`, on an order that this installation created: without its name. */
  passthrough?: string;
  /** `initial`, `redraw`, `recreation`, or one not known yet. */
  origin?: string;
  /** The order that this redraw follows, if the service names it. */
  parentId?: string;
  /** The order of another patient that this one was made again from: it is of another chain. */
  recreates?: string;
  /** Top-level status, in lower case. */
  status?: string;
  /** Ascending by `id`, without repetition; of more than a hundred those that say something: `boundedEvents`. */
  events: OrderEvent[];
  sampleId?: string;
  shipment?: ShipmentSnapshot;
  transaction?: TransactionSnapshot;
  /** `normal`, `abnormal`, `critical`, `unknown`, or another word as the service wrote it. */
  interpretation?: string;
  /** The service lists it with `is_critical=true`: somebody must act on the results, whatever the interpretation says. */
  flaggedCritical?: true;
  /**
   * The service's own expectation, `worst_case_result_by_date`, YYYY-MM-DD: 99 % of results come by then. Absent until the sample is
   * collected; it is computed again and again, and may jump.
   */
  resultsBy?: string;
  /** The date that the order is scheduled for, `activate_by`, YYYY-MM-DD: nothing happens before it. */
  activateBy?: string;
  createdAt?: string;
  updatedAt?: string;
}

/** True if the service calls the results critical, by its flag or a word. */
export function hasCriticalResult({
  flaggedCritical,
  interpretation,
}: Pick<OrderSnapshot, 'flaggedCritical' | 'interpretation'>): boolean {
  return flaggedCritical === true || isCritical(interpretation);
}

export interface OrderEvent {
  /** Ascending within the order, not dense. */
  id: number;
  at: string;
  /** `<top>.<method>.<low>` in lower case, for instance `collecting_sample.testkit.transit_lab`. */
  status: string;
  /** Finer-grained information, for instance `sample_hemolyzed`. */
  detail?: string;
}

export interface ShipmentSnapshot {
  outboundCourier?: string;
  outboundTrackingNumber?: string;
  inboundCourier?: string;
  inboundTrackingNumber?: string;
}

export interface TransactionSnapshot {
  id: string;
  status?: string;
  orders: TransactionOrder[];
}

export interface TransactionOrder {
  id: string;
  origin?: string;
  parentId?: string;
  createdAt?: string;
}

/*
 * A service may report an order's tracking every few minutes, and list many orders in a transaction. What is carried from run to run, and is
 * in every answer, must not grow with the one, nor with the square of the other. Pure: the workflow's fold uses it, too.
 */

const mostOfEach = 33;

/**
 * An order's events, if there are more than 99: of each kind at most 33, the first with each status, the newest that change
 * status or detail, and the newest of all.
 *
 * @param events ascending by id
 */
export function boundedEvents(events: readonly OrderEvent[]): OrderEvent[] {
  if (events.length <= 3 * mostOfEach) return [...events];
  const statuses = new Set<string>();
  const firsts = events.filter(({ status }) => !statuses.has(status) && statuses.add(status));
  const changes = events.filter(({ status, detail }, index) => {
    const before = events[index - 1];
    return status !== before?.status || detail !== before.detail;
  });
  const kept = new Set([firsts.slice(0, mostOfEach), changes.slice(-mostOfEach), events.slice(-mostOfEach)].flat());
  return events.filter((event) => kept.has(event));
}

/** A snapshot among others of its transaction, which shows only what they do not. */
export interface ListedOnce extends Omit<OrderSnapshot, 'transaction'> {
  transaction?: OrderSnapshot['transaction'] & {
    /** With how many orders the longest list before this one begins like this one: they are left out here. */
    repeated?: number;
  };
}

/** Snapshots with the orders of a transaction once: an order's transaction lists all its orders, so each snapshot repeats them. */
export function listedOnce(snapshots: readonly OrderSnapshot[]): ListedOnce[] {
  const longest = new Map<string, string[]>();
  return snapshots.map((snapshot) => {
    const { transaction } = snapshot;
    if (!transaction) return snapshot;
    const texts = transaction.orders.map((order) => JSON.stringify(order));
    const before = longest.get(transaction.id) ?? [];
    if (texts.length > before.length) longest.set(transaction.id, texts);
    const differing = texts.findIndex((text, index) => text !== before[index]);
    const repeated = differing === -1 ? texts.length : differing;
    return { ...snapshot, transaction: { ...transaction, orders: transaction.orders.slice(repeated), repeated } };
  });
}

/** The snapshots as they were before `listedOnce`. */
export function listedWhole(snapshots: readonly ListedOnce[]): OrderSnapshot[] {
  const longest = new Map<string, TransactionOrder[]>();
  return snapshots.map(({ transaction: listed, ...snapshot }) => {
    if (!listed) return snapshot;
    const { repeated = 0, ...transaction } = listed;
    const before = longest.get(transaction.id) ?? [];
    const orders = [...before.slice(0, repeated), ...transaction.orders];
    if (orders.length > before.length) longest.set(transaction.id, orders);
    return { ...snapshot, transaction: { ...transaction, orders } };
  });
}
