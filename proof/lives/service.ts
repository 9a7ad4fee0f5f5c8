import { ApplicationFailure } from '@temporalio/activity';
import type { ActivityDependencies } from '../../activities/dependencies.js';
import type { NotifyOutcome } from '../../activities/notifications/notifications.js';
import type { Notification } from '../../protocol/notifications/delivery.js';
import { createAppointments } from '../../service/appointment/appointments.js';
import { createCentreDirectory } from '../../service/appointment/centres.js';
import { factsOf, readAnswer, readEnd } from '../../service/http/answers.js';
import { AnswerLost, ServiceUnreachable } from '../../service/errors.js';
import type { Transport } from '../../service/http/http.js';
import type { AnsweredCall, ServiceCall } from '../../service/http/calls.js';
import { defaultInstallation } from '../../service/installation.js';
import { createLabTests } from '../../service/lab-tests.js';
import { createLinks } from '../../service/link/link.js';
import { createMatchReviews } from '../../service/match-review/match-reviews.js';
import { createOrders } from '../../service/order/orders.js';
import { createPortal, createUsers } from '../../service/users.js';
import { createReports } from '../../service/report/reports.js';
import { createWalkIns } from '../../service/appointment/walk-ins.js';
import { day, hour, second, type Life } from './life.js';

/** A call as the service gets it. */
export interface Request {
  method: ServiceCall['method'];
  path: string;
  params: Record<string, string>;
  query: Record<string, unknown>;
  headers: Record<string, string>;
  body: never;
  /** The bytes of an upload, as text. */
  file?: string;
}

export interface ServiceAnswer {
  status: number;
  body?: unknown;
}

/** Carries a call out at this moment. A read may show how things stood some moments ago: `since` is how far it may look back. */
export type Handle = (request: Request) => ServiceAnswer;

/** How long after a lost answer the service may still carry out what it got: less than the product's shortest wait for that, 35 seconds. */
const carriedOutWithin = 25 * second;

/** The service's own limit on a call, as the product's transport has it. */
const headersWithin = 30 * second;

export class Network {
  private readonly life: Life;
  private readonly handle: Handle;
  /** When the service, or the way to it, is down. */
  private readonly outages: { from: number; until: number }[] = [];

  constructor(life: Life, handle: Handle) {
    this.life = life;
    this.handle = handle;
    let from = life.now;
    while (life.happens(life.roughness * 1.5) && this.outages.length < 3) {
      from += life.span(second, 3 * day);
      // Shorter than a day: after that, the product no longer waits for an answer before an end.
      const until = from + (life.happens(0.1) ? life.between(6 * hour, 22 * hour) : life.span(second, 6 * hour));
      this.outages.push({ from, until });
      from = until;
    }
  }

  private get isDown(): boolean {
    const { life } = this;
    return !life.isCalm && this.outages.some(({ from, until }) => from <= life.now && life.now < until);
  }

  /** Answers, late or never; what was asked for may be done all the same, at once or later. */
  private send(call: ServiceCall, file?: string): Promise<ServiceAnswer> {
    const { life } = this;
    const limit = Math.min(
      call.options?.timeoutMs ?? Math.max(60 * second, call.slowestMs ?? 0),
      Math.max(headersWithin, call.slowestMs ?? 0),
    );
    const { signal } = call.options ?? {};
    signal?.throwIfAborted();
    const name = `${call.method} ${call.path}`;
    const act = (): ServiceAnswer => {
      life.count('calls');
      // Without demographics a user has no portal, and a reminder goes without its link.
      if (call.path.endsWith('/create_portal_url')) return { status: 422, body: { detail: 'no demographics' } };
      const answer = this.handle({
        ...{ method: call.method, path: call.path, params: call.params ?? {}, query: call.query ?? {} },
        ...{ headers: headersOf(call), body: call.body as never, ...(file !== undefined && { file }) },
      });
      if (call.method !== 'GET') life.tell(`  the service does ${name}: ${answer.status}`);
      return answer;
    };
    return life.open<ServiceAnswer>((resolve, reject) => {
      const lost = (why: string) => () => reject(new AnswerLost(factsOf(call), `was sent, outcome unknown: ${why}`));
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      if (this.isDown && life.happens(0.6)) {
        life.after(life.between(1, 5 * second), () => reject(new ServiceUnreachable(factsOf(call), 'was not sent')));
        return;
      }
      if (this.isDown) return life.after(life.between(5, second), () => resolve(unavailable));
      // Most calls are quick, some take as long as they may.
      const took = life.happens(0.8) ? life.between(20, 400) : life.span(400, limit - 10);
      if (!life.fails(0.7)) {
        life.after(life.between(0, took), () => {
          const at = life.now;
          const answer = act();
          // `took` counts from the moment at which the call was sent.
          life.after(Math.max(took - (at - opened), 0), () => resolve(answer));
        });
        const opened = life.now;
        return;
      }
      const fate = life.between(1, call.method === 'GET' ? 6 : 10);
      if (fate === 1)
        return life.after(life.between(1, 5 * second), () =>
          reject(new ServiceUnreachable(factsOf(call), 'was not sent')),
        );
      if (fate === 2) return life.after(took, () => resolve(unavailable));
      if (fate === 3) return life.after(took, () => resolve({ status: 429 }));
      // Its answer is lost: nothing was done, it was done, or it will be.
      const givenUp = life.happens(0.5) ? limit : took;
      life.after(givenUp, fate === 4 ? () => resolve(unavailable) : lost('it was broken off'));
      if (fate === 6 && life.happens(0.3)) return;
      // A call that is given more time may be carried out later.
      const longest = Math.min(carriedOutWithin, 1.2 * (call.options?.timeoutMs ?? Infinity));
      const done = life.happens(0.5) ? life.between(0, givenUp) : givenUp + life.between(0, longest);
      life.after(done, act);
    });
  }

  get transport(): Transport {
    const request = async <T>(call: AnsweredCall<T>): Promise<T> => {
      let file = '';
      for await (const chunk of call.upload?.bytes ?? []) file += Buffer.from(chunk).toString();
      return readAnswer(call, rawOf(await this.send(call, file)), []);
    };
    return {
      paths: { orders: '/orders', users: '/v2/user/', createOrder: '/v3/order' },
      request,
      get: (path, params, answer, options, more) => request({ method: 'GET', path, params, answer, options, ...more }),
      send: async (call) => readEnd(call, rawOf(await this.send(call)), []),
      download: () => Promise.reject(new TypeError('no life downloads anything')),
      downloadStream: () => Promise.reject(new TypeError('no life downloads anything')),
      close: () => Promise.resolve(),
    };
  }

  get service(): ActivityDependencies['service'] {
    const { transport } = this;
    return {
      users: createUsers(transport),
      links: createLinks(transport),
      orders: createOrders(transport),
      labTests: createLabTests(transport),
      portal: createPortal(transport),
      reports: createReports(transport),
      appointments: createAppointments(transport),
      matchReviews: createMatchReviews(transport),
      centres: createCentreDirectory(transport),
      walkIns: createWalkIns(transport),
      // No life reads these.
      ...({ providers: {}, documents: {}, timeseries: {}, management: {} } as Pick<
        ActivityDependencies['service'],
        'providers' | 'documents' | 'timeseries' | 'management'
      >),
      installation: defaultInstallation,
      close: () => Promise.resolve(),
    };
  }
}

const unavailable: ServiceAnswer = { status: 503, body: { detail: 'try again later' } };

/** A step of a link carries its token instead of the team's key. */
function headersOf({ headers = {}, auth }: ServiceCall): Record<string, string> {
  return typeof auth === 'object' ? { ...headers, 'x-service-link-token': auth.linkToken } : headers;
}

function rawOf({ status, body }: ServiceAnswer) {
  return { status, headers: {}, body: Buffer.from(body === undefined ? '' : JSON.stringify(body)) };
}

/**
 * What the service has, as it was: a read may be answered by a replica that is some moments behind.
 */
export class Past<State extends object> {
  private readonly life: Life;
  private readonly versions: { at: number; state: State }[] = [];

  constructor(life: Life, state: State) {
    this.life = life;
    this.versions.push({ at: -Infinity, state: structuredClone(state) });
  }

  changed(state: State): void {
    this.versions.push({ at: this.life.now, state: structuredClone(state) });
  }

  /** @param lag milliseconds at most */
  seen(lag: number): State {
    const { life, versions } = this;
    const isBehind = !life.isCalm && life.happens(0.6);
    const asOf = life.now - (isBehind ? life.between(0, lag) : 0);
    const state = versions.findLast(({ at }) => at <= asOf)?.state;
    if (!state) throw new RangeError('there is always a first version');
    return state;
  }
}

/** The product's endpoint for notifications. What it got is there once, whatever was answered. */
export class Receiver {
  readonly got: { id: string; type: string; data: Record<string, unknown>; at: number }[] = [];
  /** The product reacts. */
  onGot: (event: Receiver['got'][number]) => void = () => undefined;
  private readonly life: Life;
  private readonly down: { from: number; until: number }[] = [];

  constructor(life: Life) {
    this.life = life;
    for (let from = life.now; life.happens(life.roughness) && this.down.length < 3;) {
      from += life.span(second, 3 * day);
      const until = from + life.span(30 * second, 4 * day);
      this.down.push({ from, until });
      from = until;
    }
  }

  get isDown(): boolean {
    const { life } = this;
    return !life.isCalm && this.down.some(({ from, until }) => from <= life.now && life.now < until);
  }

  /** Takes a batch in its order, as the activity `notify` reports it: fails only if the first did not arrive. */
  async take(notifications: readonly Notification[]): Promise<NotifyOutcome> {
    const outcome: NotifyOutcome = { delivered: [], refused: [], handedOver: false };
    for (const [index, notification] of notifications.entries()) {
      const answer = await this.send(notification);
      if (answer === 'failed' && index === 0)
        throw ApplicationFailure.retryable('it was not taken', 'NotificationRefused');
      if (answer === 'failed') break;
      if (answer === 'refused') outcome.refused.push({ notification, status: 400 });
      else outcome.delivered.push(notification.id);
    }
    return outcome;
  }

  private async send({ id, type, data }: Notification): Promise<'delivered' | 'refused' | 'failed'> {
    const { life } = this;
    await life.pause(life.happens(0.9) ? life.between(5, 300) : life.span(300, 15 * second));
    if (this.isDown) return 'failed';
    if (life.fails(0.05)) return 'refused';
    if (!this.got.some((each) => each.id === id)) {
      life.tell(`the product gets ${type} ${brief(data)}`);
      const event = { id, type, data, at: life.now };
      this.got.push(event);
      if (!life.isCalm) this.onGot(event);
    }
    return life.fails(0.1) ? 'failed' : 'delivered';
  }
}

function brief({ phase, outcome, reason, by }: Record<string, unknown>): string {
  return [phase, outcome, reason, by].filter((each) => typeof each === 'string').join(' ');
}
