import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  controlBody,
  criticalResultSchema,
  dashboardOrderSchema,
  interpretationSchema,
  moveSchema,
  redrawSchema,
  storyNamed,
  storySchema,
} from './control-requests.js';
import { createInventedUser, inventedAddress, inventedPatient } from './invented-user.js';
import type { Lab } from './lab.js';
import { orderBody, type Json } from './order-body.js';
import { requisitionNotes } from './ordering.js';
import { pathUuid } from './path-ids.js';
import { ServiceProblem } from './problems.js';
import { LAB_TEST_IDS, LAB_TESTS } from './seed.js';
import type { Order } from './state.js';

/** The part of the control surface that is about orders. */
export function controlOrderRoutes(app: FastifyInstance, lab: Lab): void {
  app.get('/_sandbox/orders', () => ({ orders: [...lab.state.orders.values()].map((order) => revealed(lab, order)) }));
  app.get('/_sandbox/orders/:order_id', (request) => revealed(lab, requireOrder(lab, request)));

  app.post('/_sandbox/orders', (request) => revealed(lab, dashboardOrder(lab, request.body)));

  app.post('/_sandbox/orders/:order_id/move', (request) => {
    const order = requireOrder(lab, request);
    const move = controlBody(moveSchema, request.body);
    lab.orders.move(order, {
      status: move.status,
      statusDetail: move.status_detail ?? null,
      webhook: move.webhook ?? true,
      ...(move.interpretation === undefined ? {} : { interpretation: move.interpretation }),
      ...(move.has_missing_results === undefined ? {} : { hasMissingResults: move.has_missing_results }),
    });
    return revealed(lab, order);
  });

  app.post('/_sandbox/orders/:order_id/interpretation', (request) => {
    const order = requireOrder(lab, request);
    const { interpretation, webhook = true } = controlBody(interpretationSchema, request.body);
    lab.orders.interpret(order, interpretation, { webhook });
    return revealed(lab, order);
  });

  app.post('/_sandbox/orders/:order_id/critical_result', (request) => {
    const order = requireOrder(lab, request);
    const { status, interpretation } = controlBody(criticalResultSchema, request.body ?? {});
    lab.orders.reportCritical(order, { status, ...(interpretation !== undefined && { interpretation }) });
    return revealed(lab, order);
  });

  app.post('/_sandbox/orders/:order_id/story', (request) => {
    const order = requireOrder(lab, request);
    const { name, steps } = controlBody(storySchema, request.body);
    const story = steps ?? storyNamed(name ?? '');
    lab.stories.play(order, story);
    return { steps: story };
  });

  app.post('/_sandbox/orders/:order_id/redraw', (request) => {
    const parent = requireOrder(lab, request);
    const { origin, passthrough = null, webhook = true } = controlBody(redrawSchema, request.body ?? {});
    return revealed(lab, lab.orders.follow(parent, origin, { passthrough, webhook }));
  });

  app.delete('/_sandbox/orders/:order_id', (request) => {
    lab.state.removeOrder(requireOrder(lab, request));
    return {};
  });
}

/** The order as the service shows it, and what the service does not show. */
function revealed(lab: Lab, order: Order): Json {
  return {
    order: orderBody(order, lab.state, lab.settings.current, 'answer'),
    kit_sample_id: order.kitSampleId,
    parent_id: order.parentId,
    order_transaction_id: order.transactionId,
    passthrough: order.passthrough,
    isRegistrable: lab.orders.isRegistrable(order),
    requisitionNotes: requisitionNotes(order),
  };
}

function requireOrder(lab: Lab, request: FastifyRequest): Order {
  const id = pathUuid(request, 'order_id');
  const order = lab.state.orders.get(id);
  if (order === undefined) throw new ServiceProblem(404, { error: `there is no order ${id}` });
  return order;
}

/** An order that no product placed: somebody made it in a dashboard. */
function dashboardOrder(lab: Lab, body: unknown): Order {
  const request = controlBody(dashboardOrderSchema, body ?? {});
  const labTestId = request.lab_test_id ?? LAB_TEST_IDS.kit;
  const labTest = LAB_TESTS.find(({ id }) => id === labTestId);
  if (labTest === undefined) throw new ServiceProblem(400, { error: `there is no lab test ${labTestId}` });
  const userId = request.user_id ?? createInventedUser(lab, true).id;
  if (!lab.state.users.has(userId)) throw new ServiceProblem(400, { error: `there is no user ${userId}` });
  const address = inventedAddress();
  const isKit = labTest.method === 'testkit';
  // Only a kit can be ordered without its patient.
  const patientKnown = request.patientKnown || !isKit;
  return lab.orders.place(
    {
      userId,
      labTest,
      passthrough: request.passthrough ?? null,
      labAccountId: request.lab_account_id ?? null,
      shippingDetails: isKit ? address : null,
      patientDetails: patientKnown ? inventedPatient() : null,
      patientAddress: patientKnown ? address : null,
    },
    { webhook: request.webhook ?? true },
  );
}
