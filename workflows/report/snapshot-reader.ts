import type { ReportCounts, ReportSnapshot } from '../../service/report-snapshot.js';
import { isObject } from '../signal-fields.js';
import { canonicalUserId } from '../user-id.js';

/**
 * Reads a snapshot that came by signal, perhaps from a backend in another language: known fields of their types are
 * taken, everything else is left behind. What has no job id is no snapshot. Never throws.
 */
export function readReportSnapshot(value: unknown): ReportSnapshot | undefined {
  if (!isObject(value)) return undefined;
  const { jobId, status, failureReason, userId, needsHumanReview, isReviewed } = value;
  if (typeof jobId !== 'string') return undefined;
  const counts = readCounts(value['counts']);
  return {
    jobId,
    ...(typeof status === 'string' && { status }),
    ...(typeof failureReason === 'string' && { failureReason }),
    ...(typeof userId === 'string' && { userId: canonicalUserId(userId) }),
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
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : 0;
}
