import { z } from 'zod';

export const dayMs = 86_400_000;

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: dayMs, w: 7 * dayMs };
const expectedForm = 'milliseconds, or a number with ms, s, m, h, d or w ("2d")';

/** A span of time: milliseconds, or a number with a unit out of ms, s, m, h, d, w (`'90m'`, `'2d'`). */
export type Duration = number | string;

/** Milliseconds of a span. Throws a RangeError that names the text when it cannot be read. */
export function durationMs(duration: Duration): number {
  const result = parsed(duration);
  if (Number.isFinite(result) && result >= 0) return result;
  throw new RangeError(`"${duration}" is not a duration: expected ${expectedForm}`);
}

function parsed(duration: Duration): number {
  if (typeof duration === 'number') return duration;
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)$/.exec(duration) ?? [];
  return Number(amount) * (units[unit] ?? Number.NaN);
}

/** A duration in a control request: milliseconds, or "2d". */
export const durationSchema = z
  .union([z.number().nonnegative(), z.string()])
  .refine((value) => Number.isFinite(parsed(value)), { error: `expected ${expectedForm}` });

/** Timestamps as the service writes them: ISO 8601 with microseconds and an explicit zone. */
export function timestamp(time: number): string {
  return `${new Date(time).toISOString().slice(0, -1)}000+00:00`;
}

/** The calendar date (UTC) of a time. */
export function calendarDate(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/**
 * Reads a date or a timestamp, a missing zone as UTC. NaN when it is neither. The "+" of a zone that was not escaped in
 * a query arrives as a space and is taken for what was meant.
 */
export function parseTimestamp(text: string): number {
  const meant = text.replace(/ (\d{2}:\d{2})$/, '+$1');
  if (!/^\d{4}-\d{2}-\d{2}(T.+)?$/.test(meant)) return Number.NaN;
  const zoned = !meant.includes('T') || /(Z|[+-]\d{2}:?\d{2})$/.test(meant);
  return Date.parse(zoned ? meant : `${meant}Z`);
}
