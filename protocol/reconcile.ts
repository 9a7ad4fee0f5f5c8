import type { OfActor } from './ids.js';
import { defineQuery } from './definitions.js';
import { isTime, mustBeTime } from './time.js';

/**
 * The reconciliation: its name, IDs, input, result and query. A schedule runs it to catch up on webhooks that an outage
 * of the ingress lost; an operator may run it for a range of time.
 */

export const reconcileOrdersName = 'reconcileOrders';

/**
 * The schedule's own id, and the stem of the IDs of its runs. Each task queue has its own schedule, because each has the
 * workers of one service account.
 */
export function reconcileScheduleId(taskQueue: string): string {
  return `reconcile-orders/${taskQueue}`;
}

/** The schedule that has started a workflow of this ID: the server appends the time of each run. Any other ID is its own. */
export function scheduleOfRun(workflowId: string): string {
  return /^(reconcile-orders\/.+)-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.exec(workflowId)?.[1] ?? workflowId;
}

/** One run for one range of one service account, however often it is asked for at once. */
export function reconcileOrdersId(taskQueue: string, { from, to }: { from: string; to: string }): string {
  return `reconcile-orders/${taskQueue}/${from}/${to}`;
}

export interface ReconcileInput extends OfActor {
  /** Orders updated at or after, ISO 8601: a date (its midnight in UTC), or a time with its zone. Without it: since the last complete pass of the schedule. */
  from?: string;
  /**
   * Orders updated at or before; the day of a date is not included. At the latest, and by default, ten minutes ago:
   * webhooks deliver newer updates.
   */
  to?: string;
  /** The state that a run with a long history passes to the next one; never given by a caller. */
  carried?: ReconcileCarried;
}

interface ReconcileCarried {
  range: ReconcileRange;
  counts: ReconcileCounts;
  /** The next one. */
  page: number;
  /** Orders that were listed though they were not updated in the range. */
  outside: number;
}

export interface ReconcileCounts {
  /** Orders that the service listed and that were updated in the range. */
  listed: number;
  /** Unfinished orders whose workflow was signalled, or started if there was none. */
  notified: number;
  /** Finished orders whose end was known already, as far as a running workflow shows it. */
  finished: number;
  /** Finished orders whose end no run had processed, because webhooks were missed: a run, the running one or a new one, announces it. */
  reopened: number;
  /** Orders that cannot be read or addressed; they are in the worker's log. */
  passedOver: number;
  /** Orders that the service lists as critical, whenever they were updated; only the schedule's passes look for them. */
  critical: number;
  /** Match reviews that no workflow followed: one was started for each. Only the schedule's passes look for them. */
  matchReviews: number;
}

/** The numbers that one page of the list of orders adds to the counts. */
export type PageCounts = Omit<ReconcileCounts, 'matchReviews'>;

export const noPageCounts: Readonly<PageCounts> = {
  listed: 0,
  notified: 0,
  finished: 0,
  reopened: 0,
  passedOver: 0,
  critical: 0,
};

/** How far a run has come. */
export interface ReconcileProgress extends ReconcileCounts {
  /** Pages of the list that are still to be read; unknown until the last one, which is read first, has been read. */
  pagesToGo?: number;
}

export const progressQuery = defineQuery<ReconcileProgress>('progress');

export interface ReconcileResult extends ReconcileCounts {
  /**
   * The end of the time that was compared, which may be earlier than the requested `to`. The schedule's next pass begins an hour
   * before it. ISO 8601 in UTC.
   */
  watermark: string;
}

/** The range of one pass; ISO 8601 in UTC. */
export interface ReconcileRange {
  from: string;
  to: string;
}

const minute = 60_000;
const hour = 60 * minute;

/** Newer updates are left to webhooks, which may be on their way. */
const settling = 10 * minute;
/** Clocks differ, and the service may list an update late. */
const overlap = hour;
/** How far back a first pass reads. Webhooks are retried for 28 hours; this is a long weekend more. */
const firstRead = 5 * 24 * hour;

/** How far back the range of a pass begins if the one before it was complete. 0 if no pass runs. */
export function reachOfPasses(everyMinutes: number): number {
  return everyMinutes === 0 ? 0 : everyMinutes * minute + settling + overlap;
}

/** @throws RangeError if a time cannot be read, or the range is empty */
export function rangeOf(input: ReconcileInput, watermark: string | undefined, now: number): ReconcileRange {
  const settled = now - settling;
  const to = input.to === undefined ? settled : Math.min(timeOf('to', input.to), settled);
  // A watermark from a clock that ran ahead is not a reason to skip a pass.
  const passed = Math.min(watermark === undefined ? to - firstRead : Date.parse(watermark), to);
  const from = input.from === undefined ? passed - overlap : timeOf('from', input.from);
  if (from > settled) throw new RangeError('from is less than ten minutes ago: its webhooks may be on their way');
  if (from > to) throw new RangeError('from is later than to');
  if (from === to) throw new RangeError(`to ${mustBeLater}`);
  return { from: iso(from), to: iso(to) };
}

/** Faults of a requested range, by field. Plain JavaScript has no compiler to check it. */
export function rangeFaults(range: unknown): { field: string; message: string }[] {
  const given = (typeof range === 'object' && range !== null ? range : {}) as Record<string, unknown>;
  const faults = (['from', 'to'] as const).filter((field) => !isTime(given[field]));
  if (faults.length > 0) return faults.map((field) => ({ field, message: mustBeTime }));
  const { from, to } = given as { from: string; to: string };
  if (Date.parse(from) > Date.parse(to)) return [{ field: 'from', message: 'is later than to' }];
  return Date.parse(from) === Date.parse(to) ? [{ field: 'to', message: mustBeLater }] : [];
}

function timeOf(field: string, text: unknown): number {
  if (!isTime(text)) throw new RangeError(`${field} ${mustBeTime}`);
  return Date.parse(text);
}

const mustBeLater = 'must be later than from, because the range ends before it: for one day, give the day after it';

function iso(time: number): string {
  return new Date(time).toISOString();
}
