import type { z } from 'zod';
import type { Duration } from './lab-service/duration.js';
import type {
  appointmentMoveSchema,
  clockSchema,
  connectionSchema,
  connectionWebhookSchema,
  criticalResultSchema,
  dashboardJobSchema,
  dashboardOrderSchema,
  deliveryFilterSchema,
  interpretationSchema,
  jobMoveSchema,
  moveSchema,
  newUserSchema,
  redrawSchema,
  requestFilterSchema,
} from './lab-service/control-requests.js';
import type { healthDataSchema, SentHealthData } from './lab-service/health-data.js';
import type { HttpFaultInput } from './lab-service/http-faults.js';
import type { Json } from './lab-service/order-body.js';
import type { FileFacts } from './lab-service/reports.js';
import type { LoggedRequest } from './lab-service/request-log.js';
import type { Settings } from './lab-service/settings.js';
import type { UserInfo } from './lab-service/state.js';
import type { StoryStep } from './lab-service/stories.js';
import type { WebhookFaultInput } from './lab-service/webhook-faults.js';
import type { Delivery } from './lab-service/webhooks.js';

/** An order as the service shows it, and what the service does not show. */
export interface RevealedOrder {
  readonly order: Json & {
    readonly id: string;
    readonly user_id: string;
    readonly status: string;
    readonly sample_id: string | null;
    readonly events: readonly {
      readonly id: number;
      readonly created_at: string;
      readonly status: string;
      readonly status_detail: string | null;
    }[];
  };
  /** What is printed on the kit: what a register request has to name. Null where there is no kit. */
  readonly kit_sample_id: string | null;
  readonly parent_id: string | null;
  readonly order_transaction_id: string;
  /** As it was sent, whether the deployment echoes it or not. */
  readonly passthrough: string | null;
  /** Whether a registration would be accepted now. */
  readonly isRegistrable: boolean;
  /** The account's standing comment and the order's own. */
  readonly requisitionNotes: string | null;
}

/** A parsing job as the service shows it, and what the service does not show. */
export interface RevealedJob {
  readonly id: string;
  readonly job: Json & { readonly status: string; readonly failure_reason: string | null };
  readonly user_id: string;
  /** What its file asked for. */
  readonly outcome: string;
  readonly files: readonly FileFacts[];
  readonly history: readonly { readonly status: string; readonly at: string }[];
}

export type RevealedAppointment = Json & {
  readonly id: string;
  readonly order_id: string;
  readonly status: string;
  readonly event_status: string;
  readonly start_at: string | null;
};

export interface IssuedPortalLink {
  readonly url: string;
  readonly context: string;
  readonly user_id: string;
  readonly order_id: string | null;
  readonly created_at: string;
  readonly expires_at: string;
}

export interface IssuedLinkToken {
  readonly link_token: string;
  readonly user_id: string;
  /** The one provider that it is good for; null: any. */
  readonly provider: string | null;
  readonly created_at: string;
  readonly state: 'open' | 'expired' | 'consumed';
  /** The provider that waits for a code; null while none does. */
  readonly awaitsCodeOf: string | null;
}

/** An entry of a user's `connected_sources`. */
export interface ConnectedSource {
  readonly created_on: string;
  readonly source: { readonly name: string; readonly slug: string; readonly logo: string };
}

export interface ClockReading {
  readonly now: string;
  readonly daySeconds: number;
}

export interface CreatedUser {
  readonly user: Json & { readonly user_id: string; readonly client_user_id: string };
  readonly info: UserInfo | null;
}

export interface ScheduledDeletion {
  readonly user_id: string;
  readonly since: string;
}

/** The control surface refused something: the message says what and why. */
class SandboxControlError extends Error {
  override readonly name = 'SandboxControlError';
}

/**
 * The control surface of the lab-service stand-in. Everything here is what the outside world does; what a product does
 * goes to the service's own endpoints. Durations are milliseconds or text such as `'90m'` or `'2d'`.
 */
export class SandboxControl {
  readonly #baseUrl: string;

  /** @param baseUrl where the stand-in listens: the `url` of `startLabService` */
  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl.replace(/\/$/, '');
  }

  /** Resolves when the stand-in answers; rejects when it is not there. */
  async health(): Promise<void> {
    await this.#call('GET', 'health');
  }

  /** As if started anew: no users, orders, faults, plans, logs; the wall clock's time; the settings of the start. */
  async reset(): Promise<void> {
    await this.#call('POST', 'reset');
  }

  /** The switches in force (secrets are not shown). */
  async settings(): Promise<Omit<Settings, 'webhookSecrets'>> {
    return this.#call('GET', 'settings');
  }

  /** Changes some switches at once; the others stay. `daySeconds` also changes the pace of what is under way. */
  async changeSettings(changes: Partial<Settings>): Promise<Omit<Settings, 'webhookSecrets'>> {
    return this.#call('PATCH', 'settings', changes);
  }

  /** The stand-in's time. */
  async clock(): Promise<ClockReading> {
    return this.#call('GET', 'clock');
  }

  /**
   * Sets the stand-in's time, which then runs on with the wall clock. Going forward makes everything happen that falls
   * due on the way, in order and each at its own time.
   */
  async setClock(time: Date): Promise<ClockReading> {
    return this.#changeClock({ set: time.toISOString() });
  }

  /** Goes forward by a span of the stand-in's own time, which is not compressed: with a day of 2 s, 2 s are a day. */
  async advanceClock(span: Duration): Promise<ClockReading> {
    return this.#changeClock({ advance: span });
  }

  /** A new user with invented demographics (or none), without the service's own endpoints. */
  async createUser(user: z.input<typeof newUserSchema> = {}): Promise<CreatedUser> {
    return this.#call('POST', 'users', user);
  }

  /** The users whose deletion is scheduled and can be undone, in order of their deletion. */
  async deletedUsers(): Promise<ScheduledDeletion[]> {
    return (await this.#call<{ users: ScheduledDeletion[] }>('GET', 'users/deleted')).users;
  }

  /** Somebody deletes a user in the dashboard, with the same grace as through the service's own endpoint. */
  async deleteUser(userId: string): Promise<void> {
    await this.#call('DELETE', `users/${userId}`);
  }

  /** Somebody undoes a deletion in the dashboard. */
  async restoreUser(userId: string): Promise<void> {
    await this.#call('POST', `users/${userId}/restore`);
  }

  /** Every order, in order of creation. */
  async orders(): Promise<RevealedOrder[]> {
    return (await this.#call<{ orders: RevealedOrder[] }>('GET', 'orders')).orders;
  }

  /** One order with what is printed on its kit. */
  async order(orderId: string): Promise<RevealedOrder> {
    return this.#call('GET', `orders/${orderId}`);
  }

  /** An order that somebody made in a dashboard: no product placed it, its webhooks come all the same. */
  async createOrder(order: z.input<typeof dashboardOrderSchema> = {}): Promise<RevealedOrder> {
    return this.#call('POST', 'orders', order);
  }

  /** Adds an event of any status, also one that is unknown or impossible from here, with its webhook unless refused. */
  async move(orderId: string, move: z.input<typeof moveSchema> | string): Promise<RevealedOrder> {
    return this.#call('POST', `orders/${orderId}/move`, typeof move === 'string' ? { status: move } : move);
  }

  /** Says of the results of an order what they mean, without an event of the order's own. */
  async interpret(orderId: string, change: z.input<typeof interpretationSchema>): Promise<RevealedOrder> {
    return this.#call('POST', `orders/${orderId}/interpretation`, change);
  }

  /** Sends the webhook of a critical result, final unless said otherwise. The order stays as it is. */
  async reportCritical(orderId: string, result: z.input<typeof criticalResultSchema> = {}): Promise<RevealedOrder> {
    return this.#call('POST', `orders/${orderId}/critical_result`, result);
  }

  /** Plays a story: one of `stories()`, or steps of one's own. It ends early when the order is cancelled or deleted. */
  async playStory(orderId: string, story: string | readonly StoryStep[]): Promise<void> {
    await this.#call('POST', `orders/${orderId}/story`, typeof story === 'string' ? { name: story } : { steps: story });
  }

  /** The stories that can be played by name. */
  async stories(): Promise<Record<string, readonly StoryStep[]>> {
    return (await this.#call<{ stories: Record<string, readonly StoryStep[]> }>('GET', 'stories')).stories;
  }

  /** The service makes a redraw (or recreation) order in the same transaction, with this one as its parent. */
  async redraw(orderId: string, redraw: z.input<typeof redrawSchema> = {}): Promise<RevealedOrder> {
    return this.#call('POST', `orders/${orderId}/redraw`, redraw);
  }

  /** The service forgets the order: reading it answers 404, its story ends. */
  async deleteOrder(orderId: string): Promise<void> {
    await this.#call('DELETE', `orders/${orderId}`);
  }

  /** Every parsing job, in order of creation. */
  async jobs(): Promise<RevealedJob[]> {
    return (await this.#call<{ jobs: RevealedJob[] }>('GET', 'reports')).jobs;
  }

  /** One parsing job with what was kept of its file. */
  async job(jobId: string): Promise<RevealedJob> {
    return this.#call('GET', `reports/${jobId}`);
  }

  /** A parsing job that somebody made elsewhere: no product uploaded its file, its webhooks come all the same. */
  async createJob(job: z.input<typeof dashboardJobSchema> = {}): Promise<RevealedJob> {
    return this.#call('POST', 'reports', job);
  }

  /** Gives a parsing job any status, with its webhook unless refused. What was planned for it no longer happens. */
  async moveJob(jobId: string, move: z.input<typeof jobMoveSchema> | string): Promise<RevealedJob> {
    return this.#call('POST', `reports/${jobId}/move`, typeof move === 'string' ? { status: move } : move);
  }

  /** The service forgets the parsing job: reading it answers 404, nothing more happens to it. */
  async deleteJob(jobId: string): Promise<void> {
    await this.#call('DELETE', `reports/${jobId}`);
  }

  /** Makes requests fail. Returns the fault's id. */
  async addFault(fault: HttpFaultInput): Promise<string> {
    return (await this.#call<{ id: string }>('POST', 'faults', fault)).id;
  }

  /** Removes one fault, or all. One that has met its last request is gone already; that is no error. */
  async removeFaults(id?: string): Promise<void> {
    await this.#call('DELETE', id === undefined ? 'faults' : `faults/${id}`);
  }

  /** Makes webhooks arrive twice, late, in another order, damaged or never. Returns the fault's id. */
  async addWebhookFault(fault: WebhookFaultInput): Promise<string> {
    return (await this.#call<{ id: string }>('POST', 'webhook-faults', fault)).id;
  }

  /** Removes one webhook fault, or all. What was held stays held until it is released. */
  async removeWebhookFaults(id?: string): Promise<void> {
    await this.#call('DELETE', id === undefined ? 'webhook-faults' : `webhook-faults/${id}`);
  }

  /** Sends what was held, one after the other. Resolves, with their number, when each has had its first attempt. */
  async releaseWebhooks(order: 'kept' | 'reversed' = 'kept'): Promise<number> {
    return (await this.#call<{ released: number }>('POST', 'webhooks/release', { order })).released;
  }

  /** Resolves when no webhook is on its way; retries may still be planned. */
  async settleWebhooks(): Promise<void> {
    await this.#call('POST', 'webhooks/settle');
  }

  /** The messages that came up, in order, with their attempts and the receiver's answers. */
  async deliveries(filter: z.input<typeof deliveryFilterSchema> = {}): Promise<Delivery[]> {
    return (await this.#call<{ deliveries: Delivery[] }>('GET', `deliveries${query(filter)}`)).deliveries;
  }

  /** The requests that reached the service (not this surface), in order; `path` is compared as a whole. */
  async requests(filter: z.output<typeof requestFilterSchema> = {}): Promise<LoggedRequest[]> {
    return (await this.#call<{ requests: LoggedRequest[] }>('GET', `requests${query(filter)}`)).requests;
  }

  /** Forgets the requests so far. */
  async clearRequests(): Promise<void> {
    await this.#call('DELETE', 'requests');
  }

  /** The portal links that were made, with what a shortened one leads to. */
  async portalLinks(): Promise<IssuedPortalLink[]> {
    return (await this.#call<{ links: IssuedPortalLink[] }>('GET', 'portal_links')).links;
  }

  /**
   * Refuses every connection for so many real milliseconds, this surface's too; then the stand-in is back with all that
   * it knew. Resolves when it is away. Webhooks and stories go on.
   */
  async goOffline(forMs: number): Promise<void> {
    await this.#call('POST', 'offline', { forMs });
  }

  /** The link tokens that were made, with what became of each. */
  async linkTokens(): Promise<IssuedLinkToken[]> {
    return (await this.#call<{ tokens: IssuedLinkToken[] }>('GET', 'link_tokens')).tokens;
  }

  /** Connects a user without a link, also in the past; a connection of the same source gives way to it. */
  async connect(userId: string, connection: z.input<typeof connectionSchema>): Promise<ConnectedSource> {
    return this.#call('POST', `users/${userId}/connections`, connection);
  }

  /** Ends a connection; nothing tells of it. Resolves with whether there was one. */
  async disconnect(userId: string, provider: string): Promise<boolean> {
    const path = `users/${userId}/connections/${encodeURIComponent(provider)}`;
    return (await this.#call<{ removed: boolean }>('DELETE', path)).removed;
  }

  /** Sends the webhook of a connection by itself, whether there is one or not: a stale one, or an error. */
  async sendConnectionWebhook(userId: string, webhook: z.input<typeof connectionWebhookSchema>): Promise<void> {
    await this.#call('POST', `users/${userId}/connection_webhooks`, webhook);
  }

  /** The latest appointment of each order, as the service shows it. */
  async appointments(): Promise<RevealedAppointment[]> {
    return (await this.#call<{ appointments: RevealedAppointment[] }>('GET', 'appointments')).appointments;
  }

  /** Gives an order's appointment any status, with its webhook unless refused; the order follows. */
  async moveAppointment(
    orderId: string,
    move: z.input<typeof appointmentMoveSchema> | string,
  ): Promise<RevealedAppointment> {
    const body = typeof move === 'string' ? { event_status: move } : move;
    return this.#call('POST', `orders/${orderId}/appointment/move`, body);
  }

  /** Somebody else books the slot that was offered under this key. */
  async takeSlot(bookingKey: string): Promise<void> {
    await this.#call('POST', 'slots/take', { booking_key: bookingKey });
  }

  /** Sends a user's health data: a summary, a batch of samples, a notice, or a payload as untidy as real ones. */
  async sendHealthData(userId: string, data: z.input<typeof healthDataSchema>): Promise<SentHealthData> {
    return this.#call('POST', `users/${userId}/health_data`, data);
  }

  async #changeClock(change: z.input<typeof clockSchema>): Promise<ClockReading> {
    return this.#call('POST', 'clock', change);
  }

  async #call<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await fetch(`${this.#baseUrl}/_sandbox/${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) {
      throw new SandboxControlError(`${method} /_sandbox/${path} answered ${answer.status}: ${sentence(text)}`);
    }
    return JSON.parse(text) as Answer;
  }
}

function query(filter: Readonly<Record<string, string | number | undefined>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) if (value !== undefined) parameters.set(name, String(value));
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}

/** A refusal is `{error}` or, for a path that does not fit, `{detail}`. */
function sentence(text: string): string {
  const { error, detail } = JSON.parse(text) as { error?: string; detail?: string };
  return error ?? detail ?? text;
}
