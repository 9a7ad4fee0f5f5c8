/** When the service was asked about what is followed, and what came of it: it decides when to ask again. */
export interface Polled {
  /** When something new was learnt, or the service was last asked. */
  lookedAt: number;
  /** Reads since then that said nothing new. */
  silentReads: number;
  /** The service did not answer the last time, or said what is not believed yet. */
  unanswered?: boolean;
}

export function answered(of: Polled, isNews: boolean, now: number): void {
  of.lookedAt = now;
  of.silentReads = isNews ? 0 : of.silentReads + 1;
  of.unanswered = false;
}

export function recordNoAnswer(of: Polled, now: number): void {
  answered(of, false, now);
  of.unanswered = true;
}

/** What came in asks for one read, however long the service has been silent. */
export function askForRead(of: Polled & { unclear: boolean }): void {
  Object.assign(of, { unclear: true, unanswered: false, silentReads: 0 });
}
