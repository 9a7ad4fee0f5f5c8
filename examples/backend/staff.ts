import type { FastifyInstance } from 'fastify';
import type { LabOperations } from '../../client/index.js';
import { form, html, page, type Html } from './html.js';
import { fieldsOf } from './session.js';

/**
 * What needs a person of yours: orders with attention, and results that the lab service could not match with an order. In your
 * backend: only for staff who may see patients' data.
 */
export function staffRoutes(app: FastifyInstance, lab: LabOperations): void {
  app.get('/staff', async (_request, reply) => {
    const orders: Html[] = [];
    for await (const { orderIds, attention } of lab.orders.list({ attention: true })) {
      orders.push(html`<li>${orderIds.at(-1)}: ${attention.join(', ')}</li>`);
    }
    const reviews: Html[] = [];
    for await (const { rawResultId, phase } of lab.matchReviews.list({ attention: true })) {
      reviews.push(html`<li><a href="/staff/reviews/${rawResultId}">${rawResultId}</a>: ${phase}</li>`);
    }
    const content = html`<ul>
        ${orders}
      </ul>
      <ul id="reviews">
        ${reviews}
      </ul>`;
    return reply.type('text/html').send(page('What needs you', content));
  });

  app.get('/staff/reviews/:id', async (request, reply) => {
    const { id } = request.params as { id: string };
    const [{ allowedActions }, item] = await Promise.all([
      lab.matchReviews.get({ rawResultId: id }).then((review) => review.state()),
      lab.matchReviews.read(id),
    ]);
    const candidates = (item.candidate_groups ?? []).flatMap((group) => group.candidates ?? []);
    const orders = candidates.map(({ order_id: orderId }) => html`<option>${orderId}</option>`);
    const choice = html`<select name="orderId">
      <option></option>
      ${orders}
    </select>`;
    const actions = allowedActions.map((action) =>
      form(`/staff/reviews/${id}/${action}`, action, [], action === 'accept' ? choice : undefined),
    );
    const content = html`<p>${item.reason}</p>
      <p>${item.patient?.first_name} ${item.patient?.last_name}, ${item.patient?.dob}</p>
      ${actions}`;
    return reply.type('text/html').send(page('Whose result is this?', content));
  });

  app.post('/staff/reviews/:id/:action', async (request, reply) => {
    const { id, action } = request.params as { id: string; action: string };
    const { orderId } = fieldsOf(request);
    const review = await lab.matchReviews.get({ rawResultId: id });
    if (action === 'accept') await review.accept(orderId === undefined ? {} : { orderId });
    else if (action === 'reject') await review.reject();
    else if (action === 'unsure') await review.markUnsure();
    return reply.redirect('/staff', 303);
  });
}
