import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { bookAppointmentId } from '../../protocol/ids.js';
import {
  bookAppointmentName,
  type AppointmentAttentionReason,
  type AppointmentPhase,
} from '../../protocol/appointment/messages.js';
import { listWorkflows, type WorkflowFilter, type WorkflowSummary } from '../workflow-list.js';
import { AppointmentInvalid } from './errors.js';

export type AppointmentFilter = WorkflowFilter<AppointmentPhase, AppointmentAttentionReason>;

/** One line of a list, read from search attributes. */
export interface AppointmentSummary extends WorkflowSummary<AppointmentPhase, AppointmentAttentionReason> {
  orderId: string;
}

const appointments = {
  workflows: `WorkflowType = '${bookAppointmentName}'`,
  invalid: AppointmentInvalid,
  own: ({ workflowId }: WorkflowExecutionInfo) => ({ orderId: workflowId.slice(bookAppointmentId('').length) }),
};

export function listAppointments(
  temporal: Client,
  filter: AppointmentFilter,
): AsyncGenerator<AppointmentSummary, void, undefined> {
  return listWorkflows(temporal, appointments, filter);
}
