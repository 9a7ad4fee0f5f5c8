import { currentJob, currentPhase, type ReportCase } from './case.js';
import { failureOf } from './failure-reasons.js';
import type { ReportNotification, ReportNotificationHead } from './notifications.js';

/** Puts a notification into the outbox. Where the worker has no target, nothing is kept and nothing scheduled. */
export function enqueue(kase: ReportCase, notification: ReportNotification): void {
  if (kase.notifies !== false) kase.outbox.push(notification);
}

export function headOf(kase: ReportCase, key: string, type: string, now: number): ReportNotificationHead {
  const { jobId, reference, userId } = kase;
  return {
    id: `${jobId}/${key}/${type}`,
    at: new Date(now).toISOString(),
    jobId,
    ...(reference !== undefined && { reference }),
    ...(userId !== undefined && { userId }),
  };
}

/**
 * Announces where the job is, if the product was not told yet, however many reports brought it there. That it was
 * uploaded is nothing new to whoever uploaded it. A review may change the results, so a result is told once more after it.
 *
 * A job that nobody follows any more is no news. Of one that another has superseded only the result is: a job says nothing of
 * its file, so it may be another report of the same user, whose result must not be lost.
 */
export function announceNews(kase: ReportCase, now: number): void {
  const phase = currentPhase(kase);
  const { status = 'unknown', isReviewed = false, failureReason, counts } = currentJob(kase);
  const isEnd = phase === 'completed' || phase === 'failed';
  if (kase.ending === 'abandoned' || (kase.ending === 'superseded' && !isEnd)) return;
  if (phase === 'uploaded' || (phase === kase.announcedPhase && !isEnd)) return;
  kase.announcedPhase = phase;
  const key = isEnd && isReviewed ? `${status}.reviewed` : status;
  const type = phase === 'parsing' ? 'phase_changed' : phase === 'in_review' ? 'review_needed' : phase;
  const head = headOf(kase, key, type, now);
  if (kase.announced.includes(head.id)) return;
  kase.announced.push(head.id);
  const superseding = kase.supersededBy === undefined ? {} : { supersededBy: kase.supersededBy };
  switch (type) {
    case 'phase_changed':
      return enqueue(kase, { ...head, type, data: { phase, status } });
    case 'review_needed':
      return enqueue(kase, { ...head, type, data: { status } });
    case 'completed':
      return enqueue(kase, { ...head, type, data: { isReviewed, ...counts, ...superseding } });
    case 'failed': {
      const { reason, sentence } = failureOf(failureReason);
      const data = { failureReason: reason, failureSentence: sentence, ...superseding };
      return enqueue(kase, { ...head, type, data });
    }
    default:
      return type satisfies never;
  }
}

/** What was told of the job before anybody had claimed it carried no reference. */
export function announceClaim(kase: ReportCase, now: number): void {
  if (kase.announced.length === 0) return;
  const { status = 'unknown' } = currentJob(kase);
  enqueue(kase, { ...headOf(kase, 'claim', 'claimed', now), type: 'claimed', data: { status } });
}

/** Tells of an end that no status of the service announced. */
export function announceEnd(kase: ReportCase, now: number): void {
  const { ending, endTold, supersededBy } = kase;
  if (ending === undefined || endTold) return;
  kase.endTold = true;
  const head = headOf(kase, ending, 'ended', now);
  const data = { outcome: ending, ...(supersededBy !== undefined && { supersededBy }) };
  enqueue(kase, { ...head, type: 'ended', data });
}
