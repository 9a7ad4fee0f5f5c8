import type { AppointmentAttention } from '../../protocol/appointment/messages.js';
import type { AppointmentNotification, AppointmentNotificationHead } from '../../protocol/appointment/notifications.js';
import { bookAppointmentId } from '../../protocol/ids.js';
import type { Notification } from '../../protocol/notifications.js';
import { enqueue as enqueueIn, type Delivery } from '../entity/outbox.js';
import { note, type Appointment } from './appointment.js';
import type { AppointmentRun } from './workflow.js';

/** Puts a notification into the outbox, once. */
export function enqueue(appointment: Appointment, notification: AppointmentNotification): void {
  if (appointment.announced.includes(notification.id)) return;
  appointment.announced = [...appointment.announced, notification.id].slice(-mostAnnounced);
  enqueueIn(appointment, asNotification(notification));
}

/** Longer than any case is by itself; it goes into the result. */
const mostAnnounced = 200;

export function headOf(appointment: Appointment, key: string, type: string, now: number): AppointmentNotificationHead {
  const { orderId, userId, known } = appointment;
  return {
    id: `${orderId}/${key}/${type}`,
    at: new Date(now).toISOString(),
    orderId,
    ...(userId !== undefined && { userId }),
    ...(known && { appointmentId: known.appointmentId }),
  };
}

/** Tells where the appointment stands, if the product was not told or answered so yet. */
export function announceNews(appointment: Appointment, now: number): void {
  const { known, stage, ending } = appointment;
  const standing = standingOf(appointment);
  if (!known || stage.phase === 'awaiting_choice' || stage.phase === 'completed' || ending !== undefined) {
    if (stage.phase === 'awaiting_choice') appointment.shown = standing;
    return;
  }
  if (appointment.shown === standing) return;
  appointment.shown = standing;
  const { appointmentId, status = 'unknown', startAt, endAt, events } = known;
  const since = events.at(-1)?.at ?? startAt ?? '';
  const times = { ...(startAt !== undefined && { startAt }), ...(endAt !== undefined && { endAt }) };
  enqueue(appointment, {
    ...headOf(appointment, `${appointmentId}/${status}.${since}`, 'phase_changed', now),
    type: 'phase_changed',
    data: { phase: stage.phase, status, ...times },
  });
}

/** What a change of is news. */
function standingOf({ known, stage }: Appointment): string {
  return [known?.appointmentId, stage.phase, stage.startAt].join('/');
}

/** The product has to let somebody choose again, and does not know it yet. */
export function announceFall(appointment: Appointment, now: number): void {
  const { fallen, stage, policy } = appointment;
  if (!fallen) return;
  delete appointment.fallen;
  const until = new Date(stage.since + policy.choiceWait).toISOString();
  const head = headOf(appointment, `${fallen.appointmentId}/${fallen.reason}`, 'choice_needed', now);
  enqueue(appointment, { ...head, type: 'choice_needed', data: { reason: fallen.reason, until } });
}

/** Tells of the end, once. A run that a late webhook has started only to find the same end again has nothing to tell. */
export function announceEnd(appointment: Appointment, now: number): void {
  const { ending, order, known, wantedAt, before } = appointment;
  if (ending === undefined) return;
  const isSame = before?.outcome === ending && before.appointmentId === known?.appointmentId;
  if (isSame && wantedAt === undefined) return;
  const wanted = wantedAt === undefined ? '' : `.${new Date(wantedAt).toISOString()}`;
  const head = headOf(appointment, `${known?.appointmentId ?? 'none'}/${ending}${wanted}`, 'ended', now);
  const why = ending === 'order_ended' && order !== undefined ? { order } : {};
  enqueue(appointment, { ...head, type: 'ended', data: { outcome: ending, ...why } });
}

/** Asks a person to look, once while the question stands, and tells the product. */
export function raise(appointment: Appointment, reason: AppointmentAttention, now: number): void {
  if (appointment.attention.includes(reason)) return;
  appointment.attention = [...appointment.attention, reason];
  appointment.raised[reason] = (appointment.raised[reason] ?? 0) + 1;
  note(appointment, `attention: ${reason.replaceAll('_', ' ')}`, now);
  tell(appointment, reason, 'attention_raised', now);
}

export function clear(appointment: Appointment, reasons: readonly AppointmentAttention[], now: number): void {
  for (const reason of appointment.attention.filter((raised) => reasons.includes(raised))) {
    note(appointment, `no more attention: ${reason.replaceAll('_', ' ')}`, now);
    tell(appointment, reason, 'attention_cleared', now);
  }
  appointment.attention = appointment.attention.filter((raised) => !reasons.includes(raised));
}

function tell(
  appointment: Appointment,
  reason: AppointmentAttention,
  type: 'attention_raised' | 'attention_cleared',
  now: number,
): void {
  const about = appointment.known?.appointmentId ?? 'none';
  const head = headOf(appointment, `${about}/${reason}.${appointment.raised[reason] ?? 1}`, type, now);
  enqueue(appointment, { ...head, type, data: { reason } });
}

/** What an undelivered notification means for the appointment. */
export function appointmentDelivery(run: AppointmentRun): Delivery {
  const { appointment } = run;
  return {
    delivered() {
      if (!appointment.attention.includes('notifications_undelivered')) return;
      clear(appointment, ['notifications_undelivered'], Date.now());
      run.awake = true;
    },
    undelivered() {
      raise(appointment, 'notifications_undelivered', Date.now());
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
