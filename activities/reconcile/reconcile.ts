import { createHash } from 'node:crypto';
import { heartbeat, log, sleep } from '@temporalio/activity';
import { LRUCache } from 'lru-cache';
import type { OrderSnapshot } from '../../service/order/snapshot.js';
import { snapshotOf } from '../../service/order/projection.js';
import { canonicalJson } from '../../protocol/json.js';
import { anyZone, isAhead } from '../../protocol/time.js';
import { signalIfRunning, signalOrStart } from '../../protocol/signal-or-start.js';
import { isAddressable, kitOrderId } from '../../protocol/ids.js';
import { rootOf } from '../../protocol/order/root-order.js';
import { hasCriticalResult, isCritical, standingOf } from '../../protocol/order/lifecycle.js';
import { orderChangedSignal } from '../../protocol/order/messages.js';
import { kitOrderStart } from '../../protocol/starts.js';
import { NotFound } from '../../service/errors.js';
import type { OrderFilter, OrderPage } from '../../service/order/orders.js';
import { noPageCounts, type PageCounts } from '../../protocol/reconcile.js';
import type { ActivityDependencies } from '../dependencies.js';
import { asFailures } from '../failures.js';
import { isEndKnown, isEndNews, lastRunOf } from './last-run.js';

export interface PageToReconcile {
  from: string;
  to: string;
  /** Without it: the last one. */
  page?: number;
  /**
   * Orders with a critical result, whenever they were updated: nothing else heals an alarm that was lost. By which filter:
   * not every deployment knows both.
   */
  critical?: 'interpretation' | 'is_critical';
}

export interface PageReconciled {
  counts: PageCounts;
  /** Orders that the service listed although they were not updated in the range; no workflow was notified of them. */
  outside: number;
  /** The page before; missing after the first. */
  nextPage?: number;
}

/**
 * As many as one answer holds, however large the orders are (`maxResponseBytes`): a truncated page would stop every
 * pass.
 */
const pageSize = 50;

/** Between two signals: ten a second leave Temporal and the workers capacity for other work. */
const pauseMs = 100;

export function reconcileActivities(dependencies: ActivityDependencies) {
  const { service, observer } = dependencies;
  const known: KnownEnds = new LRUCache({ max: mostKnownEnds });
  return {
    /**
     * Signals the workflows of one page's orders with the service's current state. Repeating it does no harm: the fold
     * converges.
     */
    async reconcilePage({ page, ...range }: PageToReconcile): Promise<PageReconciled> {
      return asFailures('ServiceRefused', async () => {
        const read = (number: number) => {
          heartbeat();
          return service.orders.page(filterOf(range), number, { pageSize });
        };
        const { orders, unreadable, number, total } =
          page === undefined ? await lastPage(read) : await numbered(read, page);
        const counts: PageCounts = { ...noPageCounts };
        passOver(unreadable, counts);
        const found = orders.map((order) => snapshotOf(order, service.installation));
        const snapshots =
          range.critical === 'is_critical'
            ? await flagged(found, total ?? (number === 1 ? found.length : Infinity), number, (page) => {
                heartbeat();
                return service.orders.page({ ...filterOf(range), isCritical: false }, page, { pageSize });
              })
            : found;
        const inside = snapshots.filter((snapshot) => isWithin(range, snapshot));
        for (const snapshot of inside) {
          heartbeat();
          if (range.critical) counts.critical += 1;
          else counts.listed += 1;
          // Most critical orders of half a year, and what the other filter listed: they cost nothing.
          if (range.critical && isKnown(known, snapshot, range)) continue;
          const outcome = await notify(dependencies, snapshot, range, known);
          if (!range.critical || outcome === 'reopened' || outcome === 'passedOver') counts[outcome] += 1;
          await sleep(pauseMs);
        }
        observer?.reconciled(counts);
        const outside = snapshots.length - inside.length;
        return { counts, outside, ...(number > 1 && { nextPage: number - 1 }) };
      });
    },
  };
}

type NumberedPage = OrderPage & { number: number };

async function numbered(read: (page: number) => Promise<OrderPage>, number: number): Promise<NumberedPage> {
  return { ...(await read(number)), number };
}

/** If the service does not return the number of orders, the last page is searched for. */
async function lastPage(read: (page: number) => Promise<OrderPage>): Promise<NumberedPage> {
  const first = await numbered(read, 1);
  if (first.total === undefined) return searchLast(first, read);
  const last = Math.ceil(first.total / first.size);
  return last <= 1 ? first : numbered(read, last);
}

/** Doubles the number until a page has nothing new, and halves the rest. Beyond its last page a service may answer 404. */
async function searchLast(first: NumberedPage, read: (page: number) => Promise<OrderPage>): Promise<NumberedPage> {
  let last = first;
  let beyond: { number: number; isMissing: boolean } | undefined;
  while (isFull(last) && last.number + 1 !== beyond?.number) {
    const middle = beyond === undefined ? 2 * last.number : Math.floor((last.number + beyond.number) / 2);
    const page = await numbered(read, middle).catch(undefinedIfMissing);
    if (page && hasNew(page, last)) last = page;
    else beyond = { number: middle, isMissing: page === undefined };
  }
  return isFull(last) && beyond?.isMissing === true ? confirmLast(last, read) : last;
}

/** A proxy's 404 looks the same, so it counts only if it is repeated and the page before it is still there. */
async function confirmLast(last: NumberedPage, read: (page: number) => Promise<OrderPage>): Promise<NumberedPage> {
  const next = await numbered(read, last.number + 1).catch(undefinedIfMissing);
  return next && hasNew(next, last) ? searchLast(next, read) : numbered(read, last.number);
}

function undefinedIfMissing(error: unknown): undefined {
  if (!(error instanceof NotFound)) throw error;
}

function isFull({ orders, unreadable, size }: OrderPage): boolean {
  return orders.length + unreadable >= size;
}

/** Beyond its last page a service may answer with an empty one, or with the last or the first one again. */
function hasNew({ orders, unreadable }: OrderPage, before: OrderPage): boolean {
  const known = new Set(before.orders.map(({ id }) => id));
  if (orders.length === 0) return unreadable > 0 && known.size > 0;
  return orders.some(({ id }) => !known.has(id));
}

/** An order takes three months at the longest usually, and a result that was acknowledged long ago is of no use here. */
const criticalRangeMs = 180 * 24 * 60 * 60_000;

function filterOf({ from, to, critical }: PageToReconcile): OrderFilter {
  if (!critical) return { updatedStartDate: from, updatedEndDate: to };
  const filter: OrderFilter = critical === 'is_critical' ? { isCritical: true } : { interpretation: 'critical' };
  return { ...filter, startDate: new Date(Date.parse(to) - criticalRangeMs).toISOString() };
}

/**
 * The service's flag is the alarm, whatever the word: a critical result may be called `normal` (docs/internals/lab-service.md). A service
 * that ignores the filter lists the same orders as not critical. One that takes `false` for no filter lists others, too: the flag counts
 * if it lists at most half of them.
 */
async function flagged(
  found: OrderSnapshot[],
  listed: number,
  number: number,
  readNotCritical: (page: number) => Promise<OrderPage>,
): Promise<OrderSnapshot[]> {
  if (found.every(({ interpretation }) => isCritical(interpretation))) return found;
  const read = (page: number) => readNotCritical(page).catch(undefinedIfMissing);
  // Beyond its last page a service may answer with 404. So does a proxy, which may raise no alarm: its 404 is for the first page, too.
  const { orders = [], total = orders.length } = (await read(number)) ?? (await read(1)) ?? {};
  const areSame = orders.some(({ id }) => found.some(({ orderId }) => orderId === id));
  if (areSame && 2 * listed > total) return found;
  return found.map((snapshot) =>
    isCritical(snapshot.interpretation) ? snapshot : { ...snapshot, flaggedCritical: true },
  );
}

/**
 * The list's filters are not in the specification: a service that ignores them lists everything. An order without an
 * update time, or up to a day outside (local times), is signalled as well, which does no harm.
 */
function isWithin({ from, to, critical }: PageToReconcile, snapshot: OrderSnapshot): boolean {
  if (critical) return hasCriticalResult(snapshot);
  const { updatedAt } = snapshot;
  if (updatedAt === undefined) return true;
  const at = Date.parse(updatedAt);
  // A time in the future was written by a clock that is wrong, and says nothing.
  return Date.parse(from) - anyZone <= at && (at <= Date.parse(to) + anyZone || isAhead(updatedAt, Date.now()));
}

/** An unreadable order must not block the others. */
function passOver(unreadable: number, counts: PageCounts): void {
  if (unreadable === 0) return;
  log.warn('orders that cannot be read were skipped', { unreadable });
  counts.listed += unreadable;
  counts.passedOver += unreadable;
}

/**
 * Digests of snapshots whose order's own workflow had ended and known them, which stays so, or was notified of them in one pass; by
 * order id. Only a hint, for one worker: without it every critical result of half a year would cost two calls of Temporal an hour.
 */
type KnownEnds = LRUCache<string, string>;

/** Some 4 MB. */
const mostKnownEnds = 20_000;

function snapshotDigest(snapshot: OrderSnapshot): string {
  return createHash('sha256').update(canonicalJson(snapshot)).digest('base64');
}

/** A pass is known by the end of its range. */
function digestInPass(snapshot: OrderSnapshot, { to }: Pick<PageToReconcile, 'to'>): string {
  return `${snapshotDigest(snapshot)} ${to}`;
}

function isKnown(known: KnownEnds, snapshot: OrderSnapshot, pass: Pick<PageToReconcile, 'to'>): boolean {
  const digest = known.get(snapshot.orderId);
  return digest === snapshotDigest(snapshot) || digest === digestInPass(snapshot, pass);
}

async function notify(
  { temporal, taskQueue }: ActivityDependencies,
  snapshot: OrderSnapshot,
  { from, to, critical }: Omit<PageToReconcile, 'page'>,
  known: KnownEnds,
): Promise<Exclude<keyof PageCounts, 'listed'>> {
  const root = rootOf(snapshot);
  if (!isAddressable(snapshot.orderId) || !isAddressable(root)) {
    // It may be anything, a person's name too: its length has to do.
    log.warn('an order was skipped: its id cannot be part of a workflow ID', {
      orderIdLength: snapshot.orderId.length,
    });
    return 'passedOver';
  }
  const start = kitOrderStart(snapshot, root);
  const standing = standingOf(snapshot.events, snapshot.status);
  const { final, last } = standing;
  // The sweep for critical results sees an order in each pass: once its end and its acknowledgement are known, nothing is started.
  if (!final && !critical) {
    await signalOrStart(temporal.workflow, taskQueue, start, orderChangedSignal, snapshot);
    return 'notified';
  }
  let run = await lastRunOf(temporal, root, snapshot.userId);
  if (run && run.ended === undefined) {
    // The webhook of something newer may be on its way.
    const isMissed =
      Date.parse(snapshot.updatedAt ?? from) <= Date.parse(to) && isEndNews(run, snapshot.orderId, standing);
    const isSignalled = await signalIfRunning(temporal.workflow, kitOrderId(root), orderChangedSignal, snapshot);
    if (isSignalled) known.set(snapshot.orderId, digestInPass(snapshot, { to }));
    if (isSignalled) return isMissed ? 'reopened' : 'finished';
    run = await lastRunOf(temporal, root, snapshot.userId);
  }
  if (isEndKnown(run, snapshot, last, from)) {
    if (run?.ended === 'by_itself' && !run.isForwarded) known.set(snapshot.orderId, snapshotDigest(snapshot));
    return 'finished';
  }
  await signalOrStart(temporal.workflow, taskQueue, start, orderChangedSignal, snapshot);
  known.set(snapshot.orderId, digestInPass(snapshot, { to }));
  return 'reopened';
}
