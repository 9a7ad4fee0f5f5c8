import { InvalidArgumentError } from 'commander';
import ms from 'ms';

/* Parsers of option values. Their errors are wrong usage, with the option's name in front. */

/** A duration such as `90s` or `5m`, in milliseconds. */
export function duration(text: string): number {
  // The type of its argument is for literals; a text from outside may be anything.
  const span = /^\d/.test(text) ? ms(text as ms.StringValue) : Number.NaN;
  if (Number.isFinite(span) && span > 0) return span;
  throw new InvalidArgumentError('It must be a duration such as 90s or 5m.');
}

export function count(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number above 0.');
}

export function days(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError('It must be a number of days above 0.');
}

/** A name as shown in tables, with spaces, or as written on the wire. */
export function name(text: string): string {
  const written = text.trim().toLowerCase().replaceAll(/[ -]+/g, '_');
  if (/^[a-z0-9_]{1,64}$/.test(written)) return written;
  throw new InvalidArgumentError('It must be a name such as awaiting_registration.');
}

/** For options that may be given more than once. */
export function collect(text: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), text];
}
