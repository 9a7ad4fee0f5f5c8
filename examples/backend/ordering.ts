import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
// In your backend: '@lab-operations/client'.
import type { LabOperations, LabTest, OrderRequest, PlaceKitOrderInput } from '../../client/index.js';
import { form, type Field } from './forms.js';
import { html, show, table, words, type Html } from './html.js';
import { addressFields, addressOf, patientFields, patientOf, receiverFields, shippingOf } from './persons.js';
import { carryOut, type Problem } from './problems.js';
import { fieldsOf, newReference, ownReference, userOf } from './session.js';

/** The user's orders, what can be ordered, and ordering it. */
export function orderingRoutes(app: FastifyInstance, lab: LabOperations): void {
  app.get('/', async (request, reply) => {
    const userId = userOf(request);
    const orders: Html[][] = [];
    for await (const { reference, phase, startedAt } of lab.orders.list({ userId })) {
      if (reference === undefined) continue;
      orders.push([
        html`<a href="/orders/${reference}">${startedAt.toISOString().slice(0, 10)}</a>`,
        html`${words(phase ?? '')}`,
      ]);
    }
    const tests: Html[][] = [];
    for await (const { id, name, method, price } of lab.catalogue.labTests({ status: 'active' })) {
      tests.push([html`<a href="/tests/${id}">${name ?? id}</a>`, html`${words(method ?? '')}`, html`${price}`]);
    }
    const content = html`<h2>Your orders</h2>
      ${table(['Ordered', 'Now'], orders, 'You have no orders yet.')}
      <h2>Tests that you can order</h2>
      ${table(['Test', 'How', 'Price'], tests, 'Nothing can be ordered at the moment.')}`;
    return show(reply, 'Your laboratory', content);
  });

  app.get('/tests/:id', (request, reply) =>
    orderForm(lab, request, reply, (request.params as { id: string }).id, newReference(userOf(request))),
  );

  app.post('/orders', (request, reply) => {
    const entered = fieldsOf(request);
    // The form brought it, so a form that is sent twice is one order.
    const reference = ownReference(request, entered['reference'] ?? '');
    const labTestId = entered['lab_test_id'] ?? '';
    const act = async () => {
      const test = await lab.catalogue.labTest(labTestId);
      const { markers } = test;
      await lab.orders.place({ reference, ...orderOf(userOf(request), test, entered) }, { markers });
      return `/orders/${reference}`;
    };
    return carryOut(reply, act, (problem) =>
      orderForm(lab, request, reply, labTestId, reference, { entered, problem }),
    );
  });
}

interface Sent {
  entered: Record<string, string>;
  problem: Problem;
}

async function orderForm(
  lab: LabOperations,
  request: FastifyRequest,
  reply: FastifyReply,
  labTestId: string,
  reference: string,
  sent?: Sent,
): Promise<FastifyReply> {
  userOf(request);
  const test = await lab.catalogue.labTest(labTestId);
  const markers = (test.markers ?? []).map(({ name, unit }) => html`<li>${name} ${unit != null && `(${unit})`}</li>`);
  const content = html`<p>${test.description}</p>
    <ul>
      ${markers}
    </ul>
    ${form('/orders', 'Order', {
      fields: [
        ...questionFields(test),
        ...(isRegisteredLater(test) ? receiverFields : patientFields),
        ...addressFields,
      ],
      hidden: { reference, lab_test_id: labTestId },
      ...(sent && { entered: sent.entered, problem: besideQuestions(sent.problem, test, sent.entered) }),
    })}`;
  return show(reply, test.name ?? 'Order', content, { status: sent ? 422 : 200 });
}

/** A kit is registered once it has arrived, unless it asks questions: only an order with a patient takes the answers. */
function isRegisteredLater(test: LabTest): boolean {
  return test.method === 'testkit' && questionsOf(test).length === 0;
}

type Placing = Pick<PlaceKitOrderInput & { kind: 'unregistered' }, 'kind' | 'order'> | WithPatient;
type WithPatient = Pick<PlaceKitOrderInput & { kind: 'with_patient' }, 'kind' | 'order'>;

function orderOf(userId: string, test: LabTest, entered: Record<string, string>): Placing {
  const what = { user_id: userId, lab_test_id: test.id };
  if (isRegisteredLater(test)) {
    return { kind: 'unregistered', order: { ...what, shipping_details: shippingOf(entered) } };
  }
  const answers = answersOf(test, entered);
  return {
    kind: 'with_patient',
    order: {
      ...what,
      patient_details: patientOf(entered),
      patient_address: addressOf(entered),
      ...(answers.length > 0 && { aoe_answers: answers }),
    },
  };
}

/** The questions that the markers of a test ask at ordering. */
function questionsOf({ markers }: LabTest) {
  return (markers ?? []).flatMap(({ id: markerId, aoe }) =>
    (aoe?.questions ?? []).map((question) => ({ ...question, markerId, field: `answer-${markerId}-${question.id}` })),
  );
}

function questionFields(test: LabTest): Field[] {
  return questionsOf(test).map(({ field, value, code, required, type, answers, default: usual }) => ({
    name: field,
    label: value ?? code ?? 'Question',
    required: required === true,
    ...(usual != null && { value: usual }),
    ...(type === 'numeric' && { type: 'number' as const }),
    ...(answers &&
      answers.length > 0 && {
        options: answers.map((answer) => ({
          value: answer.code ?? String(answer.id),
          text: answer.value ?? answer.code ?? String(answer.id),
        })),
      }),
  }));
}

function answersOf(test: LabTest, entered: Record<string, string>): NonNullable<OrderRequest['aoe_answers']> {
  return questionsOf(test).flatMap(({ field, markerId, id }) => {
    const answer = entered[field];
    return answer === undefined ? [] : [{ marker_id: markerId, question_id: id, answer }];
  });
}

/** A fault counts the answers that were sent; on the page it stands beside the question. */
function besideQuestions(problem: Problem, test: LabTest, entered: Record<string, string>): Problem {
  const answered = questionsOf(test).filter(({ field }) => entered[field] !== undefined);
  const fields = problem.fields.map(({ field, message }) => {
    const [, index] = /aoe_answers\.(\d+)/.exec(field) ?? [];
    return { field: answered[Number(index)]?.field ?? field, message };
  });
  return { sentence: problem.sentence, fields };
}
