import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Lab } from './lab.js';
import { fullStatus, knownStatuses, lowLevel, sameStatus } from './lifecycle.js';
import { type Json, orderBody, presentLow, transactionBody } from './order-body.js';
import { importOrder, orderForPatient, orderTestkit, registerTestkit } from './order-requests.js';
import { labResults, requireResults, resultMetadata } from './results.js';
import { inventedLab, labAccounts, labTests } from './seed.js';
import { interpretations, type LabState, type Order } from './state.js';
import { dayMs } from './clock.js';
import {
  datetime,
  optional,
  pageQuery,
  pathUuid,
  queryInteger,
  queryList,
  readBody,
  readQuery,
  refusal,
  unacceptable,
  uuid,
} from './validation.js';
import type { Settings } from './settings.js';
import { samplePdf } from '../sample-report.js';

const accountQuery = z.object({
  lab_account_id: optional(uuid),
  status: optional(z.enum(['active', 'pending', 'suspended', 'ready_to_launch'])),
});

/** Orders, transactions, results and lab accounts. */
export function orderRoutes(
  app: FastifyInstance,
  lab: Lab,
  paths: { list: readonly string[]; creation: readonly string[] },
): void {
  creationRoutes(app, lab, paths.creation);
  readingRoutes(app, lab, paths.list);
  resultRoutes(app, lab);

  app.post('/v3/order/:order_id/cancel', (request) => {
    const order = requireOrder(lab, request, "Order doesn't exist");
    lab.orders.cancel(order);
    return posted(lab, order, 'Order cancelled');
  });

  app.post('/v3/order/:order_id/test', (request, reply) => {
    const order = requireOrder(lab, request, "Order doesn't exist");
    simulate(lab, order, request);
    // Sources disagree about this body; a JSON string is what one of them shows.
    return reply.type('application/json').send('"Success"');
  });

  app.post('/v3/order/resend_events', (request) => ({ order_ids: resendEvents(lab, request) }));

  app.get('/v3/lab_test/lab_account', (request) => {
    const { lab_account_id: id, status } = readQuery(accountQuery, request.query);
    return {
      data: labAccounts.filter(
        (account) => (id === null || account.id === id) && (status === null || account.status === status),
      ),
    };
  });
}

function creationRoutes(app: FastifyInstance, lab: Lab, paths: readonly string[]): void {
  // No idempotency key here: a repeated request ships a second kit.
  app.post('/v3/order/testkit', (request) => posted(lab, orderTestkit(lab, request.body), 'Order submitted'));

  app.post('/v3/order/import', (request) => posted(lab, importOrder(lab, request.body), 'Order imported'));

  app.post('/v3/order/testkit/register', (request) =>
    posted(lab, registerTestkit(lab, request.body), 'Testkit registered'),
  );

  for (const path of paths) {
    app.post(path, (request) => {
      const { 'x-idempotency-key': key, 'x-idempotency-error': onError } = request.headers;
      return lab.idempotency.once(typeof key === 'string' ? key : undefined, onError !== 'no-cache', () =>
        posted(lab, orderForPatient(lab, request.body), 'Order submitted'),
      );
    });
  }
}

function readingRoutes(app: FastifyInstance, lab: Lab, paths: readonly string[]): void {
  const answered = (order: Order): Json => orderBody(order, lab.state, lab.settings, 'answer');

  app.get('/v3/order/:order_id', (request) => answered(requireOrder(lab, request, "This order doesn't exist")));

  for (const path of paths) {
    app.get(path, (request) => {
      const { orders, ...page } = listOrders(lab.state, request.query, lab.settings);
      return { orders: orders.map(answered), ...page };
    });
  }

  app.get('/v3/order_transaction/:transaction_id', (request) => {
    const { id, orders } = requireTransaction(lab, request);
    return transactionBody(id, orders);
  });
}

function resultRoutes(app: FastifyInstance, lab: Lab): void {
  const withTransaction = (order: Order): Json => {
    const { order_transaction: transaction } = orderBody(order, lab.state, lab.settings, 'answer');
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
export function requireOrder(lab: Lab, request: FastifyRequest, message: string): Order {
  const order = lab.state.orders.get(pathUuid(request, 'order_id'));
  if (order === undefined) throw refusal(404, message);
  return order;
}

/** The wording is not documented; assumed. */
export function requireTransaction(lab: Lab, request: FastifyRequest): { id: string; orders: Order[] } {
  const id = pathUuid(request, 'transaction_id');
  const orders = lab.state.ordersOfTransaction(id);
  if (orders.length === 0) throw refusal(404, 'Order transaction not found');
  return { id, orders };
}

/** The values of `status` and `message` are not documented; assumed. */
function posted(lab: Lab, order: Order, message: string): Json {
  return { order: orderBody(order, lab.state, lab.settings, 'answer'), status: 'SUCCESS', message };
}

const simulationQuery = z.object({
  // The specification's spelling of a registration is not in the schema's list of statuses: both are taken.
  final_status: optional(z.enum(knownStatuses())),
  // Between two statuses. The unit is not documented; assumed to be seconds. The limit, also assumed, keeps timers sane.
  delay: queryInteger(0, 86_400).default(0),
});

const simulationBody = z.object({
  interpretation: optional(interpretations),
  has_missing_results: optional(z.boolean()),
});

/** `POST /v3/order/{id}/test`. Without a final status the order is completed. */
function simulate(lab: Lab, order: Order, request: FastifyRequest): void {
  const { method } = order.labTest;
  const { final_status, delay } = readQuery(simulationQuery, request.query);
  const finalStatus = final_status ?? fullStatus(method, 'completed', 'completed');
  if (finalStatus.split('.')[1] !== method) {
    throw unacceptable(['query', 'final_status'], `the order is collected by ${method}`, finalStatus);
  }
  const { interpretation, has_missing_results } = readBody(simulationBody, request.body);
  lab.orders.simulate(order, finalStatus, delay, {
    interpretation: interpretation ?? undefined,
    has_missing_results: has_missing_results ?? undefined,
  });
}

/** The documented limit on the window of `POST /v3/order/resend_events`. */
const longestWindowMs = 60 * dayMs;

const resendRequest = z.object({
  order_ids: optional(z.array(uuid)),
  start_at: optional(datetime),
  end_at: optional(datetime),
});

/**
 * Delivers the latest event of each order again, as a new message: of the orders named, or of those that changed within
 * a window (which ends now and is 60 days long where its bounds are left out). Returns the ids of these orders; unknown
 * ones are ignored (not documented; assumed).
 */
function resendEvents(lab: Lab, request: FastifyRequest): string[] {
  const { order_ids, start_at, end_at } = readBody(resendRequest, request.body);
  const end = end_at ?? lab.clock.now();
  const start = start_at ?? end - longestWindowMs;
  if (end - start > longestWindowMs) {
    throw unacceptable(['body', 'start_at'], 'the window is longer than 60 days', start_at);
  }
  const orders =
    order_ids === null
      ? [...lab.state.orders.values()].filter(({ updatedAt }) => updatedAt >= start && updatedAt <= end)
      : order_ids.flatMap((id) => lab.state.orders.get(id) ?? []);
  for (const order of orders) lab.webhooks.announce('labtest.order.updated', order);
  return orders.map(({ id }) => id);
}

/**
 * The order list: page and size, newest first unless asked otherwise. Query parameters that are not read here are
 * ignored, as the service ignores what it does not know.
 */

const orderQuery = z.object({
  user_id: optional(uuid),
  interpretation: optional(interpretations),
  is_critical: optional(z.enum(['true', 'false'])),
  status: queryList(z.string()),
  order_ids: queryList(uuid),
  order_transaction_id: optional(uuid),
  start_date: datetime.default(-Infinity),
  end_date: datetime.default(Infinity),
  updated_start_date: datetime.default(-Infinity),
  updated_end_date: datetime.default(Infinity),
  order_key: z.enum(['created_at', 'patient_name', 'last_status']).default('created_at'),
  order_direction: z.enum(['asc', 'desc']).default('desc'),
  ...pageQuery,
});

type OrderQuery = z.output<typeof orderQuery>;

function listOrders(state: LabState, asked: unknown, { criticalFilter }: Settings) {
  const query = withoutIgnored(readQuery(orderQuery, asked), criticalFilter);
  const candidates = query.user_id === null ? [...state.orders.values()] : state.ordersOfUser(query.user_id);
  const found = candidates.filter((order) => matches(order, query));
  const oldestFirst = sorted(found, query.order_key);
  const all = query.order_direction === 'desc' ? oldestFirst.toReversed() : oldestFirst;
  const { page, size } = query;
  return { orders: all.slice((page - 1) * size, page * size), total: all.length, page, size };
}

/** Deployments differ in which of the two filters they know. */
function withoutIgnored(query: OrderQuery, known: Settings['criticalFilter']): OrderQuery {
  if (known === 'interpretation') return { ...query, is_critical: null };
  return known === 'is_critical' ? { ...query, interpretation: null } : query;
}

function matches(order: Order, query: OrderQuery): boolean {
  const { interpretation, is_critical, status: statuses, order_ids, order_transaction_id } = query;
  return (
    (interpretation === null || order.interpretation === interpretation) &&
    (is_critical === null || String(order.interpretation === 'critical') === is_critical) &&
    (statuses === null || statuses.some((status) => sameStatus(lowLevel(status), presentLow(order)))) &&
    (order_ids === null || order_ids.includes(order.id)) &&
    (order_transaction_id === null || order.transactionId === order_transaction_id) &&
    order.createdAt >= query.start_date &&
    order.createdAt <= query.end_date &&
    order.updatedAt >= query.updated_start_date &&
    order.updatedAt <= query.updated_end_date
  );
}

/** Ascending. The sort is stable, so orders of one moment stay in the order of their creation. */
function sorted(orders: readonly Order[], key: string): Order[] {
  if (key === 'created_at') return orders.toSorted((one, other) => one.createdAt - other.createdAt);
  const text = (order: Order): string =>
    key === 'last_status'
      ? presentLow(order)
      : `${order.patient_details?.last_name ?? ''} ${order.patient_details?.first_name ?? ''}`;
  return orders.toSorted((one, other) => text(one).localeCompare(text(other)));
}

const labelsQuery = z.object({
  collection_date: datetime,
  number_of_labels: queryInteger(1, 100).default(3),
});

/** PDFs of one page. The answer while there is none is not documented: assumed to be a 404. */
export function documentRoutes(app: FastifyInstance, lab: Lab): void {
  const ofOrder = (name: string, lines: (order: Order, request: FastifyRequest) => readonly string[]) =>
    app.get(`/v3/order/:order_id/${name}`, (request, reply) =>
      pdf(reply, lines(requireOrder(lab, request, 'Order not found'), request)),
    );
  ofOrder('result/pdf', (order) => {
    requireResults(order);
    return ['Results', `Order ${order.id}`];
  });
  app.get('/v3/order_transaction/:transaction_id/result/pdf', (request, reply) => {
    const { id, orders } = requireTransaction(lab, request);
    if (orders.every((order) => order.resultsAt === null)) throw refusal(404, 'Results are not available');
    return pdf(reply, ['Results', `Transaction ${id}`]);
  });
  ofOrder('requisition/pdf', (order) => {
    if (!order.hasRequisition) throw refusal(404, 'Requisition not found');
    return ['Requisition', `Order ${order.id}`];
  });
  ofOrder('collection_instruction_pdf', (order) => instructions(order.labTest.id));
  app.get('/v3/lab_test/:lab_test_id/collection_instruction_pdf', (request, reply) =>
    pdf(reply, instructions(pathUuid(request, 'lab_test_id'))),
  );
  // No order here has one.
  ofOrder('abn_pdf', () => {
    throw refusal(404, 'ABN not found');
  });
  ofOrder('labels/pdf', (order, request) => {
    const { number_of_labels: count } = readQuery(labelsQuery, request.query);
    return Array.from({ length: count }, (_, index) => `Label ${index + 1} of ${count}, order ${order.id}`);
  });
}

/** Every kit has some. */
function instructions(labTestId: string): string[] {
  const test = labTests.find(({ id, method }) => id === labTestId && method === 'testkit');
  if (!test) throw refusal(404, 'Collection instructions not found');
  return ['Collection instructions', test.name];
}

function pdf(reply: FastifyReply, lines: readonly string[]): FastifyReply {
  return reply.type('application/pdf').send(samplePdf([inventedLab.name, 'Invented throughout', ...lines]));
}
