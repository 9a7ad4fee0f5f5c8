import ms, { type StringValue } from 'ms';
import type { BusinessDays } from './business-days.js';
import { longest, readSetting } from './policy-values.js';

/**
 * The parts that every workflow's policy is made of. A policy is a table: each setting has a kind, a default and its
 * bounds, and `resolveSettings` reads what a caller gave by it. The tables contain the defaults, which the next release
 * may change, so no workflow imports them (docs/decisions/0014-policies-are-data.md).
 */

/** A span of time: milliseconds, or a string such as `'36 hours'`, `'7d'`, `'1.5h'` (the `ms` package's grammar). */
export type Duration = number | StringValue;

/** A policy that cannot be followed: the message names the setting and the reason. */
export class PolicyInvalid extends Error {
  override readonly name = 'PolicyInvalid';
  readonly faults: string[];

  /** @param of whose policy it is: `order`, `link` */
  constructor(of: string, faults: string[]) {
    super(`Invalid ${of} policy: ${faults.join('; ')}`);
    this.faults = faults;
  }
}

/** A resolved policy that a later release wrote. The settings that it has more are not known here. */
export class PolicyTooNew extends Error {
  override readonly name = 'PolicyTooNew';

  constructor(of: string, version: unknown, known: number) {
    super(`The ${of} policy has version ${String(version)}, and this release knows ${known}: run a later release`);
  }
}

export interface DurationSetting {
  kind: 'duration';
  default: Duration;
  /** Milliseconds. */
  least: number;
  most: number;
}

/** A duration of up to 10 years, or a number of business days. */
export interface DeadlineSetting {
  kind: 'deadline';
  default: Duration | BusinessDays;
}

/** A duration that depends on another one, which stands before it in the table: the default is made of it, and it is the least. */
export interface FollowingSetting {
  kind: 'following';
  setting: string;
  usual: (span: number) => number;
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

/** What a caller gives: any part of the settings. */
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

/** @param bounds `least` is more than 0, and `most` 10 years, unless given */
export function duration(usual: Duration, bounds: { least?: StringValue; most?: StringValue } = {}): DurationSetting {
  const { least, most } = bounds;
  return {
    kind: 'duration',
    default: usual,
    least: least === undefined ? 1 : ms(least),
    most: most === undefined ? longest : ms(most),
  };
}

/** A limit of how long something may take: calendar time, or business days as in `'6bd'`. */
export function deadline(usual: Duration | BusinessDays): DeadlineSetting {
  return { kind: 'deadline', default: usual };
}

export function dates(...usual: string[]): DatesSetting {
  return { kind: 'dates', default: usual };
}

/** @param usual makes the default out of the other setting's milliseconds */
export function following(
  setting: string,
  usual: FollowingSetting['usual'],
  { most }: { most: StringValue },
): FollowingSetting {
  return { kind: 'following', setting, usual, most: ms(most) };
}

export function durations(...usual: Duration[]): DurationsSetting {
  return { kind: 'durations', default: usual };
}

export function count(usual: number, { least, most }: { least: number; most: number }): CountSetting {
  return { kind: 'count', default: usual, least, most };
}

export function choice<Choice extends string>(
  usual: NoInfer<Choice>,
  choices: readonly Choice[],
): ChoiceSetting<Choice> {
  return { kind: 'choice', default: usual, choices };
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

/** One workflow's policy. */
interface Policy<Table extends Settings> {
  /** Whose it is, in messages: `order`, `link`. */
  of: string;
  version: number;
  settings: Table;
  /** Checks settings against each other. It runs only if each of them is valid by itself. */
  rule?: (resolved: ResolvedSettings<Table>, fault: (problem: string) => void) => void;
}

/**
 * Fills in the defaults and turns durations into milliseconds. `undefined` and `null` mean the default.
 *
 * @param given from a caller whom no compiler may have checked; a resolved policy resolves to itself
 * @param base a resolved policy, which gives the settings that are left out, instead of the defaults. If an earlier
 * release wrote it, the answer has its settings and its version
 * @throws PolicyInvalid naming every setting that is unknown or out of range, all at once
 * @throws PolicyTooNew
 */
export function resolveSettings<Table extends Settings>(
  { of, version: known, settings: table, rule }: Policy<Table>,
  given: unknown,
  base?: object,
): ResolvedSettings<Table> {
  const faults: string[] = [];
  const { version: writtenAs, ...values } = valuesIn(given, faults);
  demandKnown(of, writtenAs, known, faults);
  const { version = known, ...usual } = valuesIn(base ?? defaultsOf(table), faults);
  demandKnown(of, version, known, faults);
  const settings = Object.entries(table).filter(([name]) => version === known || Object.hasOwn(usual, name));
  const read: Record<string, unknown> = {};
  for (const [name, setting] of settings) {
    const fault = (problem: string) => faults.push(`${name} ${problem}`);
    read[name] = readSetting(setting, values[name] ?? usual[name], read, fault);
  }
  faults.push(...unknownIn(values, settings));
  const resolved = { ...read, version } as ResolvedSettings<Table>;
  if (faults.length === 0) rule?.(resolved, (problem) => faults.push(problem));
  if (faults.length > 0) throw new PolicyInvalid(of, faults);
  return resolved;
}

/**
 * Reads the settings that are to change in a policy that is not known here. Each is checked by itself, and against another
 * only if both are given: the rest is checked where the policy is known, by `resolveSettings` with that policy as its base.
 *
 * @returns what is given, durations in milliseconds. `undefined` and `null` mean that a setting stays
 * @throws PolicyInvalid naming every setting that is unknown or out of range, all at once; also if none is given
 */
export function readChanges<Table extends Settings>(
  { of, settings: table }: Policy<Table>,
  given: unknown,
): Partial<Omit<ResolvedSettings<Table>, 'version'>> {
  const faults: string[] = [];
  const settings = Object.entries(table);
  const values = valuesIn(given, faults);
  const read: Record<string, unknown> = {};
  for (const [name, setting] of settings.filter(([name]) => values[name] != null)) {
    read[name] = readSetting(setting, values[name], read, (problem) => faults.push(`${name} ${problem}`));
  }
  faults.push(...unknownIn(values, settings));
  if (faults.length === 0 && Object.keys(read).length === 0) faults.push('must have at least one setting');
  if (faults.length > 0) throw new PolicyInvalid(of, faults);
  return read as Partial<Omit<ResolvedSettings<Table>, 'version'>>;
}

function valuesIn(given: unknown, faults: string[]): Record<string, unknown> {
  if (given != null && (typeof given !== 'object' || Array.isArray(given))) faults.push('must be an object');
  return typeof given === 'object' ? { ...given } : {};
}

/** An unknown key is a fault: it was meant to change something. */
function unknownIn(values: object, settings: readonly (readonly [string, Setting])[]): string[] {
  const names = Object.keys(values).filter((name) => !settings.some(([other]) => other === name));
  return names.map((name) => `${name} is not a policy setting`);
}

/** @throws PolicyTooNew */
function demandKnown(of: string, version: unknown, known: number, faults: string[]): void {
  if (version == null) return;
  if (!Number.isInteger(version) || Number(version) < 1) faults.push('version is not a setting: leave it out');
  else if (Number(version) > known) throw new PolicyTooNew(of, version, known);
}
