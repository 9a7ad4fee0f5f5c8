import type { FastifyInstance } from 'fastify';
import type { LabOperations } from '../../client/index.js';
import { form, html, page } from './html.js';
import { fieldsOf, referenceOf } from './session.js';

/** The appointment of an order whose blood is drawn, at home or at a service centre. */
export function appointmentRoutes(app: FastifyInstance, lab: LabOperations): void {
  const visitOf = async (reference: string) => {
    const order = await lab.orders.get({ reference });
    return lab.appointments.start({ orderId: await order.orderId() });
  };

  app.get('/orders/:reference/appointment', async (request, reply) => {
    const reference = referenceOf(request);
    const visit = await visitOf(reference);
    const { phase, appointment } = await visit.state();
    const here = `/orders/${reference}/appointment`;
    if (appointment?.startAt !== undefined) {
      const content = html`<p id="phase">${phase}</p>
        <p>${appointment.startAt}</p>
        ${form(`${here}/cancel`, 'Cancel')}`;
      return reply.type('text/html').send(page('Your appointment', content));
    }
    const { slots } = await visit.slots();
    const choices = slots
      .slice(0, 50)
      .map(({ id, start }) => form(here, start, [], html`<input type="hidden" name="slotId" value="${id}" />`));
    return reply.type('text/html').send(
      page(
        'Choose a time',
        html`<p id="phase">${phase}</p>
          ${choices}`,
      ),
    );
  });

  app.post('/orders/:reference/appointment', async (request, reply) => {
    const reference = referenceOf(request);
    await (await visitOf(reference)).choose({ slotId: fieldsOf(request)['slotId'] ?? '' });
    return reply.redirect(`/orders/${reference}/appointment`, 303);
  });

  app.post('/orders/:reference/appointment/cancel', async (request, reply) => {
    const reference = referenceOf(request);
    await (await visitOf(reference)).cancel({ rebook: true });
    return reply.redirect(`/orders/${reference}/appointment`, 303);
  });
}
