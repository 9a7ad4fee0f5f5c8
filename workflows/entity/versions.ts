import { isObject } from './fields.js';

/**
 * What a run is given by another one, perhaps of an earlier release: it has a version, and is brought to this release's
 * by pure functions. They are workflow code, so a release adds to them and never changes what was released.
 */

/**
 * What was written by a later release than this one, after a rollback. It is no `ApplicationFailure` on purpose: it fails
 * the workflow task, not the workflow, and Temporal repeats that task until a later release runs again.
 */
export class StateTooNew extends Error {
  override readonly name = 'StateTooNew';

  constructor(what: string, version: number, known: number) {
    super(`The ${what} has version ${version}, and this release knows ${known}: run a later release again`);
  }
}

/** What has no version was written before there were any. */
export function versionOf(what: string, state: unknown, known: number): number {
  const version = isObject(state) ? state['version'] : undefined;
  if (typeof version !== 'number') return 0;
  if (version > known) throw new StateTooNew(what, version, known);
  return version;
}
