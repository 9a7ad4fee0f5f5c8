/*
 * Which run of the same workflow ID came before a run. Temporal has no call for that but its search, which lags and may
 * be away while everything else works. The sender that starts a run can learn it by ID, and the new run has it in its
 * input: a memo would be decoded with every list and description, by clients without keys too.
 */

/** The run of the same workflow ID before this one; without `runId` Temporal retained none when this one was started. */
export interface EarlierRun {
  runId?: string;
}

/**
 * Reads the field of an input. Undefined if the sender that started the run did not look for an earlier one, or names none
 * that Temporal can have.
 */
export function readEarlierRun(given: unknown): EarlierRun | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const { runId, ...others } = given as Record<string, unknown>;
  if (typeof runId === 'string' && uuid.test(runId)) return { runId };
  return runId === undefined && Object.keys(others).length === 0 ? {} : undefined;
}

/** Temporal writes them in lower case, and compares them as text. */
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
