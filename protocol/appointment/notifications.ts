import type { Attention } from '../attention.js';
import type { AppointmentAttentionReason, AppointmentOutcome, AppointmentPhase, AppointmentState } from './messages.js';

/**
 * Notifications about an appointment, CloudEvents of type `labops.appointment.<type>`. An id is never derived from a
 * run, so a receiver can drop repeats: `<order id>/<what it is about>/<type>`.
 */
export type AppointmentNotification = AppointmentNotificationHead &
  (
    | { type: 'phase_changed'; data: { phase: AppointmentPhase; status: string; startAt?: string; endAt?: string } }
    /** The appointment fell through, but not because of the product: another slot must be chosen. */
    | { type: 'choice_needed'; data: { reason: 'cancelled' | 'not_shown'; until: string } }
    | { type: 'choice_reminder'; data: { reminder: number; until: string } }
    | { type: 'visit_reminder'; data: { reminder: number; startAt: string } }
    | { type: 'attention_raised'; data: Attention<AppointmentAttentionReason> }
    | { type: 'attention_cleared'; data: Attention<AppointmentAttentionReason> }
    | { type: 'ended'; data: { outcome: AppointmentOutcome; order?: AppointmentState['order'] } }
  );

export interface AppointmentNotificationHead {
  id: string;
  /** When it was learnt, ISO 8601 in UTC. */
  at: string;
  orderId: string;
  userId?: string;
  appointmentId?: string;
}
