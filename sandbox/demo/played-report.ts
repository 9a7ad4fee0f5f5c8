import type { ParsingJobResult, ReportHandle, ReportTimelineEntry } from '../../client/index.js';
import type { Narrator } from './narrator.js';
import type { NotificationReceiver, ReportNotification } from './notification-receiver.js';
import { Occurrences } from './occurrences.js';

/** Quick enough that a line comes with its event. */
const watching = { minInterval: 120, maxInterval: 240 };

/** The service's statuses as a customer would say them. The list of statuses is open: the others keep their name. */
const happenings: Readonly<Record<string, string>> = {
  upload_pending: 'the lab service has the file',
  started: 'the report is being read',
  processing: 'its values are matched to LOINC',
  pending_review: 'a person at the lab service checks what was read',
  completed: 'the report was read',
  failed: 'the report could not be read',
};

/** A report of a story: the product's handle of it, and what the lab service does with it. */
export class PlayedReport {
  readonly handle: ReportHandle;
  readonly #narrator: Narrator;
  readonly #notifications = new Occurrences<ReportNotification>();

  constructor(handle: ReportHandle, jobId: string, narrator: Narrator, { reports }: NotificationReceiver) {
    this.handle = handle;
    this.#narrator = narrator;
    reports.each((notification) => {
      if (notification.data.job_id === jobId) this.#hear(notification);
    });
  }

  /** Waits until the product is told of it. */
  told(type: string): Promise<ReportNotification> {
    return this.#notifications.first((notification) => notification.type === type);
  }

  /** Tells what happens until the report has ended, and answers with how. */
  async end(signal: AbortSignal): Promise<ParsingJobResult> {
    let told = 0;
    for await (const { timeline } of this.handle.watch({ ...watching, signal })) {
      for (const entry of timeline.slice(told)) this.#narrator.happens(sentenceOf(entry), entry.at);
      told = timeline.length;
    }
    return this.handle.result();
  }

  #hear(notification: ReportNotification): void {
    this.#narrator.tells(notification.time, wordsFor(notification));
    this.#notifications.add(notification);
  }
}

function sentenceOf({ status, isReviewed }: ReportTimelineEntry): string {
  const words = happenings[status] ?? status.replaceAll('_', ' ');
  return isReviewed === true ? `${words}, and reviewed` : words;
}

function wordsFor({ type, data }: ReportNotification): string {
  if (type === 'completed') return `${data.results ?? 0} biomarkers can be read`;
  return type === 'phase_changed' ? String(data.phase) : type.replaceAll('_', ' ');
}
