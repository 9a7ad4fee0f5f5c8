import { note, type AppointmentCase } from './case.js';
import type { AppointmentAttention } from './messages.js';
import type { AppointmentNotification, AppointmentNotificationHead } from './notifications.js';

/** Puts a notification into the outbox, once. Where the worker has no target, nothing is kept and nothing scheduled. */
export function enqueue(kase: AppointmentCase, notification: AppointmentNotification): void {
  if (kase.announced.includes(notification.id)) return;
  kase.announced = [...kase.announced, notification.id].slice(-mostAnnounced);
  if (kase.notifies !== false) kase.outbox.push(notification);
}

/** Longer than any case is by itself; it goes into the result. */
const mostAnnounced = 200;

export function headOf(kase: AppointmentCase, key: string, type: string, now: number): AppointmentNotificationHead {
  const { orderId, userId, known } = kase;
  return {
    id: `${orderId}/${key}/${type}`,
    at: new Date(now).toISOString(),
    orderId,
    ...(userId !== undefined && { userId }),
    ...(known && { appointmentId: known.appointmentId }),
  };
}

/** Tells where the appointment stands, if the product was not told or answered so yet. */
export function announceNews(kase: AppointmentCase, now: number): void {
  const { known, stage, ending } = kase;
  const standing = standingOf(kase);
  if (!known || stage.phase === 'awaiting_choice' || stage.phase === 'completed' || ending !== undefined) {
    if (stage.phase === 'awaiting_choice') kase.shown = standing;
    return;
  }
  if (kase.shown === standing) return;
  kase.shown = standing;
  const { appointmentId, status = 'unknown', startAt, endAt, events } = known;
  const since = events.at(-1)?.at ?? startAt ?? '';
  const times = { ...(startAt !== undefined && { startAt }), ...(endAt !== undefined && { endAt }) };
  enqueue(kase, {
    ...headOf(kase, `${appointmentId}/${status}.${since}`, 'phase_changed', now),
    type: 'phase_changed',
    data: { phase: stage.phase, status, ...times },
  });
}

/** What a change of is news. */
export function standingOf({ known, stage }: AppointmentCase): string {
  return [known?.appointmentId, stage.phase, stage.startAt].join('/');
}

/** The product has to let somebody choose again, and does not know it yet. */
export function announceFall(kase: AppointmentCase, now: number): void {
  const { fallen, stage, policy } = kase;
  if (!fallen) return;
  delete kase.fallen;
  const until = new Date(stage.since + policy.choiceWait).toISOString();
  const head = headOf(kase, `${fallen.appointmentId}/${fallen.reason}`, 'choice_needed', now);
  enqueue(kase, { ...head, type: 'choice_needed', data: { reason: fallen.reason, until } });
}

/** Tells of the end, once. A run that a late webhook has started only to find the same end again has nothing to tell. */
export function announceEnd(kase: AppointmentCase, now: number): void {
  const { ending, order, known, wantedAt, before } = kase;
  if (ending === undefined) return;
  const isSame = before?.outcome === ending && before.appointmentId === known?.appointmentId;
  if (isSame && wantedAt === undefined) return;
  const wanted = wantedAt === undefined ? '' : `.${new Date(wantedAt).toISOString()}`;
  const head = headOf(kase, `${known?.appointmentId ?? 'none'}/${ending}${wanted}`, 'ended', now);
  const why = ending === 'order_ended' && order !== undefined ? { order } : {};
  enqueue(kase, { ...head, type: 'ended', data: { outcome: ending, ...why } });
}

/** Asks a person to look, once while the question stands, and tells the product. */
export function raise(kase: AppointmentCase, reason: AppointmentAttention, now: number): void {
  if (kase.attention.includes(reason)) return;
  kase.attention = [...kase.attention, reason];
  kase.raised[reason] = (kase.raised[reason] ?? 0) + 1;
  note(kase, `attention: ${reason.replaceAll('_', ' ')}`, now);
  tell(kase, reason, 'attention_raised', now);
}

export function clear(kase: AppointmentCase, reasons: readonly AppointmentAttention[], now: number): void {
  for (const reason of kase.attention.filter((raised) => reasons.includes(raised))) {
    note(kase, `no more attention: ${reason.replaceAll('_', ' ')}`, now);
    tell(kase, reason, 'attention_cleared', now);
  }
  kase.attention = kase.attention.filter((raised) => !reasons.includes(raised));
}

function tell(
  kase: AppointmentCase,
  reason: AppointmentAttention,
  type: 'attention_raised' | 'attention_cleared',
  now: number,
): void {
  const about = kase.known?.appointmentId ?? 'none';
  const head = headOf(kase, `${about}/${reason}.${kase.raised[reason] ?? 1}`, type, now);
  enqueue(kase, { ...head, type, data: { reason } });
}
