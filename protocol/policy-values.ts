import ms, { type StringValue } from 'ms';
import { countOf, type BusinessDays } from './business-days.js';
import type { FollowingSetting, Setting } from './policy-settings.js';

/** The values of a policy's settings, read by their kinds. Each violation is reported as a fault, so one error names all of them. */

export const longest = ms('10y');

/** Receives the fault of one setting, as a text that follows its name. */
type Fault = (problem: string) => void;

/** @param before the settings that stand before it in the table */
export function readSetting(setting: Setting, value: unknown, before: Record<string, unknown>, fault: Fault): unknown {
  switch (setting.kind) {
    case 'duration':
      return readDuration(value, fault, setting.least, setting.most);
    case 'deadline':
      return readDeadline(value, fault);
    case 'dates':
      return readDates(value, fault);
    case 'following':
      return readFollowing(setting, value, before[setting.setting], fault);
    case 'durations':
      return readDurations(value, fault);
    case 'count':
      return readCount(value, fault, setting.least, setting.most);
    case 'choice':
      return readChoice(value, fault, setting.choices);
    default:
      return setting satisfies never;
  }
}

/** A whole number within the bounds; anything else is a fault. */
function readCount(value: unknown, fault: Fault, least: number, most: number): unknown {
  if (!Number.isInteger(value) || Number(value) < least || Number(value) > most) {
    fault(`must be a whole number from ${least} to ${most}`);
  }
  return value;
}

/** Milliseconds, rounded up. A fault unless it is a duration within the bounds, which are milliseconds too. */
function readDuration(value: unknown, fault: Fault, least = 1, most = longest): number {
  // `ms` throws on an empty string; here every fault is collected.
  const span = typeof value === 'string' && value !== '' ? ms(value as StringValue) : value;
  if (typeof span === 'number' && Math.ceil(span) >= least && span <= most) return Math.ceil(span);
  const range = least > 1 ? `at least ${ms(least, { long: true })}` : 'more than 0';
  const limit = most === longest ? '10 years' : ms(most, { long: true });
  fault(`must be a duration such as '7d' or milliseconds, ${range} and at most ${limit}`);
  return 0;
}

/** Business days may be written `6bd`, `6 bd` or `6 business days`. */
function readDeadline(value: unknown, fault: Fault): number | BusinessDays {
  const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
  const [, written] = /^(\d+) ?(?:bd|business days?)$/.exec(text) ?? [];
  if (written === undefined) {
    return readDuration(value, (problem) => fault(`${problem}, or 1 to 999 business days such as '6bd'`));
  }
  const days: BusinessDays = `${Number(written)}bd`;
  if (countOf(days) === undefined) fault('must be 1 to 999 business days');
  return days;
}

/** About ten years of holidays. */
const mostDates = 200;

function readDates(value: unknown, fault: Fault): string[] {
  if (!Array.isArray(value) || value.length > mostDates) {
    fault(`must be a list of at most ${mostDates} dates such as '2026-12-25'`);
    return [];
  }
  return value.map((entry: unknown, index) => {
    if (isDate(entry)) return entry;
    fault(`entry ${index + 1} must be a date that exists, written YYYY-MM-DD`);
    return '';
  });
}

function isDate(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const midnight = new Date(`${value}T00:00:00Z`);
  // V8 moves 30 February into March.
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(value);
}

/** @param first the other one; undefined if it is not known, and then there is a value */
function readFollowing({ usual, most }: FollowingSetting, value: unknown, first: unknown, fault: Fault): number {
  return readDuration(value ?? usual(Number(first)), fault, first as number | undefined, most);
}

function readDurations(value: unknown, fault: Fault): number[] {
  if (Array.isArray(value) && value.length <= 20) {
    return value.map((entry, index) => readDuration(entry, (problem) => fault(`entry ${index + 1} ${problem}`)));
  }
  fault('must be a list of at most 20 durations');
  return [];
}

function readChoice(value: unknown, fault: Fault, choices: readonly string[]): unknown {
  if (!choices.includes(value as string)) {
    fault(`must be ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`);
  }
  return value;
}
