import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { lowLevel } from './lifecycle.js';
import { durationSchema } from './clock.js';
import type { Lab } from './lab.js';

/** The faults that can be played: of requests, and of webhooks. */

const counts = {
  /** How many requests or messages that fit pass before the fault begins. */
  skip: z.int().nonnegative().default(0),
  /** How many it meets; null: until it is removed. */
  times: z.int().positive().nullable().default(null),
};

const phase = z.enum(['before_work', 'after_work']).default('before_work');

const httpFaultAction = z.discriminatedUnion('kind', [
  /** Answers this instead. `after_work`: the work is done all the same, as behind a gateway that lost patience. */
  z.strictObject({
    kind: z.literal('answer'),
    status: z.int().min(200).max(599),
    /** Sent as JSON; a string as text/plain. */
    body: z.unknown().optional(),
    headers: z.record(z.string(), z.string()).default({}),
    phase,
    delayMs: z.number().nonnegative().default(0),
  }),
  /** Answers late, or once all faults are removed. Real milliseconds, never compressed: callers' timeouts are real. */
  z.strictObject({ kind: z.literal('delay'), delayMs: z.number().nonnegative(), phase }),
  /** Does the work and then closes the connection without an answer. */
  z.strictObject({ kind: z.literal('drop_response'), delayMs: z.number().nonnegative().default(0) }),
  /** Resets the connection before anything was done. */
  z.strictObject({ kind: z.literal('refuse') }),
]);

export type HttpFaultAction = z.output<typeof httpFaultAction>;

export const httpFaultSchema = z.strictObject({
  /** Any method when left out. */
  method: z.string().toUpperCase().optional(),
  // The path without its query. `*` stands for one segment, `**` for any rest: '/v3/order/*/cancel', '/v3/**'.
  path: z.string().startsWith('/'),
  ...counts,
  action: httpFaultAction,
});

const webhookFaultAction = z.discriminatedUnion('kind', [
  /** Sends the message `copies` more times; by default under its own id, else under new ids. */
  z.strictObject({
    kind: z.literal('duplicate'),
    copies: z.int().positive().default(1),
    sameId: z.boolean().default(true),
  }),
  /** Keeps the message until the command `releaseWebhooks`. */
  z.strictObject({ kind: z.literal('hold') }),
  /** Keeps messages until there are `count` of them, then sends them one after the other, the newest first. */
  z.strictObject({ kind: z.literal('reorder'), count: z.int().min(2) }),
  /** Never sends it. */
  z.strictObject({ kind: z.literal('lose') }),
  /** Changes one byte of the body after signing, in the first `attempts` attempts. */
  z.strictObject({ kind: z.literal('corrupt'), attempts: z.int().positive().default(1) }),
  /** Sends it late, by a (compressed) delay. */
  z.strictObject({ kind: z.literal('delay'), by: durationSchema }),
]);

export type WebhookFaultAction = z.output<typeof webhookFaultAction>;

export const webhookFaultSchema = z.strictObject({
  /** Which messages: all four must fit where given. */
  event_type: z.string().optional(),
  order_id: z.string().optional(),
  job_id: z.string().optional(),
  /** The low-level status of the order's last event, or the status of the parsing job. */
  status: z.string().transform(lowLevel).optional(),
  ...counts,
  action: webhookFaultAction,
});

interface Fault {
  readonly skip: number;
  readonly times: number | null;
}

/** A list of faults, each for a number of requests or messages that fit it; the first that is left applies. */
class FaultList<Kind extends Fault, Facts> {
  readonly #fits: (facts: Facts, fault: Kind) => boolean;
  readonly #faults = new Map<string, { readonly fault: Kind; skip: number; left: number }>();
  #removal = new AbortController();
  #count = 0;

  constructor(fits: (facts: Facts, fault: Kind) => boolean) {
    this.#fits = fits;
  }

  /** Returns the id under which the fault can be removed. */
  add(fault: Kind): string {
    const id = `fault-${++this.#count}`;
    this.#faults.set(id, { fault, skip: fault.skip, left: fault.times ?? Number.POSITIVE_INFINITY });
    return id;
  }

  /** Aborted when all faults are removed: the delays under way end with them. */
  get removal(): AbortSignal {
    return this.#removal.signal;
  }

  /** Removes one fault, or all. */
  remove(id?: string): void {
    if (id !== undefined) return void this.#faults.delete(id);
    this.#faults.clear();
    this.#removal.abort();
    this.#removal = new AbortController();
  }

  /** The fault that applies to this one, counted off. */
  take(facts: Facts): { readonly id: string; readonly fault: Kind } | undefined {
    for (const [id, entry] of this.#faults) {
      if (!this.#fits(facts, entry.fault)) continue;
      if (entry.skip > 0) {
        entry.skip--;
        continue;
      }
      entry.left--;
      if (entry.left <= 0) this.#faults.delete(id);
      return { id, fault: entry.fault };
    }
    return undefined;
  }
}

export function newHttpFaults() {
  return new FaultList<z.output<typeof httpFaultSchema>, { readonly method: string; readonly path: string }>(
    (facts, { method, path }) => fits(facts, { method }) && pathPattern(path).test(facts.path),
  );
}

export function newWebhookFaults() {
  return new FaultList<z.output<typeof webhookFaultSchema>, object>((facts, { event_type, order_id, job_id, status }) =>
    fits(facts, { event_type, order_id, job_id, status }),
  );
}

/** True if every field that the filter names has its value. */
export function fits(entry: object, filter: object): boolean {
  const values: Record<string, unknown> = { ...entry };
  return Object.entries(filter).every(([name, value]) => value === undefined || values[name] === value);
}

function pathPattern(pattern: string): RegExp {
  const source = pattern
    .split(/(\*\*|\*)/)
    .map((part) => (part === '**' ? '.*' : part === '*' ? '[^/]+' : part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&')))
    .join('');
  return new RegExp(`^${source}$`);
}

interface InFlight {
  readonly action: HttpFaultAction | undefined;
  readonly finish: (outcome: RequestOutcome, status: number | null) => void;
}

/**
 * Logs every request that is not for the control interface, and plays the fault that fits it. Faults come
 * before authentication, as trouble on the way does.
 *
 * @param closing ends every wait, so the stand-in can stop
 */
export function faultHooks(app: FastifyInstance, lab: Lab, closing: AbortSignal): void {
  const inFlight = new WeakMap<FastifyRequest, InFlight>();
  const pause = async (delayMs: number): Promise<void> => {
    if (delayMs === 0) return;
    const signal = AbortSignal.any([closing, lab.faults.removal]);
    await wait(delayMs, undefined, { signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  };

  app.addHook('onRequest', async (request, reply) => {
    if (isControl(request)) return;
    const { method, url, headers } = request;
    const finish = lab.requests.begin(new Date(lab.clock.now()).toISOString(), { method, url, headers });
    const path = url.split('?', 1)[0] ?? url;
    const action = lab.faults.take({ method, path })?.fault.action;
    inFlight.set(request, { action, finish });
    if (action === undefined) return;
    if (action.kind === 'refuse') {
      finish('refused', null);
      reply.hijack();
      request.raw.socket.resetAndDestroy();
      return reply;
    }
    if (action.kind === 'answer' && action.phase === 'before_work') {
      await pause(action.delayMs);
      return reply.send(faultAnswer(action, reply));
    }
  });

  // Not before the body is read: a caller that gives up meanwhile has sent its request all the same.
  app.addHook('preHandler', async (request) => {
    const { action } = inFlight.get(request) ?? {};
    if (action?.kind === 'delay' && action.phase === 'before_work') await pause(action.delayMs);
  });

  app.addHook('onSend', async (request, reply, payload) => {
    const { action, finish } = inFlight.get(request) ?? {};
    if (finish === undefined) return payload;
    const isLate =
      action !== undefined && action.kind !== 'refuse' && !('phase' in action && action.phase === 'before_work');
    if (isLate) await pause(action.delayMs);
    if (action?.kind === 'drop_response') {
      finish('dropped', null);
      request.raw.socket.destroy();
      return payload;
    }
    const answer = isLate && action.kind === 'answer' ? faultAnswer(action, reply) : payload;
    finish('answered', reply.statusCode);
    return answer;
  });
}

export function isControl(request: FastifyRequest): boolean {
  return request.url.startsWith('/_sandbox/');
}

/** Sets status and headers, and gives the bytes to send. */
function faultAnswer(action: Extract<HttpFaultAction, { kind: 'answer' }>, reply: FastifyReply): string {
  const { status, body, headers } = action;
  const format = typeof body === 'string' ? 'text/plain' : 'application/json';
  void reply.code(status).type(`${format}; charset=utf-8`).headers(headers);
  if (typeof body === 'string') return body;
  return body === undefined ? '' : JSON.stringify(body);
}

/** Headers that may be kept: none of them carries a secret or personal data. */
const keptHeaders = ['x-idempotency-key', 'x-idempotency-error', 'content-type', 'user-agent'] as const;
/** Older requests are forgotten. */
const mostEntries = 50_000;

type RequestOutcome = 'pending' | 'answered' | 'dropped' | 'refused';

/** One request, without its body and its credentials. */
interface LoggedRequest {
  /** By the stand-in's clock. */
  readonly at: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** With its question mark, and `***` for the token of a link's page; empty when there was none. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The answer's status; null while pending, or if the connection was closed instead. */
  status: number | null;
  outcome: RequestOutcome;
}

/** The requests so far: enough to count creations. The control interface is not logged. */
export class RequestLog {
  #entries: LoggedRequest[] = [];

  begin(
    at: string,
    request: { method: string; url: string; headers: Readonly<Record<string, string | string[] | undefined>> },
  ): (outcome: RequestOutcome, status: number | null) => void {
    const [path = '', query] = request.url.split('?', 2);
    const headers = Object.fromEntries(
      keptHeaders.flatMap((name) => {
        const value = request.headers[name];
        return typeof value === 'string' ? [[name, value]] : [];
      }),
    );
    const entry: LoggedRequest = {
      at,
      method: request.method,
      path,
      query: query === undefined ? '' : `?${query.replace(/(?<=^|&)token=[^&]*/g, 'token=***')}`,
      headers,
      status: null,
      outcome: 'pending',
    };
    this.#entries.push(entry);
    // In large steps: moving a long list for every request would cost more than the request.
    if (this.#entries.length > mostEntries * 1.2) this.#entries = this.#entries.slice(-mostEntries);
    return (outcome, status) => {
      entry.outcome = outcome;
      entry.status = status;
    };
  }

  /** In the order in which they came. */
  entries(): readonly Readonly<LoggedRequest>[] {
    return this.#entries;
  }

  clear(): void {
    this.#entries = [];
  }
}
