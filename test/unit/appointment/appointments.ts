import type { AppointmentSnapshot } from '../../../service/appointment/snapshot.js';
import { openAppointment, recordAnswer, type Appointment } from '../../../workflows/appointment/appointment.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

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
