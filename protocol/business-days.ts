/**
 * Deadlines that are counted in business days. Pure, and workflow code: times are milliseconds since the epoch, and there is no
 * clock and no table of time zones, which differ from one worker to the next.
 */

/** A number of business days from 1 to 999, as it is written in a resolved policy: `6bd`. */
export type BusinessDays = `${number}bd`;

interface BusinessCalendar {
  /** Dates that are not business days, YYYY-MM-DD. Saturdays and Sundays never are. */
  holidays: readonly string[];
  /** Hours by which the zone whose days are counted is ahead of UTC. */
  utcOffset: number;
}

const hour = 3_600_000;
const day = 24 * hour;

export function countOf(value: unknown): number | undefined {
  const [, count] = (typeof value === 'string' && /^([1-9]\d{0,2})bd$/.exec(value)) || [];
  return count === undefined ? undefined : Number(count);
}

/**
 * The end of a span on a clock that stands still at weekends and on holidays: a business day after Friday 15:00 is Monday
 * 15:00, and after any time on Saturday the end of Monday. Calendar spans are milliseconds, and simply added.
 */
export function timeAfter(from: number, span: number | BusinessDays, calendar: BusinessCalendar): number {
  if (typeof span === 'number') return from + span;
  if (!Number.isFinite(from)) return Number.NaN;
  const offset = calendar.utcOffset * hour;
  let [at, left] = [from + offset, (countOf(span) ?? 0) * day];
  while (left > 0) {
    const midnight = (Math.floor(at / day) + 1) * day;
    const worked = isBusinessDay(midnight - day, calendar) ? Math.min(left, midnight - at) : 0;
    left -= worked;
    at = left > 0 ? midnight : at + worked;
  }
  return at - offset;
}

/** @param midnight of the day, as if its zone were UTC */
function isBusinessDay(midnight: number, { holidays }: BusinessCalendar): boolean {
  const date = new Date(midnight);
  const weekday = date.getUTCDay();
  return weekday !== 0 && weekday !== 6 && !holidays.includes(date.toISOString().slice(0, 10));
}
