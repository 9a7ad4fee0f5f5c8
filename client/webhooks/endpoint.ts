import type { IncomingMessage, ServerResponse } from 'node:http';
import { isShowableType } from '../../service/word.js';
import {
  type Bounds,
  type Message,
  parse,
  type Refusal,
  type UnparsedMessage,
  verify,
  type WebhookBody,
  type WebhookRequest,
} from './verify.js';

/*
 * An endpoint for requests signed as Standard Webhooks: verifies and parses them, gives its answers over HTTP, counts and logs them. The
 * webhook handler and the notification handler both use it, and differ in what they do with a message.
 */

/** The log that a handler writes to. pino fits, and so does anything that takes fields and a message. */
export interface WebhookLogger {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}

/** One answer of an endpoint that takes signed requests: the webhook handler, or the notification handler. */
export interface Answer {
  status: number;
  /** `rarely`: once for each event type, then at its 10th, 100th and so on. What is `unverified` is never logged more often. */
  log: 'info' | 'warn' | 'error' | 'rarely';
  meaning: string;
  /** For readers of the log or the answer. */
  remedy: string;
}

/** The answers that are the same for every sender. */
export const commonAnswers = {
  method_not_allowed: {
    status: 405,
    log: 'warn',
    meaning: 'Webhooks are sent by POST.',
    remedy: 'Send POST requests only.',
  },
  body_already_read: {
    status: 500,
    log: 'error',
    meaning: 'A body parser in front of the handler consumed the signed bytes.',
    remedy: 'Mount the handler before the body parser, or give it the raw bytes.',
  },
  headers_missing: {
    status: 401,
    log: 'warn',
    meaning: 'The id, timestamp or signature header is missing, in both spellings (svix-*, webhook-*).',
    remedy: 'If the request is genuine, make the proxies in front pass these headers on.',
  },
  timestamp_unreadable: {
    status: 401,
    log: 'warn',
    meaning: 'The timestamp header is not a whole number of seconds.',
    remedy: 'If the request is genuine, make the proxies in front pass the header on unchanged.',
  },
  timestamp_stale: {
    status: 401,
    log: 'warn',
    meaning: 'The timestamp is more than 5 minutes off: this is a replay, or a clock is wrong.',
    remedy: "Check this machine's clock.",
  },
  too_many_bodies: {
    status: 503,
    log: 'warn',
    meaning: 'The requests being read hold as many bytes as they may in total; the rest of this body was not read.',
    remedy:
      'Nothing to do: the sender will retry. If this continues, find out who sends so much, or start more processes.',
  },
  body_broke_off: {
    status: 503,
    log: 'warn',
    meaning: 'The connection broke or was too slow: the body did not arrive as a whole.',
    remedy: 'Nothing to do: the sender will retry.',
  },
  internal_error: {
    status: 500,
    log: 'error',
    meaning: 'The handler itself failed.',
    remedy: 'Report the logged error; the sender will retry.',
  },
} as const satisfies Record<string, Answer>;

/** An answer as HTTP, for any framework. */
export interface WebhookAnswer {
  status: number;
  headers: Record<string, string>;
  /** JSON that names the refusal and its remedy; absent with 204. */
  body?: string;
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

/** Takes signed requests from any server. Its functions can be passed on without it. */
export interface SignedEndpoint<Name extends string> {
  /**
   * For any framework: takes the request with its raw bytes and returns the answer. Never rejects. If it has not read
   * the body, the connection must be closed after the answer, as the answer's `connection` header says.
   */
  handle(request: WebhookRequest): Promise<WebhookAnswer>;
  /** For node:http, Express and NestJS (before their body parsers, or behind `express.raw`) and Fastify's raw request and reply. */
  node(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** For frameworks that use the web's `Request`, such as Next.js and Hono. */
  fetch(request: Request): Promise<Response>;
  /** How many requests got which answer since the handler was made. */
  counts(): AnswerCounts<Name>;
}

/** The result of a request, with what may be logged about it: ids and types, nothing personal. */
export interface OutcomeOf<Name extends string> {
  /** The answer's. */
  name: Name;
  /** A second result of the request, which is counted too. */
  also?: Name | undefined;
  eventType?: string | undefined;
  messageId?: string;
  orderId?: string;
  jobId?: string;
  workflowId?: string;
  /** The unreadable part, without a value of the event. */
  problem?: string;
  error?: unknown;
  kind?: string;
  /** When the event happened, if it was delivered and says so; ISO 8601 in UTC. */
  happenedAt?: string | undefined;
  /** Logged as an error, although its answer is logged rarely and as information. */
  isAlarming?: boolean;
}

/** Answers that every endpoint needs, whatever it takes. */
type Own = Refusal | 'internal_error';

interface EndpointOptions<Name extends string> extends Bounds {
  answers: Readonly<Record<Name | Own, Answer>>;
  /** Refuses an id before the body is read. */
  refuseId?: (id: string) => Name | undefined;
  /** Does with a message what the endpoint is for. If it rejects, the answer is `internal_error`. */
  receive(message: Message | UnparsedMessage): Promise<OutcomeOf<Name>>;
  /** Answers whose error is the caller's own code or ours: the log shows its stack. */
  withStack: ReadonlySet<Name | Own>;
  /** Default: `problemsOnConsole`. */
  logger?: WebhookLogger | false | undefined;
  /** Is notified of every answer. */
  observe?: RequestObserver<Name | Own> | undefined;
}

export function createEndpoint<Name extends string>(options: EndpointOptions<Name>): SignedEndpoint<Name | Own> {
  const counter = createCounter(options.answers);

  async function settle(work: () => Promise<OutcomeOf<Name | Own>>): Promise<WebhookAnswer> {
    const started = performance.now();
    const outcome = await work().catch((error: unknown): OutcomeOf<Own> => ({ name: 'internal_error', error }));
    const times = counter.add(outcome);
    const milliseconds = performance.now() - started;
    report(outcome, { times, milliseconds }, options);
    notify(outcome, milliseconds, options);
    return httpAnswer(outcome.name, options.answers[outcome.name]);
  }

  /** The steps of a request. Its bytes count as held until all of them are done. */
  async function verifyAndReceive(request: WebhookRequest): Promise<OutcomeOf<Name | Own>> {
    return options.memory.lend(async (hold) => {
      const verified = await verify(request, options, hold, options.refuseId);
      if ('name' in verified) return verified;
      return { ...(await options.receive(parse(verified))), messageId: verified.id };
    });
  }

  const handle = (request: WebhookRequest) => settle(() => verifyAndReceive(request));
  const alreadyRead = () => settle(() => Promise.resolve({ name: 'body_already_read' }));
  return {
    handle,
    async node(request, response) {
      const body = rawBody(request);
      const { method = 'POST', headers } = request;
      const answer = body ? await handle({ method, headers, body }) : await alreadyRead();
      response.writeHead(answer.status, answer.headers).end(answer.body);
    },
    async fetch(request) {
      const { method, body, bodyUsed } = request;
      const headers = Object.fromEntries(request.headers);
      const isTaken = bodyUsed || body?.locked === true;
      const answer = isTaken ? await alreadyRead() : await handle({ method, headers, body: body ?? new Uint8Array() });
      return new Response(answer.body ?? null, answer);
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
  outcome: OutcomeOf<Name | Own>,
  { times, milliseconds }: { times: number | undefined; milliseconds: number },
  { answers, withStack, logger = problemsOnConsole }: EndpointOptions<Name>,
): void {
  const { name, eventType, messageId, orderId, jobId, workflowId, problem, error, isAlarming = false } = outcome;
  const { status, log, meaning, remedy } = answers[name];
  if (!logger || (times !== undefined && !isWorthALine(times))) return;
  const about = {
    eventType: eventType === undefined ? undefined : countableType(eventType),
    ...{ messageId, orderId, jobId, workflowId, problem, times },
    error: error === undefined ? undefined : describeError(error, withStack.has(name)),
  };
  const fields = {
    ...{ answer: name, status, ms: Math.round(milliseconds * 10) / 10 },
    ...Object.fromEntries(Object.entries(about).filter(([, value]) => value !== undefined)),
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
  { name: answer, also, kind, happenedAt }: OutcomeOf<Name | Own>,
  milliseconds: number,
  { answers, observe, now, logger = problemsOnConsole }: EndpointOptions<Name>,
): void {
  try {
    observe?.({
      answer,
      status: answers[answer].status,
      milliseconds,
      ...(also !== undefined && { also }),
      ...(kind !== undefined && { kind }),
      // Clocks differ: an event from the future has no lag.
      ...(happenedAt !== undefined && { lagMilliseconds: Math.max(0, now() - Date.parse(happenedAt)) }),
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

/** Answers that anybody can cause, without a secret: the log has the first, the 10th, the 100th and so on of each. */
const unverified: ReadonlySet<string> = new Set([
  'method_not_allowed',
  'headers_missing',
  'timestamp_unreadable',
  'timestamp_stale',
  'id_malformed',
  'body_too_large',
  'too_many_bodies',
  'body_broke_off',
  'body_already_read',
  'signature_mismatch',
]);

export function httpAnswer(name: string, { status, meaning, remedy }: Answer): WebhookAnswer {
  if (status === 204) return { status, headers: {} };
  const body = JSON.stringify({ error: name, message: `${meaning} ${remedy}` });
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    // The rest of an unread body could be mistaken for the next request, and a stranger's connection would wait for one.
    connection: 'close',
  };
  if (name === 'method_not_allowed') headers['allow'] = 'POST';
  return { status, headers, body };
}

/** How many requests got which answer since the handler was made. */
export interface AnswerCounts<Name extends string> {
  answers: Record<Name, number>;
  /** Events that were not handled, by event type. At most 100 types; further ones are counted as `(others)`. */
  passedOver: Record<string, number>;
}

const mostTypes = 100;
const others = '(others)';

function createCounter<Name extends string>(answers: Readonly<Record<Name, Answer>>) {
  const byAnswer = new Map<Name, number>();
  const byType = new Map<string, number>();
  return {
    /** Counts an answer; of one that is logged rarely it returns how often it was given. */
    add({ name, also, eventType: type }: OutcomeOf<Name>): number | undefined {
      const times = increment(byAnswer, name);
      if (also !== undefined) increment(byAnswer, also);
      if (unverified.has(name)) return times;
      if (answers[name].log !== 'rarely') return undefined;
      const eventType = countableType(type);
      return increment(byType, byType.has(eventType) || byType.size < mostTypes ? eventType : others);
    },
    snapshot: (): AnswerCounts<Name> => ({
      answers: Object.fromEntries(
        Object.keys(answers).map((name) => [name, byAnswer.get(name as Name) ?? 0]),
      ) as Record<Name, number>,
      passedOver: Object.fromEntries(byType),
    }),
  };
}

/** True for the first time, the 10th, the 100th and so on: what a stranger causes without end must not fill a log. */
export function isWorthALine(times: number): boolean {
  return /^10*$/.test(String(times));
}

function increment<Key>(counts: Map<Key, number>, key: Key): number {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
}

/** An event type in a form that is safe for logs and counts. */
function countableType(eventType: string | undefined): string {
  if (eventType === undefined) return '(none)';
  return isShowableType(eventType) ? eventType : others;
}
