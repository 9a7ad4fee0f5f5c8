import type { Notification } from '../notifications.js';
import type { Telling } from '../outbox.js';
import { bookAppointmentId } from './address.js';
import { clear, raise } from './announcements.js';
import type { AppointmentNotification } from './notifications.js';
import type { AppointmentRun } from './run.js';

/** How an appointment's notifications go out, and what becomes of the case when they do not. */
export function appointmentTelling(run: AppointmentRun): Telling<AppointmentNotification> {
  const { kase } = run;
  return {
    asNotification,
    wordsFor: ({ type }) => type.replaceAll('_', ' '),
    delivered() {
      if (!kase.attention.includes('notifications_undelivered')) return;
      clear(kase, ['notifications_undelivered'], Date.now());
      run.awake = true;
    },
    undelivered() {
      raise(kase, 'notifications_undelivered', Date.now());
      run.awake = true;
    },
  };
}

function asNotification({ id, at, type, data, ...about }: AppointmentNotification): Notification {
  const { orderId } = about;
  return {
    id,
    at,
    source: bookAppointmentId(orderId),
    type: `appointment.${type}`,
    subject: orderId,
    data: { ...about, ...data },
  };
}
