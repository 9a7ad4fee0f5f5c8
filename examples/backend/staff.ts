import type { FastifyInstance } from 'fastify';
// In your backend: '@lab-operations/client'.
import type { LabOperations } from '../../client/index.js';
import { html, show, table, words, type Part } from './html.js';
import { requireStaff } from './session.js';

/** What needs a person of yours. In your backend: only for staff who may see patients' data. */
export function staffRoutes(app: FastifyInstance, lab: LabOperations): void {
  app.get('/staff', async (request, reply) => {
    requireStaff(request);
    const orders: Part[][] = [];
    for await (const { rootOrderId, phase, attention } of lab.orders.list({ attention: true })) {
      orders.push([rootOrderId ?? 'being placed', words(phase ?? ''), attention.map(words).join(', ')]);
    }
    const appointments: Part[][] = [];
    for await (const { orderId, phase, attention } of lab.appointments.list({ attention: true })) {
      appointments.push([orderId, words(phase ?? ''), attention.map(words).join(', ')]);
    }
    const reviews: Part[][] = [];
    for await (const { rawResultId, phase } of lab.matchReviews.list({ attention: true })) {
      reviews.push([html`<a href="/staff/reviews/${rawResultId}">${rawResultId}</a>`, words(phase ?? '')]);
    }
    const content = html`<h2>Results that match no order</h2>
      ${table(['Result', 'Now'], reviews, 'There are none.')}
      <h2>Orders</h2>
      ${table(['Order', 'Now', 'Why'], orders, 'There are none.')}
      <h2>Appointments</h2>
      ${table(['Order', 'Now', 'Why'], appointments, 'There are none.')}`;
    return show(reply, 'What needs you', content, { audience: 'staff' });
  });
}
