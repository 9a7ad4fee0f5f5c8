import { defineQuery } from '@temporalio/workflow';

/**
 * Who the reconciliation is: its name, IDs, input, result and query. A schedule runs it, so that what an outage of the ingress
 * swallowed is heard all the same; an operator may run it for a range of time.
 */

export const reconcileOrdersName = 'reconcileOrders';

/** The schedule's own id, and the stem of the IDs of its runs. */
export const reconcileScheduleId = 'reconcile-orders';

/** One run for one range, however often it is asked for at once. */
export function reconcileOrdersId({ from, to }: { from: string; to: string }): string {
  return `reconcile-orders/${from}/${to}`;
}

export interface ReconcileInput {
  /** Orders updated at or after, ISO 8601: a date (its midnight in UTC), or a time with its zone. Without it: since the last complete pass of the schedule. */
  from?: string;
  /**
   * Orders updated at or before; the day of a date is not included. Ten minutes ago at the latest, and without it: what is
   * fresher is the webhooks' work.
   */
  to?: string;
}

export interface ReconcileCounts {
  /** Orders that the service listed and that were updated in the range. */
  listed: number;
  /** Unfinished orders whose workflow was told, and started where there was none. */
  told: number;
  /** Finished orders whose end had been heard, or whose workflow still ran and was told. */
  finished: number;
  /** Finished orders that nobody had heard the end of: a run reads and announces it. */
  reopened: number;
  /** Orders that cannot be read or addressed; the worker's log tells of them. */
  passedOver: number;
}

/** How far a run has come. */
export interface ReconcileProgress extends ReconcileCounts {
  /** Pages of the list that are still to be read; unknown until the last one, which is read first, has been read. */
  pagesToGo?: number;
}

export const reconcileProgressQuery = defineQuery<ReconcileProgress>('progress');

export interface ReconcileResult extends ReconcileCounts {
  /** Up to when everything has been seen, which may be before the `to` that was given: where the schedule's next pass begins, less an hour. ISO 8601 in UTC. */
  watermark: string;
}
