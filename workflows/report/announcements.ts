import type { RaisedAttention } from '../../protocol/attention.js';
import { parsingJobId } from '../../protocol/ids.js';
import {
  failureOf,
  type ReportAttentionReason,
  type ReportNotification,
  type ReportNotificationHead,
} from '../../protocol/report/messages.js';
import { attentionVerbsFor } from '../entity/attention.js';
import { enqueue as enqueueIn, notificationOf } from '../entity/outbox.js';
import { iso } from '../entity/spans.js';
import { currentJob, currentPhase, type Job } from './job.js';
import { omitNullish } from '../../protocol/json.js';

function enqueue(job: Job, notification: ReportNotification): void {
  enqueueIn(job, notificationOf({ area: 'report', source: parsingJobId(job.jobId), subject: job.jobId }, notification));
}

function headOf(job: Job, key: string, type: string, now: number): ReportNotificationHead {
  const { jobId, reference, userId } = job;
  return omitNullish({ id: `${jobId}/${key}/${type}`, at: iso(now), jobId, reference, userId });
}

/**
 * Announces where the job is, if the product was not notified yet, however many reports brought it there. That it was
 * uploaded is nothing new to the caller that uploaded it. A review may change the results, so a result is announced once more after it.
 *
 * A job that nobody follows any more is not news. Of one that another has superseded only the result is: a job says nothing of
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
  const superseding = omitNullish({ supersededBy: job.supersededBy });
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

/** Announcements of the job from before anybody had claimed it had no reference. */
export function announceClaim(job: Job, now: number): void {
  if (job.announced.length === 0) return;
  const { status = 'unknown' } = currentJob(job);
  enqueue(job, { ...headOf(job, 'claim', 'claimed', now), type: 'claimed', data: { status } });
}

/**
 * Announces an end that no status of the service announced. A job that has moved since may end so once more: that is another
 * announcement. A run that a repeated webhook started, and that finds the same end again, announces nothing.
 */
export function announceEnd(job: Job, now: number): void {
  const { ending, endAnnounced, supersededBy, before, timeline } = job;
  if (ending === undefined || endAnnounced) return;
  job.endAnnounced = true;
  if (before?.outcome === ending && timeline.length <= before.statuses) return;
  const times = job.announced.filter((id) => id.startsWith(`${job.jobId}/${ending}`) && id.endsWith('/ended')).length;
  const head = headOf(job, times === 0 ? ending : `${ending}.${times + 1}`, 'ended', now);
  job.announced.push(head.id);
  const data = omitNullish({ outcome: ending, supersededBy });
  enqueue(job, { ...head, type: 'ended', data });
}

export const { raise, clear } = attentionVerbsFor<RaisedAttention<ReportAttentionReason>, Job>({
  notify(job, { reason, since }, { id, type }, now) {
    enqueue(job, { ...headOf(job, id, type, now), type, data: { reason, since } });
  },
});
