import { setCurrentDetails, setHandler, sleep, workflowInfo } from '@temporalio/workflow';
import { canonicalId, isAddressable, workoutStreamId } from '../protocol/ids.js';
import {
  streamNoticedSignal,
  type FetchWorkoutStreamInput,
  type FetchWorkoutStreamResult,
} from '../protocol/workout-stream.js';
import { activities } from './activity-options.js';
import { isFinalRefusal, refusalOf, refuse } from './entity/commands.js';
import { code, sentence } from './entity/operators.js';

/**
 * Rounds of a day: a person who fixes an outage, a key or a missing DATABASE_URL has a week. Then the run fails, which
 * shows in the list; the service still has the stream, and its next notice asks again.
 */
const rounds = 7;

/** A service that asks for more patience than a round has left ends it at once: the next one does not follow at once. */
const betweenRounds = '1 hour';

/**
 * Fetches the stream of one workout, again for every notice that comes meanwhile. What the store has already is not asked
 * for again, so a repeated notice costs one activity at most, and no call of the service.
 */
export async function fetchWorkoutStream(input: FetchWorkoutStreamInput): Promise<FetchWorkoutStreamResult> {
  const { workoutId } = checked(input);
  const noticed = [input.userId];
  setHandler(
    streamNoticedSignal,
    (notice?: { userId?: unknown }) => {
      const { userId } = notice ?? {};
      // Another sender's notice may name nobody: there is nothing to fetch for it.
      if (typeof userId === 'string' && !noticed.includes(userId)) noticed.push(userId);
    },
    { description: 'A notice of this workout’s stream came, which the store does not have yet.' },
  );
  let result: FetchWorkoutStreamResult = { workoutId, outcome: 'current' };
  for (let userId = noticed[0]; userId !== undefined; userId = noticed[0]) {
    // Taken away before it is worked on: one that comes meanwhile may be about something later.
    noticed.shift();
    result = { workoutId, ...(await fetched(userId, workoutId)) };
    setCurrentDetails(detailsOf(userId, result));
  }
  return result;
}

type Fetched = Omit<FetchWorkoutStreamResult, 'workoutId'>;

async function fetched(userId: string, workoutId: string): Promise<Fetched> {
  for (let round = 1; ; round += 1) {
    try {
      return await activities.fetchStream.executeWithOptions({ summary: 'fetch the stream and store it' }, [
        { userId, workoutId },
      ]);
    } catch (error) {
      const failure = refusalOf(error);
      // A notice means that the stream can be read: one that is not there after a day will not come.
      if (failure.type === 'StreamNotReady') return { outcome: 'not_found' };
      if (failure.type === 'ServiceRefused' && isFinalRefusal(error)) return { outcome: 'refused' };
      if (round === rounds) throw failure;
    }
    await sleep(betweenRounds, { summary: 'before the next attempts' });
  }
}

function checked(input: Partial<FetchWorkoutStreamInput> | undefined): FetchWorkoutStreamInput {
  const { userId, workoutId } = input ?? {};
  if (typeof userId !== 'string' || userId === '')
    throw refuse('InvalidCommand', 'userId must be an id of the service');
  if (!isAddressable(workoutId)) throw refuse('InvalidCommand', 'workoutId must be an id of the service');
  if (workflowInfo().workflowId !== workoutStreamId(workoutId)) {
    throw refuse('InvalidCommand', 'the workflow ID must be workout-stream/<workoutId>');
  }
  return { userId: canonicalId(userId), workoutId: canonicalId(workoutId) };
}

function detailsOf(userId: string, { workoutId, outcome, moments }: FetchWorkoutStreamResult): string {
  const count = moments === undefined ? '' : `, ${moments} moments`;
  return [`### ${sentence(outcome)}${count}`, `Workout ${code(workoutId)} of user ${code(userId)}`].join('\n\n');
}
