import type { FastifyInstance } from 'fastify';
import { appointmentBody } from './appointment-body.js';
import type { Appointment } from './appointments.js';
import { appointmentMoveSchema, controlBody, takenSlotSchema } from './control-requests.js';
import type { Lab } from './lab.js';
import type { Json } from './order-body.js';
import { pathUuid } from './path-ids.js';
import { ServiceProblem } from './problems.js';

/** The part of the control surface that is about appointments. */
export function controlAppointmentRoutes(app: FastifyInstance, lab: Lab): void {
  const shown = (appointment: Appointment): Json => appointmentBody(appointment, lab.settings.current);

  app.get('/_sandbox/appointments', () => ({ appointments: lab.appointments.all().map(shown) }));

  app.post('/_sandbox/orders/:order_id/appointment/move', (request) => {
    const id = pathUuid(request, 'order_id');
    const order = lab.state.orders.get(id);
    const appointment = order && lab.appointments.of(order);
    if (appointment === undefined) throw new ServiceProblem(404, { error: `the order ${id} has no appointment` });
    const move = controlBody(appointmentMoveSchema, request.body);
    if (move.can_reschedule !== undefined) appointment.canReschedule = move.can_reschedule;
    if (move.event_status !== undefined) {
      lab.appointments.move(appointment, move.event_status, { webhook: move.webhook ?? true });
    }
    return shown(appointment);
  });

  app.post('/_sandbox/slots/take', (request) => {
    const slot = lab.slots.offeredAs(controlBody(takenSlotSchema, request.body).booking_key);
    if (slot === undefined) throw new ServiceProblem(404, { error: 'there is no slot under this booking key' });
    lab.slots.occupy(slot);
    return {};
  });
}
