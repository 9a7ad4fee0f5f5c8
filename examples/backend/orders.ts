import type { FastifyInstance, FastifyReply } from 'fastify';
// In your backend: '@lab-operations/client'.
import {
  errors,
  type AppointmentState,
  type LabOperations,
  type Order,
  type OrderState,
  type PlacingState,
} from '../../client/index.js';
import type { NotificationHandler } from '../../client/notifications/index.js';
import { refundField, refundSentence, requireConsent } from './refunds.js';
import { form } from './forms.js';
import { type Html, html, inline, webLink, phaseLine, show, table, words, type Part } from './html.js';
import { addressFields, addressOf, patientFields, patientOf } from './persons.js';
import { carryOut, isProblem, type Problem } from './problems.js';
import { fieldsOf, referenceOf, userOf } from './session.js';

/** One order of the user: where it stands, its parcel, its registration and its cancellation. */
export function orderRoutes(app: FastifyInstance, lab: LabOperations, notifications: NotificationHandler): void {
  app.get('/orders/:reference', (request, reply) => orderPage(lab, reply, referenceOf(request)));

  /** Every change as a server-sent event: nothing is polled, because the notifications come to this process. */
  app.get('/orders/:reference/events', async (request, reply) => {
    const order = await lab.orders.getHandle({ reference: referenceOf(request) });
    reply.hijack();
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
    const closed = new AbortController();
    request.raw.once('close', () => closed.abort());
    try {
      for await (const { phase } of order.watch({ notifications, signal: closed.signal })) {
        reply.raw.write(`data: ${words(phase)}\n\n`);
      }
      reply.raw.end('event: end\ndata:\n\n');
    } catch (error) {
      if (!closed.signal.aborted) reply.raw.destroy(error as Error);
    }
  });

  app.post('/orders/:reference/registration', (request, reply) => {
    const reference = referenceOf(request);
    const entered = fieldsOf(request);
    const act = async () => {
      const order = await lab.orders.getHandle({ reference });
      await order.register({
        registration: {
          user_id: userOf(request),
          sample_id: entered['sample_id'] ?? '',
          patient_details: patientOf(entered),
          patient_address: addressOf(entered),
        },
      });
      return `/orders/${reference}`;
    };
    return carryOut(reply, act, (problem) => orderPage(lab, reply, reference, { entered, problem }));
  });

  app.get('/orders/:reference/cancel', (request, reply) => cancelPage(lab, reply, referenceOf(request)));

  app.post('/orders/:reference/cancel', (request, reply) => {
    const reference = referenceOf(request);
    const act = async () => {
      const order = await lab.orders.getHandle({ reference });
      requireConsent((await visitOf(lab, await order.state()))?.appointment, fieldsOf(request));
      await order.cancel();
      return `/orders/${reference}`;
    };
    return carryOut(reply, act, (problem) => cancelPage(lab, reply, reference, problem));
  });
}

interface Sent {
  entered: Record<string, string>;
  problem: Problem;
}

async function orderPage(
  lab: LabOperations,
  reply: FastifyReply,
  reference: string,
  sent?: Sent,
): Promise<FastifyReply> {
  const options = { status: sent ? 422 : 200 };
  const state = await (await lab.orders.getHandle({ reference })).state().catch((error: unknown) => notPlaced(error));
  if ('sentence' in state) return show(reply, 'Your order was not placed', notPlacedPart(state));
  const now = html`${phaseLine(state.phase)}
    <p>We wait for ${state.waiting.for}.</p>
    ${state.outcome === undefined && html`${follow}`}`;
  const cancel = html`<p><a href="/orders/${reference}/cancel">Cancel the order</a></p>`;
  if (!('rootOrderId' in state)) {
    return show(reply, 'Your order', html`${now} ${state.outcome === undefined && cancel}`, options);
  }
  const order = await lab.orders.read(state.orderId);
  const content = html`${now} ${parcels(order)} ${links(reference, state, order)}
  ${needsRegistration(state, order) && registration(reference, sent)} ${state.outcome === undefined && cancel}`;
  return show(reply, order.lab_test?.name ?? 'Your order', content, options);
}

/** The order that the service refused: this is where the user learns of it. */
function notPlaced(error: unknown): Problem {
  if (!isProblem(error)) throw error;
  return error;
}

function notPlacedPart({ sentence }: Problem): Html {
  return html`<p class="fault">${sentence}</p>
    <p><a href="/">Order again</a></p>`;
}

function parcels({ details }: Order): Html {
  const shipment = details?.data?.shipment;
  const rows = [
    ['To you', shipment?.outbound_courier, shipment?.outbound_tracking_number, shipment?.outbound_tracking_url],
    ['To the laboratory', shipment?.inbound_courier, shipment?.inbound_tracking_number, shipment?.inbound_tracking_url],
  ].flatMap(([way, courier, number, url]): Part[][] =>
    number == null ? [] : [[way, courier, url == null ? number : webLink(url, number)]],
  );
  return html`${rows.length > 0 && table(['Parcel', 'Courier', 'Number'], rows, '')}`;
}

function links(reference: string, { outcome }: OrderState, order: Order): Html {
  const { lab_test: test, requisition_form_url: requisition } = order;
  const here = `/orders/${reference}`;
  const isVisit = test?.method === 'at_home_phlebotomy' || test?.method === 'walk_in_test';
  return html`${outcome === 'completed' && html`<p><a href="${here}/results">Results</a></p>`}
  ${isVisit && html`<p><a href="${here}/appointment">Appointment</a></p>`}
  ${requisition != null && html`<p><a href="${here}/requisition.pdf">The requisition to bring (PDF)</a></p>`}
  ${
    test?.has_collection_instructions === true &&
    html`<p><a href="${here}/instructions.pdf">How the sample is taken (PDF)</a></p>`
  }`;
}

function needsRegistration({ phase, registered, outcome }: OrderState, { details, lab_test: test }: Order): boolean {
  const method = details?.type ?? test?.method ?? 'testkit';
  return method === 'testkit' && !registered && outcome === undefined && phase !== 'cancelled';
}

function registration(reference: string, sent?: Sent): Html {
  const sample = { name: 'sample_id', label: 'Sample id', hint: 'The number on the kit' };
  return html`<h2>Register your kit</h2>
    ${form(`/orders/${reference}/registration`, 'Register', {
      fields: [sample, ...patientFields, ...addressFields],
      ...sent,
    })}`;
}

/** Shows each change in the open page. Without scripts the user reloads it. */
const follow = html`<p id="news" role="status"></p>
  ${inline(
    'script',
    `
  const events = new EventSource(location.pathname + '/events');
  const phase = document.getElementById('phase');
  events.onmessage = ({ data }) => {
    if (phase.textContent === data) return;
    phase.textContent = data;
    document.getElementById('news').innerHTML = '<a href="">Show what has changed</a>';
  };
  events.addEventListener('end', () => events.close());
`,
  )}`;

async function cancelPage(lab: LabOperations, reply: FastifyReply, reference: string, problem?: Problem) {
  const state = await (await lab.orders.getHandle({ reference })).state();
  const appointment = (await visitOf(lab, state))?.appointment;
  const isWalkIn = appointment?.type === 'patient_service_center' && appointment.status !== 'cancelled';
  const content = html`<p>A kit that has been shipped cannot be cancelled any more.</p>
    ${isWalkIn && html`<p class="warning">Your appointment at the service centre stays: cancel it, too.</p>`}
    ${refundSentence(appointment)}
    ${form(`/orders/${reference}/cancel`, 'Cancel the order', { fields: refundField(appointment), problem })}
    <p><a href="/orders/${reference}">Keep the order</a></p>`;
  return show(reply, 'Cancel your order?', content, { status: problem ? 422 : 200 });
}

/** The appointment of an order, if one is being arranged. */
async function visitOf(
  lab: LabOperations,
  { orderId }: OrderState | PlacingState,
): Promise<AppointmentState | undefined> {
  if (orderId === undefined) return undefined;
  try {
    return await (await lab.appointments.getHandle({ orderId })).state();
  } catch (error) {
    if (error instanceof errors.AppointmentNotFound) return undefined;
    throw error;
  }
}
