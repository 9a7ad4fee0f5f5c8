export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/** A moment, in milliseconds since the epoch, as states and notifications write it. */
export function iso(time: number): string {
  return new Date(time).toISOString();
}

export function isoOf(time: number | undefined): string | undefined {
  return time === undefined ? undefined : iso(time);
}

/** Longer than the service's usual outages. After it an end no longer waits for its answer, and a person is asked to look. */
export const longestOutage = day;

/** In an outage everything that waits for an answer asks: rarely enough that the service can come back. */
export const longestPause = 15 * minute;

/** The pause before the next attempt or read: twice as long each time, up to the longest. */
export function doubled(first: number, times: number, longest: number): number {
  return Math.min(first * 2 ** Math.min(times, 30), longest);
}

/** Shortens the span by up to a tenth, so what came due together is not repeated together. The same key always shortens it by the same part. */
export function spread(span: number, key: string): number {
  const tenths = Array.from(key).reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 1000, 0) / 1000;
  return Math.round(span * (1 - tenths / 10));
}

/** A run is started together with its first signal; one that was started manually reads what it is about instead. */
export const firstReportWait = '10 seconds';

/** How long the service must keep answering that it does not know an order before it is believed: longer than a replica lags or a rollout takes. */
export const absenceBelieved = 10 * minute;

/** @param since milliseconds since the epoch: when the service first said that it does not know the order */
export function isAbsenceBelieved(since: number, now: number): boolean {
  return now - since >= absenceBelieved;
}

/** The service does not know what is followed. @returns whether it has said so for long enough to be believed */
export function noteAbsence(of: { absentSince?: number }, now: number): boolean {
  of.absentSince ??= now;
  return isAbsenceBelieved(of.absentSince, now);
}
