import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Client } from '@temporalio/client';
import { parseSecret, verify, type WebhookHeaders } from '../../service/webhook-signature.js';
import { answers, type WebhookAnswer, webhookAnswer } from './answers.js';
import { readBody, type WebhookBody } from './body.js';
import { countableType, createCounter, type WebhookCounts } from './counts.js';
import {
  type Destinations,
  type HealthDataSink,
  putBodyAside,
  type RejectedEventSink,
  route,
  type Routed,
  type UnparsedBody,
} from './route.js';

/** Where the handler writes. pino fits, and so does anything that takes fields and a message. */
export interface WebhookLogger {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}

export interface WebhookHandlerOptions {
  /** Orders' events go to its `kitOrder` workflows, those of lab reports to `parsingJob`. */
  temporal: Client;
  /** The secrets of the endpoint, `whsec_…`. During a rotation both, in any order. */
  secrets: readonly string[];
  /** The worker's task queue. Default `lab-operations`. */
  taskQueue?: string;
  /** The largest body that is read, in bytes. Default 5 MiB; the largest webhook seen is 0.4 MB. */
  maxBytes?: number;
  /** Takes health data and news of provider connections. Without it they are counted and let go. */
  healthData?: HealthDataSink;
  /**
   * Takes verified events that are unknown, unreadable or not addressable, and signed bodies that are no JSON object.
   * Without it the former are let go, and the latter refused with 400.
   */
  rejected?: RejectedEventSink;
  /** Ids, types, durations and reasons; nothing personal. Default: nothing is written. */
  logger?: WebhookLogger;
  /** How long Temporal or a sink may take, in milliseconds. Default 10,000: the sender gives up after 15 s. */
  deadlineMs?: number;
  /** The clock that signatures are checked by, in milliseconds since 1970. Default `Date.now`. */
  now?: () => number;
}

export interface WebhookRequest {
  /** Anything but POST is refused; left out, it is taken for POST. */
  method?: string;
  headers: WebhookHeaders;
  body: WebhookBody;
}

export interface WebhookHandler {
  /**
   * For any framework: takes the request with its raw bytes and says what to answer. Never rejects. With 413 the
   * connection has to be closed after the answer, as the answer's `connection` header says.
   */
  handle(request: WebhookRequest): Promise<WebhookAnswer>;
  /** For node:http, express (before its body parsers, or behind `express.raw`) and fastify's raw request and reply. */
  node(request: IncomingMessage, response: ServerResponse): Promise<void>;
  counts(): WebhookCounts;
}

/**
 * Receives the service's webhooks: verify, parse, project, route, each a step of its own. It answers 204 once Temporal
 * holds an order's or a report's event; `answers` lists everything that it answers and what each means.
 * @throws WebhookSecretInvalid and TypeError at once, for secrets or limits that cannot be worked with
 */
export function createWebhookHandler(options: WebhookHandlerOptions): WebhookHandler {
  const settings = checked(options);
  const counter = createCounter();

  async function settle(deciding: () => Promise<Decision>): Promise<WebhookAnswer> {
    const started = performance.now();
    const decision = await deciding().catch((error: unknown): Decision => ({ name: 'internal_error', error }));
    const times = counter.add(decision.name, countableType(decision.eventType));
    if (decision.also) counter.addToo(decision.also);
    if (options.logger) report(options.logger, decision, times, performance.now() - started);
    return webhookAnswer(decision.name);
  }

  const handle = (request: WebhookRequest) => settle(() => decide(request, settings));
  return {
    handle,
    async node(request, response) {
      const body = rawBody(request);
      const answer = body
        ? await handle({ method: request.method ?? 'POST', headers: request.headers, body })
        : await settle(() => Promise.resolve({ name: 'body_already_read' }));
      response.writeHead(answer.status, answer.headers).end(answer.body);
    },
    counts: () => counter.snapshot(),
  };
}

interface Settings extends Destinations {
  secrets: readonly string[];
  maxBytes: number;
  now: () => number;
}

function checked(options: WebhookHandlerOptions): Settings {
  const { temporal, secrets, taskQueue = 'lab-operations', maxBytes = 5 * 1024 * 1024 } = options;
  const { healthData, rejected, deadlineMs = 10_000, now = Date.now } = options;
  if (secrets.length === 0) throw new TypeError('createWebhookHandler needs at least one secret (WEBHOOK_SECRETS)');
  for (const secret of secrets) parseSecret(secret);
  for (const [name, value] of Object.entries({ maxBytes, deadlineMs })) {
    if (!(value > 0)) throw new TypeError(`createWebhookHandler: ${name} must be a number above zero`);
  }
  return { temporal, secrets, taskQueue, maxBytes, healthData, rejected, deadlineMs, now };
}

interface Decision extends Routed {
  eventType?: string | undefined;
  messageId?: string;
}

/** The fixed order of refusals: method, size, signature, JSON; then what the event is decides. */
async function decide(request: WebhookRequest, settings: Settings): Promise<Decision> {
  if ((request.method ?? 'POST').toUpperCase() !== 'POST') return { name: 'method_not_allowed' };
  const body = await readBody(request.headers, request.body, settings.maxBytes);
  if ('refusal' in body) return { name: body.refusal, error: body.error };
  const verified = verify(request.headers, body.bytes, settings.secrets, settings.now());
  if (!verified.ok) return { name: verified.reason };
  const messageId = verified.id;
  const parsed = parse(body.bytes);
  if ('reason' in parsed) return { ...(await putBodyAside({ id: messageId, ...parsed }, settings)), messageId };
  return { ...(await route({ id: messageId, ...parsed }, settings)), messageId };
}

function parse(bytes: Uint8Array): { value: object; body: string } | UnparsedBody {
  let value: unknown;
  let body: string;
  try {
    body = utf8.decode(bytes);
    value = JSON.parse(body);
  } catch {
    return { reason: 'not_json', body: readableUtf8.decode(bytes) };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { reason: 'not_an_object', body };
  return { value, body };
}

/** Strict: a decoder that mends broken text would let two different bodies mean the same. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** For a person's eyes only: shows what is no UTF-8 as U+FFFD. */
const readableUtf8 = new TextDecoder('utf-8');

/** The bytes that a raw body parser left, or the stream if nobody has read from it yet. */
function rawBody(request: IncomingMessage & { body?: unknown }): WebhookBody | undefined {
  if (request.body instanceof Uint8Array) return request.body;
  return request.readableDidRead ? undefined : request;
}

function report(logger: WebhookLogger, decision: Decision, times: number, milliseconds: number): void {
  const { name, eventType, messageId, orderId, jobId, workflowId, problem, error } = decision;
  const { log, meaning, fix } = answers[name];
  if (log === 'rarely' && !/^10*$/.test(String(times))) return;
  const fields = {
    answer: name,
    status: answers[name].status,
    ms: Math.round(milliseconds * 10) / 10,
    ...(eventType !== undefined && { eventType: countableType(eventType) }),
    ...(messageId !== undefined && { messageId: messageId.slice(0, 128) }),
    ...(orderId !== undefined && { orderId }),
    ...(jobId !== undefined && { jobId }),
    ...(workflowId !== undefined && { workflowId }),
    ...(problem !== undefined && { problem }),
    ...(log === 'rarely' && { times }),
    ...(error !== undefined && { error: describeError(error, name === 'internal_error') }),
  };
  logger[log === 'rarely' ? 'info' : log](fields, log === 'info' ? meaning : `${meaning} ${fix}`);
}

/** Of an error only what describes it: further properties may quote data (a database's `detail` quotes the row). */
function describeError(error: unknown, ours: boolean): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name: type, message, stack, cause } = error;
  const code: unknown = 'code' in error ? error.code : undefined;
  return {
    type,
    message,
    ...(code !== undefined && { code }),
    ...(cause instanceof Error && { cause: cause.message }),
    ...(ours && { stack }),
  };
}
