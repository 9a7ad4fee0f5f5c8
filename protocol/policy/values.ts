import ms from 'ms';
import { countOf, type BusinessDays } from '../business-days.js';
import { isCalendarDate, durationMs } from '../time.js';
import { longest, shortest, type FollowingSetting, type Setting } from './settings.js';

/** The values of a policy's settings, read by their kinds. Each violation is reported as a fault, so one error names all of them. */

/** Receives the fault of one setting, as a text that follows its name. */
type Fault = (problem: string) => void;

export interface Given {
  value: unknown;
  /** It comes from a resolved policy, where durations are milliseconds. In what a person wrote, a number could mean days. */
  isResolved: boolean;
}

/** @param before the settings that stand before it in the table */
export function readSetting(setting: Setting, given: Given, before: Record<string, unknown>, fault: Fault): unknown {
  const { value, isResolved } = given;
  switch (setting.kind) {
    case 'duration':
      return readDuration(given, fault, isResolved ? setting.least : setting.leastGiven, setting.most);
    case 'deadline':
      return readDeadline(given, fault);
    case 'dates':
      return readDates(value, fault);
    case 'following':
      return readFollowing(setting, given, before[setting.setting], fault);
    case 'durations':
      return readDurations(given, fault);
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
function readDuration({ value, isResolved }: Given, fault: Fault, least = shortest, most = longest): number {
  const span = isResolved && typeof value === 'number' ? value : durationMs(value);
  if (span !== undefined && Math.ceil(span) >= least && span <= most) return Math.ceil(span);
  const limit = most === longest ? '10 years' : ms(most, { long: true });
  const range = `at least ${ms(least, { long: true })} and at most ${limit}`;
  fault(`must be a duration with its unit, such as '7d' or '36 hours', ${range}`);
  return 0;
}

/** Business days may be written `6bd`, `6 bd` or `6 business days`. */
function readDeadline(given: Given, fault: Fault): number | BusinessDays {
  const { value } = given;
  const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
  const [, written] = /^(\d+) ?(?:bd|business days?)$/.exec(text) ?? [];
  if (written === undefined) {
    return readDuration(given, (problem) => fault(`${problem}, or 1 to 999 business days such as '6bd'`));
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
    if (isCalendarDate(entry)) return entry;
    fault(`entry ${index + 1} must be a date that exists, written YYYY-MM-DD`);
    return '';
  });
}

/** @param first the other one; undefined if it is not known, and then there is a value */
function readFollowing({ usual, most }: FollowingSetting, given: Given, first: unknown, fault: Fault): number {
  const followed = given.value == null ? { value: usual(Number(first)), isResolved: true } : given;
  return readDuration(followed, fault, first as number | undefined, most);
}

function readDurations({ value, isResolved }: Given, fault: Fault): number[] {
  if (Array.isArray(value) && value.length <= 20) {
    return value.map((entry: unknown, index) =>
      readDuration({ value: entry, isResolved }, (problem) => fault(`entry ${index + 1} ${problem}`)),
    );
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
