import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { OrderSnapshot, ShipmentSnapshot } from '../../service/order-snapshot.js';
import type { OrderRequest, RegisterRequest, TestkitOrderRequest } from '../../service/orders.js';
import type { OrderPolicy, ResolvedPolicy } from './policy.js';

/**
 * Who the order workflows are: their names, inputs, results, signals, queries and updates. The wire name of a message
 * is its export's name less its suffix. docs/messages.md shows the same as JSON for backends in other languages.
 */

export const placeKitOrderName = 'placeKitOrder';
export const kitOrderName = 'kitOrder';

/** What to order. The fields of `order` are the service's own, as the specification writes them. */
export type KitRequest =
  /** `POST /v3/order/testkit`: the kit ships first, and the patient is registered later. */
  | { kind: 'unregistered'; order: Omit<TestkitOrderRequest, 'passthrough'> }
  /** `POST /v3/order`: the patient is known from the start; no registration is waited for. */
  | { kind: 'with_patient'; order: Omit<OrderRequest, 'passthrough'> };

export type PlaceKitOrderInput = KitRequest & {
  /** The product's own key, `^[A-Za-z0-9._:-]{1,128}$`, never personal data. The same key never places a second kit. */
  reference: string;
  policy?: OrderPolicy;
};

export interface PlaceKitOrderResult {
  /** The service's id of the order, which is also the root of its chain. */
  orderId: string;
  /** True when the order was already there (an earlier answer was lost) and was taken over instead of created. */
  adopted: boolean;
}

export interface KitOrderInput {
  rootOrderId: string;
  /** State carried over by continue-as-new; never given by a caller. */
  carried?: unknown;
}

/** Hands a placed order over to the workflow that follows it. */
export interface OrderPlaced {
  reference: string;
  policy: ResolvedPolicy;
  snapshot: OrderSnapshot;
  labTestId?: string;
  labAccountId?: string;
  /** The order was there already: it may have a history that the run should know. */
  adopted: boolean;
  /** Whether the worker has a target for notifications; with none, nothing is scheduled. */
  notifies: boolean;
}

export const orderPlacedSignal = defineSignal<[OrderPlaced]>('orderPlaced');
export const orderChangedSignal = defineSignal<[OrderSnapshot]>('orderChanged');

/** Tells the run of a replacement's own id whose chain the order joins, where the order itself cannot tell. */
export interface ReplacementPlaced {
  rootOrderId: string;
  /** The chain's, which so claims the new order, too. */
  reference?: string;
  snapshot: OrderSnapshot;
}

export const replacementPlacedSignal = defineSignal<[ReplacementPlaced]>('replacementPlaced');

/** A command may name the order of the chain it means; otherwise it means the current one. */
interface OrderCommand {
  orderId?: string;
}

export interface RegisterCommand extends OrderCommand {
  /** The body of `POST /v3/order/testkit/register`. Its patient may be another user than the one who ordered. */
  registration: RegisterRequest;
}

export type CancelCommand = OrderCommand;

export interface ResolveProblemCommand extends OrderCommand {
  /** `wait`: give it more time; `replace`: order a new kit; `abandon`: stop following, the service is told nothing. */
  decision: 'wait' | 'replace' | 'abandon';
}

export type ReplaceKitCommand = OrderCommand;

/** Every command answers with the state after it, so that nobody needs to query. */
export const registerUpdate = defineUpdate<OrderState, [RegisterCommand]>('register');
export const cancelUpdate = defineUpdate<OrderState, [CancelCommand]>('cancel');
export const resolveProblemUpdate = defineUpdate<OrderState, [ResolveProblemCommand]>('resolveProblem');
export const replaceKitUpdate = defineUpdate<OrderState, [ReplaceKitCommand]>('replaceKit');

export const stateQuery = defineQuery<OrderState>('state');

/** Where the kit is, as far as it is known. LabPhase carries the current order's phase. */
export type OrderPhase =
  /** Placed, nothing shipped yet; the patient is registered or need not be. */
  | 'preparing'
  /** The kit waits to be registered: before it ships, or once it is with the customer. */
  | 'awaiting_registration'
  | 'in_transit_to_customer'
  /** Delivered and registered: the sample is to be taken and sent back. */
  | 'with_customer'
  /** Collection under way by a method other than a test kit, or by a status that is not known yet. */
  | 'collecting_sample'
  | 'in_transit_to_lab'
  | 'at_lab'
  | 'completed'
  | 'failed'
  | 'cancelled'
  /** A top-level status that is not known yet. */
  | 'unknown';

/** Why a person should look. */
export type AttentionReason =
  | 'registration_overdue'
  | 'shipping_overdue'
  | 'delivery_overdue'
  | 'return_overdue'
  | 'transit_to_lab_overdue'
  | 'results_overdue'
  /** An order by another collection method than a kit has no sample at the lab yet. */
  | 'collection_overdue'
  /** A problem in transit or a blocked sample outlasted the policy's limit: answer with `resolveProblem`. */
  | 'problem_persists'
  /** The kit is lost, undeliverable or its sample unusable, and the policy asks: answer with `resolveProblem`. */
  | 'decision_needed'
  /** A kit that had been given up moves again while its replacement is under way. */
  | 'late_arrival'
  /** The service registered another order than the one that was meant. */
  | 'registered_another_order'
  /** A second reference claims this order. */
  | 'reference_conflict'
  | 'replacement_failed'
  | 'notifications_undelivered'
  /** More than one order could be the one that an earlier attempt created: nothing was created. */
  | 'ambiguous_order'
  /** The service has not taken the order for an hour; placing goes on trying. */
  | 'placing_delayed';

export interface Attention {
  reason: AttentionReason;
  orderId: string;
  since: string;
}

export interface TimelineEntry {
  orderId: string;
  eventId: number;
  at: string;
  /** The service's own status, also one that is not known yet. */
  status: string;
  detail?: string;
}

/** One kit of the chain. */
export interface ChainLink {
  orderId: string;
  /** `initial`, `redraw`, `recreation` (the service's words), or `replacement` (ours). */
  origin: string;
  phase: OrderPhase;
  status: string;
  /** The order that this one follows, and the one that follows it. */
  replaces?: string;
  replacedBy?: string;
}

export interface Waiting {
  /** What is waited for, in plain words. */
  for: string;
  until?: string;
}

/** What `state` and every command answer with. Nothing personal: who the patient is, the service knows. */
export interface OrderState {
  rootOrderId: string;
  /** The current order of the chain: the one that is expected to bring the results. */
  orderId: string;
  reference?: string;
  userId?: string;
  phase: OrderPhase;
  status: string;
  registered: boolean;
  sampleId?: string;
  /** A problem that the current order has right now. */
  problem?: { status: string; since: string; detail?: string };
  interpretation?: string;
  shipment?: ShipmentSnapshot;
  waiting: Waiting;
  attention: Attention[];
  chain: ChainLink[];
  timeline: TimelineEntry[];
  /** Set once the order has ended. */
  outcome?: OrderOutcome;
  /** Set when this run only passes on what it hears to the workflow of another root order. */
  forwardsTo?: string;
}

export type OrderOutcome =
  | 'completed'
  | 'cancelled'
  | 'failed'
  /** A person decided to stop following it. */
  | 'abandoned'
  /** Nothing moved for `giveUpAfter` beyond a deadline. A later event starts a new run. */
  | 'unresolved'
  /** The service no longer knows the order. */
  | 'order_gone'
  /** This run passed everything on to the workflow of another root order. */
  | 'forwarded';

/** One replacement of one order. It is claimed before anything is awaited, so that no order is replaced twice. */
export interface Replacement {
  replaces: string;
  /** The replaced order's last event at that time: one that moves on later has come back. */
  atEventId: number;
  /** Counts creations under one reference; 1 was the first kit. */
  n: number;
  /** When it was first wanted. */
  claimedAt: string;
  /** When it was last tried in vain, milliseconds since the epoch: the service may still be at work on it. */
  triedAt?: number;
  /** The product was told. */
  told?: boolean;
  /** The new order, once it is known. */
  orderId?: string;
}

export interface KitOrderResult {
  outcome: OrderOutcome;
  /** The order of the chain that brought the outcome. Lab values stay in the service and are read by this id. */
  orderId: string;
  rootOrderId: string;
  reference?: string;
  interpretation?: string;
  chain: ChainLink[];
  timeline: TimelineEntry[];
  /** What a later run goes on with, should the order stir again. */
  policy: ResolvedPolicy;
  replacements: Replacement[];
}
