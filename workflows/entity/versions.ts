import { isObject } from './fields.js';

/**
 * The state that a run gets from another one, perhaps of an earlier release: it has a version, and is brought to this release's
 * by pure functions. They are workflow code, so a release adds to them and never changes what was released.
 */

/**
 * Thrown for state that a later release than this one wrote, after a rollback. It is not an `ApplicationFailure` on purpose: it fails
 * the workflow task, not the workflow, and Temporal repeats that task until a later release runs again.
 */
export class StateTooNew extends Error {
  override readonly name = 'StateTooNew';

  constructor(what: string, version: number, known: number) {
    super(`The ${what} has version ${version}, and this release knows ${known}: run a later release again`);
  }
}

/**
 * Makes the next version of what it is given. What it adds repeats what a run begins with today: that may change with
 * a release, and a step must not.
 */
export type Step = (state: Readonly<Record<string, unknown>>) => Record<string, unknown>;

/**
 * Brings a state to the version of this release. It changes nothing that it is given.
 * @param steps the first makes version 1 of what has no version, and so on: a release adds one, and changes none
 */
export function upgrade<State extends { version: number }>(
  what: string,
  steps: readonly Step[],
  state: unknown,
): State {
  const version = versionOf(what, state, steps.length);
  const known: Record<string, unknown> = isObject(state) ? state : {};
  const upgraded = steps.slice(version).reduce((before, step) => step(before), known);
  return { ...upgraded, version: steps.length } as unknown as State;
}

/** State without a version was written before there were any. */
export function versionOf(what: string, state: unknown, known: number): number {
  const version = isObject(state) ? state['version'] : undefined;
  if (typeof version !== 'number' || !Number.isInteger(version)) return 0;
  if (version > known) throw new StateTooNew(what, version, known);
  return version;
}
