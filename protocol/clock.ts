/*
 * Times from outside. Clocks differ by moments; what lies further ahead was written by one that is wrong, and counts as received now, or as not
 * said: it would put off deadlines, and be later than all that is reported after it, for decades.
 */

/** Clocks differ: an order that seems slightly older than the first attempt may still come from it. */
export const clockError = 5 * 60_000;

export function isAhead(at: string | undefined, now: number): boolean {
  return at !== undefined && Date.parse(at) > now + clockError;
}

/** @param known the time that was kept when it was received first */
export function notAhead(at: string, now: number, known: string | undefined): string {
  return isAhead(at, now) ? (known ?? new Date(now).toISOString()) : at;
}

/** A time may be a local one without its zone: within a day lie all zones. */
export const anyZone = 24 * 60 * 60_000;

/** Nobody books a visit, or schedules an order, further ahead: a later date is wrong. */
export const farthestDate = 366 * 24 * 60 * 60_000;
