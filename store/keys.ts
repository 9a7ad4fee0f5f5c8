import { canonicalId, isMisspeltUuid } from '../service/canonical-id.js';
import type { HealthDataRead, SampleRead } from '../service/webhooks/health-data.js';

/*
 * The key of each stored thing, defined only here.
 *
 *   summary           user, resource, its id
 *   sample            user, resource, provider, source type, timestamp (`start` if there is none)
 *   workout stream    user, workout id
 *   history notice    user, resource, provider, source type
 *   connection        user, provider
 *
 * A missing source type is an empty text, and so is the provider of things that are identified without one.
 */

/** The rows that an event produces in the store: of several samples with one timestamp the last, in the order of their timestamps. */
export interface Entry {
  table: 'summaries' | 'samples' | 'workout_streams' | 'history_notices' | 'connections';
  /** The columns that health-data-writing.ts names for the table. */
  row: Record<string, unknown> & { userId: string };
}

interface Keyed {
  /** Missing when nothing of the event could be keyed. */
  entry?: Entry;
  /** Why the event, or a part of it, could not be keyed; without a value of it. */
  problem?: string;
}

/**
 * Finds the keys of an event's content. An item without a key is returned as a problem: it is stored aside, never
 * dropped.
 */
export function keyed(read: HealthDataRead): Keyed {
  const userId = userKey(read.userId);
  if (userId === undefined)
    return { problem: `names no user, or one whose id ${unfit}, or is a UUID in an unknown form` };
  if (read.kind === 'unknown') return { problem: read.problem };
  if (read.kind === 'samples') return keyedSamples(userId, read);
  const problem = whyUnstorable(read.data);
  return problem === undefined ? keyedWhole(userId, read) : { problem: `data ${problem}` };
}

type Whole = Exclude<HealthDataRead, { kind: 'unknown' | 'samples' }>;

function keyedWhole(userId: string, read: Whole): Keyed {
  const { data } = read;
  const provider = keyPart(read.source.provider) ?? '';
  const sourceType = keyPart(read.source.type) ?? '';
  switch (read.kind) {
    case 'summary': {
      const resource = keyPart(read.resource);
      const summaryId = keyPart(read.id);
      if (resource === undefined) return { problem: `the resource ${unfit}` };
      if (summaryId === undefined) return { problem: `a summary without an id, or with one that ${unfit}` };
      const day = read.day ?? null;
      const updatedAt = read.updatedAt ?? null;
      const row = { userId, resource, summaryId, provider, sourceType, day, updatedAt, data };
      return { entry: { table: 'summaries', row } };
    }
    case 'stream_notice': {
      const workoutId = keyPart(read.workoutId);
      if (workoutId === undefined) return { problem: `a workout stream without a workout_id, or one that ${unfit}` };
      return { entry: { table: 'workout_streams', row: { userId, workoutId, provider, data } } };
    }
    case 'history_notice': {
      const resource = keyPart(read.resource);
      if (resource === undefined) return { problem: `the resource ${unfit}` };
      return { entry: { table: 'history_notices', row: { userId, resource, provider, sourceType, data } } };
    }
    case 'connection': {
      const eventType = keyPart(read.eventType);
      if (provider === '' || eventType === undefined) return { problem: 'a connection that names no provider' };
      return { entry: { table: 'connections', row: { userId, provider, eventType, data } } };
    }
  }
}

function keyedSamples(userId: string, read: HealthDataRead & { kind: 'samples' }): Keyed {
  const resource = keyPart(read.resource);
  const provider = keyPart(read.source.provider);
  const sourceType = read.source.type === undefined ? '' : keyPart(read.source.type);
  if (resource === undefined) return { problem: `the resource ${unfit}` };
  if (provider === undefined) return { problem: 'a batch of samples that names no provider' };
  if (sourceType === undefined) return { problem: `the source type ${unfit}` };
  const byTimestamp = new Map<string, unknown>();
  const faults = new Map<string, number[]>();
  for (const [index, sample] of read.samples.entries()) {
    const fault = faultOf(sample);
    if (fault !== undefined) positionsOf(faults, fault).push(index);
    else if (sample.at !== undefined) byTimestamp.set(sample.at, sample.data);
  }
  const samples = [...byTimestamp].map(([at, data]) => ({ at, data })).toSorted(byTime);
  const row = { userId, resource, provider, sourceType, samples };
  const problem = faults.size === 0 ? undefined : sentence(faults, read.samples.length);
  const isEmpty = samples.length === 0 && problem !== undefined;
  return {
    ...(!isEmpty && { entry: { table: 'samples', row } }),
    ...(problem !== undefined && { problem }),
  };
}

/** One list for each fault, added to: a batch may have a hundred thousand faulty samples. */
function positionsOf(faults: Map<string, number[]>, fault: string): number[] {
  const positions = faults.get(fault) ?? [];
  faults.set(fault, positions);
  return positions;
}

function faultOf({ at, data }: SampleRead): string | undefined {
  if (typeof data !== 'object' || data === null) return 'not an object';
  return at === undefined ? 'neither timestamp nor start can be read' : whyUnstorable(data);
}

const byTime = (one: { at: string }, other: { at: string }): number => (one.at < other.at ? -1 : 1);

const mostPositions = 10;

/** For instance `2 of 500 samples cannot be stored: not an object (at 3, 7)`; positions count from 0. */
function sentence(faults: ReadonlyMap<string, number[]>, count: number): string {
  const positions = [...faults.values()].flat().length;
  const reasons = [...faults].map(([fault, at]) => {
    const more = at.length > mostPositions ? ', …' : '';
    return `${fault} (at ${at.slice(0, mostPositions).join(', ')}${more})`;
  });
  return `${positions} of ${count} samples cannot be stored: ${reasons.join('; ')}`;
}

/** In bytes. A key of five such parts still fits into a page of an index, which holds 2,704. */
const longestPart = 256;

const unfit = `is empty, has more than ${longestPart} bytes, or has a character that cannot be stored`;

/** The text, if it can be a part of a key. */
export function keyPart(text: string | undefined): string | undefined {
  if (text === undefined || text === '' || Buffer.byteLength(text) > longestPart) return undefined;
  return isStorableText(text) ? text : undefined;
}

/**
 * The user's id as stored, if it can be a part of a key: the service treats every spelling of a UUID as one user, and otherwise a
 * deletion would miss data stored in another. A UUID in an unknown form is not a key.
 */
export function userKey(userId: string | undefined): string | undefined {
  const part = keyPart(userId);
  return part === undefined || isMisspeltUuid(part) ? undefined : canonicalId(part);
}

/** A query with the ids as the store writes them. */
export function ofWorkout<Query extends { userId: string; workoutId: string }>(query: Query): Query {
  return { ...query, userId: canonicalId(query.userId), workoutId: canonicalId(query.workoutId) };
}

/** Far below the depth at which PostgreSQL, or JSON.stringify, would give up; health data has a handful of levels. */
const deepest = 100;

/**
 * Why a JSON value could not be held as it was sent; undefined when it can. PostgreSQL's texts have no NUL and no
 * half of a surrogate pair, though JSON may spell them, and it gives up on deep nesting. No recursion: the value may be a
 * million deep.
 */
export function whyUnstorable(value: unknown): string | undefined {
  const left: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let next = left.pop(); next; next = left.pop()) {
    if (typeof next.value === 'string' && !isStorableText(next.value)) return unstorableText;
    // JSON may contain 1e400, which is read as Infinity and would be written as null.
    if (typeof next.value === 'number' && !Number.isFinite(next.value)) return unstorableNumber;
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.depth === deepest) return `is nested deeper than ${deepest} levels`;
    const depth = next.depth + 1;
    for (const [key, child] of Object.entries(next.value)) {
      if (!isStorableText(key)) return unstorableText;
      left.push({ value: child, depth });
    }
  }
  return undefined;
}

const unstorableText = 'has a text with a character that cannot be stored (NUL, or half of a surrogate pair)';

const unstorableNumber = 'has a number that is too large for a double';

function isStorableText(text: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(text);
}
