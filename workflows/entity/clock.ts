import { minute } from './spans.js';

/*
 * Times from outside. Clocks differ by moments; what lies further ahead was written by one that is wrong, and counts as received now:
 * it would put off deadlines, and be later than all that is reported after it, for decades.
 */

/** As the search for an earlier attempt assumes it, too. */
export const clockError = 5 * minute;

export function isAhead(at: string | undefined, now: number): boolean {
  return at !== undefined && Date.parse(at) > now + clockError;
}

/** @param known the time that was kept when it was received first */
export function notAhead(at: string, now: number, known: string | undefined): string {
  return isAhead(at, now) ? (known ?? new Date(now).toISOString()) : at;
}
