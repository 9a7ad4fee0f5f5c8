import { activityInfo, ApplicationFailure, log } from '@temporalio/activity';
import type { WorkflowExecutionInfo } from '@temporalio/client';
import { isIdRefused, type Order, type OrderPage } from '../../service/order/orders.js';
import { numberedPages } from '../../service/http/paging.js';
import { knownInstant } from '../../service/timestamps.js';
import { anyZone, clockError } from '../../protocol/time.js';
import { kitOrderId, placeKitOrderId, shownId, idIn } from '../../protocol/ids.js';
import { canonicalId } from '../../service/canonical-id.js';
import { standingOf } from '../../protocol/order/lifecycle.js';
import { isRedraw, isSameCreation } from '../../protocol/order/root-order.js';
import { kitOrderName } from '../../protocol/order/messages.js';
import type { KitRequest } from '../../protocol/order/placing-messages.js';
import { forwardedPhase, labPhaseKey, labReferenceKey, labUserIdKey } from '../../protocol/search-attributes.js';
import { ServiceRefused } from '../../service/errors.js';
import { signerOf, unsigned } from '../../service/installation.js';
import type { OrderSnapshot } from '../../service/order/snapshot.js';
import { snapshotOf } from '../../service/order/projection.js';
import type { LabService } from '../../service/lab-service.js';
import type { ActivityDependencies } from '../dependencies.js';
import { type Attempt, attemptDueAt, isFirstOfActivity } from '../attempt.js';
import { claimOn, listed, type Run } from '../workflow-runs.js';

/*
 * What is known of a reference: the runs of its placing, the workflow that follows its order, and orders with its passthrough at the
 * service. How long each lasts: docs/operations.md, Retention.
 */

/** The order that a creation is about to place, or that an earlier attempt may have placed. */
export interface OrderCriteria {
  kind: Exclude<KitRequest['kind'], 'import'>;
  passthrough: string;
  reference: string;
  userId: string;
  /** Absent if a set of tests was ordered, which the service may turn into a test of its own. */
  labTestId?: string;
  /** When the first run that may have sent it began, ISO 8601: older orders do not match. */
  since: string;
  /** This is not the first attempt of this run. */
  triedBefore: boolean;
  /** An earlier attempt, of this run or of one before it, may have sent it. */
  mayHaveBeenSent: boolean;
  /** Orders that are known not to match. */
  noneOf?: readonly string[];
  address: Address;
}

interface Address {
  zip?: string | null | undefined;
  first_line?: string | null | undefined;
}

/** A creation time may be a local time without its zone, up to twelve hours behind, or a date alone. */
export const anyTime = 36 * 60 * 60_000;

/**
 * Looks through the user's orders for the one that an earlier attempt placed. If the deployment echoes passthrough,
 * this is exact. Otherwise it may be any order of the user with the lab test and of about that time that no other reference has
 * claimed: the service may write everything else its own way. The address and the exact time only choose between several.
 *
 * @throws ApplicationFailure `AmbiguousOrder` if it is not certain which order it is: then nothing must be created
 */
export async function placedBefore(
  dependencies: ActivityDependencies,
  criteria: OrderCriteria,
  attempt: Attempt,
): Promise<Order | undefined> {
  const candidates = new Map<string, Order>();
  const { service, echoesPassthrough } = dependencies;
  for await (const order of ordersOf(service, criteria, attempt, echoesPassthrough)) {
    attempt.call();
    if (isRedraw(order) || !isOfItsUser(order, criteria)) continue;
    if (isSameCreation(unsigned(order.passthrough, service.installation), criteria.passthrough)) return order;
    if (couldBe(order, criteria)) candidates.set(order.id, order);
  }
  return candidates.size === 0 ? undefined : selectCandidate([...candidates.values()], dependencies, criteria, attempt);
}

/** How far earlier attempts have read all orders of the user; stored in heartbeats. */
export interface SearchProgress {
  /** The page that was being read. */
  page?: number;
  all?: true;
  /** An order that shows no sample id could be the import: the last attempt saw one, too. */
  inDoubt?: true;
}

/**
 * The user's orders that may match. Once something may have been sent, every attempt reads the orders since then and
 * skips none: an unreadable one may be the match. An older order can match only exactly, so the older orders are read
 * through once. A user may have more orders than one attempt can read: the next attempt continues.
 *
 * @param isExact an order is recognised by a text of ours that it shows: its passthrough, or the sample id of an import
 */
export async function* ordersOf(
  service: LabService,
  { userId, since, mayHaveBeenSent }: Pick<OrderCriteria, 'userId' | 'since' | 'mayHaveBeenSent'>,
  attempt: Attempt,
  isExact: boolean,
): AsyncGenerator<Order, void, undefined> {
  const looked = attempt.earlier as SearchProgress | undefined;
  // The zone of the list's filter by time is not documented.
  const startDate = new Date(Date.parse(since) - anyZone).toISOString();
  if (!isExact || mayHaveBeenSent) {
    yield* readable((page) => service.orders.page({ userId, startDate }, page, attempt.call()), mayHaveBeenSent);
  }
  if (!isExact || looked?.all) return;
  // Newest first: orders that have come meanwhile move the others back, and one that has gone moves them forward.
  const first = Math.max(1, (looked?.page ?? 1) - 1);
  const read = (page: number) => service.orders.page({ userId }, page, attempt.call({ page } satisfies SearchProgress));
  yield* readable((page) => read(first + page - 1), false);
  attempt.call({ all: true } satisfies SearchProgress);
}

/**
 * Order by order: one that cannot be read must not hide the others.
 * @param mustRead refuses such an order, which may be the one that a lost answer created
 */
function readable(read: (page: number) => Promise<OrderPage>, mustRead: boolean): AsyncGenerator<Order> {
  const readPage = async (page: number) => {
    const { orders, unreadable, size, total } = await read(page);
    const sent = orders.length + unreadable;
    if (unreadable > 0) log.warn('orders that cannot be read were skipped', { unreadable });
    if (unreadable > 0 && (mustRead || (orders.length === 0 && sent >= size))) {
      throw ApplicationFailure.retryable(
        `Of the user's orders ${unreadable} cannot be read, and the placed order may be among them`,
        'AnswerUnreadable',
      );
    }
    return { items: orders, sent, size, total };
  };
  // A 404 is not taken for the end of the list: an order on a missing page would be ordered a second time.
  return numberedPages(readPage, 50, ({ id }) => id, false);
}

/** The runs in Temporal that report earlier placings of a reference. */
interface EarlierRuns {
  /** The runs of its placing, this one among them. */
  placings: readonly WorkflowExecutionInfo[];
  /** The runs of workflows that follow an order with the reference. */
  followers: readonly WorkflowExecutionInfo[];
}

/** One search finds both. An order is followed for longer than its placing is retained. */
export async function earlierRunsOf({ temporal }: ActivityDependencies, reference: string): Promise<EarlierRuns> {
  const placingId = placeKitOrderId(reference);
  const follows = `WorkflowType = '${kitOrderName}' AND ${labReferenceKey.name} = '${reference}'`;
  const runs = await listed(temporal, `WorkflowId = '${placingId}' OR (${follows})`);
  const isPlacing = ({ workflowId }: WorkflowExecutionInfo) => workflowId === placingId;
  return { placings: runs.filter(isPlacing), followers: runs.filter((run) => !isPlacing(run)) };
}

/**
 * The order that a workflow follows under this reference. The search at the service misses it if no passthrough is shown, and
 * if a registration has given the order to another user. Of an order that the service does not show, only the id is known.
 *
 * @throws ApplicationFailure `OrderRefused` if it is of another lab test, or another user's and no registration explains that
 */
export async function orderOfReference(
  { service }: ActivityDependencies,
  { followers }: EarlierRuns,
  { kind, order: requested }: KitRequest,
  attempt: Attempt,
): Promise<OrderSnapshot | undefined> {
  const [first] = followers.toSorted((a, b) => rank(a) - rank(b));
  if (!first) return undefined;
  const orderId = idIn(first.workflowId, kitOrderId);
  const order = await readUnlessNotFound(service, orderId, attempt);
  if (order) requireOfTest(order, requested);
  const snapshot = order ? snapshotOf(order, service.installation) : { orderId, events: [] };
  const owner = snapshot.userId ?? first.typedSearchAttributes.get(labUserIdKey);
  if (!isOfUser(owner, requested.user_id) && !mayHaveMoved(kind, snapshot)) throw taken(orderId, "another user's");
  return snapshot;
}

/**
 * An earlier run may have used the reference for another lab test.
 *
 * @throws ApplicationFailure `OrderRefused`
 */
export function requireOfTest(order: Order, requested: KitRequest['order']): void {
  // An import names none: it is the order with its sample.
  if ('lab_test_id' in requested && !isOfTest(order, requested.lab_test_id))
    throw taken(order.id, 'for another lab test');
}

/** An order that does not show its lab test, or was made of a set of tests, may be of any. */
function isOfTest({ lab_test: test }: Order, labTestId: string | null | undefined): boolean {
  return test?.id == null || labTestId == null || isSameText(test.id, labTestId);
}

/** An order that does not show its user may be anybody's. */
export function isOfUser(owner: string | null | undefined, userId: string): boolean {
  return owner == null || canonicalId(owner) === canonicalId(userId);
}

/** A registration may give a kit to another user. */
function mayHaveMoved(kind: KitRequest['kind'], snapshot: OrderSnapshot): boolean {
  return kind === 'unregistered' && (snapshot.events.length === 0 || isRegistered(snapshot));
}

/** The service may refuse to show an order of its own, or not show a new one yet. */
async function readUnlessNotFound(service: LabService, orderId: string, attempt: Attempt): Promise<Order | undefined> {
  try {
    return await service.orders.get(orderId, attempt.call());
  } catch (error) {
    if (isIdRefused(error) || (error instanceof ServiceRefused && error.status === 404)) return undefined;
    throw error;
  }
}

export function isCancelled({ events, status }: OrderSnapshot): boolean {
  return standingOf(events, status).phase === 'cancelled';
}

export function isRegistered({ events, status }: OrderSnapshot): boolean {
  return standingOf(events, status).registered;
}

function taken(orderId: string, whose: string): ApplicationFailure {
  const message = `belongs to order ${shownId(orderId)}, which is ${whose}`;
  const fields = [{ field: 'reference', message }];
  return ApplicationFailure.nonRetryable(`The order is not valid: reference ${message}`, 'OrderRefused', { fields });
}

/** The root comes first: its replacements have runs of their own, which pass things on to it. */
function rank({ typedSearchAttributes, startTime }: WorkflowExecutionInfo): number {
  return typedSearchAttributes.get(labPhaseKey) === forwardedPhase ? Infinity : startTime.getTime();
}

/**
 * Says if the order may have been sent before, and since when: an earlier run may have ended after a creation whose answer it never
 * got.
 *
 * @param runs those that may have sent something for the order; this one may be among them
 * @param input when this run began, and if earlier executions of the activity have failed
 * @param settling milliseconds
 * @throws ApplicationFailure `EarlierPlacingUnsettled` while a creation of a run that was ended from outside may still
 * be running. A placing that failed by itself or was cancelled has none: it waited for its creations, or got an answer
 */
export function whenSent(
  runs: readonly Run[],
  input: Pick<OrderCriteria, 'since' | 'triedBefore'>,
  settling: number,
): Pick<OrderCriteria, 'since' | 'triedBefore' | 'mayHaveBeenSent'> {
  requireSettled(runs, settling);
  const runId = activityInfo().workflowExecution?.runId;
  const isFirstRun = runs.every((run) => run.runId === runId);
  const starts = runs.map(({ startTime }) => startTime.toISOString());
  const [since = input.since] = [input.since, ...starts].toSorted();
  const triedBefore = input.triedBefore || !isFirstOfActivity();
  return { since, triedBefore, mayHaveBeenSent: triedBefore || !isFirstRun };
}

/** A reset ends a run so, too, and the run that follows it does not learn what it had sent. */
export function isEndedOutside({ status }: Run): boolean {
  return ['TERMINATED', 'TIMED_OUT'].includes(status.name);
}

/** The SDK's own limit (`maxHeartbeatThrottleInterval`). */
const longestHeartbeatPause = 60_000;

function requireSettled(runs: readonly Run[], settling: number): void {
  const ends = runs.filter(isEndedOutside).map(({ closeTime }) => closeTime?.getTime() ?? 0);
  // Until its worker learned of that end, by a heartbeat, it may have sent something.
  const noticedAfter = Math.min(activityInfo().heartbeatTimeoutMs ?? 0, longestHeartbeatPause);
  const rest = Math.max(...ends) + noticedAfter + settling - attemptDueAt();
  if (rest <= 0) return;
  throw ApplicationFailure.create({
    message: 'An earlier run was terminated, reset or timed out, and its creation may still be in progress',
    type: 'EarlierPlacingUnsettled',
    nonRetryable: false,
    nextRetryDelay: rest,
  });
}

async function selectCandidate(
  candidates: Order[],
  { temporal, echoesPassthrough }: ActivityDependencies,
  criteria: OrderCriteria,
  attempt: Attempt,
): Promise<Order | undefined> {
  // If passthrough is echoed, an order without ours belongs to somebody else. Once something may have been sent, it may also
  // mean that the deployment does not echo it after all: better no kit than a second one.
  if (echoesPassthrough && !criteria.mayHaveBeenSent) return undefined;
  const { own, unclaimed } = await claimedAmong(candidates, temporal, criteria.reference, attempt);
  if (own || unclaimed.length === 0) return own;
  if (echoesPassthrough) throw ambiguous(unclaimed);
  const [only, another] = unclaimed.filter((order) => isAsSent(order, criteria));
  if (another !== undefined || (only === undefined && criteria.mayHaveBeenSent)) throw ambiguous(unclaimed);
  // On the first attempt nothing has been sent yet: the order may belong to another reference that is about to hand it
  // over. The next attempt sees which.
  if (only && !criteria.triedBefore) {
    throw ApplicationFailure.retryable(
      `Order ${shownId(only.id)} may belong to this reference, or to another one`,
      'OrderUnclaimed',
    );
  }
  return only;
}

/** The order that the reference has claimed already; else those that nobody has. */
export async function claimedAmong(
  candidates: readonly Order[],
  temporal: ActivityDependencies['temporal'],
  reference: string,
  attempt: Attempt,
): Promise<{ own?: Order; unclaimed: Order[] }> {
  const unclaimed: Order[] = [];
  for (const order of candidates) {
    attempt.call();
    const claim = await claimOn(temporal, kitOrderId(order.id));
    if (claim === reference) return { own: order, unclaimed: [] };
    if (claim === undefined) unclaimed.push(order);
  }
  return { unclaimed };
}

/** The list may contain other users' orders, and a registration may have given the kit to another user. */
function isOfItsUser(order: Order, { kind, userId }: OrderCriteria): boolean {
  return isOfUser(order.user_id, userId) || mayHaveMoved(kind, snapshotOf(order, []));
}

function couldBe(order: Order, { noneOf, labTestId, since }: OrderCriteria): boolean {
  return (
    noneOf?.includes(order.id) !== true &&
    signerOf(order.passthrough) === undefined &&
    isSince(order.created_at, Date.parse(since) - anyTime) &&
    isOfTest(order, labTestId)
  );
}

/** True if everything that the order shows is written as it was sent. */
function isAsSent(order: Order, { address, since }: OrderCriteria): boolean {
  const shown: Address | null | undefined = order.shipping_details ?? order.patient_address;
  return (
    isSince(order.created_at, Date.parse(since) - clockError) &&
    isSameText(withoutExtension(shown?.zip), withoutExtension(address.zip)) &&
    isSameText(shown?.first_line, address.first_line)
  );
}

/** An order without a creation time counts: a candidate too many stops the creation, one too few would let it order a second kit. */
export function isSince(createdAt: string | null | undefined, since: number): boolean {
  const at = knownInstant(createdAt);
  return at === undefined || Date.parse(at) >= since;
}

/** The service may complete a US zip to nine digits. */
function withoutExtension(zip: string | null | undefined): string {
  return (zip ?? '').trim().replace(/^(\d{5})-\d{4}$/, '$1');
}

/** Letter case and white space around it do not make it another sample. */
export function folded(text: string | null | undefined): string {
  return (text ?? '').trim().toLowerCase();
}

/** True if letters and digits are the same but for their case. Leading zeros do not count: a number loses them. */
export function isSameText(a: string | null | undefined, b: string | null | undefined): boolean {
  const bare = (text: string | null | undefined) =>
    (text ?? '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]/gu, '')
      .replace(/^0+/, '');
  return bare(a) === bare(b);
}

export function ambiguous(orders: readonly Order[]): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    `It is not certain which of these orders, if any, was placed for this reference: ${orders.map(({ id }) => shownId(id)).join(', ')}. Nothing was created.`,
    'AmbiguousOrder',
    { fields: [], orderIds: orders.map(({ id }) => id) },
  );
}
