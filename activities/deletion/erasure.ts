import { activityInfo, ApplicationFailure, log } from '@temporalio/activity';
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { canonicalId } from '../../service/canonical-id.js';
import { ServiceRefused, TooManyRequests, Unauthorized } from '../../service/errors.js';
import type { LabService } from '../../service/lab-service.js';
import { isScheduledForDeletion, isStatedUnknown } from '../../service/users.js';
import { type ActivityDependencies, withStore } from '../dependencies.js';
import { heartbeating } from '../attempt.js';
import { asFailures } from '../failures.js';
import { isThere, type DeletedUser } from './users.js';
import {
  stateQuery as appointmentStateQuery,
  bookAppointmentName,
  type AppointmentResult,
} from '../../protocol/appointment/messages.js';
import { isAddressable } from '../../protocol/ids.js';
import { labUserIdKey, workIdsOf } from '../../protocol/search-attributes.js';
import { listed } from '../workflow-runs.js';

/**
 * True if the product has given the reference to another user since: what names only the reference may be about that user. The first
 * refusal that is not the service's own answer proves nothing; repeated, it is that of a service without this read.
 */
async function isAnothers(service: LabService, userId: string, clientUserId: string): Promise<boolean> {
  try {
    return canonicalId((await service.users.resolve(clientUserId)).user_id) !== canonicalId(userId);
  } catch (error) {
    const isOfKey = error instanceof Unauthorized || error instanceof TooManyRequests;
    if (!(error instanceof ServiceRefused) || isOfKey) throw error;
    if (!isStatedUnknown(error) && !isScheduledForDeletion(error) && activityInfo().attempt === 1) throw askedAgain();
    return false;
  }
}

function askedAgain(): ApplicationFailure {
  return ApplicationFailure.create({
    message: 'A refusal of the read by client_user_id may not be the lab service’s own answer',
    type: 'AnswerUnreadable',
    nonRetryable: false,
    nextRetryDelay: '10 minutes',
  });
}

/** The end of a final deletion. */
export function erasureActivities({
  service,
  temporal,
  workerStore,
}: Pick<ActivityDependencies, 'service' | 'temporal' | 'workerStore'>) {
  return {
    /**
     * Erases a user's data from the store, which then refuses later data of this user. The database may have been down
     * for days, so the user is read again first: if the user exists, nothing is erased.
     */
    async eraseHealthData({ userId, clientUserId }: DeletedUser): Promise<'erased' | 'present'> {
      const erase = async (): Promise<'erased' | 'present'> => {
        if (await isThere(service, userId)) return 'present';
        const ids =
          clientUserId === undefined || (await isAnothers(service, userId, clientUserId)) ? {} : { clientUserId };
        await withStore(workerStore, async (store) => {
          await store.deleteUserData(userId, { ...ids, workIds: await allWorkIdsOf(temporal, userId) });
        });
        return 'erased';
      };
      return asFailures('DeletionRefused', () => heartbeating(erase));
    },
  };
}

/**
 * Ids of a user's orders, their transactions, parsing jobs and appointments, as far as Temporal retains their
 * workflows: rejected events without a user's id may contain one of them.
 */
export async function allWorkIdsOf(temporal: Client, userId: string): Promise<string[]> {
  // Nothing that goes into a query may end its quotes.
  if (!isAddressable(userId)) return [];
  const ids = new Set<string>();
  for (const run of await listed(temporal, `${labUserIdKey.name} = '${canonicalId(userId)}'`)) {
    for (const id of workIdsOf(run)) ids.add(id);
    if (run.type === bookAppointmentName) {
      const appointmentId = await appointmentIdOf(temporal, run);
      if (appointmentId !== undefined) ids.add(appointmentId);
    }
  }
  return [...ids];
}

/** The current appointment, or the last one. Unknown if an operator ended its workflow. */
async function appointmentIdOf(
  temporal: Client,
  { workflowId, runId, status }: WorkflowExecutionInfo,
): Promise<string | undefined> {
  const workflow = temporal.workflow.getHandle(workflowId, runId);
  if (status.name === 'COMPLETED') return ((await workflow.result()) as AppointmentResult).appointment?.appointmentId;
  if (status.name !== 'RUNNING') return undefined;
  try {
    const state = await temporal.withDeadline(Date.now() + queryTimeoutMs, () => workflow.query(appointmentStateQuery));
    return state.appointment?.appointmentId;
  } catch (error) {
    if (activityInfo().attempt < patientAttempts) throw error;
    log.warn('an appointment does not answer: rejected events that name only this appointment are not erased', {
      workflowId,
    });
    return undefined;
  }
}

/** A query takes milliseconds; several appointments fit into one activity. */
const queryTimeoutMs = 5_000;

/** The worker may just be restarting; a workflow that cannot continue must not delay the erasure of everything else. */
const patientAttempts = 3;
