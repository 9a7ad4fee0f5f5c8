import type { FastifyInstance, FastifyRequest } from 'fastify';
import { appointmentBody, availabilityBody } from './appointment-body.js';
import {
  availabilityRequest,
  bookingRequest,
  requestedAppointment,
  rescheduleRequest,
  type AppointmentAddress,
} from './appointment-requests.js';
import type { Appointment } from './appointments.js';
import type { Lab } from './lab.js';
import type { Json } from './order-body.js';
import { pathUuid } from './path-ids.js';
import { refusal } from './problems.js';
import type { Order } from './state.js';
import { Fields, date, uuid } from './validation.js';

const APPOINTMENT = '/v3/order/:order_id/phlebotomy/appointment';

/** Invented, under ids that never change. */
export const CANCELLATION_REASONS = [
  { id: 'ca9ce110-0000-4000-8000-000000000001', name: 'Invented: another day suits better', is_refundable: true },
  { id: 'ca9ce110-0000-4000-8000-000000000002', name: 'Invented: nobody was at home', is_refundable: false },
] as const;

/** Appointments for a blood draw at home. */
export function appointmentRoutes(app: FastifyInstance, lab: Lab): void {
  const answered = (appointment: Appointment): Json => appointmentBody(appointment, lab.settings.current);

  app.post('/v3/order/phlebotomy/appointment/availability', (request) => {
    const fields = Fields.ofQuery(request.query);
    const start = fields.optionalString('start_date', date);
    fields.finish();
    const { zip_code: zip } = availabilityRequest(request.body);
    const days = lab.slots.offer(zip, start === null ? null : Date.parse(start.slice(0, 10)));
    return availabilityBody(days, lab.settings.current);
  });

  app.get('/v3/order/phlebotomy/appointment/cancellation-reasons', () => CANCELLATION_REASONS);

  app.post(`${APPOINTMENT}/book`, (request) => {
    const order = requireOrder(lab, request);
    return answered(lab.appointments.book(order, bookingRequest(request.body), homeOf(order)));
  });

  app.post(`${APPOINTMENT}/request`, (request) =>
    answered(lab.appointments.request(requireOrder(lab, request), requestedAppointment(request.body))),
  );

  app.patch(`${APPOINTMENT}/reschedule`, (request) => {
    const order = requireOrder(lab, request);
    const { bookingKey, notes } = rescheduleRequest(request.body);
    return answered(lab.appointments.reschedule(order, bookingKey, notes));
  });

  app.patch(`${APPOINTMENT}/cancel`, (request) => {
    const order = requireOrder(lab, request);
    const fields = Fields.ofBody(request.body);
    const reason = fields.string('cancellation_reason_id', uuid);
    fields.optionalString('notes');
    fields.finish();
    // Not documented; assumed.
    if (!CANCELLATION_REASONS.some(({ id }) => id === reason)) throw refusal(404, 'Cancellation reason not found');
    return answered(lab.appointments.cancel(order));
  });

  app.get(APPOINTMENT, (request) => {
    const appointment = lab.appointments.of(requireOrder(lab, request));
    // The wording is not documented; assumed.
    if (appointment === undefined) throw refusal(404, 'Appointment not found');
    return answered(appointment);
  });
}

function requireOrder(lab: Lab, request: FastifyRequest): Order {
  const order = lab.state.orders.get(pathUuid(request, 'order_id'));
  if (order === undefined) throw refusal(404, "This order doesn't exist.");
  return order;
}

/** A booking names no address: somebody comes to the patient's. */
function homeOf({ patientAddress: home }: Order): AppointmentAddress {
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
