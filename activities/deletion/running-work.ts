import { ApplicationFailure } from '@temporalio/activity';
import {
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
} from '@temporalio/client';
import type { TypedSearchAttributes } from '@temporalio/common';
import * as appointments from '../../protocol/appointment/messages.js';
import {
  canonicalId,
  deleteUserId,
  isAddressable,
  kitOrderId,
  parsingJobId,
  type OfActor,
} from '../../protocol/ids.js';
import * as deletions from '../../protocol/deletion/messages.js';
import * as links from '../../protocol/link/messages.js';
import { appointmentPhases, linkPhases, orderPhases, phasesOf, reportPhases } from '../../protocol/phases.js';
import { notAccepted, type FailureDetails } from '../../protocol/failure-details.js';
import * as orders from '../../protocol/order/messages.js';
import type { OrderState } from '../../protocol/order/state.js';
import * as placings from '../../protocol/order/placing-messages.js';
import * as reports from '../../protocol/report/messages.js';
import * as submissions from '../../protocol/report/submission-messages.js';
import { forwardedPhase, labAttentionKey, labPhaseKey, labUserIdKey } from '../../protocol/search-attributes.js';
import type { ActivityDependencies } from '../dependencies.js';
import { described, endedRunsOf, listed, readable } from '../workflow-runs.js';
import { hasEndpoint } from '../notifications/notifications.js';

/**
 * The workflows that are a user's running work, and the update by which each is cancelled.
 */
const cancelledBy: Readonly<Record<string, string | undefined>> = {
  [orders.kitOrderName]: orders.cancelUpdate.name,
  [placings.placeKitOrderName]: placings.cancelUpdate.name,
  [links.linkProviderName]: links.cancelUpdate.name,
  [submissions.submitReportName]: submissions.cancelUpdate.name,
  [reports.parsingJobName]: reports.cancelUpdate.name,
  [appointments.bookAppointmentName]: appointments.cancelUpdate.name,
};

/** The phases in which a workflow of this name has ended, or is a forwarder; unless a critical result waits for a person. */
const endedIn: Readonly<Record<string, readonly string[]>> = {
  [orders.kitOrderName]: [...phasesOf(orderPhases, 'end'), forwardedPhase],
  [links.linkProviderName]: phasesOf(linkPhases, 'end'),
  [reports.parsingJobName]: phasesOf(reportPhases, 'end'),
  [appointments.bookAppointmentName]: phasesOf(appointmentPhases, 'end'),
};

/** Shorter than the activity's timeout: a later answer would be lost. */
const longestCancelMs = 200_000;

export function runningWorkActivities({ temporal, target }: Pick<ActivityDependencies, 'temporal' | 'target'>) {
  return {
    /** A user's running workflows, as visibility lists them: it lags by about a second. */
    async findRunningWork(userId: string): Promise<{ work: deletions.RunningWork[]; notifies: boolean }> {
      const notifies = hasEndpoint(target);
      // Nothing that goes into a query may end its quotes.
      if (!isAddressable(userId)) return { work: [], notifies };
      const names = Object.keys(cancelledBy).map((name) => `'${name}'`);
      const query = `${labUserIdKey.name} = '${canonicalId(userId)}' AND ExecutionStatus = 'Running' AND WorkflowType IN (${names.join(', ')})`;
      const runs = await listed(temporal, query);
      const work = runs.filter(({ type, typedSearchAttributes }) => {
        const phase = typedSearchAttributes.get(labPhaseKey) ?? '';
        return isAlarmed(typedSearchAttributes) || !(Object.hasOwn(endedIn, type) && endedIn[type]?.includes(phase));
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
        const result = (await temporal.workflow.getHandle(workflowId, runId).result()) as deletions.DeleteUserResult;
        const { outcome } = readable('a deletion', result, deletions.deletionResultVersion);
        if (outcome === 'deleted' || outcome === 'undone') return { outcome };
      }
      return {};
    },

    /**
     * Sends a workflow its own cancel command, for the actor of the deletion. Work that has ended in the meantime needs none; but somebody must
     * still acknowledge an order's critical result.
     */
    async cancelWork({ workflowId, name, ...actor }: deletions.RunningWork & OfActor): Promise<deletions.WorkFate> {
      const update = Object.hasOwn(cancelledBy, name) ? cancelledBy[name] : undefined;
      if (update === undefined) return { fate: 'not_cancelled', reason: 'NoCancelCommand' };
      const met = await cancelBy(temporal, { workflowId, name }, update, actor);
      if (met.fate === 'not_cancelled' || name !== orders.kitOrderName) return met;
      const order = await described(temporal, workflowId);
      if (order?.status.name !== 'RUNNING' || !isAlarmed(order.typedSearchAttributes)) return met;
      return { fate: met.fate === 'ended' ? 'not_cancelled' : met.fate, reason: 'CriticalResultOpen' };
    },
  };
}

function isAlarmed(attributes: TypedSearchAttributes): boolean {
  return attributes.get(labAttentionKey)?.includes('critical_result') === true;
}

async function cancelBy(
  temporal: Client,
  { workflowId, name }: deletions.RunningWork,
  update: string,
  actor: OfActor,
): Promise<deletions.WorkFate> {
  try {
    const workflow = temporal.workflow.getHandle(workflowId);
    const answer = await temporal.withDeadline(Date.now() + longestCancelMs, () =>
      workflow.executeUpdate(update, { args: [actor] }),
    );
    // An upload that could no longer be cancelled has made its job.
    const job = name === submissions.submitReportName ? jobOf(answer as submissions.SubmissionEnd) : undefined;
    if (job !== undefined) return await cancelBy(temporal, job, reports.cancelUpdate.name, actor);
    // In the same way, a placing has made its order.
    const order = name === placings.placeKitOrderName ? orderOf(answer as placings.PlacingEnd) : undefined;
    if (order !== undefined) return await cancelPlaced(temporal, order, actor);
    // The current kit of its chain was cancelled, and an earlier one moves again.
    const goesOn = name === orders.kitOrderName && (answer as OrderState).outcome === undefined;
    if (goesOn) return { fate: 'not_cancelled', reason: 'OrderGoesOn' };
    // The service cannot cancel a report, and whatever it reports later is followed again.
    return { fate: 'cancelled', ...(name === reports.parsingJobName && { reason: 'NoLongerFollowed' }) };
  } catch (error) {
    // Accepted by a run that has continued as new since: its answer cannot be read, and the work goes on.
    const isUnread = error instanceof WorkflowNotFoundError && /^update .*not found/i.test(error.message);
    if (error instanceof WorkflowNotFoundError && !isUnread) return { fate: 'ended' };
    if (isUnread || error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) {
      return { fate: 'not_cancelled', reason: 'CommandTimedOut' };
    }
    if (!(error instanceof WorkflowUpdateFailedError)) throw error;
    const { cause } = error;
    const { type, message, details } =
      cause instanceof ApplicationFailure ? cause : ({} as Partial<ApplicationFailure>);
    const { reason } = (details?.[0] ?? {}) as Partial<FailureDetails>;
    if (reason === notAccepted) throw ApplicationFailure.retryable(message, type);
    if (endedTypes.test(type ?? '')) return { fate: 'ended' };
    return { fate: 'not_cancelled', reason: type ?? 'CommandFailed' };
  }
}

/** An order whose placing was cancelled also cancels itself, so it may have ended already. */
async function cancelPlaced(
  temporal: Client,
  order: deletions.RunningWork,
  actor: OfActor,
): Promise<deletions.WorkFate> {
  const met = await cancelBy(temporal, order, orders.cancelUpdate.name, actor);
  if (met.fate !== 'ended') return met;
  const { outcome } = (await temporal.workflow.getHandle(order.workflowId).result()) as orders.KitOrderResult;
  return { fate: outcome === 'cancelled' ? 'cancelled' : 'ended' };
}

function jobOf(end: submissions.SubmissionEnd): deletions.RunningWork | undefined {
  return end.outcome === 'uploaded' ? { workflowId: parsingJobId(end.jobId), name: reports.parsingJobName } : undefined;
}

function orderOf(end: placings.PlacingEnd): deletions.RunningWork | undefined {
  return end.outcome === 'placed' ? { workflowId: kitOrderId(end.orderId), name: orders.kitOrderName } : undefined;
}

/**
 * The failure types of a command whose work has ended: `OrderEnded` and the like, and Temporal's own if the run ended
 * between accepting the command and carrying it out.
 */
const endedTypes = /Ended$|^AcceptedUpdateCompletedWorkflow$/;
