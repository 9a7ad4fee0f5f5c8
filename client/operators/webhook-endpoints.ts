import type { WebhookPlace } from '../../service/management/webhooks.js';
import type {
  WebhookChange,
  WebhookDeleted,
  WebhookEndpoint,
  WebhookHeadersRead,
  WebhookHeadersSet,
  WebhookRegistered,
  WebhookSecretRotated,
} from '../../protocol/operators/webhook-endpoints.js';
import type { CallOptions } from '../call-options.js';
import type { TemporalCalls } from '../workflow-calls.js';
import { operate } from './operator-calls.js';

/**
 * The endpoints to which the lab service delivers a team's events. The worker's management key is used: SERVICE_MANAGEMENT_KEY. Commands
 * for one team in one environment run one after the other.
 *
 * Any of them throws OperatorCallInvalid before anything is done, ManagementKeyMissing, ManagementKeyRefused,
 * FeatureNotEnabled, WebhookRefused, ServiceDown (nothing is lost: send it again), OperatorCallInterrupted, and the errors of
 * {@link CallOptions}. The default deadline of `readAll` and `delete` is 30 seconds; a command may take longer while the
 * service is slow, and waits for the one before it.
 */
export class WebhookOperations {
  readonly #calls: TemporalCalls;

  constructor(calls: TemporalCalls) {
    this.#calls = calls;
  }

  /** All endpoints of a team in one environment. */
  async readAll(place: WebhookPlace, options: CallOptions = {}): Promise<WebhookEndpoint[]> {
    return operate(this.#calls, 'listWebhooks', named(place), options);
  }

  /**
   * Has events delivered to an address: all of them, or those of the given types. An address is registered once: one
   * that is there already is answered with as it is, `created` is false then, and nothing of it is changed.
   *
   * The answer has the signing secret if payloads are encrypted; without encryption keys, read it in the service's
   * dashboard. Deadline: 10 minutes, as long as a command may take, because the secret is answered with once.
   * @throws EncryptionRequired for an address that is a credential by itself, if payloads are not encrypted
   */
  async register(
    place: WebhookPlace,
    { url, eventTypes = [] }: { url: string; eventTypes?: readonly string[] },
    options: CallOptions = {},
  ): Promise<WebhookRegistered> {
    return operate(this.#calls, 'registerWebhook', { ...named(place), url, eventTypes: [...eventTypes] }, options);
  }

  /** @throws WebhookNotFound */
  async read(place: WebhookPlace, webhookId: string, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return operate(this.#calls, 'readWebhook', { ...named(place), webhookId }, options);
  }

  /**
   * Changes an endpoint: address, event types, description, rate limit, disabled or not. Fields that are left out stay.
   * @throws EncryptionRequired for an address that is a credential by itself, if payloads are not encrypted; WebhookNotFound
   */
  async update(
    place: WebhookPlace,
    webhookId: string,
    change: WebhookChange,
    options: CallOptions = {},
  ): Promise<WebhookEndpoint> {
    return operate(this.#calls, 'updateWebhook', { ...change, ...named(place), webhookId }, options);
  }

  /**
   * Resumes deliveries to an endpoint that was disabled: by a person, or by the service because it failed for five days.
   * Events missed meanwhile are not sent again: `lab.orders.reconcile` catches up on orders.
   * @throws WebhookNotFound
   */
  async enable(place: WebhookPlace, webhookId: string, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.update(place, webhookId, { disabled: false }, options);
  }

  /**
   * The headers that go along with every delivery; for those that the service does not show again, the names.
   * @throws EncryptionRequired if payloads are not encrypted, because a header may be a credential; WebhookNotFound
   */
  async readHeaders(place: WebhookPlace, webhookId: string, options: CallOptions = {}): Promise<WebhookHeadersRead> {
    return operate(this.#calls, 'readWebhookHeaders', { ...named(place), webhookId }, options);
  }

  /**
   * Replaces all headers: those that `headers` names as sensitive must be given again.
   * @throws EncryptionRequired if payloads are not encrypted, because a header may be a credential; WebhookNotFound
   */
  async setHeaders(
    place: WebhookPlace,
    webhookId: string,
    headers: Readonly<Record<string, string>>,
    options: CallOptions = {},
  ): Promise<WebhookHeadersSet> {
    return operate(this.#calls, 'setWebhookHeaders', { ...named(place), webhookId, headers }, options);
  }

  /**
   * Sets a new signing secret for an endpoint, and returns it. For a while, deliveries carry both signatures.
   *
   * With a `secret` of yours, the receiver can know it before the service signs with it, so no delivery is refused at any
   * time: add it to the receiver's secrets, rotate, and remove the old one two days later (docs/operations.md). Repeating
   * the call with the same secret changes nothing more. Without `secret` the service generates one: add it to the
   * receiver's secrets while both sign. Repeating such a call after `ServiceDown` may rotate again; after `TimedOut` the
   * endpoint may have a new secret: take it from the service's dashboard, or rotate again. Deadline: 10 minutes, as long
   * as a command may take.
   * @param secret `whsec_` followed by base64 of at least 24 random bytes
   * @throws EncryptionRequired if payloads are not encrypted, before anything is done; WebhookNotFound
   */
  async rotate(
    place: WebhookPlace,
    webhookId: string,
    { secret }: { secret?: string } = {},
    options: CallOptions = {},
  ): Promise<WebhookSecretRotated> {
    const input = { ...named(place), webhookId, ...(secret !== undefined && { secret }) };
    return operate(this.#calls, 'rotateWebhookSecret', input, options);
  }

  /** Deletes an endpoint. One that does not exist is not an error. */
  async delete(place: WebhookPlace, webhookId: string, options: CallOptions = {}): Promise<WebhookDeleted> {
    return operate(this.#calls, 'deleteWebhook', { ...named(place), webhookId }, options);
  }
}

/** Without what else a caller's object may have. */
function named({ orgId, teamId, environment }: WebhookPlace): WebhookPlace {
  return { orgId, teamId, environment };
}
