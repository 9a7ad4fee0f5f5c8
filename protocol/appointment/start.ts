import { TypedSearchAttributes } from '@temporalio/common';
import type { AppointmentSnapshot } from '../../service/appointment/snapshot.js';
import { labOrderIdKey, labPhaseKey, ofUser } from '../search-attributes.js';
import { bookAppointmentId } from '../ids.js';
import { canonicalId } from '../../service/canonical-id.js';
import { visitPhaseOf } from './lifecycle.js';
import { bookAppointmentName, type BookAppointmentInput } from './messages.js';
import type { ResolvedAppointmentPolicy } from './policy.js';
import type { WorkflowStart } from '../signal-or-start.js';
import { resolvePolicy } from '../policy/policies.js';

/**
 * The start options for the workflow of an order's appointment, to be used with signal-with-start.
 *
 * @param policy by default today's defaults, which become data of the history
 */
export function bookAppointmentStart(
  givenOrderId: string,
  snapshot?: AppointmentSnapshot,
  policy: ResolvedAppointmentPolicy = resolvePolicy('appointment'),
): WorkflowStart<BookAppointmentInput> {
  const orderId = canonicalId(givenOrderId);
  const visit = snapshot && visitPhaseOf(snapshot);
  const phase = visit === undefined || visit === 'cancelled' ? 'awaiting_choice' : visit;
  return {
    name: bookAppointmentName,
    workflowId: bookAppointmentId(orderId),
    args: [{ orderId, policy }],
    typedSearchAttributes: new TypedSearchAttributes([
      { key: labOrderIdKey, value: [orderId] },
      { key: labPhaseKey, value: phase },
      ...ofUser(snapshot?.userId),
    ]),
    staticSummary: `Appointment of order ${orderId}`,
    staticDetails:
      'Carries the appointment for a blood draw, at home or at a service centre, from the choice of a slot to the visit.',
  };
}
