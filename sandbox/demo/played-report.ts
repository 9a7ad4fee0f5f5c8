import type { ParsingJobResult, ReportHandle } from '../../client/index.js';
import type { Narrator } from './narrator.js';
import type { NotificationReceiver } from './notification-receiver.js';
import { Notifications } from './notifications.js';
import { parsingWords, reportWords } from './words.js';

/** Often enough that a line comes with its event. */
const watching = { minInterval: 120, maxInterval: 240 };

/** A lab report of a story. */
export class PlayedReport {
  readonly handle: ReportHandle;
  readonly notifications: Notifications<'report'>;
  readonly #narrator: Narrator;

  constructor(handle: ReportHandle, jobId: string, narrator: Narrator, receiver: NotificationReceiver) {
    this.handle = handle;
    this.#narrator = narrator;
    this.notifications = new Notifications(
      receiver,
      'report',
      ({ data }) => data.job_id === jobId,
      (event) => narrator.notifies(event.time, reportWords(event)),
    );
  }

  /** Shows what happens until the report has ended, and returns how it ended. */
  async end(signal: AbortSignal): Promise<ParsingJobResult> {
    let shown = 0;
    for await (const { timeline } of this.handle.watch({ ...watching, signal })) {
      for (const entry of timeline.slice(shown)) this.#narrator.happens(parsingWords(entry), entry.at);
      shown = timeline.length;
    }
    return this.handle.result();
  }
}
