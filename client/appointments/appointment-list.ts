import type { Client } from '@temporalio/client';
import { bookAppointmentId } from '../../protocol/ids.js';
import {
  bookAppointmentName,
  type AppointmentAttentionReason,
  type AppointmentPhase,
} from '../../protocol/appointment/messages.js';
import {
  listWorkflows,
  summaryOf,
  type ListedArea,
  type WorkflowFilter,
  type WorkflowSummary,
} from '../workflow-list.js';
import { AppointmentInvalid } from './errors.js';

export type AppointmentFilter = WorkflowFilter<AppointmentPhase, AppointmentAttentionReason>;

/** One line of a list, read from search attributes. */
export interface AppointmentSummary extends WorkflowSummary<AppointmentPhase, AppointmentAttentionReason> {
  orderId: string;
}

const appointments: ListedArea = {
  workflows: `WorkflowType = '${bookAppointmentName}'`,
  invalid: AppointmentInvalid,
};

export async function* listAppointments(
  temporal: Client,
  filter: AppointmentFilter,
): AsyncGenerator<AppointmentSummary, void, undefined> {
  for await (const execution of listWorkflows(temporal, appointments, filter)) {
    const orderId = execution.workflowId.slice(bookAppointmentId('').length);
    yield { orderId, ...summaryOf<AppointmentPhase, AppointmentAttentionReason>(execution) };
  }
}
