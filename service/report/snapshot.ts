import { isCritical } from '../interpretation.js';
import type { ParsingJob } from './parsing-job.js';
import { lowerWordOf } from '../word.js';
import { omitNullish } from '../json-object.js';

/**
 * The state of a parsing job at one moment: ids, states and counts. The patient's name and birth date, the names of the
 * tests and their values stay in the service, so this may enter a workflow's history.
 */
export interface ReportSnapshot {
  jobId: string;
  /** See `parsingStatuses`; an unknown one too, in lower case; `other` if it is a sentence; absent if the job has none. */
  status?: string;
  /** See `parsingFailureReasons`; an unknown one too, in lower case; `other` if it is a sentence. */
  failureReason?: string;
  needsHumanReview?: boolean;
  isReviewed?: boolean;
  userId?: string;
  /** There once the file was read. */
  counts?: ReportCounts;
}

export interface ReportCounts {
  /** Biomarkers that can be read. */
  results: number;
  /** Entries of the list that are not biomarkers; they are in no other count. */
  unreadable: number;
  /** `unknown`: a status that is missing or not known yet. */
  byLoincMatchStatus: { auto_match: number; needs_review: number; no_match: number; unknown: number };
  /** `unknown`: the service's own value, a missing one, or one that is not known here. */
  byInterpretation: { normal: number; abnormal: number; critical: number; unknown: number };
  aboveRange: number;
  belowRange: number;
}

/** Projects a whole job to its snapshot. Pure; never throws on a job that `parsingJobSchema` accepts. */
export function reportSnapshotOf(job: ParsingJob): ReportSnapshot {
  return omitNullish({
    jobId: job.id,
    // The specification writes one status as two words.
    status:
      job.status == null ? undefined : lowerWordOf(job.status.trim().replace(/^(pending)[ -](review)$/i, '$1_$2')),
    failureReason: job.failure_reason == null ? undefined : lowerWordOf(job.failure_reason),
    needsHumanReview: job.needs_human_review,
    isReviewed: job.is_reviewed,
    userId: job.user_id,
    counts: job.data == null ? undefined : countsOf(job.data),
  });
}

function countsOf({ results, unreadable_results: unreadable }: NonNullable<ParsingJob['data']>): ReportCounts {
  const counts: ReportCounts = {
    results: results.length,
    unreadable,
    byLoincMatchStatus: { auto_match: 0, needs_review: 0, no_match: 0, unknown: 0 },
    byInterpretation: { normal: 0, abnormal: 0, critical: 0, unknown: 0 },
    aboveRange: 0,
    belowRange: 0,
  };
  for (const result of results) {
    counts.byLoincMatchStatus[knownIn(counts.byLoincMatchStatus, result.loinc_match_status)] += 1;
    const meaning = isCritical(result.interpretation) ? 'critical' : result.interpretation;
    counts.byInterpretation[knownIn(counts.byInterpretation, meaning)] += 1;
    if (result.is_above_max_range === true) counts.aboveRange += 1;
    if (result.is_below_min_range === true) counts.belowRange += 1;
  }
  return counts;
}

function knownIn<K extends string>(
  counted: Record<K | 'unknown', number>,
  value: string | null | undefined,
): K | 'unknown' {
  const word = value?.trim().toLowerCase() ?? '';
  return Object.hasOwn(counted, word) ? (word as K) : 'unknown';
}
