import ms, { type StringValue } from 'ms';

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
