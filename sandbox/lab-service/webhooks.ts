import { randomBytes } from 'node:crypto';
import { Agent } from 'undici';
import { appointmentBody, presentStatus, type Appointment, type AppointmentEventType } from './appointments.js';
import type { ConnectionEventType } from './connections.js';
import type { HealthDataEventType } from './health-data.js';
import { Part } from './part.js';
import type { MatchReviewEvent, MatchReviewEventType } from './match-reviews.js';
import { criticalResultBody, orderBody, presentLow, type Json } from './order-body.js';
import type { CriticalResult, OrderEventType } from './orders.js';
import { jobBody, type ParsingJob, type ReportEventType } from './reports.js';
import { inventedTeamId } from './seed.js';
import type { Order, User } from './state.js';
import { newWebhookFaults, type WebhookFaultAction } from './faults.js';
import type { WebhookTarget } from './webhook-endpoints.js';
import { sendWebhook, type AttemptOutcome } from './webhook-attempt.js';

/** Waits before the attempts after the first: eight attempts over 27.6 hours, as documented. */
const retryDelays = ['5s', '5m', '30m', '2h', '5h', '10h', '10h'] as const;
/** The most connections to the receiver at once. */
const mostConnections = 64;
/** Older finished deliveries are forgotten. */
const mostDeliveries = 50_000;

export type DeliveryState = 'waiting' | 'held' | 'delivered' | 'failed' | 'lost' | 'endpoint_disabled';

/** The webhook type of a critical result. */
const criticalResultEvent = 'labtest.result.critical';

export type EventType =
  | OrderEventType
  | typeof criticalResultEvent
  | ReportEventType
  | ConnectionEventType
  | AppointmentEventType
  | MatchReviewEventType
  | HealthDataEventType;

/** The subject of a message. */
interface Subject {
  readonly event_type: EventType;
  /** The user that it is about: of an order, its user then. Null if it is about nobody in particular. */
  readonly user_id: string | null;
  /** Null if it is not about an order. */
  readonly order_id: string | null;
  /** Null if it is not about a parsing job. */
  readonly job_id: string | null;
  /** The low-level status of the order's last event in this message, or the status of the appointment or job; null for others. */
  readonly status: string | null;
  /** The id of that event; null if it is not about an order. */
  readonly event_id: number | null;
}

/** One message and what became of it. */
export interface Delivery extends Subject {
  /** The message id: the same in every attempt. */
  readonly id: string;
  /** The endpoint of the management API that it goes to; null for the address in the settings. */
  readonly endpoint_id: string | null;
  readonly state: DeliveryState;
  readonly attempts: readonly AttemptOutcome[];
}

interface Message extends Delivery {
  /** Emptied when it is no longer needed, so long runs stay small. */
  body: string;
  state: DeliveryState;
  corruptAttempts: number;
  /** Attempts made; `attempts` also has those of copies under the same id. */
  tries: number;
  readonly attempts: AttemptOutcome[];
}

const aboutNothing = { order_id: null, job_id: null, status: null, event_id: null };

function subjectOf(event_type: EventType, order: Order): Subject {
  const { id: order_id, userId: user_id } = order;
  const event_id = order.events.at(-1)?.id ?? 0;
  return { ...aboutNothing, event_type, user_id, order_id, status: presentLow(order), event_id };
}

/** Sends signed messages, mostly snapshots of orders, until the receiver accepts them, and plays the faults that were added. */
export class Webhooks extends Part {
  readonly faults = newWebhookFaults();
  readonly #agent = new Agent({ connections: mostConnections });
  readonly #messages = new Map<string, Message>();
  readonly #inFlight = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  /** By fault: the messages kept back, in the order in which they came. */
  readonly #held = new Map<string, Message[]>();

  /** Sends the order as it now is. */
  announce(eventType: OrderEventType, order: Order): void {
    const data = orderBody(order, this.lab.state, this.lab.settings, 'webhook');
    this.#announce(subjectOf(eventType, order), data);
  }

  /** Sends the result's own fields, or the whole order if the settings say so. */
  announceCriticalResult(order: Order, result: CriticalResult): void {
    const { settings } = this.lab;
    const data =
      settings.criticalResultForm === 'order'
        ? orderBody(order, this.lab.state, settings, 'webhook')
        : criticalResultBody(order, result, this.lab.clock.now());
    this.#announce(subjectOf(criticalResultEvent, order), data);
  }

  /**
   * Sends news about a user that are not about an order.
   * @param options.anonymous leaves the envelope's ids out, whatever the settings say
   */
  announceAbout(user: User, eventType: EventType, data: Json, { anonymous = false } = {}): void {
    const subject = { ...aboutNothing, event_type: eventType, user_id: user.id };
    this.#announce(subject, data, anonymous ? JSON.stringify({ event_type: eventType, data }) : undefined);
  }

  /** Sends the appointment as it now is. */
  announceAppointment(event_type: AppointmentEventType, appointment: Appointment): void {
    const { id: order_id, userId: user_id } = appointment.order;
    const subject = { ...aboutNothing, event_type, user_id, order_id, status: presentStatus(appointment) };
    this.#announce(subject, appointmentBody(appointment));
  }

  /** Sends a stub of the review. The documented schema has no user in its envelope. */
  announceMatchReview(event_type: MatchReviewEventType, event: MatchReviewEvent): void {
    this.#announce({ ...aboutNothing, event_type, user_id: null, status: event.status }, { ...event });
  }

  /** Sends the parsing job as it now is. */
  announceJob(event_type: ReportEventType, job: ParsingJob): void {
    const { id: job_id, userId: user_id, status } = job;
    this.#announce({ ...aboutNothing, event_type, user_id, job_id, status }, jobBody(job));
  }

  /** Each endpoint that takes the type gets a message with attempts of its own. */
  #announce(subject: Subject, data: Json, body = this.#envelope(subject, data)): void {
    if (this.#closing.signal.aborted) return;
    if (this.lab.settings.webhookUrl !== '') this.#submitTo(null, subject, body);
    for (const { id } of this.lab.endpoints.receiving(subject.event_type)) this.#submitTo(id, subject, body);
  }

  #submitTo(endpoint_id: string | null, subject: Subject, body: string): void {
    const fresh = { state: 'waiting' as const, corruptAttempts: 0, tries: 0, attempts: [] };
    const message: Message = { ...subject, endpoint_id, id: newMessageId(), body, ...fresh };
    this.#remember(message);
    const met = this.faults.take(subject);
    if (met === undefined) this.#send(message);
    else this.#sendWithFault(message, met.fault.action, met.id);
  }

  /** Sends what `hold` (and an unfinished `reorder`) kept back, one after the other. Returns how many there were. */
  async release(order: 'kept' | 'reversed' = 'kept'): Promise<number> {
    const messages = [...this.#held.values()].flat();
    this.#held.clear();
    const sending = this.#sendInTurn(order === 'kept' ? messages : messages.toReversed());
    this.#track(sending);
    await sending;
    return messages.length;
  }

  /** Resolves when no attempt is under way; later attempts may still be planned. */
  async settle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  /** In the order in which the messages came up. */
  deliveries(): Delivery[] {
    return [...this.#messages.values()].map((message) => {
      const { body: _body, corruptAttempts: _corruptAttempts, tries: _tries, ...delivery } = message;
      return delivery;
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.settle();
    await this.#agent.destroy();
  }

  #envelope({ event_type, user_id }: Subject, data: Json): string {
    if (this.lab.settings.webhookEnvelope === 'without_ids') return JSON.stringify({ event_type, data });
    if (user_id === null) return JSON.stringify({ event_type, team_id: inventedTeamId, data });
    const client_user_id = this.lab.state.users.get(user_id)?.client_user_id ?? null;
    return JSON.stringify({ event_type, data, team_id: inventedTeamId, user_id, client_user_id });
  }

  #remember(message: Message): void {
    this.#messages.set(message.id, message);
    const [oldest] = this.#messages.keys();
    if (this.#messages.size > mostDeliveries && oldest !== undefined) this.#messages.delete(oldest);
  }

  #sendWithFault(message: Message, action: WebhookFaultAction, faultId: string): void {
    switch (action.kind) {
      case 'duplicate':
        return this.#sendCopies(message, action.copies, action.sameId);
      case 'hold':
        return this.#hold(message, faultId);
      case 'reorder':
        this.#hold(message, faultId);
        if ((this.#held.get(faultId)?.length ?? 0) % action.count === 0) this.#releaseReversed(faultId);
        return;
      case 'lose':
        message.state = 'lost';
        message.body = '';
        return;
      case 'corrupt':
        message.corruptAttempts = action.attempts;
        return this.#send(message);
      case 'delay':
        this.lab.clock.schedule(action.by, () => this.#send(message));
        return;
      default:
        throw new Error(`no such webhook fault: ${JSON.stringify(action satisfies never)}`);
    }
  }

  #sendCopies(message: Message, copies: number, sameId: boolean): void {
    const more = Array.from({ length: copies }, () => {
      // A copy has its own retries; under the same id it is listed with the first.
      if (sameId) return { ...message };
      const copy: Message = { ...message, id: newMessageId(), attempts: [] };
      this.#remember(copy);
      return copy;
    });
    this.#track(this.#sendInTurn([message, ...more]));
  }

  #hold(message: Message, faultId: string): void {
    message.state = 'held';
    this.#held.set(faultId, [...(this.#held.get(faultId) ?? []), message]);
  }

  #releaseReversed(faultId: string): void {
    const messages = this.#held.get(faultId) ?? [];
    this.#held.delete(faultId);
    this.#track(this.#sendInTurn(messages.toReversed()));
  }

  /** Each first attempt is answered before the next begins: only so is the order kept on the way. */
  async #sendInTurn(messages: readonly Message[]): Promise<void> {
    for (const message of messages) {
      message.state = 'waiting';
      await this.#attempt(message);
    }
  }

  #send(message: Message): void {
    this.#track(this.#attempt(message));
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#inFlight.delete(tracked));
    this.#inFlight.add(tracked);
  }

  async #attempt(message: Message): Promise<void> {
    const { webhookTimeoutMs: timeoutMs } = this.lab.settings;
    const target = this.#targetOf(message);
    if (target === undefined) return this.#giveUp(message, 'endpoint_disabled');
    const { url, secrets, headers } = target;
    const isCorrupt = message.tries++ < message.corruptAttempts;
    const outcome = await sendWebhook(
      { id: message.id, body: message.body, isCorrupt, secrets, headers },
      { url, timeoutMs, agent: this.#agent, closing: this.#closing.signal, now: () => this.lab.clock.now() },
    );
    if (this.#closing.signal.aborted || !this.#messages.has(message.id)) return;
    message.attempts.push(outcome);
    if (outcome.ok) this.#delivered(message);
    else this.#failed(message, outcome);
  }

  /** As it is at this attempt; undefined if nothing may be sent any more. */
  #targetOf({ endpoint_id: endpointId }: Message): WebhookTarget | undefined {
    if (endpointId !== null) return this.lab.endpoints.targetOf(endpointId);
    const { webhookUrl: url, webhookSecrets: secrets } = this.lab.settings;
    return url === '' ? undefined : { url, secrets, headers: {} };
  }

  #delivered(message: Message): void {
    message.state = 'delivered';
    message.body = '';
  }

  #failed(message: Message, outcome: AttemptOutcome): void {
    if (message.tries === 1) this.lab.log(failureLine(message, outcome));
    const delay = retryDelays[message.tries - 1];
    if (delay === undefined) this.#giveUp(message, 'failed');
    else this.lab.clock.schedule(delay, () => this.#send(message));
  }

  #giveUp(message: Message, state: DeliveryState): void {
    message.state = state;
    message.body = '';
  }
}

/** Once for all attempts of a message; nothing of its body. */
function failureLine(
  { id, event_type, order_id, job_id, user_id }: Message,
  { status, error }: AttemptOutcome,
): string {
  const subject = order_id === null ? (job_id === null ? `user ${user_id}` : `job ${job_id}`) : `order ${order_id}`;
  const answer = status === null ? `got no answer (${error})` : `was answered with ${status}`;
  return `webhook ${id} (${event_type}, ${subject}) ${answer}: it is sent again`;
}

function newMessageId(): string {
  return `msg_${randomBytes(16).toString('base64url')}`;
}
