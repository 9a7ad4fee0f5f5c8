/**
 * Timestamps as the service writes them: ISO 8601 with microseconds and an explicit zone. Some deployments leave the
 * zone out; those timestamps are UTC.
 */
export function timestamp(time: number, naive: boolean): string {
  const local = new Date(time).toISOString().slice(0, -1);
  return `${local}000${naive ? '' : '+00:00'}`;
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
