import type { RaisedAttention } from '../../protocol/attention.js';
import type {
  AppointmentAttentionReason,
  AppointmentNotification,
  AppointmentNotificationHead,
} from '../../protocol/appointment/messages.js';
import { bookAppointmentId } from '../../protocol/ids.js';
import { attentionVerbsFor } from '../entity/attention.js';
import { enqueueOnce, notificationOf, shortDigest } from '../entity/outbox.js';
import { iso } from '../entity/spans.js';
import type { Appointment } from './appointment.js';
import { omitNullish } from '../../protocol/json.js';

export function enqueue(appointment: Appointment, notification: AppointmentNotification): void {
  const { orderId } = appointment;
  const from = { area: 'appointment', source: bookAppointmentId(orderId), subject: orderId };
  enqueueOnce(appointment, notificationOf(from, notification));
}

export function headOf(appointment: Appointment, key: string, type: string, now: number): AppointmentNotificationHead {
  const { orderId, userId, known } = appointment;
  const id = `${orderId}/${key}/${type}`;
  return omitNullish({ id, at: iso(now), orderId, userId, appointmentId: known?.appointmentId });
}

/** Announces where the appointment stands, unless that was announced or answered already. */
export function announceNews(appointment: Appointment, now: number): void {
  const { known, stage, ending } = appointment;
  // As long as this stays the same there is no news.
  const standing = [known?.appointmentId, stage.phase, stage.startAt].join('/');
  if (!known || stage.phase === 'awaiting_choice' || stage.phase === 'completed' || ending !== undefined) {
    if (stage.phase === 'awaiting_choice') appointment.shown = standing;
    return;
  }
  if (appointment.shown === standing) return;
  appointment.shown = standing;
  const { appointmentId, status = 'unknown', startAt, endAt, events } = known;
  const since = events.at(-1)?.at ?? startAt ?? '';
  const times = omitNullish({ startAt, endAt });
  // Ids are logged: a digest stands for the time of the visit.
  const key = `${appointmentId}/${status}.${since}.${shortDigest(`${appointmentId}/${startAt ?? ''}`)}`;
  const head = (count: string) => headOf(appointment, `${key}${count}`, 'phase_changed', now);
  enqueue(appointment, {
    ...nextHead(appointment, head),
    type: 'phase_changed',
    data: { phase: stage.phase, status, ...times },
  });
}

/** The product has to let somebody choose again, and does not know it yet. */
export function announceFall(appointment: Appointment, now: number): void {
  const { fallen, stage, policy } = appointment;
  if (!fallen) return;
  delete appointment.fallen;
  const until = iso(stage.since + policy.choiceWait);
  const head = (count: string) =>
    headOf(appointment, `${fallen.appointmentId}/${fallen.reason}${count}`, 'choice_needed', now);
  enqueue(appointment, {
    ...nextHead(appointment, head),
    type: 'choice_needed',
    data: { reason: fallen.reason, until },
  });
}

/**
 * The head of what is announced, with the count `.2`, `.3`, … if it was announced before and something else since. If it was the
 * last that was announced, by this run or an earlier one, it is the same again, and dropped.
 */
function nextHead(
  { announced }: Appointment,
  head: (count: string) => AppointmentNotificationHead,
): AppointmentNotificationHead {
  const standings = announced.filter((id) => /\/(?:phase_changed|choice_needed)$/.test(id));
  let before: AppointmentNotificationHead | undefined;
  for (let count = 1; ; count += 1) {
    const next = head(count === 1 ? '' : `.${count}`);
    if (!announced.includes(next.id)) return before && before.id === standings.at(-1) ? before : next;
    before = next;
  }
}

/** Announces the end, once. A run that a late webhook started, and that finds the same end again, announces nothing. */
export function announceEnd(appointment: Appointment, now: number): void {
  const { ending, order, known, requestedAt, before } = appointment;
  if (ending === undefined) return;
  const isSame = before?.outcome === ending && before.appointmentId === known?.appointmentId;
  if (isSame && requestedAt === undefined) return;
  const requested = requestedAt === undefined ? '' : `.${iso(requestedAt)}`;
  const head = headOf(appointment, `${known?.appointmentId ?? 'none'}/${ending}${requested}`, 'ended', now);
  const why = ending === 'order_ended' && order !== undefined ? { order } : {};
  enqueue(appointment, { ...head, type: 'ended', data: { outcome: ending, ...why } });
}

export const { raise, clear } = attentionVerbsFor<RaisedAttention<AppointmentAttentionReason>, Appointment>({
  notify(appointment, { reason, since }, { id, type }, now) {
    const about = appointment.known?.appointmentId ?? 'none';
    enqueue(appointment, { ...headOf(appointment, `${about}/${id}`, type, now), type, data: { reason, since } });
  },
});
