import { ApplicationFailure } from '@temporalio/workflow';
import { isGraceOver, note } from './case.js';
import { end } from './ending.js';
import { insist } from './insisting.js';
import type { Run } from './run.js';
import { show, tellScheduled } from './telling.js';

/**
 * Has the service schedule the deletion. The user is read first: that tells the connections that will be lost, and
 * whether the user was there before anything was sent, without which "scheduled already" could not be read.
 */
export async function schedule(run: Run): Promise<void> {
  const { kase } = run;
  const { standing, connections } = await insist(run, 'deletion_delayed', ({ readUser }) =>
    readUser.executeWithOptions({ summary: 'the user before the deletion' }, [kase.userId]),
  );
  if (connections) kase.connections = connections;
  // The service counts from the attempt that reaches it, which is this moment at the earliest: our grace ends no later.
  kase.scheduledAt = Date.now();
  const answer = await insist(run, 'deletion_delayed', ({ scheduleDeletion }) =>
    scheduleDeletion.executeWithOptions({ summary: 'schedule the deletion' }, [kase.userId]),
  );
  // A user that was there and is gone after the whole grace was deleted by an attempt whose answer was lost.
  const isErased = answer === 'unknown' && standing === 'present' && isGraceOver(kase, Date.now());
  if (answer === 'unknown' && !isErased) return end(run, 'unknown_user', userUnknown());
  // "Scheduled already" about a user that was there is the echo of our own attempt; nobody else's would be told apart.
  kase.scheduledBefore = answer === 'scheduled' && standing !== 'present';
  kase.phase = 'grace';
  run.answered = true;
  note(kase, kase.scheduledBefore ? 'the deletion was scheduled before' : 'the service took the deletion', Date.now());
  tellScheduled(run);
  show(run);
}

function userUnknown(): ApplicationFailure {
  return ApplicationFailure.nonRetryable('The lab service does not know this user, or no longer', 'UserUnknown', {
    fields: [],
    status: 404,
  });
}
