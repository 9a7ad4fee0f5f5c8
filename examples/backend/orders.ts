import type { FastifyInstance } from 'fastify';
// In your backend: '@lab-operations/client'.
import type { LabOperations, NotificationHandler, OrderState, PlacingState } from '../../client/index.js';
import { form, html, page, type Html } from './html.js';
import { fieldsOf, newReference, NotYours, referenceOf, userOf } from './session.js';

const person = ['first_name', 'last_name', 'dob', 'gender', 'phone_number', 'email'];
const address = ['first_line', 'city', 'state', 'zip', 'country'];

/** What can be ordered, and the user's orders. */
export function orderRoutes(app: FastifyInstance, lab: LabOperations): void {
  app.get('/', async (request, reply) => {
    const userId = userOf(request);
    const tests: Html[] = [];
    for await (const { id, name, method } of lab.catalogue.labTests({ status: 'active' })) {
      tests.push(html`<li><a href="/tests/${id}">${name}</a> (${method})</li>`);
    }
    const orders: Html[] = [];
    for await (const { reference, phase } of lab.orders.list({ userId })) {
      if (reference !== undefined)
        orders.push(html`<li><a href="/orders/${reference}">${reference}</a>: ${phase}</li>`);
    }
    return reply.type('text/html').send(
      page(
        'Your laboratory',
        html`<h2>Order</h2>
          <ul>
            ${tests}
          </ul>
          <h2>Your orders</h2>
          <ul>
            ${orders}
          </ul>
          <p><a href="/links">Devices</a> <a href="/reports">Reports</a> <a href="/account">Account</a></p>`,
      ),
    );
  });

  app.get('/tests/:id', async (request, reply) => {
    const test = await lab.catalogue.labTest((request.params as { id: string }).id);
    const who = test.method === 'testkit' ? ['receiver_name', 'phone_number'] : person;
    const rest = html`<input type="hidden" name="lab_test_id" value="${test.id}" />`;
    return reply
      .type('text/html')
      .send(page(test.name ?? 'Order', form('/orders', 'Order', [...who, ...address], rest)));
  });

  app.post('/orders', async (request, reply) => {
    const userId = userOf(request);
    const fields = fieldsOf(request);
    const { lab_test_id: labTestId = '' } = fields;
    const { method } = await lab.catalogue.labTest(labTestId);
    const reference = newReference(userId);
    const test = { user_id: userId, lab_test_id: labTestId };
    const where = pick(fields, [...address, 'receiver_name', 'phone_number']);
    // The client checks every field, whatever a form contains.
    await lab.orders.place(
      method === 'testkit'
        ? { reference, kind: 'unregistered', order: { ...test, shipping_details: where as never } }
        : {
            reference,
            kind: 'with_patient',
            order: { ...test, patient_details: pick(fields, person) as never, patient_address: where as never },
          },
    );
    return reply.redirect(`/orders/${reference}`, 303);
  });
}

/** One order of the user: its state, and every change of it. */
export function orderStateRoutes(app: FastifyInstance, lab: LabOperations, notifications: NotificationHandler): void {
  app.get('/orders/:reference', async (request, reply) => {
    const reference = referenceOf(request);
    const state = await (await lab.orders.get({ reference })).state();
    return reply.type('text/html').send(page('Your order', await orderPage(lab, reference, state)));
  });

  /** Every change as a server-sent event: nothing is polled, because the notifications come to this process. */
  app.get('/orders/:reference/events', async (request, reply) => {
    const order = await lab.orders.get({ reference: referenceOf(request) });
    reply.hijack();
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
    const closed = new AbortController();
    request.raw.once('close', () => closed.abort());
    try {
      for await (const { phase } of order.watch({ notifications, signal: closed.signal })) {
        reply.raw.write(`data: ${JSON.stringify({ phase })}\n\n`);
      }
      reply.raw.end();
    } catch (error) {
      if (!closed.signal.aborted) reply.raw.destroy(error as Error);
    }
  });

  app.post('/orders/:reference/registration', async (request, reply) => {
    const reference = referenceOf(request);
    const fields = fieldsOf(request);
    const order = await lab.orders.get({ reference });
    await order.register({
      sample_id: fields['sample_id'] ?? '',
      patient_details: pick(fields, person) as never,
      patient_address: pick(fields, address) as never,
    });
    return reply.redirect(`/orders/${reference}`, 303);
  });

  app.post('/orders/:reference/cancel', async (request, reply) => {
    const reference = referenceOf(request);
    await (await lab.orders.get({ reference })).cancel();
    return reply.redirect(`/orders/${reference}`, 303);
  });
}

/** The values of an order, and the laboratory's report. */
export function resultRoutes(app: FastifyInstance, lab: LabOperations): void {
  app.get('/orders/:reference/results', async (request, reply) => {
    const { results } = await lab.results.of({ reference: referenceOf(request), userId: userOf(request) });
    const rows = (Array.isArray(results) ? results : []).map(
      ({ name, result, unit, interpretation }) =>
        html`<tr>
          <td>${name}</td>
          <td>${result} ${unit}</td>
          <td>${interpretation}</td>
        </tr>`,
    );
    return reply.type('text/html').send(
      page(
        'Your results',
        html`<table>
          ${rows}
        </table>`,
      ),
    );
  });

  app.get('/orders/:reference/results.pdf', async (request, reply) => {
    const { orderId } = await (await lab.orders.get({ reference: referenceOf(request) })).state();
    if (orderId === undefined) throw new NotYours('The order is still being placed');
    // The latest kit's: a lost one was replaced.
    const pdf = await lab.documents.results({ orderId });
    return reply.type('application/pdf').send(pdf);
  });
}

async function orderPage(lab: LabOperations, reference: string, state: OrderState | PlacingState): Promise<Html> {
  const waiting = html`<p id="phase">${state.phase}</p>
    <p>We wait for ${state.waiting.for}.</p>`;
  if (!('rootOrderId' in state)) return html`${waiting}${form(`/orders/${reference}/cancel`, 'Cancel')}`;
  const { details } = await lab.orders.read(state.orderId);
  const parcel = details?.data?.shipment?.outbound_tracking_url;
  const register = form(`/orders/${reference}/registration`, 'Register', ['sample_id', ...person, ...address]);
  return html`${waiting} ${typeof parcel === 'string' && html`<p><a href="${parcel}">Track the parcel</a></p>`}
    ${!state.registered && state.outcome === undefined && register}
    ${
      state.outcome === 'completed' &&
      html`<p><a href="/orders/${reference}/results">Results</a> <a href="/orders/${reference}/results.pdf">PDF</a></p>`
    }
    ${state.outcome === undefined && form(`/orders/${reference}/cancel`, 'Cancel')}
    <p><a href="/orders/${reference}/appointment">Appointment</a></p>`;
}

function pick(fields: Record<string, string>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])));
}
