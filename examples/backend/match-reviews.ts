import type { FastifyInstance, FastifyReply } from 'fastify';
// In your backend: '@lab-operations/client'.
import { errors, type LabOperations, type MatchReviewState, type MatchReview } from '../../client/index.js';
import { form, type Field } from './forms.js';
import { html, phaseLine, show, table, words, type Html, type Part } from './html.js';
import { carryOut, type Problem } from './problems.js';
import { fieldsOf, requireStaff } from './session.js';

/** Results that the lab service could not match with an order: staff say whose they are. */
export function matchReviewRoutes(app: FastifyInstance, lab: LabOperations): void {
  app.get('/staff/reviews/:id', (request, reply) => {
    requireStaff(request);
    return reviewPage(lab, reply, (request.params as { id: string }).id);
  });

  app.post('/staff/reviews/:id/:action', (request, reply) => {
    requireStaff(request);
    const { id, action } = request.params as { id: string; action: string };
    const act = async () => {
      // In your backend: the id of the person who is signed in.
      await decide(lab.as('staff'), id, action, fieldsOf(request));
      return `/staff/reviews/${id}`;
    };
    return carryOut(reply, act, (problem) => reviewPage(lab, reply, id, problem));
  });
}

async function decide(lab: LabOperations, id: string, action: string, entered: Record<string, string>): Promise<void> {
  const { orderId, note } = entered;
  const noted = note === undefined ? {} : { note };
  const review = await lab.matchReviews.getHandle({ rawResultId: id });
  if (action === 'accept') await review.accept({ ...noted, ...(orderId !== undefined && { orderId }) });
  else if (action === 'reject') await review.reject(noted);
  else if (action === 'unsure') await review.markUnsure(noted);
}

async function reviewPage(lab: LabOperations, reply: FastifyReply, id: string, problem?: Problem) {
  const [state, item] = await Promise.all([
    lab.matchReviews.getHandle({ rawResultId: id }).then((review) => review.state()),
    readIfShown(lab, id),
  ]);
  const { resolvedOrderId, allowedActions, outcome } = state;
  const content = html`${phaseLine(state.phase)}
  ${resolvedOrderId !== undefined && html`<p>It belongs to the order ${resolvedOrderId}.</p>`} ${item && facts(item)}
  ${problem && html`<p role="alert" class="fault">${problem.sentence}</p>`}
  ${outcome === undefined && allowedActions.map((action) => decisionForm(id, action, state, item))}`;
  return show(reply, 'Whose result is this?', content, { audience: 'staff', status: problem ? 422 : 200 });
}

/** Services differ: some no longer show a result that is decided. */
async function readIfShown(lab: LabOperations, id: string): Promise<MatchReview | undefined> {
  try {
    return await lab.matchReviews.read(id);
  } catch (error) {
    if (error instanceof errors.NotFound) return undefined;
    throw error;
  }
}

function facts({ reason, patient, lab, markers, candidate_groups: groups }: MatchReview): Html {
  const candidates = (groups ?? []).flatMap((group) => group.candidates ?? []);
  const rows = candidates.map((candidate): Part[] => [
    candidate.order_id,
    words(candidate.last_status ?? ''),
    candidate.confidence_level,
    (candidate.reasons ?? []).map(words).join(', '),
  ]);
  return html`<p>${reason}</p>
    <p>
      As ${lab?.name ?? 'the laboratory'} names the patient: ${patient?.first_name} ${patient?.last_name},
      ${patient?.dob?.slice(0, 10)}
    </p>
    <p>Measured: ${(markers ?? []).map(({ name }) => name).join(', ')}</p>
    ${table(['Order', 'Status', 'Confidence', 'Because'], rows, 'No order is a candidate.')}`;
}

const buttons: Record<string, string> = {
  accept: 'Give it to this order',
  reject: 'It is none of ours',
  unsure: 'Let the service decide',
};

function decisionForm(id: string, action: string, { rawResultId }: MatchReviewState, item?: MatchReview): Html {
  const orders = (item?.candidate_groups ?? []).flatMap(({ candidates }) => candidates ?? []);
  const options = orders.flatMap(({ order_id: orderId }) =>
    orderId == null ? [] : [{ value: orderId, text: orderId }],
  );
  const order: Field = { name: 'orderId', label: 'Order', options };
  const note: Field = { name: 'note', label: 'Note for the service', type: 'area', required: false };
  const fields = action === 'accept' && options.length > 0 ? [order, note] : [note];
  return form(`/staff/reviews/${rawResultId}/${action}`, buttons[action] ?? `${action} ${id}`, { fields });
}
