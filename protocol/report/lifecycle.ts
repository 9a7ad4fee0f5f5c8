import type { ReportPhase } from './messages.js';

/**
 * The meaning of a parsing job's status. A job carries neither event ids nor timestamps (docs/internals/lab-service.md, "Report
 * parsing"), so only the order of statuses shows which of two reports is the later one.
 */

/** The documented statuses of a job, in order. An unknown status ranks after all of them, and before the end. */
const way: readonly string[] = ['upload_pending', 'started', 'processing', 'pending_review'];

/** Both end a job. If both are reported, there are results: a job that has some has not failed. */
const ends: readonly string[] = ['failed', 'completed'];

/** How far a job with this status has come; of two reports the one that has come further counts. */
export function rankOf(status: string | undefined): number {
  if (status === undefined) return -1;
  const known = way.indexOf(status);
  // -1 of an unknown status is a place before the ends.
  return known === -1 ? way.length + 1 + ends.indexOf(status) : known;
}

/** An unknown status; its meaning depends on the one before it. */
export function isUnknown(status: string | undefined): boolean {
  return status !== undefined && !way.includes(status) && !ends.includes(status);
}

export function isFinal(status: string | undefined): boolean {
  return ends.includes(status ?? '');
}

/** A status that is not known yet is somewhere between start and end: the job is being worked on. */
export function phaseOf(status: string | undefined): ReportPhase {
  switch (status) {
    case undefined:
    case 'upload_pending':
      return 'uploaded';
    case 'pending_review':
      return 'in_review';
    case 'completed':
    case 'failed':
      return status;
    default:
      return 'parsing';
  }
}
