import { type Client, type WorkflowExecutionInfo, WorkflowNotFoundError } from '@temporalio/client';
import { decodeFromPayloadsAtIndex } from '@temporalio/common/lib/internal-non-workflow/codec-helpers.js';
import type { temporal } from '@temporalio/proto';
import { isActor } from '../protocol/ids.js';
import { isSentByClients, isStartedByClients, subjectsOfStart } from '../protocol/audited.js';
import { deleteUserName } from '../protocol/deletion/messages.js';
import { operatorCallName, operatorCalls } from '../protocol/operators/operator-calls.js';
import { stopPlacingName } from '../protocol/placing-stop.js';
import { labUserIdKey, withoutMemos } from '../protocol/search-attributes.js';
import { isObject } from '../service/json-object.js';
import { ofTaskQueue } from '../protocol/task-queues.js';
import { faults, refusalPatch } from '../protocol/unencrypted.js';
import type { AuditEntry } from '../store/audit-trail.js';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
type Failure = temporal.api.failure.v1.IFailure;
type Payloads = temporal.api.common.v1.IPayloads;

/**
 * The commands and starts since a time, from the histories of a task queue that Temporal still has, as `workflows/command-audit.ts` reported them: a worker that ended,
 * or whose database was down for too long, may have lost them. What was refused before it was recorded is in no history. What the worker
 * refused because nobody with the keys has written it is left out, and what no worker has looked at: anybody may have sent it.
 *
 * @param since ISO 8601
 */
export async function* commandsInHistories(
  client: Client,
  taskQueue: string,
  since: string,
): AsyncGenerator<AuditEntry> {
  const query = `${ofTaskQueue(taskQueue)} AND (ExecutionStatus = 'Running' OR CloseTime >= '${new Date(since).toISOString()}')`;
  for await (const run of withoutMemos(client.workflow).list({ query })) {
    for (const entry of await commandsOf(client, run)) if (Date.parse(entry.at) >= Date.parse(since)) yield entry;
  }
}

async function commandsOf(client: Client, run: WorkflowExecutionInfo): Promise<AuditEntry[]> {
  const { workflowId, runId, type } = run;
  const commands: AuditEntry[] = [];
  const user = run.typedSearchAttributes.get(labUserIdKey);
  const { events, isTaken, isCopied } = await standingsOf(client, workflowId, runId);
  const add = (event: HistoryEvent, action: string, outcome: string, id: string, given?: unknown): void => {
    if (isCopied(event)) return;
    const { by, id: about } = isObject(given) ? given : {};
    commands.push({
      at: timeOf(event),
      action,
      ...(isActor(by) && { actor: by }),
      outcome,
      subjects: [
        workflowId,
        ...(user === undefined ? [] : [user]),
        ...(type === operatorCallName && typeof about === 'string' ? [about] : []),
        ...(id === 'start' ? subjectsOfStart(given) : []),
      ],
      details: { from: 'history' },
      event: `${runId}/${id}`,
    });
  };
  const read = (payloads: Payloads | null | undefined) => firstOf(client, payloads);
  let input: unknown;
  const updates = new Map<string, { name: string; given: unknown }>();
  for (const event of events) {
    const {
      workflowExecutionStartedEventAttributes: started,
      workflowExecutionUpdateAcceptedEventAttributes: accepted,
      workflowExecutionUpdateCompletedEventAttributes: updated,
      workflowExecutionSignaledEventAttributes: signaled,
    } = event;
    if (started) {
      if (!isTaken(event, 'start')) return [];
      input = await read(started.input);
      if (!started.continuedExecutionRunId && isStartedByClients(type, input))
        add(event, type, 'started', 'start', input);
    }
    if (accepted) {
      const { meta, input: update } = accepted.acceptedRequest ?? {};
      updates.set(meta?.updateId ?? '', { name: update?.name ?? '', given: await read(update?.args) });
    }
    const update = updates.get(updated?.meta?.updateId ?? '');
    if (updated && update) {
      const outcome = outcomeOf(updated.outcome?.failure);
      add(event, `${type}.${update.name}`, outcome, `update/${updated.meta?.updateId}`, update.given);
    }
    const signal = signaled?.signalName ?? '';
    if (isSentByClients(type, signal) && isTaken(event, `signal-${numberOf(event)}`))
      add(event, `${type}.${signal}`, 'done', `signal/${numberOf(event)}`, await read(signaled?.input));
    const end = await endOf(event, read);
    if (end === undefined) continue;
    const outcome = end.failure === undefined ? 'done' : outcomeOf(end.failure);
    if (type === operatorCallName) add(event, nameOf(type, input), outcome, 'end', input);
    if (type === stopPlacingName) add(event, type, outcome, 'end');
    if (type === deleteUserName) add(event, type, outcomeIn(end.result) ?? outcome, 'end');
  }
  return commands;
}

async function endOf(
  {
    workflowExecutionCompletedEventAttributes: done,
    workflowExecutionFailedEventAttributes: failed,
    workflowExecutionCanceledEventAttributes: cancelled,
  }: HistoryEvent,
  read: (payloads: Payloads | null | undefined) => Promise<unknown>,
): Promise<{ result?: unknown; failure?: Failure } | undefined> {
  if (done) return { result: await read(done.result) };
  if (cancelled) return { failure: { canceledFailureInfo: {} } };
  return failed ? { failure: failed.failure ?? {} } : undefined;
}

async function eventsOf(client: Client, workflowId: string, runId: string): Promise<readonly HistoryEvent[]> {
  try {
    return (await client.workflow.getHandle(workflowId, runId).fetchHistory()).events ?? [];
  } catch (error) {
    // A deletion has erased it since it was listed.
    if (error instanceof WorkflowNotFoundError) return [];
    throw error;
  }
}

interface Standings {
  events: readonly HistoryEvent[];
  /** True for a start or a signal that a worker has looked at and not refused. */
  isTaken: (event: HistoryEvent, what: string) => boolean;
  /** True if a reset has copied it from another run. */
  isCopied: (event: HistoryEvent) => boolean;
}

async function standingsOf(client: Client, workflowId: string, runId: string): Promise<Standings> {
  const events = await eventsOf(client, workflowId, runId);
  const reset = events.findLast((event) => event.workflowTaskFailedEventAttributes?.baseRunId);
  const lastTask = events.findLast((event) => event.workflowTaskCompletedEventAttributes);
  const markers = events.map(({ markerRecordedEventAttributes: marker }) => marker?.details?.['patch-data']);
  const values = await Promise.all(markers.filter(Boolean).map((payloads) => firstOf(client, payloads)));
  const patches = new Set(values.map((value) => isObject(value) && value['id']));
  const isRefused = (what: string) => faults.some((fault) => patches.has(refusalPatch(fault, what)));
  return {
    events,
    isTaken: (event, what) => numberOf(event) < numberOf(lastTask) && !isRefused(what),
    isCopied: (event) => numberOf(event) < numberOf(reset),
  };
}

function numberOf(event: HistoryEvent | undefined): number {
  return Number(event?.eventId ?? 0);
}

/** Undefined if it cannot be decrypted: then nobody knows who it was. */
async function firstOf(client: Client, payloads: Payloads | null | undefined): Promise<unknown> {
  try {
    return await decodeFromPayloadsAtIndex(client.options.loadedDataConverter, 0, payloads?.payloads);
  } catch {
    return undefined;
  }
}

function nameOf(type: string, input: unknown): string {
  const name = isObject(input) ? input['do'] : undefined;
  return typeof name === 'string' && Object.hasOwn(operatorCalls, name) ? `${type}.${name}` : type;
}

function outcomeIn(result: unknown): string | undefined {
  const outcome = isObject(result) ? result['outcome'] : undefined;
  return typeof outcome === 'string' ? outcome : undefined;
}

function outcomeOf(failure: Failure | null | undefined): string {
  if (!failure) return 'done';
  if (failure.canceledFailureInfo) return 'cancelled';
  return failure.applicationFailureInfo?.type || 'failed';
}

function timeOf({ eventTime }: HistoryEvent): string {
  return new Date(Number(eventTime?.seconds ?? 0) * 1000 + (eventTime?.nanos ?? 0) / 1e6).toISOString();
}
