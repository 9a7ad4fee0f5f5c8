import type { ReportSnapshot } from '../../service/report-snapshot.js';
import { canonicalJson, compareText } from '../canonical-json.js';
import { rankOf } from './lifecycle.js';

/**
 * The fold: what has been reported of one parsing job. A webhook may be late, repeated or out of order, and nothing in
 * it says when it was written; a read is the job as it is now. So a read counts, whatever was heard before it was asked for; of webhooks
 * since then the one counts that has come furthest, and only if it is further than the read. Any order, repetition or
 * loss of webhooks that includes the furthest one ends in the same state. It has no clock and knows no workflow.
 */
export interface Reported {
  /** The last read. */
  read?: ReportSnapshot;
  /** The furthest webhook since then; there only if it is further than the read. */
  heard?: ReportSnapshot;
}

/** Folds a webhook in. Answers with the same object when it says nothing new. */
export function hearOf(reported: Reported, snapshot: ReportSnapshot): Reported {
  const known = reported.heard ?? reported.read;
  return known !== undefined && compare(snapshot, known) <= 0 ? reported : { ...reported, heard: snapshot };
}

/**
 * Folds a read in. Answers with the same object when it says nothing new.
 *
 * @param asked what was reported when the read was asked for: a webhook that came meanwhile may tell of something that
 * happened after the service wrote its answer, and counts as one that came after it
 */
export function readOf(reported: Reported, snapshot: ReportSnapshot, asked: Reported = reported): Reported {
  const { heard } = reported;
  if (heard !== undefined && heard !== asked.heard) return hearOf({ read: snapshot }, heard);
  const isKnown = heard === undefined && canonicalJson(reported.read) === canonicalJson(snapshot);
  return isKnown ? reported : { read: snapshot };
}

/** The job as far as it is known. */
export function knownOf({ read, heard }: Reported): ReportSnapshot | undefined {
  return heard ?? read;
}

function compare(a: ReportSnapshot, b: ReportSnapshot): number {
  return (
    rankOf(a.status) - rankOf(b.status) ||
    Number(a.isReviewed === true) - Number(b.isReviewed === true) ||
    Number(a.counts !== undefined) - Number(b.counts !== undefined) ||
    Object.keys(a).length - Object.keys(b).length ||
    compareText(canonicalJson(a), canonicalJson(b))
  );
}
