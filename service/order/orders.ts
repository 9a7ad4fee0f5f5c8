import { z } from 'zod';
import { answerAbout } from '../http/answers.js';
import { isStatedAbsence, RequestInvalid, ServiceRefused } from '../errors.js';
import type { Transport } from '../http/http.js';
import { type CallOptions, collisionOf, idempotencyHeaders } from '../http/calls.js';
import * as fields from '../fields.js';
import {
  type Order,
  type OrderTransaction,
  orderSchema,
  orderTransactionSchema,
  type ResultMetadata,
  type Results,
  resultMetadataSchema,
  resultsSchema,
} from './order.js';
import {
  type ImportOrderRequest,
  type OrderRequest,
  type RegisterRequest,
  type ResendEventsRequest,
  type TestkitOrderRequest,
  importOrderRequestSchema,
  orderRequestSchema,
  registerRequestSchema,
  resendEventsRequestSchema,
  testkitOrderRequestSchema,
  checkDocumentedRules,
  type OrderRules,
} from './requests.js';
import { numberedPages } from '../http/paging.js';
import { checkedRequest, conditionSchema, conditionsSchema } from '../validation.js';

export { orderSchema } from './order.js';
export type { Order } from './order.js';
export {
  importOrderRequestSchema,
  orderRequestSchema,
  patientDetailsSchema,
  registerRequestSchema,
  testkitOrderRequestSchema,
} from './requests.js';
export type {
  ImportOrderRequest,
  OrderRequest,
  RegisterRequest,
  ShippingDetails,
  TestkitOrderRequest,
} from './requests.js';

/** The answer of creation, registration and cancellation. The values of `status` and `message` are not documented. */
const orderAnswerSchema = z.looseObject({
  order: orderSchema,
  status: fields.text,
  message: fields.text,
});

type OrderAnswer = z.output<typeof orderAnswerSchema>;

const orderPageSchema = z.looseObject({
  orders: fields.answeredList(orderSchema),
  total: fields.number,
  size: fields.number,
});

/** Also a page of which no order can be read: the search for an earlier order counts those. */
const untidyPageSchema = orderPageSchema.extend({ orders: z.array(z.unknown()) });

/** True if the service itself answers that there is no such order: "This order doesn't exist.", "Order not found". */
export function isStatedUnknownOrder(error: unknown): boolean {
  return isStatedAbsence(error, ['order']);
}

/** The service refuses ids that are not UUIDs although it issues some. */
export function isIdRefused(error: unknown): boolean {
  return error instanceof RequestInvalid || (error instanceof ServiceRefused && [400, 422].includes(error.status));
}

const resentSchema = z
  .looseObject({ order_ids: fields.list(z.string()) })
  .transform((answer): string[] => answer.order_ids ?? []);

interface CreateOrderOptions extends CallOptions {
  /**
   * Sent as `X-Idempotency-Key`: the same key within a day or more gives the first order again instead of a second
   * one. `X-Idempotency-Error: no-cache` asks the service not to keep failures, or the key would repeat them. Printable
   * ASCII.
   */
  idempotencyKey?: string;
}

const momentSchema = z.date('must be a valid Date').exactOptional();

/** The conditions of a search, at least one; a result must meet all that are given. */
export const orderSearchSchema = z.strictObject({
  /** Every order of the team, which must be requested explicitly. */
  all: z.literal(true, 'must be true').exactOptional(),
  userId: conditionSchema,
  /** Low-level statuses of the service, for instance `awaiting_registration`; any of them. */
  status: conditionsSchema,
  /** `normal`, `abnormal` or `critical`; the list grows. */
  interpretation: conditionSchema,
  /** Created then or later. */
  from: momentSchema,
  /** Created then or earlier. */
  to: momentSchema,
});

export type OrderSearch = z.input<typeof orderSearchSchema>;

/** Narrows the list; the specification documents only `interpretation`, the rest is docs/internals/lab-service.md's. Timestamps are ISO 8601. */
export interface OrderFilter {
  userId?: string;
  /** `normal`, `abnormal`, `critical`; the list grows. */
  interpretation?: string;
  /** Low-level statuses, for instance `awaiting_registration`; any of them. */
  status?: readonly string[];
  orderIds?: readonly string[];
  orderTransactionId?: string;
  /** Created at or after. */
  startDate?: string;
  /** Created at or before. */
  endDate?: string;
  updatedStartDate?: string;
  updatedEndDate?: string;
  /** Collection methods, for instance `testkit`; any of them. */
  orderType?: readonly string[];
  isCritical?: boolean;
  /** `current` (to be done now) or `scheduled` (for a later date); any of them. */
  activationTypes?: readonly string[];
  /** These three are personal data, and travel in the address of the request. */
  patientName?: string;
  shippingRecipientName?: string;
  searchInput?: string;
  /** Default `created_at`; `patient_name` and `last_status` are known too. */
  orderKey?: string;
  /** Default `desc`: the newest first. */
  orderDirection?: 'asc' | 'desc';
}

interface OrderListOptions extends CallOptions {
  /** Orders per page, 1 to 100; default 50, the documented default. */
  pageSize?: number;
}

export interface OrderPage {
  orders: Order[];
  /** The number of unreadable orders on the page in addition to those, for instance without an id. */
  unreadable: number;
  /** Total of all pages; missing if the service does not return it. */
  total?: number;
  /** Orders per page; a deployment may cap the requested number. */
  size: number;
}

interface SimulationRequest {
  /** Event status to stop at, for instance `completed.testkit.completed`; if absent, the service decides. */
  finalStatus?: string;
  /** Pause between the steps; the unit is not documented. */
  delay?: number;
  interpretation?: string;
  resultTypes?: readonly string[];
  hasMissingResults?: boolean;
}

/** Lab orders. Every call rejects with a `ServiceError`; requests are checked before anything is sent. */
export interface Orders {
  /**
   * A kit without a patient. **Not idempotent**: after `AnswerLost` or `ServiceUnavailable`, look for the order first.
   */
  createTestkit(request: TestkitOrderRequest, options?: CallOptions): Promise<OrderAnswer>;
  /** An order whose patient is known; idempotent only with a key. */
  create(request: OrderRequest, options?: CreateOrderOptions): Promise<OrderAnswer>;
  /** An order that was placed elsewhere; lab accounts in pending status are accepted. **Not idempotent.** */
  import(request: ImportOrderRequest, options?: CallOptions): Promise<OrderAnswer>;
  /** Binds a kit to its patient by the sample id on it. The answered order's user may be another than before. */
  register(request: RegisterRequest, options?: CallOptions): Promise<OrderAnswer>;
  get(orderId: string, options?: CallOptions): Promise<Order>;
  /** Newest first unless asked otherwise, page by page as they are consumed; the options hold for each page's call. No order comes twice in a row of pages. */
  list(filter?: OrderFilter, options?: OrderListOptions): AsyncGenerator<Order, void, undefined>;
  /** One page, from 1. An order that cannot be read is counted; `list` leaves it out, and rejects with `AnswerUnreadable` if it can read none. */
  page(filter: OrderFilter, page: number, options?: OrderListOptions): Promise<OrderPage>;
  /** `ServiceRefused` with status 400 once the kit has shipped. */
  cancel(orderId: string, options?: CallOptions): Promise<OrderAnswer>;
  /** Has the latest event of each order delivered again. Resolves with the ids of the orders that the service chose. */
  resendEvents(request: ResendEventsRequest, options?: CallOptions): Promise<string[]>;
  results(orderId: string, options?: CallOptions): Promise<Results>;
  resultMetadata(orderId: string, options?: CallOptions): Promise<ResultMetadata>;
  /** A transaction with all its orders: the first one and its redraws. */
  transaction(transactionId: string, options?: CallOptions): Promise<OrderTransaction>;
  transactionResults(transactionId: string, options?: CallOptions): Promise<Results>;
  /** In a sandbox environment only: walks the order along the success path. Sources disagree on the answer, so it is not read. */
  simulate(orderId: string, request?: SimulationRequest, options?: CallOptions): Promise<void>;
}

export function createOrders(transport: Transport, rules: OrderRules = 'service'): Orders {
  return {
    createTestkit: async (request, options) => {
      const call = { method: 'POST', path: '/v3/order/testkit' } as const;
      const body = checkedRequest(call, testkitOrderRequestSchema, request);
      checkDocumentedRules(call, rules, body);
      return transport.request({ ...call, body, options, answer: orderOf(body.user_id) });
    },
    create: (request, options) => createOrder(transport, rules, request, options),
    import: async (request, options) => {
      const call = { method: 'POST', path: '/v3/order/import' } as const;
      const body = checkedRequest(call, importOrderRequestSchema, request);
      // The address of an import is not validated by the service.
      checkDocumentedRules(call, rules, { patient_details: body.patient_details });
      return transport.request({ ...call, body, options, answer: orderOf(body.user_id) });
    },
    register: async (request, options) => {
      const call = { method: 'POST', path: '/v3/order/testkit/register' } as const;
      const body = checkedRequest(call, registerRequestSchema, request);
      checkDocumentedRules(call, rules, body);
      return transport.request({ ...call, body, options, answer: orderAnswerSchema });
    },
    get: (orderId, options) => {
      const answer = answerAbout(orderId, orderSchema, ({ id }) => id);
      return read(transport, '/v3/order/{order_id}', orderId, answer, options);
    },
    list: (filter, options) => listOrders(transport, filter, options),
    page: (filter, page, options) => readPage(transport, filter, page, options),
    cancel: (orderId, options) =>
      transport.request({
        method: 'POST',
        path: '/v3/order/{order_id}/cancel',
        params: { order_id: orderId },
        options,
        answer: answerAbout(orderId, orderAnswerSchema, ({ order }) => order.id),
      }),
    resendEvents: async (request, options) => {
      const call = { method: 'POST', path: '/v3/order/resend_events' } as const;
      const body = checkedRequest(call, resendEventsRequestSchema, request);
      return transport.request({ ...call, body, options, answer: resentSchema });
    },
    results: (orderId, options) => read(transport, '/v3/order/{order_id}/result', orderId, resultsSchema, options),
    resultMetadata: (orderId, options) =>
      read(transport, '/v3/order/{order_id}/result/metadata', orderId, resultMetadataSchema, options),
    transaction: (id, options) => {
      const answer = answerAbout(id, orderTransactionSchema, (transaction) => transaction.id);
      return read(transport, '/v3/order_transaction/{transaction_id}', id, answer, options);
    },
    transactionResults: (id, options) =>
      read(transport, '/v3/order_transaction/{transaction_id}/result', id, resultsSchema, options),
    simulate: (orderId, request, options) => simulate(transport, orderId, request, options),
  };
}

/** The answer to a creation. Until its kit is registered, an order belongs to the user for whom it was created. */
function orderOf(userId: string): z.ZodType<OrderAnswer> {
  return answerAbout(userId, orderAnswerSchema, ({ order }) => order.user_id);
}

/** The path's template has one name, which `id` fills. */
function read<T>(
  transport: Transport,
  path: string,
  id: string,
  answer: z.ZodType<T>,
  options?: CallOptions,
): Promise<T> {
  return transport.get(path, path.includes('{order_id}') ? { order_id: id } : { transaction_id: id }, answer, options);
}

async function createOrder(
  transport: Transport,
  rules: OrderRules,
  request: OrderRequest,
  options?: CreateOrderOptions,
): Promise<OrderAnswer> {
  const call = { method: 'POST', path: transport.paths.createOrder } as const;
  const body = checkedRequest(call, orderRequestSchema, request);
  checkDocumentedRules(call, rules, body);
  const keyed = { ...call, headers: idempotencyHeaders(options?.idempotencyKey), body, options };
  try {
    return await transport.request({ ...keyed, answer: orderOf(body.user_id) });
  } catch (error) {
    throw collisionOf(error, keyed) ?? error;
  }
}

function listOrders(
  transport: Transport,
  filter: OrderFilter = {},
  options: OrderListOptions = {},
): AsyncGenerator<Order, void, undefined> {
  const size = options.pageSize ?? 50;
  const read = async (page: number) => {
    const { orders, ...counts } = await transport.get(transport.paths.orders, {}, orderPageSchema, options, {
      query: { ...orderQuery(filter), size, page },
    });
    return { ...orders, ...counts };
  };
  return numberedPages(read, size, ({ id }) => id);
}

async function readPage(
  transport: Transport,
  filter: OrderFilter,
  page: number,
  options: OrderListOptions = {},
): Promise<OrderPage> {
  const asked = options.pageSize ?? 50;
  const { orders, total, size } = await transport.get(transport.paths.orders, {}, untidyPageSchema, options, {
    query: { ...orderQuery(filter), size: asked, page },
  });
  const read = fields.readable(orderSchema, orders);
  const unreadable = orders.length - read.length;
  // A first page that is short though there are more orders shows how many the deployment sends at most.
  const isCapped = page === 1 && orders.length > 0 && orders.length < (total ?? 0);
  const perPage = size ?? (isCapped ? Math.min(orders.length, asked) : asked);
  return { orders: read, unreadable, ...(total != null && { total }), size: Math.max(1, perPage) };
}

function orderQuery(filter: OrderFilter) {
  return {
    user_id: filter.userId,
    interpretation: filter.interpretation,
    status: filter.status,
    order_ids: filter.orderIds,
    order_transaction_id: filter.orderTransactionId,
    start_date: filter.startDate,
    end_date: filter.endDate,
    updated_start_date: filter.updatedStartDate,
    updated_end_date: filter.updatedEndDate,
    order_type: filter.orderType,
    is_critical: filter.isCritical,
    order_activation_types: filter.activationTypes,
    patient_name: filter.patientName,
    shipping_recipient_name: filter.shippingRecipientName,
    search_input: filter.searchInput,
    order_key: filter.orderKey ?? 'created_at',
    order_direction: filter.orderDirection ?? 'desc',
  };
}

function simulate(
  transport: Transport,
  orderId: string,
  request: SimulationRequest = {},
  options?: CallOptions,
): Promise<void> {
  return transport.send({
    method: 'POST',
    path: '/v3/order/{order_id}/test',
    params: { order_id: orderId },
    query: { final_status: request.finalStatus, delay: request.delay },
    body: {
      interpretation: request.interpretation,
      result_types: request.resultTypes,
      has_missing_results: request.hasMissingResults,
    },
    options,
  });
}

/** The country of an address that was answered, as it is sent again: the service answers `United States` for `US`. Others stay as they are. */
export function countryCodeOf(country: string): string {
  return country.trim().toLowerCase() === 'united states' ? 'US' : country;
}
