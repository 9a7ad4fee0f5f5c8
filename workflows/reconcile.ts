import { log, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import type { PageReconciled, PageToReconcile } from '../activities/reconcile/reconcile.js';
import {
  noPageCounts,
  progressQuery,
  type PageCounts,
  type ReconcileCounts,
  type ReconcileInput,
  type ReconcileProgress,
  type ReconcileResult,
  rangeOf,
  type ReconcileRange,
} from '../protocol/reconcile.js';
import { activities } from './activity-options.js';
import { isFinalRefusal, loggedRefusal, refuse, throwRefusal } from './entity/commands.js';
import { continueInNewRun, isNewRunSuggested } from './entity/loop.js';
import { table } from './entity/operators.js';
import { omitNullish } from '../protocol/json.js';

/**
 * Compares the service's list of updated orders with what the workflows know: page by page from the last to the
 * first, because an order that is updated meanwhile leaves the list, and moves only those that are still to come.
 */
export async function reconcileOrders(input?: ReconcileInput): Promise<ReconcileResult> {
  const carried = input?.carried;
  const range = carried?.range ?? checkedRange(input ?? {});
  const counts: ReconcileCounts = carried?.counts ?? { ...noPageCounts, matchReviews: 0 };
  let page = carried?.page;
  let pagesToGo = page;
  let outside = carried?.outside ?? 0;
  setHandler(progressQuery, (): ReconcileProgress => ({ ...counts, ...(pagesToGo !== undefined && { pagesToGo }) }), {
    description: 'The progress of the run: orders listed so far, and pages to go.',
  });
  do {
    const passed = await passPage(range, page).catch(throwRefusal);
    add(counts, passed.counts);
    outside += passed.outside;
    page = passed.nextPage;
    pagesToGo = page ?? 0;
    setCurrentDetails(detailsOf(range, counts, page));
    if (page !== undefined && isNewRunSuggested())
      await continueInNewRun({ ...input, carried: { range, counts, page, outside } });
  } while (page !== undefined);
  if (input?.from === undefined) {
    await passCritical(range, counts);
    await passMatchReviews(range, counts);
  }
  if (outside > 0)
    log.warn('the service lists orders that were not updated in the range: it ignores the filter', { outside });
  return { watermark: range.to, ...counts };
}

type Critical = NonNullable<PageToReconcile['critical']>;

/**
 * A critical result whose webhook was lost may have changed nothing else of its order. Either filter may be unknown to the service, and
 * `interpretation` finds no other word than `critical`, such as `panic_high`: an empty list says nothing about the other filter's.
 */
async function passCritical(range: ReconcileRange, counts: ReconcileCounts): Promise<void> {
  const byWord = await passCriticalBy('interpretation', range, counts);
  const byFlag = await passCriticalBy('is_critical', range, counts);
  if (byWord === 'ignored' && byFlag === 'ignored')
    log.warn('the service lists orders that are not critical: it ignores both filters');
}

/**
 * Answers whether the service knows the filter. One that ignores it lists every order: reading all of them every hour for the few would
 * be too much. A few orders that are not marked critical do not stop the pass. A filter that is refused counts as ignored; without an
 * answer the next pass tries again.
 */
async function passCriticalBy(
  critical: Critical,
  range: ReconcileRange,
  counts: ReconcileCounts,
): Promise<'listed' | 'ignored' | 'failed'> {
  let page: number | undefined;
  let outside = 0;
  let listed = 0;
  const isIgnored = () => outside > listed;
  try {
    do {
      const passed = await passPage(range, page, critical);
      listed += passed.counts.critical;
      // Both filters list the same orders, except for those that one of them misses.
      add(counts, { ...passed.counts, critical: Math.max(0, listed - counts.critical) });
      outside += passed.outside;
      page = passed.nextPage;
    } while (page !== undefined && !(isIgnored() && outside > mostOdd));
  } catch (error) {
    loggedRefusal('critical orders could not be listed', { filter: critical }, error);
    return isFinalRefusal(error) ? 'ignored' : 'failed';
  }
  setCurrentDetails(detailsOf(range, counts, undefined));
  return isIgnored() ? 'ignored' : 'listed';
}

/** In orders. */
const mostOdd = 50;

/** Not every team has match review. One that cannot be read now is read by the next pass, which lists all of them again. */
async function passMatchReviews(range: ReconcileRange, counts: ReconcileCounts): Promise<void> {
  try {
    const summary = 'results that wait for a review';
    const { started } = await activities.reconcileMatchReviews.executeWithOptions({ summary }, []);
    counts.matchReviews = started;
    setCurrentDetails(detailsOf(range, counts, undefined));
  } catch (error) {
    loggedRefusal('match reviews could not be listed', {}, error);
  }
}

async function passPage(range: ReconcileRange, page: number | undefined, critical?: Critical): Promise<PageReconciled> {
  const which = critical !== undefined ? 'critical orders' : 'updated orders';
  const summary = page === undefined ? `the last page of ${which}` : `page ${page} of ${which}`;
  return activities.reconcilePage.executeWithOptions({ summary }, [{ ...range, ...omitNullish({ page, critical }) }]);
}

function checkedRange(input: ReconcileInput): ReconcileRange {
  try {
    return rangeOf(input, watermarkOf(workflowInfo().lastResult), Date.now());
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw refuse('InvalidCommand', error.message);
  }
}

/** The watermark of the last complete pass. A result that is not ours counts as none. */
function watermarkOf(lastResult: unknown): string | undefined {
  const results: unknown[] = Array.isArray(lastResult) ? lastResult : [lastResult];
  const [last] = results as (Partial<ReconcileResult> | null | undefined)[];
  return typeof last?.watermark === 'string' ? last.watermark : undefined;
}

function add(counts: ReconcileCounts, more: PageCounts): void {
  counts.listed += more.listed;
  counts.notified += more.notified;
  counts.finished += more.finished;
  counts.reopened += more.reopened;
  counts.passedOver += more.passedOver;
  counts.critical += more.critical;
}

function detailsOf({ from, to }: ReconcileRange, counts: ReconcileCounts, page: number | undefined): string {
  const { listed, notified, finished, reopened, passedOver, critical, matchReviews } = counts;
  return [
    page === undefined ? '### Complete' : `### ${page} pages to go`,
    `Orders updated from ${from} to ${to}`,
    table(
      ['Listed', 'Notified', 'Finished', 'Finished, end was missed', 'Skipped', 'Critical', 'Match reviews'],
      [[listed, notified, finished, reopened, passedOver, critical, matchReviews].map(String)],
    ),
  ].join('\n\n');
}
