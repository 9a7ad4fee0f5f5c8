/**
 * A reason why a person should look, and since when. The state has it, LabAttention its reason; orders, reports,
 * appointments, match reviews and deletions also send notifications of it. docs/attention.md lists the reasons.
 */
export interface Attention<Reason extends string> {
  reason: Reason;
  since: string;
}

/** The same in the workflow that raised it. */
export interface RaisedAttention<Reason extends string> extends Attention<Reason> {
  /** Which of several questions it asks, if one reason can ask several: a deadline's key. */
  key?: string;
  /** Which order it is about, if the workflow follows several. */
  orderId?: string;
  /** Which time it is raised, from 1: one that comes again is another notification. */
  time: number;
}

/** A line of a timeline: what was reported, done or decided. */
export interface HistoryEntry {
  at: string;
  /** Our own texts and the service's statuses and error types: nothing personal. */
  what: string;
  /** The actor of the command that did it. */
  by?: string;
}
