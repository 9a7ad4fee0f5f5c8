import type { Notification } from '../notifications.js';
import type { Telling } from '../outbox.js';
import { parsingJobId } from './address.js';
import { clear, raise } from './attention.js';
import type { ReportNotification } from './notifications.js';
import type { ReportRun } from './run.js';

/** How a job's notifications go out, and what becomes of the case when they do not. */
export function reportTelling(run: ReportRun): Telling<ReportNotification> {
  const { kase } = run;
  return {
    asNotification,
    wordsFor: ({ type }) => type.replaceAll('_', ' '),
    delivered() {
      if (!kase.attention.some(({ reason }) => reason === 'notifications_undelivered')) return;
      clear(kase, ['notifications_undelivered'], Date.now());
      run.heard = true;
    },
    undelivered() {
      raise(kase, 'notifications_undelivered', Date.now());
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
