import type { Client } from '@temporalio/client';
import { canonicalId } from '../../service/canonical-id.js';
import { NotFound } from '../../service/errors.js';
import { snapshotOf } from '../../service/order/projection.js';
import {
  withoutMemos,
  forwardedPhase,
  labOrderIdKey,
  labPhaseKey,
  labReferenceKey,
} from '../../protocol/search-attributes.js';
import { isAddressable, kitOrderId, placeKitOrderId, idIn } from '../../protocol/ids.js';
import { rootOf } from '../../protocol/order/root-order.js';
import { kitOrderName, stateQuery } from '../../protocol/order/messages.js';
import type { OneCall } from '../one-call.js';
import type { ServiceAccess } from '../service-calls.js';
import { describe, goesOnOrCompleted } from '../workflow-runs.js';
import { OrderNotFound } from './errors.js';
import { type Order, type OrderFilter, type OrderSearch, orderSearchSchema } from '../../service/order/orders.js';
import { isCritical, isSameInterpretation, spellingsOf, readStatus } from '../../protocol/order/lifecycle.js';
import { ReadInvalid } from '../errors.js';
import { checkRead, refuseFaulty } from '../input-faults.js';

/* Finds orders: the root of a chain by any of its ids, a placing by its reference, and the service's orders by conditions. */

/** Finds the root order of the chain that any order id belongs to. */
export async function findRootOrder(access: ServiceAccess, call: OneCall, given: string): Promise<string> {
  const orderId = canonicalId(given);
  if (!isAddressable(orderId)) throw new OrderNotFound('This is not a valid order id');
  const { client } = access.calls;
  const own = await describeOrder(client, orderId);
  if (own) return rootFrom(client, call, orderId, own);
  const found =
    (await rootByVisibility(client, labOrderIdKey.name, orderId)) ?? (await rootByService(access, call, orderId));
  const workflow = found === undefined ? undefined : await describeOrder(client, found);
  if (found === undefined || !workflow) throw new OrderNotFound(`No workflow follows order ${orderId}`);
  // Visibility and service may name a replacement as the root of its redraw.
  return rootFrom(client, call, found, workflow);
}

/**
 * The workflow of a reference: its placing workflow, or, if that is past retention or was interrupted, the
 * order's own workflow, which a webhook may have started and which is named then.
 *
 * @throws OrderNotFound if the reference was not placed
 */
export async function findPlacement({ calls }: ServiceAccess, reference: string): Promise<{ rootOrderId?: string }> {
  const placing = await describe(calls.client.workflow.getHandle(placeKitOrderId(reference)));
  if (goesOnOrCompleted(placing)) return {};
  const rootOrderId = await rootByVisibility(calls.client, labReferenceKey.name, reference);
  if (rootOrderId !== undefined) return { rootOrderId };
  if (placing) return {};
  throw new OrderNotFound(`No order was placed with the reference ${reference}`);
}

type OrderWorkflow = NonNullable<Awaited<ReturnType<typeof describe>>>;

function describeOrder(temporal: Client, orderId: string): Promise<OrderWorkflow | undefined> {
  return describe(temporal.workflow.getHandle(kitOrderId(orderId)));
}

/** The order itself, or the root that its workflow passes everything on to. */
async function rootFrom(temporal: Client, call: OneCall, orderId: string, workflow: OrderWorkflow): Promise<string> {
  if (workflow.typedSearchAttributes.get(labPhaseKey) !== forwardedPhase) return orderId;
  const { forwardsTo } = await call.state(temporal.workflow.getHandle(kitOrderId(orderId)), stateQuery);
  return forwardsTo ?? orderId;
}

/** Both attributes contain only what their patterns allow, so never a quote. */
export async function rootByVisibility(
  temporal: Client,
  attribute: string,
  value: string,
): Promise<string | undefined> {
  const query = `WorkflowType = '${kitOrderName}' AND ${attribute} = '${value}' AND LabPhase != '${forwardedPhase}'`;
  for await (const { workflowId } of withoutMemos(temporal.workflow).list({ query }))
    return idIn(workflowId, kitOrderId);
  return undefined;
}

/** Visibility lags by moments behind a replacement that was just placed; the order itself says whose it is. */
async function rootByService({ service }: ServiceAccess, call: OneCall, orderId: string): Promise<string | undefined> {
  if (!service) return undefined;
  try {
    return rootOf(snapshotOf(await call.service((abort) => service.orders.get(orderId, abort)), service.installation));
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}

/** @throws ReadInvalid */
export function serviceFilterOf(search: OrderSearch): OrderFilter {
  checkRead('The search', search, orderSearchSchema);
  const { all, from, to, ...same } = search;
  if (all !== true && Object.keys(search).every((field) => field === 'all')) {
    const message = 'must have a condition, or { all: true } for every order of the team';
    refuseFaulty('The search', [{ field: 'search', message }], ReadInvalid);
  }
  return {
    ...same,
    ...(from !== undefined && { startDate: from.toISOString() }),
    ...(to !== undefined && { endDate: to.toISOString() }),
  };
}

/**
 * False for an order that the search excludes: the specification documents only one filter of the list, and a service that
 * ignores one lists everybody's orders. An order that shows neither status nor time is believed.
 */
export function isSearched(order: Order, { userId, status, interpretation, from, to }: OrderSearch): boolean {
  const { events, createdAt } = snapshotOf(order, []);
  const last = events.at(-1);
  const at = createdAt === undefined ? undefined : Date.parse(createdAt);
  return (
    (userId === undefined || isOf(order, userId)) &&
    (interpretation === undefined || hasInterpretation(order, interpretation)) &&
    (status === undefined ||
      last === undefined ||
      status.some((each) => spellingsOf(readStatus(each.toLowerCase()).low).includes(readStatus(last.status).low))) &&
    (from === undefined || at === undefined || at >= from.getTime()) &&
    (to === undefined || at === undefined || at <= to.getTime())
  );
}

/** Whatever raises an alarm is found as `critical`, in whichever words the service writes it. */
function hasInterpretation({ interpretation }: Order, searched: string): boolean {
  if (isSameInterpretation(interpretation, searched)) return true;
  return isSameInterpretation('critical', searched) && isCritical(interpretation);
}

export function isOf({ user_id: owner }: Order, userId: string): boolean {
  return owner != null && canonicalId(owner) === canonicalId(userId);
}
