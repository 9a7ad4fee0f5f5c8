import {
  type Client,
  QueryNotRegisteredError,
  type WorkflowExecutionInfo,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { decodeFromPayloadsAtIndex } from '@temporalio/common/lib/internal-non-workflow/codec-helpers.js';
import { defineQuery } from '../../protocol/definitions.js';
import { bookAppointmentName, type AppointmentState } from '../../protocol/appointment/messages.js';
import { canonicalId } from '../../protocol/ids.js';
import { submitMfaCodeUpdate } from '../../protocol/link/messages.js';
import { isSignedUrl } from '../../protocol/report/signed-url.js';
import { labUserIdKey, withoutMemos, workIdsOf } from '../../protocol/search-attributes.js';
import { EncryptionKeyUnknown } from '../encryption/payload-codec.js';
import type { OneCall } from '../one-call.js';

/** One run of one of the user's workflows. */
export interface ExportedWork {
  kind: 'work';
  /** Such as `kitOrder`. */
  type: string;
  workflowId: string;
  runId: string;
  /** Temporal's, such as `RUNNING`. */
  status: string;
  startedAt: string;
  endedAt?: string;
  /** Orders, their transaction, a parsing job, an appointment: for `HealthDataReader.export`, because events may name one of them instead of the user. */
  ids: string[];
  /** Its state with its timeline; absent if it has none, or if the next run continues it; null if it cannot be decrypted. */
  state?: unknown;
  /** Why the state could not be read: then it is missing here. */
  stateUnread?: string;
  /**
   * Everything that was sent to it, in order: its input, commands and signals. Null if it cannot be decrypted. Credentials are left out:
   * a link's token, a code, the address of a file that is a credential by itself.
   */
  received: { at: string; what: string; content: unknown }[];
}

/** Page by page. */
export function runsOfUser(temporal: Client, userId: string): AsyncIterable<WorkflowExecutionInfo> {
  return withoutMemos(temporal.workflow).list({ query: `${labUserIdKey.name} = '${canonicalId(userId)}'` });
}

const stateQuery = defineQuery<object>('state');

/** Without its state. Undefined if Temporal has deleted the run since it was listed. */
export async function exportedWork(temporal: Client, run: WorkflowExecutionInfo): Promise<ExportedWork | undefined> {
  const { workflowId, runId, type, status, startTime, closeTime } = run;
  try {
    const received = await receivedBy(temporal, run);
    return {
      ...{ kind: 'work', type, workflowId, runId, status: status.name, startedAt: startTime.toISOString() },
      ...(closeTime && { endedAt: closeTime.toISOString() }),
      ids: workIdsOf(run),
      received,
    };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

async function receivedBy(
  temporal: Client,
  { workflowId, runId }: WorkflowExecutionInfo,
): Promise<ExportedWork['received']> {
  const { events } = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
  const received: ExportedWork['received'] = [];
  for (const event of events ?? []) {
    const { workflowExecutionStartedEventAttributes: started, workflowExecutionSignaledEventAttributes: signal } =
      event;
    const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input;
    const payloads = (started?.input ?? signal?.input ?? update?.args)?.payloads;
    if (!payloads?.[0]) continue;
    const at = new Date(Number(event.eventTime?.seconds ?? 0) * 1000).toISOString();
    const what = started ? 'start' : (signal?.signalName ?? update?.name ?? '');
    received.push({ at, what, content: withoutCredentials(what, await contentOf(temporal, payloads)) });
  }
  return received;
}

/** Undefined if it has none. */
export async function stateOf(
  call: OneCall,
  temporal: Client,
  { workflowId, runId, status }: WorkflowExecutionInfo,
): Promise<unknown> {
  if (status.name === 'CONTINUED_AS_NEW') return undefined;
  const workflow = temporal.workflow.getHandle(workflowId, runId);
  try {
    if (status.name !== 'COMPLETED') return await call.query(workflow, stateQuery);
    return await workflow.result();
  } catch (error) {
    // Some workflows have none.
    if (error instanceof QueryNotRegisteredError) return undefined;
    if (error instanceof EncryptionKeyUnknown) return null;
    throw error;
  }
}

/** Only its state says which appointment a run is about. */
export function withAppointment(work: ExportedWork): ExportedWork {
  if (work.type !== bookAppointmentName) return work;
  const { appointment } = (work.state ?? {}) as Partial<AppointmentState>;
  return appointment ? { ...work, ids: [...work.ids, appointment.appointmentId] } : work;
}

async function contentOf(temporal: Client, payloads: Payload[]): Promise<unknown> {
  try {
    return await decodeFromPayloadsAtIndex(temporal.options.loadedDataConverter, 0, payloads);
  } catch {
    return null;
  }
}

/**
 * An export is handed on, and what it holds must open nothing. Only what was sent can hold a credential, because no workflow shows one in its
 * state: a code that a person typed, and a link's token, with which its later runs begin.
 */
export function withoutCredentials(what: string, content: unknown): unknown {
  if (what === submitMfaCodeUpdate.name) return {};
  const isCredential = (name: string, value: unknown): boolean =>
    name === 'token' || (name === 'url' && typeof value === 'string' && isSignedUrl(value));
  const text = JSON.stringify(content, (name, value: unknown) => (isCredential(name, value) ? undefined : value));
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}
