import type { AppointmentOutcome } from './appointment/messages.js';
import type { LinkOutcome } from './link/messages.js';

/* Apart from the messages, which load Temporal: the command line lists these phases in its help. */

/** All of them: the phases in which the arrangement has ended. */
export const appointmentOutcomes: Readonly<Record<AppointmentOutcome, true>> = {
  completed: true,
  cancelled: true,
  expired: true,
  order_ended: true,
  order_gone: true,
  unresolved: true,
  abandoned: true,
};

/** All of them: the phases in which a link has ended. */
export const linkOutcomes: Readonly<Record<LinkOutcome, true>> = {
  connected: true,
  failed: true,
  expired: true,
  cancelled: true,
};
