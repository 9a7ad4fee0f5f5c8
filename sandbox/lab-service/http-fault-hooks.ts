import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { HttpFaultAction } from './faults.js';
import type { Lab } from './lab.js';

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
      await pause(action.delayMs, closing);
      return reply.send(faultAnswer(action, reply));
    }
  });

  // Not before the body is read: a caller that gives up meanwhile has sent its request all the same.
  app.addHook('preHandler', async (request) => {
    const { action } = inFlight.get(request) ?? {};
    if (action?.kind === 'delay' && action.phase === 'before_work') await pause(action.delayMs, closing);
  });

  app.addHook('onSend', async (request, reply, payload) => {
    const { action, finish } = inFlight.get(request) ?? {};
    if (finish === undefined) return payload;
    const isLate =
      action !== undefined && action.kind !== 'refuse' && !('phase' in action && action.phase === 'before_work');
    if (isLate) await pause(action.delayMs, closing);
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

async function pause(delayMs: number, closing: AbortSignal): Promise<void> {
  if (delayMs === 0) return;
  try {
    await wait(delayMs, undefined, { signal: closing });
  } catch (error) {
    // The stand-in ends, so the caller goes on at once.
    if (!closing.aborted) throw error;
  }
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
