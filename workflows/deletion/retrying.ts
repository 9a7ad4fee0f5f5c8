import { sleep, type ActivityOptions, type ApplicationFailure } from '@temporalio/workflow';
import type { UserStanding } from '../../activities/deletion/users.js';
import type { DeletionAttentionReason } from '../../protocol/deletion/messages.js';
import { activities } from '../activity-options.js';
import { askedPause, isFinalRefusal, refusalOf } from '../entity/commands.js';
import { hour, minute } from '../entity/spans.js';
import { clear, raise } from './announcements.js';
import { show } from './view.js';
import { note } from '../entity/journal.js';
import type { DeletionRun } from './deletion.js';

/**
 * The pause after each round of attempts, by how long the round lasts: half a minute while somebody waits, then an hour until a person
 * is asked to look, then a day, because a round costs history and an outage of that length has its people.
 */
const betweenRounds = { '30 seconds': minute, '1 hour': 10 * minute, '1 day': 10 * minute } as const;

/** A key that is refused is refused until a person has changed it. */
const untilCorrected = hour;

/**
 * Calls the service until it answers, in rounds. The first is short if somebody waits for the answer; each that
 * follows is longer, so the history stays short however long an outage lasts.
 *
 * @param endsBy what ends it. `answer`: nothing else, and nothing is thrown; the deletion may have happened, whatever the
 * service says to a question about it. `refusal`: also what no later attempt can change
 * @throws with `refusal` the refusal; one of the team's key only while somebody waits, who gets it. Afterwards a person is
 * asked to look and it goes on, because a deletion must not get lost
 */
export async function retry<T>(
  run: DeletionRun,
  reason: DeletionAttentionReason,
  endsBy: 'answer' | 'refusal',
  call: (round: ActivityOptions) => Promise<T>,
): Promise<T> {
  let length: keyof typeof betweenRounds = run.answered ? '1 hour' : '30 seconds';
  for (;;) {
    try {
      const answer = await call({ scheduleToCloseTimeout: length });
      // What a person is asked to look at stands while the service contradicts itself.
      if (run.isDenied !== true) clear(run.deletion, [reason], Date.now());
      return answer;
    } catch (error) {
      const refusal = refusalOf(error);
      const isFinal = isFinalRefusal(error);
      const mayFail = endsBy === 'refusal' && !(run.answered && isAboutTheTeam(refusal));
      if (isFinal && mayFail) throw refusal;
      run.answered = true;
      note(run.deletion, `attempts failed with ${refusal.type ?? 'unknown'}; they are repeated`, Date.now());
      if (length === '30 seconds') show(run.deletion);
      else raise(run.deletion, reason, Date.now());
      const pause = isFinal ? untilCorrected : Math.max(betweenRounds[length], askedPause(refusal));
      await sleep(pause, { summary: 'before the next attempts' });
      length = length === '30 seconds' ? '1 hour' : '1 day';
    }
  }
}

/** An answer that two reads some minutes apart both get is no longer a proxy's mishap. */
const untilReadAgain = '10 minutes';

/**
 * How the user stands now, for sure: a 404 that is not the service's own answer may be somebody else's, so it
 * counts only when it is repeated.
 */
export async function standingNow(
  run: DeletionRun,
  reason: DeletionAttentionReason,
): Promise<UserStanding['standing']> {
  return (await userNow(run, reason)).standing;
}

/** The same, with whatever else the read showed. */
export async function userNow(run: DeletionRun, reason: DeletionAttentionReason): Promise<UserStanding> {
  const read = () =>
    retry(run, reason, 'answer', (options) =>
      activities.readUser.executeWithOptions({ ...options, summary: 'the user now' }, [run.deletion.userId]),
    );
  const first = await read();
  if (first.unsure !== true) return first;
  note(run.deletion, 'a 404 that may not be the lab service’s own answer; the user is read again', Date.now());
  // Nobody who requested the deletion waits that long.
  run.answered = true;
  show(run.deletion);
  await sleep(untilReadAgain, { summary: 'before the user is read again' });
  return read();
}

export function isAboutTheTeam({ type }: ApplicationFailure): boolean {
  return type === 'Unauthorized' || type === 'FeatureNotEnabled';
}
