import { randomBytes } from 'node:crypto';
import { Agent } from 'undici';
import { appointmentBody } from './appointment-body.js';
import { presentStatus, type Appointment, type AppointmentEventType } from './appointments.js';
import type { Clock } from './clock.js';
import type { ConnectionEventType } from './connections.js';
import type { HealthDataEventType } from './health-data.js';
import { orderBody, presentLow, type Json } from './order-body.js';
import type { CriticalResult, OrderEventType } from './orders.js';
import { criticalResultBody } from './critical-result-body.js';
import { jobBody } from './report-body.js';
import type { ParsingJob, ReportEventType } from './reports.js';
import { TEAM_ID } from './seed.js';
import type { SettingsStore } from './settings.js';
import type { LabState, Order, User } from './state.js';
import { newWebhookFaults, type WebhookFaultAction } from './webhook-faults.js';
import type { WebhookEndpoints, WebhookTarget } from './webhook-endpoints.js';
import { sendWebhook, type AttemptOutcome } from './webhook-attempt.js';

/** Waits before the attempts after the first: eight attempts over 27.6 hours, as documented. */
const RETRY_DELAYS = ['5s', '5m', '30m', '2h', '5h', '10h', '10h'] as const;
/** Documented: an endpoint that fails for so long gets nothing more. */
const DISABLED_AFTER = '5d';
/** Connections to the receiver at once; what is more waits its turn. */
const CONNECTIONS = 64;
/** Older finished deliveries are forgotten. */
const MOST_DELIVERIES = 50_000;

export type DeliveryState = 'waiting' | 'held' | 'delivered' | 'failed' | 'lost' | 'endpoint_disabled';

/** The webhook type of a critical result. */
const CRITICAL_RESULT = 'labtest.result.critical';

export type EventType =
  | OrderEventType
  | typeof CRITICAL_RESULT
  | ReportEventType
  | ConnectionEventType
  | AppointmentEventType
  | HealthDataEventType;

/** One message and what became of it. */
export interface Delivery {
  /** The message id: the same in every attempt. */
  readonly id: string;
  readonly event_type: EventType;
  /** The user that it is about: of an order, its user then. */
  readonly user_id: string;
  /** Null where it is not about an order. */
  readonly order_id: string | null;
  /** Null where it is not about a parsing job. */
  readonly job_id: string | null;
  /** The low-level status of the order's last event in this message, or the status of the appointment or job; null for others. */
  readonly status: string | null;
  /** The id of that event; null where it is not about an order. */
  readonly event_id: number | null;
  /** The endpoint of the management API that it goes to; null for the address in the settings. */
  readonly endpoint_id: string | null;
  readonly state: DeliveryState;
  readonly attempts: readonly AttemptOutcome[];
}

/** What a message is about. */
interface Subject {
  readonly eventType: EventType;
  readonly userId: string;
  readonly orderId: string | null;
  readonly jobId: string | null;
  readonly status: string | null;
  readonly eventId: number | null;
}

interface Message extends Subject {
  readonly id: string;
  readonly endpointId: string | null;
  /** Emptied when it is of no use any more, so that long runs stay small. */
  body: string;
  state: DeliveryState;
  corruptAttempts: number;
  /** Attempts made; `attempts` also has those of copies under the same id. */
  tries: number;
  readonly attempts: AttemptOutcome[];
}

/** Sends signed news, most of all snapshots of orders, until the receiver takes them, with faults where wanted. */
export class Webhooks {
  readonly faults = newWebhookFaults();
  readonly #state: LabState;
  readonly #clock: Clock;
  readonly #settings: SettingsStore;
  readonly #endpoints: WebhookEndpoints;
  readonly #agent = new Agent({ connections: CONNECTIONS });
  readonly #messages = new Map<string, Message>();
  readonly #inFlight = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  /** By fault: the messages kept back, in the order in which they came. */
  readonly #held = new Map<string, Message[]>();
  #failingSince: number | undefined;
  #disabled = false;

  constructor(state: LabState, clock: Clock, settings: SettingsStore, endpoints: WebhookEndpoints) {
    this.#state = state;
    this.#clock = clock;
    this.#settings = settings;
    this.#endpoints = endpoints;
  }

  /** Sends the order as it now is. Without an address nothing happens. */
  announce(eventType: OrderEventType, order: Order): void {
    if (!this.#isSending()) return;
    const { id: orderId, userId } = order;
    const data = orderBody(order, this.#state, this.#settings.current, 'webhook');
    const isBare = this.#settings.current.webhookEnvelope === 'bare_order';
    const body = isBare ? JSON.stringify(data) : this.#envelope(eventType, userId, data);
    const eventId = order.events.at(-1)?.id ?? 0;
    this.#submit({ eventType, userId, orderId, jobId: null, status: presentLow(order), eventId }, body);
  }

  /** Sends the result's own fields, or the whole order where the settings say so; always in an envelope. */
  announceCriticalResult(order: Order, result: CriticalResult): void {
    if (!this.#isSending()) return;
    const { id: orderId, userId } = order;
    const { current } = this.#settings;
    const data =
      current.criticalResultForm === 'order'
        ? orderBody(order, this.#state, current, 'webhook')
        : criticalResultBody(order, result, this.#clock.now(), current);
    const eventId = order.events.at(-1)?.id ?? 0;
    this.#submit(
      { eventType: CRITICAL_RESULT, userId, orderId, jobId: null, status: presentLow(order), eventId },
      this.#envelope(CRITICAL_RESULT, userId, data),
    );
  }

  /**
   * Sends news about a user that are not about an order. Without an address nothing happens.
   * @param options.anonymous leaves the envelope's ids out, whatever the settings say
   */
  announceAbout(user: User, eventType: EventType, data: Json, { anonymous = false } = {}): void {
    if (!this.#isSending()) return;
    const subject = { eventType, userId: user.id, orderId: null, jobId: null, status: null, eventId: null };
    const body = anonymous ? JSON.stringify({ event_type: eventType, data }) : this.#envelope(eventType, user.id, data);
    this.#submit(subject, body);
  }

  /** Sends the appointment as it now is; always in an envelope, because nothing else would tell what it is. */
  announceAppointment(eventType: AppointmentEventType, appointment: Appointment): void {
    if (!this.#isSending()) return;
    const { id: orderId, userId } = appointment.order;
    const subject = { eventType, userId, orderId, jobId: null, status: presentStatus(appointment), eventId: null };
    this.#submit(subject, this.#envelope(eventType, userId, appointmentBody(appointment, this.#settings.current)));
  }

  /** Sends the parsing job as it now is; always in an envelope, because nothing else would tell what it is. */
  announceJob(eventType: ReportEventType, job: ParsingJob): void {
    if (!this.#isSending()) return;
    const { id: jobId, userId, status } = job;
    const subject = { eventType, userId, orderId: null, jobId, status, eventId: null };
    this.#submit(subject, this.#envelope(eventType, userId, jobBody(job, this.#settings.current)));
  }

  #isSending(): boolean {
    return !this.#closing.signal.aborted;
  }

  /** A message of its own for every endpoint that wants it: each has its own attempts. */
  #submit(subject: Subject, body: string): void {
    if (this.#settings.current.webhookUrl !== '') this.#submitTo(null, subject, body);
    for (const { id } of this.#endpoints.receiving(subject.eventType)) this.#submitTo(id, subject, body);
  }

  #submitTo(endpointId: string | null, subject: Subject, body: string): void {
    const message = this.#newMessage(endpointId, subject, body);
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
    return [...this.#messages.values()].map((message) => ({
      id: message.id,
      event_type: message.eventType,
      user_id: message.userId,
      order_id: message.orderId,
      job_id: message.jobId,
      status: message.status,
      event_id: message.eventId,
      endpoint_id: message.endpointId,
      state: message.state,
      attempts: [...message.attempts],
    }));
  }

  enableEndpoint(): void {
    this.#disabled = false;
    this.#failingSince = undefined;
  }

  clear(): void {
    this.faults.remove();
    this.#held.clear();
    this.#messages.clear();
    this.enableEndpoint();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.settle();
    await this.#agent.destroy();
  }

  #envelope(eventType: string, userId: string, data: Json): string {
    const ids: Json = {
      team_id: TEAM_ID,
      user_id: userId,
      client_user_id: this.#state.users.get(userId)?.clientUserId ?? null,
    };
    const hasIds = this.#settings.current.webhookEnvelope !== 'without_ids';
    return JSON.stringify({ event_type: eventType, data, ...(hasIds ? ids : {}) });
  }

  #newMessage(endpointId: string | null, subject: Subject, body: string): Message {
    const message: Message = {
      ...subject,
      endpointId,
      id: newMessageId(),
      body,
      state: 'waiting',
      corruptAttempts: 0,
      tries: 0,
      attempts: [],
    };
    this.#remember(message);
    return message;
  }

  #remember(message: Message): void {
    this.#messages.set(message.id, message);
    const [oldest] = this.#messages.keys();
    if (this.#messages.size > MOST_DELIVERIES && oldest !== undefined) this.#messages.delete(oldest);
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
        this.#clock.schedule(action.by, () => this.#send(message));
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
    const { webhookTimeoutMs: timeoutMs, webhookHeaders: headerStyle } = this.#settings.current;
    const target = this.#targetOf(message);
    if (target === undefined) return this.#giveUp(message, 'endpoint_disabled');
    const { url, secrets, headers } = target;
    const isCorrupt = message.tries++ < message.corruptAttempts;
    const outcome = await sendWebhook(
      { id: message.id, body: message.body, isCorrupt, secrets, headers, headerStyle },
      { url, timeoutMs, agent: this.#agent, closing: this.#closing.signal, now: () => this.#clock.now() },
    );
    if (this.#closing.signal.aborted || !this.#messages.has(message.id)) return;
    message.attempts.push(outcome);
    if (outcome.ok) this.#delivered(message);
    else this.#failed(message);
  }

  /** As it is at this attempt; undefined where nothing may be sent any more. */
  #targetOf({ endpointId }: Message): WebhookTarget | undefined {
    if (endpointId !== null) return this.#endpoints.targetOf(endpointId);
    const { webhookUrl: url, webhookSecrets: secrets } = this.#settings.current;
    return this.#disabled || url === '' ? undefined : { url, secrets, headers: {} };
  }

  #delivered(message: Message): void {
    if (message.endpointId === null) this.#failingSince = undefined;
    message.state = 'delivered';
    message.body = '';
  }

  #failed(message: Message): void {
    if (message.endpointId === null) this.#countFailing();
    const delay = RETRY_DELAYS[message.tries - 1];
    if (delay === undefined) this.#giveUp(message, 'failed');
    else this.#clock.schedule(delay, () => this.#send(message));
  }

  /** For the address in the settings alone; the endpoints of the management API are disabled by hand. */
  #countFailing(): void {
    const now = this.#clock.now();
    this.#failingSince ??= now;
    const limit = this.#clock.compressed(DISABLED_AFTER);
    if (this.#settings.current.disableFailingEndpoint && now - this.#failingSince >= limit) this.#disabled = true;
  }

  #giveUp(message: Message, state: DeliveryState): void {
    message.state = state;
    message.body = '';
  }
}

function newMessageId(): string {
  return `msg_${randomBytes(16).toString('base64url')}`;
}
