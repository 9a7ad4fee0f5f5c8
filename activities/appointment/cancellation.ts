import { activityInfo, ApplicationFailure, sleep } from '@temporalio/activity';
import type { AppointmentSnapshot } from '../../service/appointment/snapshot.js';
import { isStatedAbsence, sentencesOf, ServiceRefused } from '../../service/errors.js';
import type { CallOptions } from '../../service/http/http.js';
import type { LabService } from '../../service/lab-service.js';
import { isOpen, visitPhaseOf, walkInType } from '../../protocol/appointment/lifecycle.js';
import { beforeNextRead, isCertain, unlessExisting } from './booking.js';
import { callsAt, snapshotAt, type Place } from './places.js';
import { present } from './reading.js';

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
 * made in the meantime, is left alone. If none is shown, the read may be wrong, so the service is asked to cancel all the same.
 */
export async function cancelOnce(
  service: LabService,
  input: CancelAppointment,
  options: CallOptions,
): Promise<AppointmentSnapshot | null> {
  const { orderId, appointmentId, notes } = input;
  const place: Place = input.type === walkInType ? 'centre' : 'home';
  const calls = callsAt(place, service);
  const shown = async () => present(service, orderId, place, options);
  // The request names the order, not the appointment: another one must not be overlooked.
  const shownLater = async () => {
    await sleep(beforeNextRead);
    return shown();
  };
  const before = (await shown()) ?? (await shownLater());
  if (before && before.appointmentId !== appointmentId) return null;
  if (before && !isOpen(before)) return before;
  const reasonId = input.reasonId ?? (await firstReason(calls, options));
  const request = { reasonId, ...(notes !== undefined && { notes }) };
  try {
    return snapshotAt(place, await calls.cancel(orderId, request, options));
  } catch (error) {
    if (isCertain(error)) throw error;
    if (!before && error instanceof ServiceRefused && deniesAppointment(error)) return null;
    const after = await shown().catch((failed: unknown) => unlessExisting(failed) ?? ('unknown' as const));
    if (after === 'unknown') throw error;
    if (after && after.appointmentId === appointmentId && visitPhaseOf(after) === 'cancelled') return after;
    // Only active appointments are shown at a service centre.
    const isGone = after?.appointmentId !== appointmentId && place === 'centre' && mayHaveCancelled(error);
    if (before && isGone) return { ...before, status: 'cancelled' };
    // An earlier attempt has cancelled it, and its answer was lost.
    if (!before && !after && error instanceof ServiceRefused && activityInfo().attempt > 1) return null;
    throw error;
  }
}

/** A visit that was just completed is refused too, and is not shown any more either. */
function mayHaveCancelled(error: unknown): boolean {
  return !(error instanceof ServiceRefused) || isCancelledAlready(error);
}

/** Not every refusal does: a visit that can no longer be cancelled stands. */
function deniesAppointment(error: ServiceRefused): boolean {
  return (
    isStatedAbsence(error, ['appointment', 'order']) ||
    isCancelledAlready(error) ||
    noAppointment.test(sentencesOf(error))
  );
}

const noAppointment = /\bno (?:\w+ ){0,2}appointments?\b|(?:\bnot|n['’]t) (?:yet )?have an? (?:\w+ )?appointment\b/i;

function isCancelledAlready(error: ServiceRefused): boolean {
  return /\balready (?:been )?cancel/i.test(sentencesOf(error));
}

async function firstReason(calls: ReturnType<typeof callsAt>, options: CallOptions): Promise<string> {
  const [reason] = await calls.cancellationReasons(options);
  if (reason) return reason.id;
  const message = 'is needed: the service lists no reason';
  throw ApplicationFailure.nonRetryable(`reasonId ${message}`, 'CancellationRefused', {
    fields: [{ field: 'reasonId', message }],
  });
}
