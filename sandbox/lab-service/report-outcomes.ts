import type { Duration } from './time.js';

/*
 * The outcomes of parsing jobs. The stand-in reads no report: a file names its outcome with the words
 * `labops-sandbox: <outcome>` somewhere in its first 64 KiB, and completes without them.
 */

/** A change of a job; fields that are left out stay. */
export interface JobChange {
  readonly status: string;
  readonly failureReason?: string | null | undefined;
  /** The job's data: three invented biomarkers, an empty list, or no data (null). */
  readonly results?: 'sample' | 'none' | null | undefined;
  readonly isReviewed?: boolean | undefined;
}

export interface JobStep {
  /** After the job's creation, compressed like all delays. */
  readonly after: Duration;
  readonly change: JobChange;
}

/** The bytes in which the words of an outcome are looked for. */
export const MARKER_BYTES = 64 * 1024;
const MARKER = /labops-sandbox: ?([\w:-]+)/;

export const OUTCOMES = [
  'completed',
  'no-results',
  'failed:<reason>',
  'review',
  'review-failed:<reason>',
  'stuck',
  'unknown-status',
] as const;

/** No duration is documented: assumed, and short enough to be waited for without compression. */
const STARTED: Duration = '1s';
const PROCESSING: Duration = '5s';
const DECIDED: Duration = '30s';
const REVIEWED: Duration = '1d';

/** The outcome that the first bytes of a file ask for; `completed` where they ask for none. */
export function outcomeIn(head: Buffer): string {
  return MARKER.exec(head.toString('latin1'))?.[1] ?? 'completed';
}

/**
 * The steps of an outcome; undefined for an unknown one. A requested review puts `pending_review` between a
 * reading that went well and its end.
 */
export function stepsOf(outcome: string, needsReview: boolean): readonly JobStep[] | undefined {
  const begin: JobStep[] = [
    { after: STARTED, change: { status: 'started' } },
    { after: PROCESSING, change: { status: 'processing' } },
  ];
  const [kind = '', reason] = outcome.split(':', 2);
  const failed = (after: Duration): JobStep => ({
    after,
    change: { status: 'failed', failureReason: reason ?? 'processing_error' },
  });
  const review: JobStep = { after: DECIDED, change: { status: 'pending_review' } };
  switch (kind) {
    case 'completed':
    case 'no-results':
    case 'review': {
      const change = { status: 'completed', results: kind === 'no-results' ? 'none' : 'sample' } as const;
      if (kind !== 'review' && !needsReview) return [...begin, { after: DECIDED, change }];
      return [...begin, review, { after: REVIEWED, change: { ...change, isReviewed: true } }];
    }
    case 'failed':
      return [...begin, failed(DECIDED)];
    case 'review-failed':
      return [...begin, review, failed(REVIEWED)];
    case 'stuck':
      return begin.slice(0, 1);
    case 'unknown-status':
      return [
        ...begin,
        { after: DECIDED, change: { status: 'quality_hold' } },
        { after: REVIEWED, change: { status: 'completed', results: 'sample' } },
      ];
    default:
      return undefined;
  }
}
