import type { Alarm } from '../alarm.js';
import type { ReportCase } from './case.js';

/** One run of `parsingJob`: the case it works on, and what wakes it. */
export interface ReportRun {
  kase: ReportCase;
  alarm: Alarm;
  /** Something was heard that the main loop has not looked at yet. */
  heard: boolean;
  /** Until when a job that has ended waits for its notifications to be delivered; milliseconds since the epoch. */
  tellUntil?: number;
}
