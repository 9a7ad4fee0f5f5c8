import { ApplicationFailure, heartbeat } from '@temporalio/activity';
import { snapshotOf, type OrderSnapshot } from '../service/order-snapshot.js';
import { countryCodeOf, type Order, type ShippingDetails } from '../service/orders.js';
import { writePassthrough } from '../workflows/order/address.js';
import type { KitRequest } from '../workflows/order/messages.js';
import type { ActivityDependencies } from './activities.js';
import { asFailures } from './failures.js';
import { demandPhysician } from './orders.js';
import { placedBefore, type WantedOrder } from './recognising.js';

export interface CreateKitOrder {
  request: KitRequest;
  reference: string;
  /** Milliseconds; see `OrderPolicy.creationTimeout`. */
  creationTimeout: number;
}

export interface ReplaceKitOrder {
  failedOrderId: string;
  rootOrderId: string;
  reference: string;
  n: number;
  /** The chain's orders that are known: none of them is the replacement. */
  chain: string[];
  /** From the hand-over; else the failed order's own. */
  labTestId?: string;
  labAccountId?: string;
  creationTimeout: number;
}

export interface PlacedOrder {
  snapshot: OrderSnapshot;
  /** True when the order was already there and was taken over instead of created. */
  adopted: boolean;
}

/** Creations, which the service does not make idempotent: every attempt looks first whether the order is there. */
export function placingActivities(dependencies: ActivityDependencies) {
  return {
    createKitOrder: (wish: CreateKitOrder): Promise<PlacedOrder> =>
      asFailures('OrderRefused', () => placeFirst(dependencies, wish), settlingAfter(wish.creationTimeout)),

    replaceKitOrder: (wish: ReplaceKitOrder): Promise<PlacedOrder> =>
      asFailures('OrderRefused', () => placeReplacement(dependencies, wish), settlingAfter(wish.creationTimeout)),
  };
}

async function placeFirst(dependencies: ActivityDependencies, wish: CreateKitOrder): Promise<PlacedOrder> {
  const { request, reference, creationTimeout } = wish;
  const passthrough = writePassthrough({ reference, n: 1 });
  return adoptOrCreate(dependencies, wantedBy(request, passthrough, reference), async () => {
    if (request.kind === 'with_patient') {
      await demandPhysician(dependencies.service, request.order.lab_account_id, request.order.physician);
    }
    return create(dependencies, request, passthrough, creationTimeout);
  });
}

/**
 * Orders a new kit for a failed order, to the address that the failed order was sent to. A redraw that the service
 * already made in the same transaction wins.
 */
async function placeReplacement(dependencies: ActivityDependencies, wish: ReplaceKitOrder): Promise<PlacedOrder> {
  const { failedOrderId, rootOrderId, reference, n, creationTimeout } = wish;
  const failed = await dependencies.service.orders.get(failedOrderId);
  const redraw = await redrawOf(dependencies, failed);
  if (redraw) return { snapshot: snapshotOf(redraw), adopted: true };
  const passthrough = writePassthrough({ root: rootOrderId, reference, n });
  const request: KitRequest = { kind: 'unregistered', order: sameAgain(failed, wish) };
  const wanted = { ...wantedBy(request, passthrough, reference), noneOf: wish.chain };
  return adoptOrCreate(dependencies, wanted, () => create(dependencies, request, passthrough, creationTimeout));
}

/** The service may still be at work on a creation whose answer was lost: half as long again as it may take. */
function settlingAfter(creationTimeout: number): number {
  return creationTimeout * 1.5;
}

async function adoptOrCreate(
  dependencies: ActivityDependencies,
  wanted: WantedOrder,
  createOrder: () => Promise<Order>,
): Promise<PlacedOrder> {
  heartbeat('looking for an earlier attempt');
  const found = await placedBefore(dependencies, wanted);
  if (found) return { snapshot: snapshotOf(found), adopted: true };
  return { snapshot: snapshotOf(await createOrder()), adopted: false };
}

async function create(
  { service }: ActivityDependencies,
  request: KitRequest,
  passthrough: string,
  timeoutMs: number,
): Promise<Order> {
  heartbeat('creating');
  if (request.kind === 'unregistered') {
    const { order } = await service.orders.createTestkit({ ...request.order, passthrough }, { timeoutMs });
    return order;
  }
  const { order } = await service.orders.create(
    { ...request.order, passthrough },
    { timeoutMs, idempotencyKey: passthrough },
  );
  return order;
}

function wantedBy(request: KitRequest, passthrough: string, reference: string): WantedOrder {
  const { user_id: userId, lab_test_id: labTestId } = request.order;
  const address = request.kind === 'unregistered' ? request.order.shipping_details : request.order.patient_address;
  return { passthrough, reference, userId, address, ...(labTestId != null && { labTestId }) };
}

async function redrawOf({ service }: ActivityDependencies, failed: Order): Promise<Order | undefined> {
  const transaction = failed.order_transaction?.orders ?? [];
  const own = transaction.findIndex(({ id }) => id === failed.id);
  const redraw = transaction
    .slice(own + 1)
    .find(({ origin, parent_id: parent }) => parent === failed.id || (origin != null && origin !== 'initial'));
  return redraw?.id == null ? undefined : service.orders.get(redraw.id);
}

/** The failed order's own kit once more. An answer's address has the country in long form; requests want the code. */
function sameAgain(failed: Order, { labTestId, labAccountId }: ReplaceKitOrder) {
  const address = failed.shipping_details ?? failed.patient_address;
  const testId = labTestId ?? failed.lab_test?.id;
  if (address == null || testId == null || failed.user_id == null) {
    throw ApplicationFailure.nonRetryable(
      `Order ${failed.id} does not show its user, lab test and address, which a replacement needs`,
      'OrderRefused',
      { fields: [{ field: 'shipping_details', message: 'is not shown by the failed order' }] },
    );
  }
  const accountId = failed.lab_account_id ?? labAccountId;
  const shippingDetails: ShippingDetails = {
    receiver_name: address.receiver_name || patientName(failed),
    first_line: address.first_line ?? '',
    ...(address.second_line != null && { second_line: address.second_line }),
    city: address.city ?? '',
    state: address.state ?? '',
    zip: address.zip ?? '',
    country: countryCodeOf(address.country ?? '') ?? address.country ?? '',
    phone_number: address.phone_number ?? failed.patient_details?.phone_number ?? '',
  };
  return {
    user_id: failed.user_id,
    lab_test_id: testId,
    shipping_details: shippingDetails,
    ...(accountId != null && { lab_account_id: accountId }),
  };
}

function patientName({ patient_details: patient }: Order): string {
  return [patient?.first_name, patient?.last_name].filter((name) => name != null).join(' ');
}
