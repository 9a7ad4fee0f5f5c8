import type { AppointmentSnapshot } from '../../../service/appointment/snapshot.js';
import { openAppointment, recordAnswer, type Appointment } from '../../../workflows/appointment/appointment.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';
import type { AppointmentPolicy } from '../../../protocol/appointment/policy.js';
import { bookAppointment } from '../../../workflows/appointment/workflow.js';
import { Life, unavailable, type Answers } from '../life.js';

export const start = Date.parse('2024-03-01T10:00:00.000Z');
export const hour = 3_600_000;
export const day = 24 * hour;

function at(span: number): string {
  return new Date(start + span).toISOString();
}

/** An appointment whose events came an hour apart, the last one's status being the present one. */
export function snapshot(
  statuses: readonly string[],
  more: Partial<AppointmentSnapshot> & { from?: number } = {},
): AppointmentSnapshot {
  const { from = 0, ...rest } = more;
  return {
    appointmentId: 'appointment-1',
    status: statuses.at(-1) ?? 'pending',
    startAt: at(5 * day),
    endAt: at(5 * day + hour),
    events: statuses.map((status, n) => ({ at: at(from + n * hour), status })),
    ...rest,
  };
}

/** An appointment that the product requested and is notified about. */
export function requestedCase(known?: AppointmentSnapshot, changes: Partial<Appointment> = {}): Appointment {
  const appointment = openAppointment({ orderId: 'order-1', policy: resolvePolicy('appointment') }, start);
  Object.assign(appointment, { requested: true, requestedAt: start, identified: true, notifies: true });
  if (known) recordAnswer(appointment, known, 0, start);
  return Object.assign(appointment, changes);
}

export const orderId = '00000000-0000-4000-8000-00000000000a';

export const opening = {
  ...{ workflow: bookAppointment, type: 'bookAppointment', workflowId: `appointment/${orderId}`, now: start },
};

export const reading = (appointment?: AppointmentSnapshot, order = 'open') => ({
  order,
  ...(appointment && { appointment }),
});

type Service = object | ((now: number) => object);

/** @param service what it shows, or at which moment what */
export async function life(
  service: Service,
  policy: AppointmentPolicy = {},
  isRequested = true,
  answers: Answers = {},
): Promise<Life> {
  const at = (now: number): object =>
    typeof service === 'function' ? (service as (now: number) => object)(now) : service;
  const identifyAppointment = (now: number) => {
    const shown = at(now);
    return { notifies: true, ...(shown !== unavailable && { reading: shown }) };
  };
  const begun = new Life(opening, { identifyAppointment, readAppointment: at, ...answers });
  const resolved = resolvePolicy('appointment', policy);
  const requested = { name: 'bookingRequested', argument: { policy: resolved } };
  const { appointment } = at(start) as { appointment?: object };
  const reported = { name: 'appointmentChanged', argument: appointment };
  return begun.start({ orderId, policy: resolved }, isRequested ? requested : reported);
}

/** The service shows another appointment from now on, and a webhook reports it. */
export async function report(of: Life, appointment: AppointmentSnapshot, order = 'open'): Promise<void> {
  of.answers['readAppointment'] = reading(appointment, order);
  await of.signal('appointmentChanged', appointment);
}
