import type { ConnectionLike } from '@temporalio/client';
import { isObject } from '../../service/json-object.js';
import { isCalendarDate } from '../../service/timestamps.js';
import { retentionMs } from '../temporal-connection.js';
import { code, hasCode } from '../temporal-errors.js';
import { isEncrypted, keyIdOf } from './payload-codec.js';

/** The traces of one key in the histories that Temporal has. Times are ISO 8601 in UTC. */
export interface KeyUse {
  keyId: string;
  /** The first event, which is not the first ever once older histories are gone; or the date with which the key's id begins, if it is earlier. */
  since?: string;
  lastUsed?: string;
  /** How many runs contain it. */
  open: number;
  ended: number;
  /** Some of the open ones, by workflow ID. */
  openWorkflows: string[];
  /** When Temporal will have removed the last of the ended runs; absent while runs are open or if there is none. */
  neededUntil?: string;
}

interface Source {
  connection: Pick<ConnectionLike, 'workflowService'>;
  namespace: string;
}

/** Histories are small, and a server answers several at once faster than one after the other. */
const readAtOnce = 8;
const mostExamples = 10;

/**
 * Reads the histories of all runs of a namespace, also those of a task queue that it had before, the open ones first. What is encrypted names its key in clear, so no key is needed.
 * A summary is not counted, because nothing waits for it.
 *
 * @param keyIds those that are listed even if nothing contains them
 * @param enough asked before each batch: true ends the reading
 */
export async function keyUse(
  source: Source,
  keyIds: readonly string[],
  enough: () => boolean = () => false,
): Promise<{ keys: KeyUse[]; runs: number; isComplete: boolean }> {
  const { namespace } = source;
  const { workflowService } = source.connection;
  const keys = new Map(
    keyIds.map((keyId): [string, KeyUse] => [keyId, { keyId, open: 0, ended: 0, openWorkflows: [] }]),
  );
  const lastEnds = new Map<string, number>();
  let [runs, isComplete] = [0, true];
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await workflowService.listWorkflowExecutions({
      ...{ namespace, pageSize: 1_000 },
      ...(nextPageToken && { nextPageToken }),
    });
    for (let from = 0; from < page.executions.length && isComplete; from += readAtOnce) {
      if (enough()) isComplete = false;
      const batch = isComplete ? page.executions.slice(from, from + readAtOnce) : [];
      await Promise.all(
        batch.map(async ({ execution, closeTime }) => {
          runs += 1;
          const workflowId = execution?.workflowId ?? '';
          for (const [keyId, { first, last }] of await timesOfKeys(source, execution)) {
            const key = keys.get(keyId) ?? { keyId, open: 0, ended: 0, openWorkflows: [] };
            keys.set(keyId, key);
            if (key.since === undefined || first < key.since) key.since = first;
            if (key.lastUsed === undefined || last > key.lastUsed) key.lastUsed = last;
            if (closeTime) {
              key.ended += 1;
              lastEnds.set(keyId, Math.max(lastEnds.get(keyId) ?? 0, Number(closeTime.seconds) * 1000));
            } else {
              key.open += 1;
              if (key.openWorkflows.length < mostExamples) key.openWorkflows.push(workflowId);
            }
          }
        }),
      );
    }
    nextPageToken = page.nextPageToken.length > 0 ? page.nextPageToken : undefined;
  } while (nextPageToken && isComplete);
  const retention = await retentionMs(source);
  for (const key of keys.values()) {
    const lastEnd = lastEnds.get(key.keyId);
    if (isComplete && key.open === 0 && lastEnd !== undefined)
      key.neededUntil = new Date(lastEnd + retention).toISOString();
    const dated = key.open + key.ended > 0 ? dateOf(key.keyId) : undefined;
    if (dated !== undefined && dated < (key.since ?? '')) key.since = dated;
  }
  return { keys: [...keys.values()], runs, isComplete };
}

/** By key: the times of the first and the last event of a run that contain it. */
async function timesOfKeys(
  { connection: { workflowService }, namespace }: Source,
  execution: { workflowId?: string | null; runId?: string | null } | null | undefined,
): Promise<Map<string, { first: string; last: string }>> {
  const times = new Map<string, { first: string; last: string }>();
  let nextPageToken: Uint8Array | null | undefined;
  do {
    const page = await workflowService
      .getWorkflowExecutionHistory({
        namespace,
        ...(execution && { execution }),
        ...(nextPageToken && { nextPageToken }),
      })
      .catch((error: unknown) => {
        // A deletion has erased it since it was listed.
        if (hasCode(error, code.notFound)) return undefined;
        throw error;
      });
    for (const { eventTime, userMetadata: _summary, ...event } of page?.history?.events ?? []) {
      const at = new Date(Number(eventTime?.seconds ?? 0) * 1000).toISOString();
      for (const keyId of keysIn(event)) times.set(keyId, { first: times.get(keyId)?.first ?? at, last: at });
    }
    nextPageToken = page?.nextPageToken;
  } while (nextPageToken && nextPageToken.length > 0);
  return times;
}

/** A payload may be anywhere in an event. */
function* keysIn(value: unknown): Generator<string> {
  if (Array.isArray(value)) for (const each of value) yield* keysIn(each);
  if (!isObject(value) || value instanceof Uint8Array) return;
  if (isObject(value['metadata']) && isEncrypted(value)) yield keyIdOf(value);
  for (const each of Object.values(value)) if (typeof each === 'object') yield* keysIn(each);
}

/** Of an id such as `2026-01` or `2026-01-15-ingress`. */
function dateOf(keyId: string): string | undefined {
  const [, month = '', day = '01'] = /^(\d{4}-\d{2})(?:-(\d{2}))?(?!\d)/.exec(keyId) ?? [];
  return isCalendarDate(`${month}-${day}`) ? `${month}-${day}T00:00:00.000Z` : undefined;
}
