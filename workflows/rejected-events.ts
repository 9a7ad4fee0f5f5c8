import { setCurrentDetails } from '@temporalio/workflow';
import { refuse, throwRefusal } from './entity/commands.js';
import { table } from './entity/operators.js';
import { activities } from './activities.js';
import {
  replayLimit,
  type DiscardRejectedEventInput,
  type ListRejectedEventsInput,
  type RejectedEventFilter,
  type RejectedEventsPage,
  type ReplayRejectedEventsInput,
  type ReplayRejectedEventsResult,
} from '../protocol/rejected-events.js';

/** So many go in one activity: a page costs one, and one that fails late repeats little. */
const pageSize = 50;

const mostListed = 100;

/**
 * Brings rejected events to where they belong once more. From the latest to the earliest: what still cannot be stored comes
 * up as a later event, and is not met again.
 */
export async function replayRejectedEvents(input: ReplayRejectedEventsInput): Promise<ReplayRejectedEventsResult> {
  if (typeof input !== 'object' || input === null) throw refuse('InvalidCommand', 'the input must be an object');
  const result: ReplayRejectedEventsResult = { replayed: {}, left: {}, leftEvents: [] };
  if ('id' in input) return replayPage(result, { id: input.id });
  const { limit, ...filter } = input;
  for (let remaining = checkedLimit(limit); remaining > 0; remaining -= pageSize) {
    await replayPage(result, { ...nextOf(filter, result), limit: Math.min(remaining, pageSize) });
    if (result.next === undefined) break;
  }
  return result;
}

type Page = { id: string } | (RejectedEventFilter & { limit: number });

async function replayPage(result: ReplayRejectedEventsResult, page: Page): Promise<ReplayRejectedEventsResult> {
  const summary = 'id' in page ? `replay rejected event ${page.id}` : `replay up to ${page.limit} rejected events`;
  const replayed = activities.replayRejected.executeWithOptions({ summary }, [page]);
  const { next, ...done } = await replayed.catch(throwRefusal);
  add(result.replayed, done.replayed);
  add(result.left, done.left);
  result.leftEvents = [...result.leftEvents, ...done.leftEvents].slice(0, mostListed);
  delete result.next;
  if (next !== undefined) result.next = next;
  setCurrentDetails(detailsOf(result));
  return result;
}

function nextOf(filter: RejectedEventFilter, { next }: ReplayRejectedEventsResult): RejectedEventFilter {
  return next === undefined ? filter : { ...filter, before: next };
}

function checkedLimit(limit: number = replayLimit.usual): number {
  if (Number.isInteger(limit) && limit > 0 && limit <= replayLimit.most) return limit;
  const message = `limit must be a whole number from 1 to ${replayLimit.most}`;
  throw refuse('InvalidCommand', message);
}

function add(counts: Record<string, number>, more: Record<string, number>): void {
  for (const [answer, count] of Object.entries(more)) counts[answer] = (counts[answer] ?? 0) + count;
}

function detailsOf({ replayed, left }: ReplayRejectedEventsResult): string {
  const rows = [...rowsOf('replayed', replayed), ...rowsOf('left', left)];
  return table(['', 'What became of it', 'Events'], rows);
}

function rowsOf(word: string, counts: Record<string, number>): string[][] {
  return Object.entries(counts).map(([answer, count]) => [word, answer, String(count)]);
}

/** A page of the events that could not be handled, with what is wrong with each. */
export async function listRejectedEvents(input?: ListRejectedEventsInput): Promise<RejectedEventsPage> {
  const summary = 'list rejected events';
  return activities.listRejected.executeWithOptions({ summary }, [input ?? {}]).catch(throwRefusal);
}

/** Gives an event up: what it held is erased, its row stays with the reason. */
export async function discardRejectedEvent(input: DiscardRejectedEventInput): Promise<void> {
  await activities.discardRejected
    .executeWithOptions({ summary: 'discard a rejected event' }, [input])
    .catch(throwRefusal);
}
