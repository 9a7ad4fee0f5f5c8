import { z } from 'zod';
import type { FastifyInstance } from 'fastify';
import { appointmentBody, availabilityBody, type Appointment } from './appointments.js';
import type { Lab } from './lab.js';
import { requireOrder } from './order-routes.js';
import type { Json } from './order-body.js';
import type { Order } from './state.js';
import { date, optional, refusal, readBody, readQuery, uuid, zip } from './validation.js';

const appointmentPath = '/v3/order/:order_id/phlebotomy/appointment';

/** Invented, under ids that never change. */
export const cancellationReasons = [
  { id: 'ca9ce110-0000-4000-8000-000000000001', name: 'Invented: another day suits better', is_refundable: true },
  { id: 'ca9ce110-0000-4000-8000-000000000002', name: 'Invented: nobody was at home', is_refundable: false },
] as const;

/** The specification's limit on notes is an order's; the schema has the same for an appointment's. */
const notes = optional(z.string().max(1_000));

const appointmentAddress = z.object({
  first_line: z.string(),
  second_line: optional(z.string()),
  city: z.string(),
  state: z.string(),
  zip_code: zip,
  unit: optional(z.string()),
  access_notes: notes,
});

export type AppointmentAddress = z.output<typeof appointmentAddress>;

export const bookingRequest = z.object({
  booking_key: z.string(),
  appointment_notes: notes,
  /** True: the caller does not wait for the provider. */
  async_confirmation: optional(z.boolean()),
  /** After so long without the provider's answer the booking is void; null: never. */
  async_confirmation_timeout_millisecond: optional(z.int().min(60_000).max(172_800_000)),
  sync_confirmation_timeout_millisecond: optional(z.int().min(1_000).max(10_000)),
});

export type BookingRequest = z.output<typeof bookingRequest>;

const requestedAppointment = z.object({ address: appointmentAddress, provider: z.string(), appointment_notes: notes });

export const rescheduleRequest = z.object({ booking_key: z.string(), appointment_notes: notes });

const cancellationRequest = z.object({ cancellation_reason_id: uuid, notes: optional(z.string()) });

const unknownOrder = "This order doesn't exist.";

/** Appointments for a blood draw at home. */
export function appointmentRoutes(app: FastifyInstance, lab: Lab): void {
  const answered = (appointment: Appointment): Json => appointmentBody(appointment);

  app.post('/v3/order/phlebotomy/appointment/availability', (request) => {
    const { start_date: start } = readQuery(z.object({ start_date: optional(date) }), request.query);
    const { zip_code } = readBody(appointmentAddress, request.body);
    const days = lab.slots.offer(zip_code, start === null ? null : Date.parse(start.slice(0, 10)));
    return availabilityBody(days);
  });

  app.get('/v3/order/phlebotomy/appointment/cancellation-reasons', () => cancellationReasons);

  app.post(`${appointmentPath}/book`, (request) => {
    const order = requireOrder(lab, request, unknownOrder);
    return answered(lab.appointments.book(order, readBody(bookingRequest, request.body), homeOf(order)));
  });

  app.post(`${appointmentPath}/request`, (request) => {
    const order = requireOrder(lab, request, unknownOrder);
    return answered(lab.appointments.request(order, readBody(requestedAppointment, request.body)));
  });

  app.patch(`${appointmentPath}/reschedule`, (request) => {
    const order = requireOrder(lab, request, unknownOrder);
    return answered(lab.appointments.reschedule(order, readBody(rescheduleRequest, request.body), 'home'));
  });

  app.patch(`${appointmentPath}/cancel`, (request) => {
    const order = requireOrder(lab, request, unknownOrder);
    const { cancellation_reason_id: reason } = readBody(cancellationRequest, request.body);
    // Not documented; assumed.
    if (!cancellationReasons.some(({ id }) => id === reason)) throw refusal(404, 'Cancellation reason not found');
    return answered(lab.appointments.cancel(order, 'home'));
  });

  app.get(appointmentPath, (request) => {
    const appointment = lab.appointments.of(requireOrder(lab, request, unknownOrder));
    // The wording is not documented; assumed.
    if (appointment === undefined || appointment.centre !== null) throw refusal(404, 'Appointment not found');
    return answered(appointment);
  });
}

/** A booking names no address: somebody comes to the patient's. */
function homeOf({ patient_address: home }: Order): AppointmentAddress {
  return {
    first_line: home?.first_line ?? '',
    second_line: home?.second_line ?? null,
    city: home?.city ?? '',
    state: home?.state ?? '',
    zip_code: home?.zip ?? '',
    unit: null,
    access_notes: home?.access_notes ?? null,
  };
}
