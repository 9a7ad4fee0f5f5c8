const timestampPattern =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?) ?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/**
 * Adds UTC to a timestamp without a zone (docs/internals/lab-service.md); everything else is returned unchanged, even if it is
 * not a timestamp: an answer is not refused for a timestamp that may not be needed.
 */
export function withZone(timestamp: string): string {
  const [, date, time, zone] = timestampPattern.exec(timestamp.trim()) ?? [];
  if (date === undefined || time === undefined || zone !== undefined) return timestamp;
  return `${date}T${time}Z`;
}

/**
 * A timestamp as ISO 8601 in UTC with milliseconds, so two texts compare like their instants; undefined if the text is
 * not an instant. No zone means UTC, a date alone means its midnight in UTC.
 */
export function utcInstant(timestamp: string | null | undefined): string | undefined {
  const [, date, time, zone] = timestampPattern.exec(timestamp?.trim() ?? '') ?? [];
  if (date === undefined) return undefined;
  const instant = new Date(`${date}T${time ?? '00:00'}${offsetOf(zone)}`);
  return Number.isNaN(instant.getTime()) ? undefined : instant.toISOString();
}

/** Like `utcInstant`, but undefined also for a time of a clock that was never set: 1970, or earlier. */
export function knownInstant(timestamp: string | null | undefined): string | undefined {
  const instant = utcInstant(timestamp);
  return instant !== undefined && Date.parse(instant) >= Date.UTC(1971, 0) ? instant : undefined;
}

/**
 * Like `utcInstant`, but exact: to the microsecond (further digits are cut off), and a date that does not exist is
 * refused instead of moved into the next month. For things that are identified by their timestamp.
 */
export function exactUtcInstant(timestamp: string): string | undefined {
  const [, date = '', time = ''] = timestampPattern.exec(timestamp.trim()) ?? [];
  if (!isCalendarDate(date) || time.startsWith('24')) return undefined;
  const instant = utcInstant(timestamp);
  if (instant === undefined || !/^\d{4}-/.test(instant) || instant.startsWith('0000')) return undefined;
  const fraction = (/\.(\d+)$/.exec(time)?.[1] ?? '').padEnd(6, '0').slice(0, 6);
  return instant.replace(/\.\d{3}Z$/, `.${fraction}Z`);
}

/** True if the text is an existing calendar date, YYYY-MM-DD. */
export function isCalendarDate(text: unknown): text is string {
  if (typeof text !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const midnight = new Date(`${text}T00:00:00Z`);
  // V8 moves 30 February into March instead of refusing it, so the date must come back unchanged.
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text);
}

function offsetOf(zone: string | undefined): string {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 'Z';
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0');
  return `${zone.slice(0, 1)}${digits.slice(0, 2)}:${digits.slice(2)}`;
}

/** Clocks differ: an order that seems slightly older than the first attempt may still come from it. */
export const clockError = 5 * 60_000;

/**
 * Clocks differ by moments; what lies further ahead was written by one that is wrong, and counts as received now, or as not said: it would
 * put off deadlines, and be later than all that is reported after it, for decades.
 */
export function isAhead(at: string | undefined, now: number): boolean {
  return at !== undefined && Date.parse(at) > now + clockError;
}

/** A time may be a local one without its zone: within a day lie all zones. */
export const anyZone = 24 * 60 * 60_000;
