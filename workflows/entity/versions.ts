import { isObject } from '../../protocol/json.js';

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

/** The version of every state that a run carries on, and of every result: the second release that changes one raises its own. */
export const firstVersion = 1;

/** The state that a run gets from another one, perhaps of another release. @throws StateTooNew */
export function carriedOn<State extends { version: number }>(what: string, state: unknown): State {
  const version = isObject(state) ? Number(state['version']) : firstVersion;
  if (version > firstVersion) throw new StateTooNew(what, version, firstVersion);
  return state as State;
}
