import { canonicalId } from '../../protocol/ids.js';
import { textsOf } from '../entity/fields.js';
import { canonicalJson, compareText, isObject } from '../../protocol/json.js';
import { rankOf } from '../../protocol/report/lifecycle.js';
import type { ReportSnapshot, ReportCounts } from '../../service/report/snapshot.js';

/**
 * The fold: what has been reported of one parsing job. A webhook may be late, repeated or out of order, and nothing in
 * it says when it was written; a read is the job as it is now. So a read counts, whatever was received before it was asked for; of webhooks
 * since then the one counts that has come furthest, and only if it is further than the read. Any order, repetition or
 * loss of webhooks that includes the furthest one ends in the same state. It has no clock and knows no workflow.
 */
export interface Reported {
  /** The last read. */
  read?: ReportSnapshot;
  /** The furthest webhook since then; there only if it is further than the read. */
  received?: ReportSnapshot;
}

/** Folds a webhook in. Returns the same object if it says nothing new. */
export function foldWebhook(reported: Reported, snapshot: ReportSnapshot): Reported {
  const known = reported.received ?? reported.read;
  return known !== undefined && compare(snapshot, known) <= 0 ? reported : { ...reported, received: snapshot };
}

/**
 * Folds a read in. Returns the same object if it says nothing new. A read that lacks the review that a webhook reported is older than it,
 * unless its status has come further.
 *
 * @param asked what was reported when the read was asked for: a webhook that came meanwhile may report something that
 * happened after the service wrote its answer, and counts as one that came after it
 */
export function foldRead(reported: Reported, snapshot: ReportSnapshot, asked: Reported = reported): Reported {
  const { received } = reported;
  const isMissing = received?.isReviewed === true && snapshot.isReviewed !== true;
  if (isMissing && rankOf(snapshot.status) <= rankOf(received.status))
    return foldWebhook({ read: { ...snapshot, isReviewed: true } }, received);
  if (received !== undefined && received !== asked.received) return foldWebhook({ read: snapshot }, received);
  const isKnown = received === undefined && canonicalJson(reported.read) === canonicalJson(snapshot);
  return isKnown ? reported : { read: snapshot };
}

/** The job as far as it is known. */
export function knownOf({ read, received }: Reported): ReportSnapshot | undefined {
  return received ?? read;
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

/**
 * Reads a snapshot that came by signal, perhaps from a backend in another language: known fields of their types are
 * taken, everything else is left behind. What has no job id is not a snapshot. Never throws.
 */
export function readReportSnapshot(value: unknown): ReportSnapshot | undefined {
  if (!isObject(value)) return undefined;
  const { jobId, userId, needsHumanReview, isReviewed } = value;
  if (typeof jobId !== 'string') return undefined;
  const counts = readCounts(value['counts']);
  return {
    jobId: canonicalId(jobId),
    ...textsOf(value, ['status', 'failureReason']),
    ...(typeof userId === 'string' && { userId: canonicalId(userId) }),
    ...(typeof needsHumanReview === 'boolean' && { needsHumanReview }),
    ...(typeof isReviewed === 'boolean' && { isReviewed }),
    ...(counts && { counts }),
  };
}

function readCounts(value: unknown): ReportCounts | undefined {
  if (!isObject(value)) return undefined;
  const { byLoincMatchStatus: matches, byInterpretation: meanings } = value;
  return {
    results: countIn(value, 'results'),
    unreadable: countIn(value, 'unreadable'),
    byLoincMatchStatus: {
      auto_match: countIn(matches, 'auto_match'),
      needs_review: countIn(matches, 'needs_review'),
      no_match: countIn(matches, 'no_match'),
      unknown: countIn(matches, 'unknown'),
    },
    byInterpretation: {
      normal: countIn(meanings, 'normal'),
      abnormal: countIn(meanings, 'abnormal'),
      critical: countIn(meanings, 'critical'),
      unknown: countIn(meanings, 'unknown'),
    },
    aboveRange: countIn(value, 'aboveRange'),
    belowRange: countIn(value, 'belowRange'),
  };
}

function countIn(counts: unknown, name: string): number {
  const count = isObject(counts) ? counts[name] : undefined;
  return typeof count === 'number' && Number.isSafeInteger(count) ? Math.max(count, 0) : 0;
}
