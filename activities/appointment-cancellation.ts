import { ApplicationFailure } from '@temporalio/activity';
import type { AppointmentSnapshot } from '../service/appointment-snapshot.js';
import { ServiceRefused } from '../service/errors.js';
import type { CallOptions } from '../service/http.js';
import type { LabService } from '../service/lab-service.js';
import { isOpen, visitPhaseOf, walkInType } from '../protocol/appointment/lifecycle.js';
import { isCertain, unlessExisting } from './appointment-booking.js';
import { callsAt, snapshotAt, type Place } from './appointment-places.js';
import { present } from './appointment-reading.js';

export interface CancelAppointment {
  orderId: string;
  /** Another appointment is not cancelled. */
  appointmentId: string;
  reasonId?: string;
  notes?: string;
  /** `patient_service_center` for one at a service centre. */
  type?: string;
}

/**
 * If the appointment is no longer open, an earlier attempt whose answer was lost has cancelled it. Another appointment,
 * made in the meantime, is left alone.
 */
export async function cancelOnce(
  service: LabService,
  input: CancelAppointment,
  options: CallOptions,
): Promise<AppointmentSnapshot | null> {
  const { orderId, appointmentId, notes } = input;
  const place: Place = input.type === walkInType ? 'centre' : 'home';
  const calls = callsAt(place, service);
  const standing = async () => {
    const found = await present(service, orderId, place, options);
    return found?.appointmentId === appointmentId ? found : null;
  };
  const before = await standing();
  if (!before || !isOpen(before)) return before;
  const reasonId = input.reasonId ?? (await firstReason(calls, options));
  const request = { reasonId, ...(notes !== undefined && { notes }) };
  try {
    return snapshotAt(place, await calls.cancel(orderId, request, options));
  } catch (error) {
    if (isCertain(error)) throw error;
    const after = await standing().catch(unlessExisting);
    if (after && visitPhaseOf(after) === 'cancelled') return after;
    // Only active appointments are shown at a service centre.
    if (after === null && place === 'centre' && mayHaveCancelled(error)) return { ...before, status: 'cancelled' };
    throw error;
  }
}

/** A visit that was just completed is refused too, and is not shown any more either. */
function mayHaveCancelled(error: unknown): boolean {
  if (!(error instanceof ServiceRefused)) return true;
  const text = [error.reason ?? '', ...error.fields.map(({ message }) => message)].join(' ');
  return /\balready (?:been )?cancel/i.test(text);
}

async function firstReason(calls: ReturnType<typeof callsAt>, options: CallOptions): Promise<string> {
  const [reason] = await calls.cancellationReasons(options);
  if (reason) return reason.id;
  const message = 'is needed: the service lists no reason';
  throw ApplicationFailure.nonRetryable(`reasonId ${message}`, 'CancellationRefused', {
    fields: [{ field: 'reasonId', message }],
  });
}
