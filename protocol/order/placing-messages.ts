import { defineQuery, defineSignal, defineUpdate } from '../definitions.js';
import type { ImportOrderRequest, OrderRequest, TestkitOrderRequest } from '../../service/order/orders.js';
import type { OfActor } from '../ids.js';
import type { Attention } from '../attention.js';
import type { OrderPolicy, ResolvedOrderPolicy } from './policy.js';
import type { AttentionReason, Waiting } from './state.js';
import type { OrderPlaced } from './messages.js';
import { omitNullish } from '../../service/json-object.js';

/** Who `placeKitOrder` is: its name, input, result, signals, updates and queries. The order itself: `messages.ts`. */

export const placeKitOrderName = 'placeKitOrder';

/** The order to place. The fields of `order` are the service's own, as the specification writes them. */
export type KitRequest =
  /** `POST /v3/order/testkit`: the kit ships first, and the patient is registered later. */
  | { kind: 'unregistered'; order: Omit<TestkitOrderRequest, 'passthrough'> }
  /** `POST /v3/order`: the patient is known from the start; no registration is waited for. */
  | { kind: 'with_patient'; order: Omit<OrderRequest, 'passthrough'> }
  /** `POST /v3/order/import`: the sample exists, and nothing is shipped or registered. Only results are waited for. */
  | { kind: 'import'; order: ImportOrderRequest };

export const kitKinds: readonly KitRequest['kind'][] = ['unregistered', 'with_patient', 'import'];

interface Referenced {
  /** The product's own key, `^[A-Za-z0-9._:-]{1,128}$`, never personal data. The same key never places a second kit. */
  reference: string;
  /** A part of the settings, or a resolved policy: the client sends one, so the worker need not ask for the defaults. */
  policy?: OrderPolicy | ResolvedOrderPolicy;
}

export type PlaceKitOrderInput = KitRequest & Referenced;

/** An order that exists already is given the reference: nothing is ordered. `orderId` may be that of any order of its chain. */
export type AdoptOrderInput = { kind: 'existing'; orderId: string } & Referenced;

export interface PlaceKitOrderResult {
  /** The service's id of the order, which is also the root of its chain. */
  orderId: string;
  /** True when the order was already there (it was adopted, or an earlier answer was lost) and was taken over instead of created. */
  adopted: boolean;
}

/** The progress of an attempt to create the order, so a cancellation knows if an order may have been created. */
export type CreationProgress =
  /** The attempt ends before it sends anything, and nothing was sent before it. */
  | 'nothing_sent'
  /** From here on an order may have been created. */
  | 'sending';

/** Sent by the worker's own activities, never by a backend. */
export const creationProgressSignal = defineSignal<[CreationProgress]>('creationProgress');

/** The result of cancelling a placing. */
export type PlacingEnd =
  /** There is no order, and none will be created. */
  | { outcome: 'cancelled'; reference: string }
  /** It came too late: there is an order. One that was placed tries once to cancel itself; one that was adopted goes on. */
  | { outcome: 'placed'; orderId: string };

/** Ends a placing before there is an order: on `placeKitOrder`. Waits until it is certain if there is one. */
export const cancelUpdate = defineUpdate<PlacingEnd, [OfActor]>('cancel');

/** The reason why a person should look at a placing. */
export type PlacingAttentionReason = Extract<AttentionReason, 'ambiguous_order' | 'placing_delayed'>;

/** The progress of a placing. Nothing personal. */
export interface PlacingState {
  phase: 'placing';
  reference: string;
  /** Absent while an order is adopted. */
  userId?: string;
  /** The lab tests that are ordered, alone or in a set. Absent while an order is adopted. */
  labTestIds?: string[];
  waiting: Waiting;
  attention: Attention<PlacingAttentionReason>[];
  /** Set once there is an order: the workflow `kit-order/<order id>` shows it from there. */
  orderId?: string;
  /** Set once the placing was cancelled and there is no order. */
  outcome?: 'cancelled';
  /** Who cancelled it, which may have come too late. */
  cancelledBy?: string;
}

export const stateQuery = defineQuery<PlacingState>('state');

/** The facts about a placed order that its workflow is given; the worker adds `notifies`. */
export type HandOver = Omit<OrderPlaced, 'notifies'>;

type Placed = Pick<HandOver, 'reference' | 'policy' | 'snapshot' | 'adopted'>;

/** The lab tests that are ordered, alone or in a set; not the markers. */
export function labTestIdsOf(order: KitRequest['order']): string[] {
  const test = 'lab_test_id' in order ? order.lab_test_id : undefined;
  const set = 'order_set' in order ? order.order_set?.lab_test_ids : undefined;
  return [test ?? [], set ?? []].flat();
}

/** Takes the test and the account from the request, because the service does not always show them again. */
export function handOverOf(order: KitRequest['order'], { reference, policy, snapshot, adopted }: Placed): HandOver {
  const labTestId = 'lab_test_id' in order ? order.lab_test_id : undefined;
  // A set of tests may name the account itself.
  const labAccountId = order.lab_account_id ?? ('order_set' in order ? order.order_set?.lab_account_id : undefined);
  return omitNullish({ reference, policy, snapshot, adopted, labTestId, labAccountId });
}
