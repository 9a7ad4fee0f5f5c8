import { z } from 'zod';

export const DAY_MS = 86_400_000;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS };
const EXPECTED = 'milliseconds, or a number with ms, s, m, h, d or w ("2d")';

/** A span of time: milliseconds, or a number with a unit out of ms, s, m, h, d, w (`'90m'`, `'2d'`). */
export type Duration = number | string;

/** Milliseconds of a span. Throws a RangeError that names the text when it cannot be read. */
export function durationMs(duration: Duration): number {
  const result = parsed(duration);
  if (Number.isFinite(result) && result >= 0) return result;
  throw new RangeError(`"${duration}" is not a duration: expected ${EXPECTED}`);
}

function parsed(duration: Duration): number {
  if (typeof duration === 'number') return duration;
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)$/.exec(duration) ?? [];
  return Number(amount) * (UNITS[unit] ?? Number.NaN);
}

/** A duration in a control request: milliseconds, or "2d". */
export const durationSchema = z
  .union([z.number().nonnegative(), z.string()])
  .refine((value) => Number.isFinite(parsed(value)), { error: `expected ${EXPECTED}` });
