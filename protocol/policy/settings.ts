import ms from 'ms';
import { type BusinessDays, countOf } from '../business-days.js';
import { type Duration, isCalendarDate, durationMs } from '../time.js';

/**
 * The parts that every workflow's policy is made of. A policy is a table: each setting has a kind, a default and its
 * bounds, and `resolution.ts` reads what a caller gave by it. The tables contain the defaults, which the next release
 * may change, so no workflow decides by them (docs/internals/decisions/0014-policies-are-data.md).
 */

export const longest = ms('10y');

/** The shortest duration of any setting: a shorter pause between two reads would be none. */
export const shortest = 1000;

export interface DurationSetting {
  kind: 'duration';
  default: Duration;
  /** Milliseconds. */
  least: number;
  most: number;
  /** The least that a caller may give, if a resolved policy may have less. */
  leastGiven: number;
}

/** A duration of up to 10 years, or a number of business days. */
export interface DeadlineSetting {
  kind: 'deadline';
  default: Duration | BusinessDays;
}

/** A duration whose default is computed from another setting, which is also its minimum. That setting must come before it in the table. */
export interface FollowingSetting {
  kind: 'following';
  setting: string;
  defaultFrom: (span: number) => number;
  most: number;
}

export interface DurationsSetting {
  kind: 'durations';
  default: readonly Duration[];
}

/** Dates of a calendar, YYYY-MM-DD. */
export interface DatesSetting {
  kind: 'dates';
  default: readonly string[];
}

export interface CountSetting {
  kind: 'count';
  default: number;
  least: number;
  most: number;
}

export interface ChoiceSetting<Choice extends string> {
  kind: 'choice';
  default: Choice;
  choices: readonly Choice[];
}

export type Setting =
  | DurationSetting
  | DeadlineSetting
  | FollowingSetting
  | DurationsSetting
  | DatesSetting
  | CountSetting
  | ChoiceSetting<string>;

export type Settings = Readonly<Record<string, Setting>>;

/** The policy that a caller gives: any part of the settings. */
export type PolicyOf<Table extends Settings> = {
  -readonly [Name in keyof Table]?: Table[Name] extends ChoiceSetting<infer Choice>
    ? Choice
    : Table[Name] extends DurationsSetting
      ? Duration[]
      : Table[Name] extends DatesSetting
        ? string[]
        : Table[Name] extends CountSetting
          ? number
          : Table[Name] extends DeadlineSetting
            ? Duration | BusinessDays
            : Duration;
};

/** A policy with nothing left open; all durations in milliseconds, business days as `6bd`. */
export type ResolvedSettings<Table extends Settings> = {
  -readonly [Name in keyof Table]: Table[Name] extends ChoiceSetting<infer Choice>
    ? Choice
    : Table[Name] extends DurationsSetting
      ? number[]
      : Table[Name] extends DatesSetting
        ? string[]
        : Table[Name] extends DeadlineSetting
          ? number | BusinessDays
          : number;
} & {
  /** The form of the policy: it grows with each release that adds a setting. A backend in another language leaves it out. */
  version: number;
};

interface Bounds {
  /** 1 second, unless given. */
  least?: Duration;
  /** 10 years, unless given. */
  most?: Duration;
  /** For a mistake that cannot be undone. A resolved policy may be shorter, for programs in which days are seconds. */
  leastGiven?: Duration;
}

export function duration(defaultValue: Duration, bounds: Bounds = {}): DurationSetting {
  const { least, most, leastGiven } = bounds;
  const span = least === undefined ? shortest : ms(least);
  return {
    kind: 'duration',
    default: defaultValue,
    least: span,
    most: most === undefined ? longest : ms(most),
    leastGiven: leastGiven === undefined ? span : ms(leastGiven),
  };
}

/** A pause between two reads, 1 second to 30 days. The minimum keeps a workflow from polling without pause. */
export function poll(defaultValue: Duration): DurationSetting {
  return duration(defaultValue, { least: '1s', most: '30d' });
}

/** A limit of how long something may take: calendar time, or business days as in `'6bd'`. */
export function deadline(defaultValue: Duration | BusinessDays): DeadlineSetting {
  return { kind: 'deadline', default: defaultValue };
}

export function dates(...defaultValues: string[]): DatesSetting {
  return { kind: 'dates', default: defaultValues };
}

/** @param defaultFrom computes the default from the other setting's milliseconds */
export function following(
  setting: string,
  defaultFrom: FollowingSetting['defaultFrom'],
  { most }: { most: Duration },
): FollowingSetting {
  return { kind: 'following', setting, defaultFrom, most: ms(most) };
}

export function durations(...defaultValues: Duration[]): DurationsSetting {
  return { kind: 'durations', default: defaultValues };
}

export function count(defaultValue: number, { least, most }: { least: number; most: number }): CountSetting {
  return { kind: 'count', default: defaultValue, least, most };
}

export function choice<Choice extends string>(
  defaultValue: NoInfer<Choice>,
  choices: readonly Choice[],
): ChoiceSetting<Choice> {
  return { kind: 'choice', default: defaultValue, choices };
}

export type Defaults<Table extends Settings> = {
  [Name in keyof Table as Table[Name] extends FollowingSetting ? never : Name]-?: NonNullable<PolicyOf<Table>[Name]>;
};

/** The defaults as a caller would write them, without those that depend on another setting. */
export function defaultsOf<Table extends Settings>(table: Table): Defaults<Table> {
  const entries = Object.entries(table).flatMap(([name, setting]) =>
    setting.kind === 'following' ? [] : [[name, setting.default]],
  );
  return Object.fromEntries(entries) as Defaults<Table>;
}

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
function readFollowing({ defaultFrom, most }: FollowingSetting, given: Given, first: unknown, fault: Fault): number {
  const followed = given.value == null ? { value: defaultFrom(Number(first)), isResolved: true } : given;
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
