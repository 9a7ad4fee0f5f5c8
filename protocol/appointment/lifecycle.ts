import type { AppointmentSnapshot } from '../../service/appointment/snapshot.js';
import type { AppointmentPhase } from './messages.js';

/** The meaning of an appointment's status (docs/internals/lab-service.md, "Appointments"). Neither list is closed. */

/** The phase that a status brings an appointment to; after `cancelled` a slot must be chosen again. */
export type VisitPhase = Extract<AppointmentPhase, 'awaiting_confirmation' | 'confirmed' | 'in_progress' | 'completed'>;

const phases: Readonly<Record<string, VisitPhase | 'cancelled'>> = {
  pending: 'awaiting_confirmation',
  reserved: 'awaiting_confirmation',
  confirmed: 'confirmed',
  in_progress: 'in_progress',
  completed: 'completed',
  cancelled: 'cancelled',
};

function known(status: string | undefined): VisitPhase | 'cancelled' | undefined {
  return Object.hasOwn(phases, status ?? '') ? phases[status ?? ''] : undefined;
}

/** A status that is not known yet leaves the appointment where its events had brought it, or waiting for the next one. */
export function visitPhaseOf({ status, events }: AppointmentSnapshot): VisitPhase | 'cancelled' {
  const before = () => events.findLast((event) => known(event.status) !== undefined)?.status;
  return known(status) ?? known(before()) ?? 'awaiting_confirmation';
}

/** A visit is still to come, or is not finished. */
export function isOpen(snapshot: AppointmentSnapshot): boolean {
  const phase = visitPhaseOf(snapshot);
  return phase !== 'completed' && phase !== 'cancelled';
}

/** At a patient service centre, to which the person goes. */
export const walkInType = 'patient_service_center';

export function isWalkIn({ type }: Pick<AppointmentSnapshot, 'type'>): boolean {
  return type === walkInType;
}

/** A visit at home that is cancelled later than this before its start is not refunded (docs/internals/lab-service.md). */
const refundNotice = 24 * 3_600_000;

/**
 * The moment up to which a cancelled visit at home is refunded in full, in milliseconds since the epoch. `undefined` for a
 * service centre, for which no rule is documented, and without a start.
 */
export function refundableUntil({ type = 'phlebotomy', startAt }: AppointmentSnapshot): number | undefined {
  const start = Date.parse(startAt ?? '');
  return type === 'phlebotomy' && !Number.isNaN(start) ? start - refundNotice : undefined;
}

/** The meaning of the order's state for its appointment. */
export type OrderEffect =
  /** Nothing: it waits for the draw. */
  | 'open'
  /** It was cancelled, and a visit at home with it. An appointment at a service centre stays. */
  | 'cancelled'
  /** The sample was taken, or results are available, or the order failed after that: no visit is needed any more. */
  | 'collected'
  /** It is collected by a method that has no appointments. */
  | 'no_appointment';

/** For people. */
export const whyNobodyComes: Readonly<Record<Exclude<OrderEffect, 'open'>, string>> = {
  cancelled: 'the order was cancelled',
  collected: 'the sample was taken',
  no_appointment: 'the order is collected without an appointment',
};

/**
 * @param phase of the order; @param low the last part of its last status; @param method of collection, if it is known
 */
export function orderEffect(phase: string, low: string, method = ''): OrderEffect {
  if (phase === 'cancelled') return 'cancelled';
  if (['at_lab', 'completed', 'failed'].includes(phase) || collected.includes(low)) return 'collected';
  return withoutAppointment.includes(method) ? 'no_appointment' : 'open';
}

/** For an unknown method the service decides. */
const withoutAppointment: readonly string[] = ['testkit', 'on_site_collection'];

/** Statuses below `collecting_sample` after which this order needs no visit any more. */
const collected: readonly string[] = ['draw_completed', 'redraw_available'];
