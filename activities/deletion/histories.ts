import { ApplicationFailure, sleep } from '@temporalio/activity';
import { isGrpcServiceError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { deleteUserName, type ErasedHistories, type HistoryLeft } from '../../protocol/deletion/messages.js';
import { deliverNotificationsName } from '../../protocol/notifications/delivery.js';
import { canonicalId, deliveredFrom, deliverNotificationsId, isAddressable } from '../../protocol/ids.js';
import { labUserIdKey } from '../../protocol/search-attributes.js';
import { heartbeating } from '../attempt.js';
import type { ActivityDependencies } from '../dependencies.js';
import { described, listed } from '../workflow-runs.js';

/** One run of a workflow that has ended. */
export interface EndedRun {
  workflowId: string;
  runId: string;
}

/** The user's histories: what can be erased, and what must not. */
export interface FoundHistories {
  runs: EndedRun[];
  /** The workflows of these runs. */
  workflows: ErasedHistories['erased'];
  left: HistoryLeft[];
}

/** The histories of a user whose deletion is final. Those of the deletion itself stay until the retention is over. */
export function historyActivities({
  temporal,
  erasesHistories,
}: Pick<ActivityDependencies, 'temporal' | 'erasesHistories'>) {
  return {
    async findHistories(userId: string): Promise<FoundHistories | 'kept'> {
      return erasesHistories ? heartbeating(() => historiesOf(temporal, userId)) : 'kept';
    },

    /**
     * @throws ApplicationFailure `HistoriesNotErased`, to be retried: Temporal refused, or has not deleted them yet. What it does not know,
     * or no longer, counts as deleted.
     */
    async eraseHistories(runs: EndedRun[]): Promise<void> {
      await heartbeating(() => erase(temporal, runs));
    },
  };
}

/** The query for a user's workflows, deletions excepted. */
export function otherWorkflowsOf(userId: string): string {
  return `${labUserIdKey.name} = '${canonicalId(userId)}' AND WorkflowType != '${deleteUserName}'`;
}

async function historiesOf(temporal: Client, userId: string): Promise<FoundHistories> {
  const found: FoundHistories = { runs: [], workflows: [], left: [] };
  // Nothing that goes into a query may end its quotes.
  if (!isAddressable(userId)) return found;
  const user = canonicalId(userId);
  const runs = await listed(temporal, otherWorkflowsOf(userId));
  const ids = new Set(runs.map(({ workflowId }) => workflowId));
  for (const workflowId of ids) {
    // An ID has one open run at most, the latest: Temporal would terminate it.
    const latest = await described(temporal, workflowId);
    if (latest === undefined) continue;
    const { type: name, closeTime, status } = latest;
    const ofUser = runs.filter((run) => run.workflowId === workflowId);
    const its = ofUser.length > 0 ? ofUser : [latest];
    // A delivery shows the user of its first notification; later ones may be about another.
    const source = name === deliverNotificationsName ? await described(temporal, deliveredFrom(workflowId)) : undefined;
    if (closeTime === undefined) found.left.push({ workflowId, name, because: 'open' });
    else if (await areAnothers(temporal, user, source ? [...its, source] : its))
      found.left.push({ workflowId, name, because: 'another_user' });
    else {
      found.runs.push(...its.map(({ runId }) => ({ workflowId, runId })));
      // A delivery that was handed over before its user was known has only its ID.
      ids.add(deliverNotificationsId(workflowId));
      found.workflows.push({
        workflowId,
        ...(status.name === 'COMPLETED' && { completedAt: closeTime.toISOString() }),
      });
    }
  }
  return found;
}

/** A registration may move an order to another user: then its history is about both, and a repeated reference is recognised by it. */
async function areAnothers(temporal: Client, user: string, runs: readonly EndedRun[]): Promise<boolean> {
  for (const { workflowId, runId } of runs) {
    if ((await usersOf(temporal, workflowId, runId)).some((each) => each !== user)) return true;
  }
  return false;
}

/** Every user that a run has shown in its search attributes, which are never encrypted. A list shows the last one only. */
async function usersOf(temporal: Client, workflowId: string, runId: string): Promise<string[]> {
  try {
    const { events } = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
    return (events ?? []).flatMap((event) => {
      const { searchAttributes } =
        event.workflowExecutionStartedEventAttributes ?? event.upsertWorkflowSearchAttributesEventAttributes ?? {};
      const data = searchAttributes?.indexedFields?.[labUserIdKey.name]?.data;
      const user: unknown = data && data.length > 0 ? JSON.parse(Buffer.from(data).toString()) : undefined;
      return typeof user === 'string' ? [user] : [];
    });
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return [];
    throw error;
  }
}

/** Temporal takes a deletion and carries it out a moment later. */
const erasedWithinMs = 30_000;
const pauseMs = 500;

async function erase(temporal: Client, runs: readonly EndedRun[]): Promise<void> {
  const refused = new Set<string>();
  for (const run of runs) {
    const error = await deleteRun(temporal, run);
    // `7 PERMISSION_DENIED: …`
    if (error) refused.add(error.message.split(':', 1).join());
  }
  if (refused.size > 0) throw notErased(`Temporal refused to delete histories: ${[...refused].join(', ')}`);
  let left = runs;
  for (const until = Date.now() + erasedWithinMs; left.length > 0; await sleep(pauseMs)) {
    const shown = await Promise.all(left.map(({ workflowId, runId }) => described(temporal, workflowId, runId)));
    left = left.filter((_, index) => shown[index] !== undefined);
    if (left.length > 0 && Date.now() > until) throw notErased(`Temporal still has ${left.length} histories`);
  }
}

/** gRPC's number of NOT_FOUND. */
const notFound = 5;

/** @returns Temporal's refusal */
async function deleteRun(temporal: Client, workflowExecution: EndedRun): Promise<Error | undefined> {
  try {
    await temporal.workflowService.deleteWorkflowExecution({
      namespace: temporal.options.namespace,
      workflowExecution,
    });
    return undefined;
  } catch (error) {
    if (!isGrpcServiceError(error)) throw error;
    return error.code === notFound ? undefined : error;
  }
}

function notErased(message: string): ApplicationFailure {
  return ApplicationFailure.retryable(message, 'HistoriesNotErased');
}
