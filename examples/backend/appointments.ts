import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
// In your backend: '@lab-operations/client'.
import {
  errors,
  type AppointmentHandle,
  type AppointmentShown,
  type AppointmentState,
  type LabOperations,
} from '../../client/index.js';
import { form, type Field } from './forms.js';
import { html, moment, phaseLine, show, type Html } from './html.js';
import { carryOut, isProblem, type Problem } from './problems.js';
import { refundField, refundSentence, requireConsent } from './refunds.js';
import { searchForm, sitesPart, slotForm } from './service-centres.js';
import { fieldsOf, NotYours, referenceOf } from './session.js';

/** What the pages need of an appointment. */
export interface Visit {
  /** The path of its pages. */
  here: string;
  orderId: string;
  isWalkIn: boolean;
  handle: AppointmentHandle;
  state: AppointmentState;
  /** A slot that is chosen now replaces the one that is booked. */
  isBooked: boolean;
}

/** The appointment of an order whose blood is drawn, at home or at a service centre. */
export function appointmentRoutes(app: FastifyInstance, lab: LabOperations): void {
  const pages = '/orders/:reference/appointment';
  const found = (request: FastifyRequest) => visitOf(lab, referenceOf(request));
  const overview = async (request: FastifyRequest, reply: FastifyReply, problem?: Problem) =>
    appointmentPage(lab, reply, await found(request), problem);

  app.get(pages, (request, reply) => overview(request, reply));

  app.post(`${pages}/start`, async (request, reply) => {
    const { orderId, here } = await found(request);
    return carryOut(
      reply,
      async () => (await lab.appointments.start({ orderId }), here),
      (problem) => overview(request, reply, problem),
    );
  });

  app.get(`${pages}/times`, async (request, reply) => choicePage(lab, reply, await found(request)));

  // A zip code and a site say where somebody lives: they are posted, so no address of a page contains them.
  app.post(`${pages}/times`, async (request, reply) => {
    const visit = await found(request);
    const entered = fieldsOf(request);
    try {
      return await choicePage(lab, reply, visit, { entered });
    } catch (error) {
      if (!isProblem(error)) throw error;
      return choicePage(lab, reply, visit, { near: entered, problem: error });
    }
  });

  app.post(pages, async (request, reply) => {
    const { here, handle } = await found(request);
    const { slotId = '', instead, notes } = fieldsOf(request);
    const choice = { slotId, ...(notes !== undefined && { notes }) };
    const act = async () => {
      await (instead === 'yes' ? handle.reschedule(choice) : handle.choose(choice));
      return here;
    };
    return carryOut(reply, act, (problem) => overview(request, reply, problem));
  });

  app.post(`${pages}/cancel`, async (request, reply) => {
    const { here, handle, state } = await found(request);
    const { reasonId, notes, rebook, ...rest } = fieldsOf(request);
    const act = async () => {
      requireConsent(state.appointment, rest);
      await handle.cancel({
        ...(reasonId !== undefined && { reasonId }),
        ...(notes !== undefined && { notes }),
        rebook: rebook === 'yes',
      });
      return here;
    };
    return carryOut(reply, act, (problem) => overview(request, reply, problem));
  });
}

async function visitOf(lab: LabOperations, reference: string): Promise<Visit> {
  const { orderId } = await (await lab.orders.getHandle({ reference })).state();
  if (orderId === undefined) throw new NotYours('The order is still being placed: come back in a moment');
  const [handle, order] = await Promise.all([handleOf(lab, orderId), lab.orders.read(orderId)]);
  const state = await handle.state();
  const isBooked = state.phase === 'awaiting_confirmation' || state.phase === 'confirmed';
  const isWalkIn = order.lab_test?.method === 'walk_in_test';
  return { here: `/orders/${reference}/appointment`, orderId, isWalkIn, handle, state, isBooked };
}

/** The one that is being arranged, or was: only the first visit to the page starts one. */
async function handleOf(lab: LabOperations, orderId: string): Promise<AppointmentHandle> {
  try {
    return await lab.appointments.getHandle({ orderId });
  } catch (error) {
    if (!(error instanceof errors.AppointmentNotFound)) throw error;
    return lab.appointments.start({ orderId });
  }
}

async function appointmentPage(lab: LabOperations, reply: FastifyReply, visit: Visit, problem?: Problem) {
  const { here, state, isBooked } = visit;
  const options = { status: problem ? 422 : 200 };
  if (state.phase === 'awaiting_choice') return choicePage(lab, reply, visit, { problem });
  const { appointment, outcome } = state;
  const ofField = problem && problem.fields.length > 0 ? problem : undefined;
  const again = outcome === 'cancelled' || outcome === 'expired';
  const content = html`${phaseLine(state.phase)} ${alert(problem)} ${appointment && shown(appointment)}
  ${isBooked && appointment?.canReschedule !== false && html`<p><a href="${here}/times">Choose another time</a></p>`}
  ${isBooked && (await cancelForm(lab, visit, ofField))}
  ${again && form(`${here}/start`, 'Arrange another appointment')}`;
  return show(reply, 'Your appointment', content, options);
}

function shown({ startAt, siteCode, externalId, refundable, provider }: AppointmentShown): Html {
  return html`${startAt !== undefined && html`<p>${moment(startAt)}</p>`}
  ${provider !== undefined && html`<p>By ${provider}</p>`}
  ${siteCode !== undefined && html`<p>At the service centre ${siteCode}</p>`}
  ${externalId !== undefined && html`<p>Your number at the service centre: <strong>${externalId}</strong></p>`}
  ${refundable !== undefined && html`<p>You ${refundable ? 'are refunded in full' : 'are not refunded'}.</p>`}`;
}

async function cancelForm(lab: LabOperations, visit: Visit, problem: Problem | undefined): Promise<Html> {
  const { here, isWalkIn, state } = visit;
  const reasons = await lab.appointments.cancellationReasons({ walkIn: isWalkIn });
  const fields: Field[] = [
    { name: 'reasonId', label: 'Reason', options: reasons.map(({ id, name }) => ({ value: id, text: name ?? id })) },
    { name: 'notes', label: 'Note', type: 'area', required: false },
    { name: 'rebook', label: 'Choose another time afterwards', type: 'check', required: false },
    ...refundField(state.appointment),
  ];
  return html`<h2>Cancel the appointment</h2>
    ${refundSentence(state.appointment)} ${form(`${here}/cancel`, 'Cancel the appointment', { fields, problem })}`;
}

interface Choice {
  /** Where to look: `zipCode` and `radius`, or the `site` that was chosen. */
  entered?: Record<string, string>;
  /** What is still in the form after it was refused. */
  near?: Record<string, string>;
  problem?: Problem | undefined;
}

/** What is chosen from: the hours at home; or service centres first, and then the hours at one. */
async function choicePage(lab: LabOperations, reply: FastifyReply, visit: Visit, choice: Choice = {}) {
  const { entered = {}, near = entered, problem } = choice;
  const { here, handle, isWalkIn } = visit;
  const { site } = entered;
  const options = { status: problem ? 422 : 200 };
  if (isWalkIn && site === undefined) {
    const content = html`${alert(problem)} ${await sitesPart(lab, visit, entered)} ${searchForm(here, near, problem)}`;
    return show(reply, 'Choose a service centre', content, options);
  }
  const slots = await handle.slots(site === undefined ? {} : { siteCodes: [site] });
  const content = html`${phaseLine(visit.state.phase)} ${alert(problem)} ${slotForm(visit, slots)}`;
  return show(reply, 'Choose a time', content, options);
}

/** A problem of no field. */
function alert(problem: Problem | undefined): Html {
  const isOfPage = problem !== undefined && problem.fields.length === 0;
  return html`${isOfPage && html`<p role="alert" class="fault">${problem.sentence}</p>`}`;
}
