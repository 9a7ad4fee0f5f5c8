import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import { markOf, missingKey, unwrapped } from '../protocol/unencrypted.js';

/**
 * Activities whose input may have been marked (protocol/unencrypted.ts). Unencrypted input is taken in either mode: only workers write
 * it, and what was scheduled before there were keys must still be done.
 */
export function takingMarkedInput<Activities extends object>(activities: Activities): Activities {
  const taking = Object.entries(activities).map(([name, activity]: [string, (...input: unknown[]) => unknown]) => [
    name,
    (...input: unknown[]) => activity(...input.map(taken)),
  ]);
  return Object.fromEntries(taking) as Activities;
}

function taken(input: unknown): unknown {
  const mark = markOf(input);
  if (mark?.fault !== 'unreadable') return unwrapped(input);
  const message = `The input cannot be decrypted with the keys of this worker: the activity waits for a worker with ${missingKey(mark)}`;
  throw ApplicationFailure.retryable(message, 'EncryptionKeyUnknown');
}

/** The details of the previous attempt's last heartbeat; undefined unless somebody with the keys has written them. */
export function lastHeartbeat(): unknown {
  const details: unknown = activityInfo().heartbeatDetails;
  return markOf(details)?.refused ? undefined : unwrapped(details);
}
