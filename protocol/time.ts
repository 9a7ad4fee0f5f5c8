import ms, { type StringValue } from 'ms';
import { anyZone, clockError, isAhead, isCalendarDate } from '../service/timestamps.js';

export { anyZone, clockError, isAhead, isCalendarDate };

/**
 * A span of time with its unit: `'36 hours'`, `'7d'`, `'1.5h'` (the `ms` package's grammar). Without a unit it is refused, as a number
 * and as text: 7 would be milliseconds to a program, and days to the person who wrote it.
 */
export type Duration = Exclude<StringValue, `${number}`>;

/** Milliseconds; undefined if it is anything but a duration with its unit. */
export function durationMs(value: unknown): number | undefined {
  if (typeof value !== 'string' || !/[a-z]$/i.test(value)) return undefined;
  return ms(value as Duration);
}

export const mustBeTime = 'must be a date that exists, or a time with its zone, in ISO 8601';

/** True if the text is a date, whose midnight in UTC is meant, or a time with its zone. */
export function isTime(text: unknown): text is string {
  if (typeof text !== 'string' || !/^.{10}(T.*(Z|[+-]\d{2}:\d{2}))?$/.test(text)) return false;
  return isCalendarDate(text.slice(0, 10)) && !Number.isNaN(Date.parse(text));
}

/** @param known the time that was kept when it was received first */
export function notAhead(at: string, now: number, known: string | undefined): string {
  return isAhead(at, now) ? (known ?? new Date(now).toISOString()) : at;
}

/** Nobody books a visit, or schedules an order, further ahead: a later date is wrong. */
export const farthestDate = 366 * 24 * 60 * 60_000;
