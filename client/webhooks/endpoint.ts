import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  isSigned,
  parseSecret,
  readSignatureHeaders,
  type SignatureHeaders,
  type WebhookHeaders,
} from '../../service/webhooks/signature.js';
import { type BodyLease, type BodyMemory, readBody, type WebhookBody } from './body.js';
import { type Answer, httpAnswer, type Refusal, type WebhookAnswer } from './common-answers.js';
import { type AnswerCounts, countableType, createCounter, isWorthALine } from './counts.js';

/**
 * An endpoint for requests signed as Standard Webhooks: reads and verifies them, counts and logs its answers. The
 * webhook handler and the notification handler both use it, and differ in what they do with a verified request.
 */

/** The log that a handler writes to. pino fits, and so does anything that takes fields and a message. */
export interface WebhookLogger {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}

export interface WebhookRequest {
  /** Anything but POST is refused; left out, it is taken for POST. */
  method?: string;
  headers: WebhookHeaders;
  body: WebhookBody;
}

/** One request that was answered, for metrics: nothing personal, and no id. */
export interface AnsweredRequest<Name extends string = string> {
  /** The answer's name. */
  answer: Name;
  /** A second result of the request. */
  also?: Name;
  /** The HTTP status. */
  status: number;
  /** From the request's headers to its answer. */
  milliseconds: number;
  /** The kind of the event: `order`, `appointment` and so on; absent if it was not read. */
  kind?: string;
  /** From the event's own time until Temporal had it; absent if it names none, or was not delivered. */
  lagMilliseconds?: number;
}

export type RequestObserver<Name extends string> = (request: AnsweredRequest<Name>) => void;

interface Endpoint<Name extends string> {
  handle(request: WebhookRequest): Promise<WebhookAnswer>;
  node(request: IncomingMessage, response: ServerResponse): Promise<void>;
  counts(): AnswerCounts<Name>;
}

/** The answer to a request, with what may be logged about it: ids and types, nothing personal. */
export interface Decision<Name extends string> {
  name: Name;
  /** A second result of the request, which is counted too. */
  also?: Name | undefined;
  eventType?: string | undefined;
  messageId?: string | undefined;
  /** Ids and the like. Undefined ones are omitted. */
  about?: Record<string, string | undefined>;
  error?: unknown;
  kind?: string | undefined;
  lagMilliseconds?: number | undefined;
  /** Logged as an error, although its answer is logged rarely and as information. */
  isAlarming?: boolean;
}

/** Answers that every endpoint needs, whatever it takes. */
type Own = 'internal_error' | 'body_already_read';

interface EndpointOptions<Name extends string> {
  answers: Readonly<Record<Name | Own, Answer>>;
  /** Returns the answer. If it rejects, the answer is `internal_error`. */
  decide(request: WebhookRequest): Promise<Decision<Name | Own>>;
  /** Answers whose error is the caller's own code or ours: the log shows its stack. */
  withStack: ReadonlySet<Name | Own>;
  /** Default: `problemsOnConsole`. */
  logger?: WebhookLogger | false | undefined;
  /** Is notified of every answer. */
  observe?: RequestObserver<Name | Own> | undefined;
}

export function createEndpoint<Name extends string>(options: EndpointOptions<Name>): Endpoint<Name | Own> {
  const counter = createCounter(options.answers);

  async function settle(deciding: () => Promise<Decision<Name | Own>>): Promise<WebhookAnswer> {
    const started = performance.now();
    const decision = await deciding().catch((error: unknown): Decision<Own> => ({ name: 'internal_error', error }));
    const times = counter.add(decision.name, countableType(decision.eventType));
    if (decision.also) counter.addToo(decision.also);
    const milliseconds = performance.now() - started;
    report(decision, { times, milliseconds }, options);
    notify(decision, milliseconds, options);
    return httpAnswer(decision.name, options.answers[decision.name]);
  }

  const handle = (request: WebhookRequest) => settle(() => options.decide(request));
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

/** The bytes that a raw body parser left, or the stream if it has not been read yet. */
function rawBody(request: IncomingMessage & { body?: unknown }): WebhookBody | undefined {
  if (request.body instanceof Uint8Array) return request.body;
  return request.readableDidRead ? undefined : request;
}

function report<Name extends string>(
  decision: Decision<Name | Own>,
  { times, milliseconds }: { times: number | undefined; milliseconds: number },
  { answers, withStack, logger = problemsOnConsole }: EndpointOptions<Name>,
): void {
  const { name, eventType, messageId, about = {}, error, isAlarming = false } = decision;
  const { status, log, meaning, remedy } = answers[name];
  if (!logger || (times !== undefined && !isWorthALine(times))) return;
  const fields = {
    answer: name,
    status,
    ms: Math.round(milliseconds * 10) / 10,
    ...(eventType !== undefined && { eventType: countableType(eventType) }),
    ...(messageId !== undefined && { messageId }),
    ...Object.fromEntries(Object.entries(about).filter(([, value]) => value !== undefined)),
    ...(times !== undefined && { times }),
    ...(error !== undefined && { error: describeError(error, withStack.has(name)) }),
  };
  const level = log === 'rarely' ? (isAlarming ? 'error' : 'info') : log;
  logger[level](fields, log === 'info' ? meaning : `${meaning} ${remedy}`);
}

/** For a handler without a logger: one line for each problem, and nothing for what goes well. */
const problemsOnConsole: WebhookLogger = {
  info: () => undefined,
  warn: writeToConsole,
  error: writeToConsole,
};

/** Shortens a stack to its first frame. */
function writeToConsole(fields: Record<string, unknown>, message: string): void {
  const shortened = JSON.stringify(fields, (key, value: unknown) =>
    key === 'stack' && typeof value === 'string' ? /^ +at (.*)$/m.exec(value)?.[1] : value,
  );
  // oxlint-disable-next-line no-console -- the product's own log, until it gives the handler another
  console.error(`lab-operations: ${message} ${shortened}`);
}

/** The observer of the answers must not change them. */
function notify<Name extends string>(
  { name: answer, also, kind, lagMilliseconds }: Decision<Name | Own>,
  milliseconds: number,
  { answers, observe, logger = problemsOnConsole }: EndpointOptions<Name>,
): void {
  try {
    observe?.({
      answer,
      status: answers[answer].status,
      milliseconds,
      ...(also !== undefined && { also }),
      ...(kind !== undefined && { kind }),
      ...(lagMilliseconds !== undefined && { lagMilliseconds }),
    });
  } catch (error) {
    if (logger) logger.error({ error: describeError(error, true) }, 'The observer of the answers failed: correct it.');
  }
}

/** Only the describing properties of an error: others may quote data (a database's `detail` quotes the row). */
function describeError(error: unknown, withStack: boolean): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name: type, message, stack, cause } = error;
  const code: unknown = 'code' in error ? error.code : undefined;
  return {
    type,
    message,
    ...(code !== undefined && { code }),
    // An answer of Temporal has both. gRPC's other errors quote the headers that they cannot send, an API key too.
    ...(cause instanceof Error && { cause: 'details' in cause && 'metadata' in cause ? cause.message : cause.name }),
    ...(withStack && { stack }),
  };
}

/** The settings for reading signed requests. */
export interface Receiving<Name extends string> {
  secrets: readonly string[];
  maxBytes: number;
  bodyDeadlineMs: number;
  memory: BodyMemory;
  now: () => number;
  /** Refuses an id before the body is read. */
  refuseId?(id: string): Name | undefined;
}

/** A request whose signature fits. */
export interface SignedMessage {
  id: string;
  bytes: Uint8Array;
}

/**
 * Reads a request and checks it in a fixed order: method, headers, size, signature. The headers come before the body,
 * so the process buffers nothing for a request without a recent timestamp. Then `decide` returns the answer.
 */
export async function receive<Name extends string>(
  request: WebhookRequest,
  receiving: Receiving<Name>,
  decide: (message: SignedMessage) => Promise<Decision<Name>>,
): Promise<Decision<Name | Refusal>> {
  if ((request.method ?? 'POST').toUpperCase() !== 'POST') return { name: 'method_not_allowed' };
  const read = readSignatureHeaders(request.headers, receiving.now());
  if (!read.ok) return { name: read.reason };
  const refused = receiving.refuseId?.(read.signed.id);
  if (refused !== undefined) return { name: refused };
  const lease = receiving.memory.lease();
  try {
    const body = await readSigned(request, read.signed, { ...receiving, lease });
    return 'bytes' in body ? await decide({ id: read.signed.id, bytes: body.bytes }) : body;
  } finally {
    lease.release();
  }
}

async function readSigned(
  { headers, body }: WebhookRequest,
  signed: SignatureHeaders,
  {
    secrets,
    lease,
    ...limits
  }: Pick<Receiving<string>, 'secrets' | 'maxBytes' | 'bodyDeadlineMs'> & { lease: BodyLease },
): Promise<{ bytes: Uint8Array } | Decision<Refusal>> {
  const read = await readBody(headers, body, { ...limits, lease });
  if ('refusal' in read) return { name: read.refusal, error: read.error };
  return isSigned(signed, read.bytes, secrets) ? { bytes: read.bytes } : { name: 'signature_mismatch' };
}

/**
 * Refuses options that an endpoint cannot work with.
 * @param setting the setting that usually holds the secrets
 * @throws TypeError, WebhookSecretInvalid
 */
export function checkOptions(
  creator: string,
  { secrets, setting, limits }: { secrets: readonly string[]; setting: string; limits: Record<string, number> },
): void {
  if (!Array.isArray(secrets) || secrets.length === 0)
    throw new TypeError(`${creator} needs at least one secret (${setting})`);
  for (const secret of secrets) parseSecret(secret);
  for (const [name, value] of Object.entries(limits)) {
    if (!(value > 0)) throw new TypeError(`${creator}: ${name} must be a number above zero`);
  }
}
