import { WorkflowExecutionAlreadyStartedError, WorkflowFailedError } from '@temporalio/client';
import type { WebhookPlace } from '../../service/management-webhooks.js';
import { manageWebhooksId } from '../../protocol/ids.js';
import { isSignedUrl } from '../../protocol/report/signed-url.js';
import {
  manageWebhooksName,
  type ManageWebhooksInput,
  type ManageWebhooksResult,
  type WebhookChange,
  type WebhookCommand,
  type WebhookDeleted,
  type WebhookEndpoint,
  type WebhookHeadersRead,
  type WebhookHeadersSet,
  type WebhookRead,
  type WebhookRegistered,
  type WebhookSecretRotated,
  type WebhooksListed,
} from '../../protocol/webhook-endpoints.js';
import type { CallOptions } from '../call-options.js';
import type { OneCall } from '../one-call.js';
import { hasKeys } from '../payload-limit.js';
import type { CallKind, TemporalCalls } from '../workflow-calls.js';
import { EncryptionRequired, webhookErrorMap } from './errors.js';
import { changeFaults, checkCommand, headerFaults, idFaults, secretFaults, urlFaults } from './faults.js';

/** A command takes at most two rounds of three minutes. One that no worker takes up is not carried out days later. */
const runTimeout = '10 minutes';

const carryingOut = {
  errors: webhookErrorMap,
  underWay:
    'The command is carried out within ten minutes, or not at all: list the endpoints before you send it again.',
};

/** A secret is answered with once: the caller must not leave before the command has ended. */
const registering = { ...carryingOut, defaultDeadline: '10m' } as const;

const rotating = {
  ...registering,
  underWay:
    'The endpoint may have a new secret within ten minutes, and this call does not answer with it: take it from ' +
    "the service's dashboard, or rotate again.",
} as const;

/**
 * The endpoints to which the lab service delivers a team's events. The worker's management key is used: SERVICE_MANAGEMENT_KEY. Commands
 * for one team in one environment run one after the other.
 *
 * Any of them throws WebhookInvalid before anything is done, ManagementKeyMissing, ManagementKeyRefused,
 * FeatureNotEnabled, WebhookRefused, ServiceDown (nothing is lost: send it again), WebhooksInterrupted, and the errors of
 * {@link CallOptions}. The default deadline of `list` and `delete` is 30 seconds; a command may take longer while the
 * service is slow, and waits for the one before it.
 */
export class WebhookOperations {
  readonly #calls: TemporalCalls;

  constructor(calls: TemporalCalls) {
    this.#calls = calls;
  }

  /** All endpoints of a team in one environment. */
  async list(place: WebhookPlace, options: CallOptions = {}): Promise<WebhookEndpoint[]> {
    const { endpoints } = await this.carryOut<WebhooksListed>(carryingOut, place, { do: 'list' }, options);
    return endpoints;
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
    checkCommand(place, urlFaults(url));
    if (isSignedUrl(url)) this.requireEncryption('An address that is a credential by itself');
    return this.carryOut(registering, place, { do: 'register', url, eventTypes: [...eventTypes] }, options);
  }

  /** @throws WebhookNotFound */
  async get(place: WebhookPlace, webhookId: string, options: CallOptions = {}): Promise<WebhookEndpoint> {
    checkCommand(place, idFaults({ webhookId }));
    return this.ofEndpoint(place, { do: 'read', webhookId }, options);
  }

  /**
   * Changes an endpoint: address, event types, description, rate limit, disabled or not. Fields that are left out stay.
   * @throws EncryptionRequired for an address that is a credential by itself, if payloads are not encrypted; WebhookNotFound;
   * WebhookChangeIgnored if the service does not remove a filter or a limit
   */
  async update(
    place: WebhookPlace,
    webhookId: string,
    change: WebhookChange,
    options: CallOptions = {},
  ): Promise<WebhookEndpoint> {
    checkCommand(place, [...idFaults({ webhookId }), ...changeFaults(change)]);
    if (isSignedUrl(change.url ?? '')) this.requireEncryption('An address that is a credential by itself');
    return this.ofEndpoint(place, { do: 'update', webhookId, change }, options);
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
  async headers(place: WebhookPlace, webhookId: string, options: CallOptions = {}): Promise<WebhookHeadersRead> {
    checkCommand(place, idFaults({ webhookId }));
    this.requireEncryption('A header that is a credential');
    return this.carryOut(carryingOut, place, { do: 'readHeaders', webhookId }, options);
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
    checkCommand(place, [...idFaults({ webhookId }), ...headerFaults(headers)]);
    this.requireEncryption('A header that is a credential');
    return this.carryOut(carryingOut, place, { do: 'setHeaders', webhookId, headers: { ...headers } }, options);
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
    checkCommand(place, [...idFaults({ webhookId }), ...secretFaults(secret)]);
    this.requireEncryption('A new signing secret');
    const command: WebhookCommand = { do: 'rotate', webhookId, ...(secret !== undefined && { secret }) };
    return this.carryOut(rotating, place, command, options);
  }

  /** Deletes an endpoint. One that does not exist is not an error. */
  async delete(place: WebhookPlace, webhookId: string, options: CallOptions = {}): Promise<WebhookDeleted> {
    checkCommand(place, idFaults({ webhookId }));
    return this.carryOut(carryingOut, place, { do: 'delete', webhookId }, options);
  }

  private async ofEndpoint(place: WebhookPlace, command: WebhookCommand, options: CallOptions) {
    const { endpoint } = await this.carryOut<WebhookRead>(carryingOut, place, command, options);
    return endpoint;
  }

  private async carryOut<Result extends ManageWebhooksResult>(
    kind: CallKind,
    place: WebhookPlace,
    command: WebhookCommand,
    options: CallOptions,
  ): Promise<Result> {
    checkCommand(place, []);
    const { orgId, teamId, environment } = place;
    const input: ManageWebhooksInput = { orgId, teamId, environment, command };
    return this.#calls.call(kind, options, (call) => this.afterOthers(call, manageWebhooksId(place), input));
  }

  private async afterOthers<Result>(call: OneCall, workflowId: string, input: ManageWebhooksInput): Promise<Result> {
    const { client, taskQueue } = this.#calls;
    const sentence = call.underWay;
    for (;;) {
      try {
        const handle = await client.workflow.start(manageWebhooksName, {
          workflowId,
          taskQueue,
          args: [input],
          workflowIdConflictPolicy: 'FAIL',
          workflowExecutionTimeout: runTimeout,
          staticSummary: `Webhook endpoints: ${input.command.do}`,
          staticDetails: 'Carries out one command on the webhook endpoints of a team in one environment.',
        });
        return await call.result<Result>(handle, sentence);
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        await this.untilEnded(call, workflowId);
      }
    }
  }

  /** The result of another command belongs to its caller. */
  private async untilEnded(call: OneCall, workflowId: string): Promise<void> {
    try {
      await call.result(
        this.#calls.client.workflow.getHandle(workflowId),
        'Another command on the same endpoints is still under way, and this one was not sent: send it again.',
      );
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw error;
    }
  }

  /** Refuses the call unless this client encrypts its payloads and can read encrypted answers. */
  private requireEncryption(what: string): void {
    if (hasKeys(this.#calls.client)) return;
    throw new EncryptionRequired(
      `${what} would be readable in Temporal, because payloads are not encrypted: set LABOPS_ENCRYPTION_KEYS for worker and client`,
    );
  }
}
