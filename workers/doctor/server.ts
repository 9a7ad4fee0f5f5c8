import { randomUUID } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { addressAndWay, throughProxy, isEarlier, oldestServer, retentionMs } from '../../client/temporal-connection.js';
import { connectionFault } from '../../client/reachability.js';
import { code, connectionRemedy, hasCode } from '../../client/temporal-errors.js';
import { assumedBackdating } from '../../activities/reconcile/last-run.js';
import { reachOfPasses } from '../../protocol/reconcile.js';
import type { WorkerConfig } from '../settings/config.js';
import type { TemporalConfig } from '../settings/temporal.js';
import { requireSearchAttributes, SearchAttributesMissing } from '../worker/search-attributes.js';
import { answerWithinMs, fault, ok, reasonOf, type Verdict, warning } from './findings.js';

/* Temporal's server and the namespace. Nothing here is written. */

/** A connection to Temporal, and the namespace of the deployment. */
export interface Temporal {
  connection: Connection;
  address: string;
  namespace: string;
}

export async function connectTemporal({ address, namespace, connection }: TemporalConfig): Promise<Temporal> {
  const opened = await Connection.connect({ ...throughProxy(connection), connectTimeout: answerWithinMs / 2 });
  return { connection: opened, address, namespace };
}

export async function unreachable({ address, connection }: TemporalConfig, error: unknown): Promise<Verdict> {
  const reason = (await connectionFault(connection)) ?? reasonOf(error);
  const remedy = connectionRemedy(reason);
  return fault(
    `Temporal cannot be reached at ${addressAndWay(address)} (${reason}).`,
    `${remedy.slice(0, 1).toUpperCase()}${remedy.slice(1)}.`,
  );
}

export async function serverVersion({ connection }: Temporal): Promise<Verdict> {
  const { serverVersion: version } = await connection.workflowService.getSystemInfo({});
  const [release] = /^\d+\.\d+/.exec(version ?? '') ?? [];
  if (release === undefined) return ok('The server does not say its version.');
  if (!isEarlier(release, oldestServer)) return ok(`The server's version is ${version}.`);
  return warning(
    `The server's version is ${version}, older than any that is supported.`,
    `Upgrade Temporal to ${oldestServer} or later.`,
  );
}

/** Temporal Cloud has other commands. */
const inCloud = ' (in Temporal Cloud: docs/cloud.md)';

const registered = 1;

export async function namespaceRights(temporal: Temporal): Promise<Verdict> {
  const { connection, namespace, address } = temporal;
  const { workflowService } = connection;
  try {
    const { namespaceInfo } = await workflowService.describeNamespace({ namespace });
    if (namespaceInfo?.state !== undefined && namespaceInfo.state !== registered) {
      return fault(
        `The namespace ${namespace} is being deleted or deprecated.`,
        'Set TEMPORAL_NAMESPACE to another one.',
      );
    }
    await workflowService.countWorkflowExecutions({ namespace });
    await writeNothing(temporal);
    return ok(`This identity is allowed to read and write in the namespace ${namespace}.`);
  } catch (error) {
    if (hasCode(error, code.notFound)) {
      const remedy = `Set TEMPORAL_NAMESPACE, or create it: temporal operator namespace create --namespace ${namespace} --retention 30d${inCloud}`;
      return fault(`The namespace ${namespace} does not exist at ${address}.`, remedy);
    }
    if (hasCode(error, code.permissionDenied, code.unauthenticated)) {
      const remedy = 'Correct TEMPORAL_API_KEY or the client certificate, or give its identity the right to write.';
      return fault(
        `This identity is not allowed to read and write in the namespace ${namespace} (${reasonOf(error)}).`,
        remedy,
      );
    }
    throw error;
  }
}

/** A signal to a workflow that does not exist: Temporal checks the right to write, then finds nothing to write to. */
async function writeNothing({ connection, namespace }: Temporal): Promise<void> {
  try {
    await connection.workflowService.signalWorkflowExecution({
      namespace,
      workflowExecution: { workflowId: `doctor/${randomUUID()}` },
      signalName: 'doctor',
    });
  } catch (error) {
    if (!hasCode(error, code.notFound)) throw error;
  }
}

export async function searchAttributes({ connection, namespace }: Temporal): Promise<Verdict> {
  try {
    await requireSearchAttributes(connection, namespace);
    return ok('The namespace has all search attributes.');
  } catch (error) {
    if (error instanceof SearchAttributesMissing) return fault(error.problem, `${error.remedy}${inCloud}`);
    throw error;
  }
}

const dayMs = 86_400_000;

type Retaining = Pick<WorkerConfig, 'echoesPassthrough' | 'reconcileEveryMinutes'>;

/**
 * Retention begins at a workflow's end, so no wait of a policy needs it. These do: a pass of the reconciliation asks what the last run of
 * an ended order knew, and a deletion asks for an earlier one that is still in its grace period, a week at most.
 */
export async function retention(
  temporal: Temporal,
  { echoesPassthrough, reconcileEveryMinutes }: Retaining,
): Promise<Verdict> {
  const leastDays = Math.ceil((assumedBackdating + reachOfPasses(reconcileEveryMinutes)) / dayMs);
  const days = Math.round(((await retentionMs(temporal)) / dayMs) * 10) / 10;
  const kept = `Ended workflows are retained for ${days} ${days === 1 ? 'day' : 'days'}`;
  const remedy = `Keep them for at least ${leastDays} days: temporal operator namespace update --namespace ${temporal.namespace} --retention 30d${inCloud}`;
  if (echoesPassthrough) {
    if (days >= leastDays) return ok(`${kept}.`);
    return warning(`${kept}: a critical result that was acknowledged before that may be announced again.`, remedy);
  }
  if (days >= leastDays) {
    return ok(`${kept}. SERVICE_ECHOES_PASSTHROUGH=false: no reference may come again later than that.`);
  }
  return fault(
    `${kept}, and SERVICE_ECHOES_PASSTHROUGH=false: after that, the same reference orders a second kit.`,
    remedy,
  );
}
