import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { countryCodeOf, type Order } from '../service/orders.js';
import { kitOrderId, placeKitOrderId, readPassthrough } from '../workflows/order/address.js';
import { labReferenceKey } from '../workflows/search-attributes.js';
import type { ActivityDependencies } from './activities.js';
import type { Attempt } from './attempt.js';
import { runsOf } from './earlier-runs.js';

/** The order that a creation is about to place, or that an earlier attempt has placed already. */
export interface WantedOrder {
  passthrough: string;
  reference: string;
  userId: string;
  /** Absent where a set of tests was ordered, which the service may make a test of its own of. */
  labTestId?: string;
  /** ISO 8601: no order that is older can be it. */
  since: string;
  /** Earlier executions have failed, so that something may have been sent before this one's first attempt. */
  triedBefore: boolean;
  /** Orders that are known to be others. */
  noneOf?: readonly string[];
  address: {
    zip?: string | null | undefined;
    first_line?: string | null | undefined;
    country?: string | null | undefined;
  };
}

/** Clocks differ: an order that seems a little older than the first attempt may still be its fruit. */
const clockSkew = 5 * 60_000;

/**
 * Looks through the user's orders for the one that an earlier attempt placed. Where the deployment echoes passthrough
 * this is exact. Where it does not, an order is recognised by user, lab test, address and time, unless another
 * reference has claimed it.
 *
 * @throws ApplicationFailure `AmbiguousOrder` when more than one could be it: nothing may be created then
 */
export async function placedBefore(
  dependencies: ActivityDependencies,
  wanted: WantedOrder,
  attempt: Attempt,
): Promise<Order | undefined> {
  const { service } = dependencies;
  const candidates: Order[] = [];
  const since = Date.parse(wanted.since) - clockSkew;
  for await (const order of service.orders.list({ userId: wanted.userId }, attempt.call())) {
    attempt.call();
    if (isFollowUp(order)) continue;
    if (order.passthrough === wanted.passthrough) return order;
    if (couldBe(order, wanted, since)) candidates.push(order);
  }
  return candidates.length === 0 ? undefined : theOneOf(candidates, dependencies, wanted);
}

/** When the reference was first placed: an earlier run may have failed after a creation whose answer it never got. */
export async function firstPlacing(
  { temporal, echoesPassthrough }: ActivityDependencies,
  reference: string,
  since: string,
): Promise<string> {
  if (echoesPassthrough) return since;
  const starts = await runsOf(temporal, placeKitOrderId(reference));
  return [since, ...starts.map(({ startTime }) => startTime.toISOString())].toSorted()[0] ?? since;
}

/** Whether nothing can have been sent for this order yet. */
function isFirstAttempt({ triedBefore }: WantedOrder): boolean {
  return activityInfo().attempt === 1 && !triedBefore;
}

async function theOneOf(
  candidates: Order[],
  { temporal, echoesPassthrough }: ActivityDependencies,
  wanted: WantedOrder,
): Promise<Order | undefined> {
  if (!echoesPassthrough) return onlyUnclaimed(temporal, candidates, wanted);
  // Where passthrough is echoed, an order without ours is somebody else's. After a failed attempt it may also mean that
  // the deployment does not echo it after all: better nothing than a second kit.
  if (isFirstAttempt(wanted)) return undefined;
  const unclaimed = await Promise.all(candidates.map(async ({ id }) => (await claimOn(temporal, id)) === undefined));
  if (unclaimed.includes(true)) throw ambiguous(candidates);
  return undefined;
}

/** A redraw may carry a copy of the passthrough of the order that it follows. */
function isFollowUp({ origin }: Order): boolean {
  return origin === 'redraw' || origin === 'recreation';
}

function couldBe(order: Order, wanted: WantedOrder, since: number): boolean {
  const address = order.shipping_details ?? order.patient_address;
  return (
    wanted.noneOf?.includes(order.id) !== true &&
    readPassthrough(order.passthrough ?? undefined) === undefined &&
    Date.parse(order.created_at ?? '') >= since &&
    (order.lab_test?.id == null || wanted.labTestId === undefined || order.lab_test.id === wanted.labTestId) &&
    same(address?.zip, wanted.address.zip) &&
    same(address?.first_line, wanted.address.first_line) &&
    same(countryCodeOf(address?.country ?? ''), countryCodeOf(wanted.address.country ?? ''))
  );
}

/** Addresses come back tidied: letter case and white space say nothing. */
function same(a: string | null | undefined, b: string | null | undefined): boolean {
  const tidy = (text: string | null | undefined) => (text ?? '').toLowerCase().replaceAll(/\s+/g, ' ').trim();
  return tidy(a) === tidy(b);
}

async function onlyUnclaimed(temporal: Client, candidates: Order[], wanted: WantedOrder): Promise<Order | undefined> {
  const unclaimed: Order[] = [];
  for (const order of candidates) {
    const claim = await claimOn(temporal, order.id);
    if (claim === wanted.reference) return order;
    if (claim === undefined) unclaimed.push(order);
  }
  if (unclaimed.length > 1) throw ambiguous(unclaimed);
  const [only] = unclaimed;
  // On the first attempt nothing has been sent yet: the order may be another reference's, about to be handed over.
  // The next attempt sees whose it is.
  if (only && isFirstAttempt(wanted)) {
    throw ApplicationFailure.retryable(`Order ${only.id} may be this one, or another reference's`, 'OrderUnclaimed');
  }
  return only;
}

/** The reference that the order's workflow carries, if it has one. */
async function claimOn(temporal: Client, orderId: string): Promise<string | undefined> {
  try {
    const { typedSearchAttributes } = await temporal.workflow.getHandle(kitOrderId(orderId)).describe();
    return typedSearchAttributes.get(labReferenceKey);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

function ambiguous(orders: readonly Order[]): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    `More than one order could be the one that was placed: ${orders.map(({ id }) => id).join(', ')}. Nothing was created.`,
    'AmbiguousOrder',
    { fields: [], orderIds: orders.map(({ id }) => id) },
  );
}
