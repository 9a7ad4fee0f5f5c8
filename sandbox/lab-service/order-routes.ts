import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Lab } from './lab.js';
import { listOrders } from './order-list.js';
import { orderBody, transactionBody, type Json } from './order-body.js';
import { importOrder, orderForPatient, orderTestkit, registerTestkit } from './ordering.js';
import { pathUuid } from './path-ids.js';
import { refusal } from './problems.js';
import { resendEvents } from './resending.js';
import { labResults, resultMetadata } from './results.js';
import { simulationRequest } from './simulation.js';
import type { Order } from './state.js';
import { Fields, oneOf, uuid } from './validation.js';

/** Orders, transactions, results and lab accounts. */
export function orderRoutes(app: FastifyInstance, lab: Lab): void {
  creationRoutes(app, lab);
  readingRoutes(app, lab);
  resultRoutes(app, lab);

  app.post('/v3/order/:order_id/cancel', (request) => {
    const order = requireOrder(lab, request, "Order doesn't exist");
    lab.orders.cancel(order);
    return posted(lab, order, 'Order cancelled');
  });

  app.post('/v3/order/:order_id/test', (request, reply) => {
    const order = requireOrder(lab, request, "Order doesn't exist");
    const { finalStatus, delaySeconds, flags } = simulationRequest(order, request.query, request.body);
    lab.orders.simulate(order, finalStatus, delaySeconds, flags);
    // Sources disagree about this body; a JSON string is what one of them shows.
    return reply.type('application/json').send('"Success"');
  });

  app.post('/v3/order/resend_events', (request) => ({ order_ids: resendEvents(lab, request.body) }));

  app.get('/v3/lab_test/lab_account', (request) => {
    const fields = Fields.ofQuery(request.query);
    const id = fields.optionalString('lab_account_id', uuid);
    const status = fields.optionalString('status', oneOf('active', 'pending', 'suspended', 'ready_to_launch'));
    fields.finish();
    return {
      data: lab.organisation
        .labAccounts()
        .filter((account) => (id === null || account.id === id) && (status === null || account.status === status)),
    };
  });
}

function creationRoutes(app: FastifyInstance, lab: Lab): void {
  // No idempotency key here: a repeated request ships a second kit.
  app.post('/v3/order/testkit', (request) => posted(lab, orderTestkit(lab, request.body), 'Order submitted'));

  app.post('/v3/order/import', (request) => posted(lab, importOrder(lab, request.body), 'Order imported'));

  app.post('/v3/order/testkit/register', (request) =>
    posted(lab, registerTestkit(lab, request.body), 'Testkit registered'),
  );

  // The specification names two paths for one operation.
  for (const path of ['/v3/order', '/v3/order/create']) {
    app.post(path, (request) => {
      const { 'x-idempotency-key': key, 'x-idempotency-error': onError } = request.headers;
      return lab.idempotency.once(typeof key === 'string' ? key : undefined, onError !== 'no-cache', () =>
        posted(lab, orderForPatient(lab, request.body), 'Order submitted'),
      );
    });
  }
}

function readingRoutes(app: FastifyInstance, lab: Lab): void {
  const answered = (order: Order): Json => orderBody(order, lab.state, lab.settings.current, 'answer');

  app.get('/v3/order/:order_id', (request) => answered(requireOrder(lab, request, "This order doesn't exist")));

  // The specification writes /orders, the schema /v3/orders: both are served.
  for (const path of ['/orders', '/v3/orders']) {
    app.get(path, (request) => {
      const { orders, ...page } = listOrders(lab.state, request.query, lab.settings.current);
      return { orders: orders.map(answered), ...page };
    });
  }

  app.get('/v3/order_transaction/:transaction_id', (request) => {
    const { id, orders } = requireTransaction(lab, request);
    return transactionBody(id, orders, lab.settings.current);
  });
}

function resultRoutes(app: FastifyInstance, lab: Lab): void {
  const withTransaction = (order: Order): Json => {
    const { order_transaction: transaction } = orderBody(order, lab.state, lab.settings.current, 'answer');
    return { ...labResults(order), ...(transaction === undefined ? {} : { order_transaction: transaction }) };
  };

  app.get('/v3/order/:order_id/result', (request) => withTransaction(requireOrder(lab, request, 'Order not found')));

  app.get('/v3/order/:order_id/result/metadata', (request) =>
    resultMetadata(requireOrder(lab, request, 'Order not found')),
  );

  app.get('/v3/order_transaction/:transaction_id/result', (request) => {
    const { orders } = requireTransaction(lab, request);
    const latest = orders.findLast((order) => order.resultsAt !== null) ?? orders.at(-1);
    if (latest === undefined) throw refusal(404, 'Order transaction not found');
    return withTransaction(latest);
  });
}

/** The wording of a 404 differs from endpoint to endpoint. */
function requireOrder(lab: Lab, request: FastifyRequest, message: string): Order {
  const order = lab.state.orders.get(pathUuid(request, 'order_id'));
  if (order === undefined) throw refusal(404, message);
  return order;
}

/** The wording is not documented; assumed. */
function requireTransaction(lab: Lab, request: FastifyRequest): { id: string; orders: Order[] } {
  const id = pathUuid(request, 'transaction_id');
  const orders = lab.state.ordersOfTransaction(id);
  if (orders.length === 0) throw refusal(404, 'Order transaction not found');
  return { id, orders };
}

/** The values of `status` and `message` are not documented; assumed. */
function posted(lab: Lab, order: Order, message: string): Json {
  return { order: orderBody(order, lab.state, lab.settings.current, 'answer'), status: 'SUCCESS', message };
}
