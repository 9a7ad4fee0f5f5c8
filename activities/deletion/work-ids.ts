import { activityInfo, log } from '@temporalio/activity';
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import {
  stateQuery as appointmentStateQuery,
  bookAppointmentName,
  type AppointmentResult,
} from '../../protocol/appointment/messages.js';
import { isAddressable } from '../../protocol/ids.js';
import { canonicalId } from '../../service/canonical-id.js';
import { labOrderIdKey, labTransactionIdKey, labUserIdKey } from '../../protocol/search-attributes.js';
import { parsingJobName } from '../../protocol/report/messages.js';
import { listed } from '../workflow-runs.js';

/**
 * Ids of a user's orders, their transactions, parsing jobs and appointments, as far as Temporal retains their
 * workflows: rejected events without a user's id may contain one of them.
 */
export async function workIdsOf(temporal: Client, userId: string): Promise<string[]> {
  // Nothing that goes into a query may end its quotes.
  if (!isAddressable(userId)) return [];
  const ids = new Set<string>();
  for (const run of await listed(temporal, `${labUserIdKey.name} = '${canonicalId(userId)}'`)) {
    const { type, workflowId, typedSearchAttributes } = run;
    for (const id of typedSearchAttributes.get(labOrderIdKey) ?? []) ids.add(id);
    const transactionId = typedSearchAttributes.get(labTransactionIdKey);
    if (transactionId !== undefined) ids.add(transactionId);
    if (type === parsingJobName) ids.add(workflowId.slice(workflowId.indexOf('/') + 1));
    if (type === bookAppointmentName) {
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
