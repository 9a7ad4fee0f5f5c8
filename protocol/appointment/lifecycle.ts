import type { AppointmentSnapshot } from '../../service/appointment-snapshot.js';
import type { AppointmentPhase } from './messages.js';

/** The meaning of an appointment's status (docs/lab-service.md, "Appointments"). Neither list is closed. */

/** The phase that a status brings an appointment to; `cancelled` brings the case back to a choice. */
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

/** What the order's state means for its appointment. */
export type OrderEffect =
  /** Nothing: it waits for the draw. */
  | 'open'
  /** It was cancelled, and its appointment with it. */
  | 'cancelled'
  /** The sample was taken, or results are available, or the order failed after that: no visit is needed any more. */
  | 'collected'
  /** It is collected by another method, without a visit. */
  | 'not_at_home';

/** For people. */
export const whyNobodyComes: Readonly<Record<Exclude<OrderEffect, 'open'>, string>> = {
  cancelled: 'the order was cancelled',
  collected: 'the sample was taken',
  not_at_home: 'the order is not collected at home',
};

/**
 * @param phase of the order; @param low the last part of its last status; @param method of collection, if it is known
 */
export function orderEffect(phase: string, low: string, method = ''): OrderEffect {
  if (phase === 'cancelled') return 'cancelled';
  if (['at_lab', 'completed', 'failed'].includes(phase) || collected.includes(low)) return 'collected';
  return elsewhere.includes(method) ? 'not_at_home' : 'open';
}

/** Collection methods without a visit. For an unknown method the service decides. */
const elsewhere: readonly string[] = ['testkit', 'walk_in_test', 'on_site_collection'];

/** Statuses below `collecting_sample` after which this order needs no visit any more. */
const collected: readonly string[] = ['draw_completed', 'redraw_available'];
