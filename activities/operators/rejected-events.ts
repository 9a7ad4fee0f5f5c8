import { activityInfo, ApplicationFailure, heartbeat } from '@temporalio/activity';
import { isShowableType } from '../../service/word.js';
import type { HealthDataStore } from '../../store/health-data-store.js';
import {
  type RejectedEvent,
  RejectedEventNotFound,
  RejectedEventSettled,
  type ReplayedMessage,
} from '../../store/rejected-events.js';
import type { AnswerOf, TakenBy } from '../../protocol/operators/operator-calls.js';
import type { RejectedEventEntry, ReplayRejectedEventsResult } from '../../protocol/operators/rejected-events.js';
import { type ActivityDependencies, type WorkerStore, withStore } from '../dependencies.js';
import { omitNullish } from '../../service/json-object.js';

const defaultLimit = 100;
const longestReason = 500;
const longestMessageId = 128;

/** The calls on rejected events; the workflow has checked their input (protocol/operators/operator-calls.ts). */
export function rejectedEventActivities({ workerStore }: Pick<ActivityDependencies, 'workerStore'>) {
  return {
    async listRejectedEvents({ limit = defaultLimit, ...filter }: TakenBy<'listRejectedEvents'>) {
      return withStore(workerStore, async ({ rejected }): Promise<AnswerOf<'listRejectedEvents'>> => {
        const events = await rejected.list({ ...filter, limit });
        return { events: events.map(entryOf), waiting: await rejected.count(), ...nextAfter(events, limit) };
      });
    },

    /** The store takes it once: a repeated attempt finds it discarded for this reason, which is success. */
    async discardRejectedEvent({ id, reason }: TakenBy<'discardRejectedEvent'>) {
      return withStore(workerStore, async ({ rejected }): Promise<AnswerOf<'discardRejectedEvent'>> => {
        try {
          await rejected.discard(id, reason);
        } catch (error) {
          if (!(error instanceof RejectedEventSettled)) throw inFailures(error);
          const { state, discardReason } = await rejected.get(id);
          if (state !== 'discarded' || discardReason !== reason) throw inFailures(error);
        }
        return { id, state: 'discarded' };
      });
    },

    /** Each event on its own: one that still cannot be handled keeps waiting and delays no other. */
    async replayRejectedEvents(page: TakenBy<'replayRejectedEvents'>): Promise<ReplayRejectedEventsResult> {
      return withStore(workerStore, async (store, { route }) => {
        const result: ReplayRejectedEventsResult = { replayed: {}, left: {}, leftEvents: [] };
        if ('id' in page) {
          await replay(store, route, page.id, result).catch(unlessReplayedBefore);
          return result;
        }
        const { limit = defaultLimit, ...filter } = page;
        const events = await store.rejected.list({ ...filter, limit });
        for (const { id } of events) await replay(store, route, id, result).catch(unlessSettled);
        return { ...result, ...nextAfter(events, limit) };
      });
    },
  };
}

/** Why a replayed event keeps waiting: the handler's answer. */
class NotTaken extends Error {
  override readonly name = 'NotTaken';
  readonly answer: string;

  constructor(answer: string) {
    super(`The event was not handled: ${answer}`);
    this.answer = answer;
  }
}

async function replay(
  { rejected }: HealthDataStore,
  route: WorkerStore['route'],
  id: string,
  result: ReplayRejectedEventsResult,
): Promise<void> {
  heartbeat();
  let taken = '';
  const handle = async (message: ReplayedMessage) => {
    const { answer, isTaken } = await route(message);
    if (!isTaken) throw new NotTaken(answer);
    taken = answer;
  };
  try {
    await rejected.replay(id, handle);
    count(result.replayed, taken);
  } catch (error) {
    if (!(error instanceof NotTaken)) throw inFailures(error);
    count(result.left, error.answer);
    result.leftEvents.push({ id, answer: error.answer });
  }
}

function count(counts: Record<string, number>, answer: string): void {
  counts[answer] = (counts[answer] ?? 0) + 1;
}

/** Another command was faster, or the user was deleted. */
function unlessSettled(error: unknown): void {
  const isSettled = error instanceof ApplicationFailure && settledTypes.includes(error.type ?? '');
  if (!isSettled) throw error;
}

/** An earlier attempt may have replayed it before its answer was lost. */
function unlessReplayedBefore(error: unknown): void {
  const isOurs = error instanceof ApplicationFailure && error.type === 'RejectedEventSettled';
  if (!isOurs || activityInfo().attempt === 1) throw error;
}

const settledTypes = ['RejectedEventNotFound', 'RejectedEventSettled'];

function inFailures(error: unknown): unknown {
  if (!(error instanceof RejectedEventNotFound || error instanceof RejectedEventSettled)) return error;
  return ApplicationFailure.nonRetryable(error.message, error.name, { fields: [] });
}

function nextAfter(events: readonly RejectedEvent[], limit: number): { next?: string } {
  const last = events.at(-1);
  return last === undefined || events.length < limit ? {} : { next: last.id };
}

/** The user's id stays behind: an event that could not be read may name anything in its place. */
function entryOf(event: RejectedEvent): RejectedEventEntry {
  const { id, messageId, eventType, reason, receivedAt, state, settledAt, discardReason } = event;
  return {
    id,
    messageId: messageId.slice(0, longestMessageId),
    ...(eventType !== null && isShowableType(eventType) && { eventType }),
    reason: reason.slice(0, longestReason),
    receivedAt,
    state,
    ...omitNullish({ settledAt, discardReason }),
  };
}
