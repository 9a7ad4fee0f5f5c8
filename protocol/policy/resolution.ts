import {
  readSetting,
  defaultsOf,
  type PolicyOf,
  type ResolvedSettings,
  type Setting,
  type Settings,
} from './settings.js';

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

/** A resolved policy that a later release wrote. This release does not know its additional settings. */
export class PolicyTooNew extends Error {
  override readonly name = 'PolicyTooNew';

  constructor(of: string, version: unknown, known: number) {
    super(
      `The ${of} policy has version ${String(version)}, but this release supports versions up to ${known}: run a later release`,
    );
  }
}

/** One workflow's policy. */
export interface Policy<Table extends Settings> {
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
 * @param given from a caller whom no compiler may have checked. A resolved policy resolves to itself: its `version` says that its
 * durations are milliseconds
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
  requireKnown(of, writtenAs, known, faults);
  const { version = known, ...defaults } = valuesIn(base ?? defaultsOf(table), faults);
  requireKnown(of, version, known, faults);
  const settings = Object.entries(table).filter(([name]) => version === known || Object.hasOwn(defaults, name));
  const read: Record<string, unknown> = {};
  for (const [name, setting] of settings) {
    const fault = (problem: string) => faults.push(`${name} ${problem}`);
    const given =
      values[name] == null
        ? { value: defaults[name], isResolved: base !== undefined }
        : { value: values[name], isResolved: writtenAs != null };
    read[name] = readSetting(setting, given, read, fault);
  }
  faults.push(...unknownIn(values, settings));
  const resolved = { ...read, version } as ResolvedSettings<Table>;
  if (faults.length === 0) rule?.(resolved, (problem) => faults.push(problem));
  if (faults.length > 0) throw new PolicyInvalid(of, faults);
  return resolved;
}

/**
 * Checks the settings that are to change in a policy that is not known here. Each is checked by itself, and against another
 * only if both are given: the rest is checked where the policy is known, by `resolveSettings` with that policy as its base.
 *
 * @returns what is given, as it is given. `undefined` and `null` mean that a setting stays
 * @throws PolicyInvalid naming every setting that is unknown or out of range, all at once; also if none is given
 */
export function checkedChanges<Table extends Settings>(
  { of, settings: table }: Policy<Table>,
  given: unknown,
): PolicyOf<Table> {
  const faults: string[] = [];
  const settings = Object.entries(table);
  const values = valuesIn(given, faults);
  const read: Record<string, unknown> = {};
  const changes = settings.filter(([name]) => values[name] != null);
  for (const [name, setting] of changes) {
    const change = { value: values[name], isResolved: false };
    read[name] = readSetting(setting, change, read, (problem) => faults.push(`${name} ${problem}`));
  }
  faults.push(...unknownIn(values, settings));
  if (faults.length === 0 && changes.length === 0) faults.push('must have at least one setting');
  if (faults.length > 0) throw new PolicyInvalid(of, faults);
  // Business days have several spellings.
  const sent = (name: string): unknown => (typeof read[name] === 'string' ? read[name] : values[name]);
  return Object.fromEntries(changes.map(([name]) => [name, sent(name)])) as PolicyOf<Table>;
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
function requireKnown(of: string, version: unknown, known: number, faults: string[]): void {
  if (version == null) return;
  if (!Number.isInteger(version) || Number(version) < 1) faults.push('version is not a setting: leave it out');
  else if (Number(version) > known) throw new PolicyTooNew(of, version, known);
}
