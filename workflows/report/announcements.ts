import { parsingJobId } from '../../protocol/ids.js';
import type { Notification } from '../../protocol/notifications.js';
import { failureOf } from '../../protocol/report/failure-reasons.js';
import type { ReportAttentionReason } from '../../protocol/report/messages.js';
import type { ReportNotification, ReportNotificationHead } from '../../protocol/report/notifications.js';
import { enqueue as enqueueIn, type Delivery } from '../entity/outbox.js';
import { currentJob, currentPhase, type Job, note, type RaisedReportAttention } from './job.js';
import type { ReportRun } from './workflow.js';

function enqueue(job: Job, notification: ReportNotification): void {
  enqueueIn(job, asNotification(notification));
}

function headOf(job: Job, key: string, type: string, now: number): ReportNotificationHead {
  const { jobId, reference, userId } = job;
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
export function announceNews(job: Job, now: number): void {
  const phase = currentPhase(job);
  const { status = 'unknown', isReviewed = false, failureReason, counts } = currentJob(job);
  const isEnd = phase === 'completed' || phase === 'failed';
  if (job.ending === 'abandoned' || (job.ending === 'superseded' && !isEnd)) return;
  if (phase === 'uploaded' || (phase === job.announcedPhase && !isEnd)) return;
  job.announcedPhase = phase;
  const key = isEnd && isReviewed ? `${status}.reviewed` : status;
  const type = phase === 'parsing' ? 'phase_changed' : phase === 'in_review' ? 'review_needed' : phase;
  const head = headOf(job, key, type, now);
  if (job.announced.includes(head.id)) return;
  job.announced.push(head.id);
  const superseding = job.supersededBy === undefined ? {} : { supersededBy: job.supersededBy };
  switch (type) {
    case 'phase_changed':
      return enqueue(job, { ...head, type, data: { phase, status } });
    case 'review_needed':
      return enqueue(job, { ...head, type, data: { status } });
    case 'completed':
      return enqueue(job, { ...head, type, data: { isReviewed, ...counts, ...superseding } });
    case 'failed': {
      const { reason, sentence } = failureOf(failureReason);
      const data = { failureReason: reason, failureSentence: sentence, ...superseding };
      return enqueue(job, { ...head, type, data });
    }
    default:
      return type satisfies never;
  }
}

/** What was told of the job before anybody had claimed it carried no reference. */
export function announceClaim(job: Job, now: number): void {
  if (job.announced.length === 0) return;
  const { status = 'unknown' } = currentJob(job);
  enqueue(job, { ...headOf(job, 'claim', 'claimed', now), type: 'claimed', data: { status } });
}

/** Tells of an end that no status of the service announced. */
export function announceEnd(job: Job, now: number): void {
  const { ending, endTold, supersededBy } = job;
  if (ending === undefined || endTold) return;
  job.endTold = true;
  const head = headOf(job, ending, 'ended', now);
  const data = { outcome: ending, ...(supersededBy !== undefined && { supersededBy }) };
  enqueue(job, { ...head, type: 'ended', data });
}

/** Asks a person to look, once while the question stands, and tells the product. */
export function raise(job: Job, reason: ReportAttentionReason, now: number): void {
  if (job.attention.some((raised) => raised.reason === reason)) return;
  const time = (job.raised[reason] ?? 0) + 1;
  job.raised[reason] = time;
  const attention = { reason, since: new Date(now).toISOString(), time };
  job.attention.push(attention);
  note(job, `attention: ${reason.replaceAll('_', ' ')}`, now);
  tell(job, attention, 'attention_raised', now);
}

export function clear(job: Job, reasons: readonly ReportAttentionReason[], now: number): void {
  const answered = job.attention.filter(({ reason }) => reasons.includes(reason));
  job.attention = job.attention.filter(({ reason }) => !reasons.includes(reason));
  for (const attention of answered) {
    note(job, `no more attention: ${attention.reason.replaceAll('_', ' ')}`, now);
    tell(job, attention, 'attention_cleared', now);
  }
}

function tell(
  job: Job,
  { time, ...attention }: RaisedReportAttention,
  type: 'attention_raised' | 'attention_cleared',
  now: number,
): void {
  const key = time === 1 ? attention.reason : `${attention.reason}.${time}`;
  enqueue(job, { ...headOf(job, key, type, now), type, data: attention });
}

/** What an undelivered notification means for the job. */
export function reportDelivery(run: ReportRun): Delivery {
  const { job } = run;
  return {
    delivered() {
      if (!job.attention.some(({ reason }) => reason === 'notifications_undelivered')) return;
      clear(job, ['notifications_undelivered'], Date.now());
      run.heard = true;
    },
    undelivered() {
      raise(job, 'notifications_undelivered', Date.now());
      run.heard = true;
    },
  };
}

function asNotification({ id, at, type, data, jobId, reference, userId }: ReportNotification): Notification {
  return {
    id,
    at,
    source: parsingJobId(jobId),
    type: `report.${type}`,
    subject: jobId,
    data: { jobId, ...(reference !== undefined && { reference }), ...(userId !== undefined && { userId }), ...data },
  };
}
