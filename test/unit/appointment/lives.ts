import type { AppointmentPolicy } from '../../../protocol/appointment/policy.js';
import type { AppointmentSnapshot } from '../../../service/appointment/snapshot.js';
import { bookAppointment } from '../../../workflows/appointment/workflow.js';
import { Life, unavailable, type Answers } from '../life.js';
import { start } from './appointments.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

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
