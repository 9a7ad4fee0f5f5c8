import { ApplicationFailure } from '@temporalio/activity';
import {
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
} from '@temporalio/client';
import type { RunningWork, WorkFate } from '../workflows/deletion/messages.js';
import { cancelLinkUpdate, linkProviderName } from '../workflows/link/messages.js';
import { isAddressable } from '../workflows/order/address.js';
import { cancelUpdate, kitOrderName, placeKitOrderName } from '../workflows/order/messages.js';
import { forwardedPhase, labPhaseKey, labUserIdKey } from '../workflows/search-attributes.js';
import type { ActivityDependencies } from './activities.js';
import { listed } from './earlier-runs.js';

/**
 * The workflows that are a user's running work, and the update by which each is cancelled. A placing has none: it ends
 * with the order that it hands over, or fails with the user gone.
 */
const cancelledBy: Readonly<Record<string, string | undefined>> = {
  [kitOrderName]: cancelUpdate.name,
  [placeKitOrderName]: undefined,
  [linkProviderName]: cancelLinkUpdate.name,
  // Reports, by their names: a worker of another version may run them.
  submitReport: 'cancel',
  parsingJob: 'cancel',
};

/** Shorter than the activity may take: what comes after it would be heard by nobody. */
const longestCancelMs = 200_000;

export function runningWorkActivities({ temporal, target }: Pick<ActivityDependencies, 'temporal' | 'target'>) {
  return {
    /** What runs for a user, as far as visibility has it: it lags by about a second behind a start. */
    async findRunningWork(userId: string): Promise<{ work: RunningWork[]; notifies: boolean }> {
      const notifies = target !== undefined;
      // Nothing that goes into a query may end its quotes.
      if (!isAddressable(userId)) return { work: [], notifies };
      const names = Object.keys(cancelledBy).map((name) => `'${name}'`);
      const query = `${labUserIdKey.name} = '${userId}' AND ExecutionStatus = 'Running' AND WorkflowType IN (${names.join(', ')})`;
      const runs = await listed(temporal, query);
      // A run that only passes on what it hears is no work of its own.
      const work = runs.filter(
        ({ typedSearchAttributes }) => typedSearchAttributes.get(labPhaseKey) !== forwardedPhase,
      );
      return { work: work.map(({ workflowId, type }) => ({ workflowId, name: type })), notifies };
    },

    /** Sends a workflow its own cancel command. What has ended meanwhile needs none. */
    async cancelWork({ workflowId, name }: RunningWork): Promise<WorkFate> {
      const update = Object.hasOwn(cancelledBy, name) ? cancelledBy[name] : undefined;
      if (update === undefined) return { fate: 'not_cancelled', reason: 'NoCancelCommand' };
      return cancelBy(temporal, workflowId, update);
    },
  };
}

async function cancelBy(temporal: Client, workflowId: string, update: string): Promise<WorkFate> {
  try {
    const workflow = temporal.workflow.getHandle(workflowId);
    await temporal.withDeadline(Date.now() + longestCancelMs, () => workflow.executeUpdate(update, { args: [{}] }));
    return { fate: 'cancelled' };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { fate: 'ended' };
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) {
      return { fate: 'not_cancelled', reason: 'CommandTimedOut' };
    }
    if (!(error instanceof WorkflowUpdateFailedError)) throw error;
    const { cause } = error;
    const type = cause instanceof ApplicationFailure ? cause.type : undefined;
    if (saysEnded.test(type ?? '')) return { fate: 'ended' };
    return { fate: 'not_cancelled', reason: type ?? 'CommandFailed' };
  }
}

/**
 * The failure types by which a command says that its work is over: `OrderEnded` and its like, and Temporal's own where
 * the run ended between accepting the command and carrying it out.
 */
const saysEnded = /Ended$|^AcceptedUpdateCompletedWorkflow$/;
