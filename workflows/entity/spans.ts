export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/** Longer than the service's usual outages. After it an end no longer waits for its answer, and a person is asked to look. */
export const longestOutage = day;

/** The pause before the next attempt or read: twice as long each time, up to the longest. */
export function doubled(first: number, times: number, longest: number): number {
  return Math.min(first * 2 ** Math.min(times, 30), longest);
}

/** A run is started together with its first signal; one that was started manually reads what it is about instead. */
export const firstReportWait = '10 seconds';
