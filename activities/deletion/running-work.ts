import { ApplicationFailure } from '@temporalio/activity';
import {
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
} from '@temporalio/client';
import { bookAppointmentName, cancelUpdate as cancelAppointmentUpdate } from '../../protocol/appointment/messages.js';
import { canonicalId, deleteUserId, isAddressable, kitOrderId, parsingJobId } from '../../protocol/ids.js';
import {
  deletionResultVersion,
  type DeleteUserResult,
  type RunningWork,
  type WorkFate,
} from '../../protocol/deletion/messages.js';
import { cancelUpdate as cancelLinkUpdate, linkProviderName } from '../../protocol/link/messages.js';
import { appointmentPhases, linkPhases, orderPhases, phasesOf, reportPhases } from '../../protocol/phases.js';
import { cancelUpdate, kitOrderName, type KitOrderResult } from '../../protocol/order/messages.js';
import {
  cancelUpdate as cancelPlacingUpdate,
  placeKitOrderName,
  type PlacingEnd,
} from '../../protocol/order/placing-messages.js';
import { cancelUpdate as cancelReportUpdate, parsingJobName } from '../../protocol/report/messages.js';
import {
  cancelUpdate as cancelSubmissionUpdate,
  submitReportName,
  type SubmissionEnd,
} from '../../protocol/report/submission-messages.js';
import { forwardedPhase, labPhaseKey, labUserIdKey } from '../../protocol/search-attributes.js';
import type { ActivityDependencies } from '../dependencies.js';
import { endedRunsOf, listed, readable } from '../workflow-runs.js';
import { hasEndpoint } from '../notifications/notifications.js';

/**
 * The workflows that are a user's running work, and the update by which each is cancelled.
 */
const cancelledBy: Readonly<Record<string, string | undefined>> = {
  [kitOrderName]: cancelUpdate.name,
  [placeKitOrderName]: cancelPlacingUpdate.name,
  [linkProviderName]: cancelLinkUpdate.name,
  [submitReportName]: cancelSubmissionUpdate.name,
  [parsingJobName]: cancelReportUpdate.name,
  [bookAppointmentName]: cancelAppointmentUpdate.name,
};

/** The phases in which a workflow of this name has ended, or is a forwarder. */
const endedIn: Readonly<Record<string, readonly string[]>> = {
  [kitOrderName]: [...phasesOf(orderPhases, 'end'), forwardedPhase],
  [linkProviderName]: phasesOf(linkPhases, 'end'),
  [parsingJobName]: phasesOf(reportPhases, 'end'),
  [bookAppointmentName]: phasesOf(appointmentPhases, 'end'),
};

/** Shorter than the activity's timeout: a later answer would be lost. */
const longestCancelMs = 200_000;

export function runningWorkActivities({ temporal, target }: Pick<ActivityDependencies, 'temporal' | 'target'>) {
  return {
    /** A user's running workflows, as visibility lists them: it lags by about a second. */
    async findRunningWork(userId: string): Promise<{ work: RunningWork[]; notifies: boolean }> {
      const notifies = hasEndpoint(target);
      // Nothing that goes into a query may end its quotes.
      if (!isAddressable(userId)) return { work: [], notifies };
      const names = Object.keys(cancelledBy).map((name) => `'${name}'`);
      const query = `${labUserIdKey.name} = '${canonicalId(userId)}' AND ExecutionStatus = 'Running' AND WorkflowType IN (${names.join(', ')})`;
      const runs = await listed(temporal, query);
      const work = runs.filter(({ type, typedSearchAttributes }) => {
        const phase = typedSearchAttributes.get(labPhaseKey) ?? '';
        return !(Object.hasOwn(endedIn, type) && endedIn[type]?.includes(phase));
      });
      return { work: work.map(({ workflowId, type }) => ({ workflowId, name: type })), notifies };
    },

    /**
     * The outcome of the user's last deletion that changed anything: `deleted` or `undone`. One that was started just
     * now may not be found.
     */
    async findEarlierDeletion(userId: string): Promise<{ outcome?: 'deleted' | 'undone' }> {
      if (!isAddressable(userId)) return {};
      const workflowId = deleteUserId(userId);
      for (const { runId } of await endedRunsOf(temporal, workflowId)) {
        const result = (await temporal.workflow.getHandle(workflowId, runId).result()) as DeleteUserResult;
        const { outcome } = readable('a deletion', result, deletionResultVersion);
        if (outcome === 'deleted' || outcome === 'undone') return { outcome };
      }
      return {};
    },

    /** Sends a workflow its own cancel command. Work that has ended in the meantime needs none. */
    async cancelWork({ workflowId, name }: RunningWork): Promise<WorkFate> {
      const update = Object.hasOwn(cancelledBy, name) ? cancelledBy[name] : undefined;
      if (update === undefined) return { fate: 'not_cancelled', reason: 'NoCancelCommand' };
      return cancelBy(temporal, { workflowId, name }, update);
    },
  };
}

async function cancelBy(temporal: Client, { workflowId, name }: RunningWork, update: string): Promise<WorkFate> {
  try {
    const workflow = temporal.workflow.getHandle(workflowId);
    const answer = await temporal.withDeadline(Date.now() + longestCancelMs, () =>
      workflow.executeUpdate(update, { args: [{}] }),
    );
    // An upload that could no longer be cancelled has made its job.
    const job = name === submitReportName ? jobOf(answer as SubmissionEnd) : undefined;
    if (job !== undefined) return await cancelBy(temporal, job, cancelReportUpdate.name);
    // In the same way, a placing has made its order.
    const order = name === placeKitOrderName ? orderOf(answer as PlacingEnd) : undefined;
    if (order !== undefined) return await cancelPlaced(temporal, order);
    // The service cannot cancel a report, and whatever it reports later is followed again.
    return { fate: 'cancelled', ...(name === parsingJobName && { reason: 'NoLongerFollowed' }) };
  } catch (error) {
    // Accepted by a run that has continued as new since: its answer cannot be read, and the work goes on.
    const isUnread = error instanceof WorkflowNotFoundError && /^update .*not found/i.test(error.message);
    if (error instanceof WorkflowNotFoundError && !isUnread) return { fate: 'ended' };
    if (isUnread || error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) {
      return { fate: 'not_cancelled', reason: 'CommandTimedOut' };
    }
    if (!(error instanceof WorkflowUpdateFailedError)) throw error;
    const { cause } = error;
    const type = cause instanceof ApplicationFailure ? cause.type : undefined;
    if (endedTypes.test(type ?? '')) return { fate: 'ended' };
    return { fate: 'not_cancelled', reason: type ?? 'CommandFailed' };
  }
}

/** An order whose placing was cancelled also cancels itself, so it may have ended already. */
async function cancelPlaced(temporal: Client, order: RunningWork): Promise<WorkFate> {
  const met = await cancelBy(temporal, order, cancelUpdate.name);
  if (met.fate !== 'ended') return met;
  const { outcome } = (await temporal.workflow.getHandle(order.workflowId).result()) as KitOrderResult;
  return { fate: outcome === 'cancelled' ? 'cancelled' : 'ended' };
}

function jobOf(end: SubmissionEnd): RunningWork | undefined {
  return end.outcome === 'uploaded' ? { workflowId: parsingJobId(end.jobId), name: parsingJobName } : undefined;
}

function orderOf(end: PlacingEnd): RunningWork | undefined {
  return end.outcome === 'placed' ? { workflowId: kitOrderId(end.orderId), name: kitOrderName } : undefined;
}

/**
 * The failure types of a command whose work has ended: `OrderEnded` and the like, and Temporal's own if the run ended
 * between accepting the command and carrying it out.
 */
const endedTypes = /Ended$|^AcceptedUpdateCompletedWorkflow$/;
