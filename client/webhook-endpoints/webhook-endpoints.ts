import { WorkflowExecutionAlreadyStartedError, WorkflowFailedError } from '@temporalio/client';
import type { WebhookPlace } from '../../service/management-webhooks.js';
import { isAddressable, manageWebhooksId } from '../../protocol/ids.js';
import { isSignedUrl } from '../../protocol/report/signed-url.js';
import {
  manageWebhooksName,
  type ManageWebhooksInput,
  type ManageWebhooksResult,
  type WebhookCommand,
  type WebhookDeleted,
  type WebhookEndpoint,
  type WebhookRegistered,
  type WebhookSecretRotated,
  type WebhooksListed,
} from '../../protocol/webhook-endpoints.js';
import type { CallOptions } from '../call-options.js';
import type { RefusedField } from '../errors.js';
import { joinFaults } from '../input-faults.js';
import type { CallKind, OneCall, TemporalCalls } from '../workflow-calls.js';
import { EncryptionRequired, WebhookInvalid, webhookErrorMap } from './errors.js';

/** A command takes at most two rounds of three minutes. One that no worker takes up is not carried out days later. */
const runTimeout = '10 minutes';

const isCarriedOut = {
  words: webhookErrorMap,
  underWay:
    'The command is carried out within ten minutes, or not at all: list the endpoints before you send it again.',
};

/** A secret is answered with once: the caller must not leave before the command has ended. */
const isRegistering = { ...isCarriedOut, usually: '10m' } as const;

const isRotating = {
  ...isRegistering,
  underWay:
    'The endpoint may have a new secret within ten minutes, and this call does not answer with it: take it from ' +
    "the service's dashboard, or rotate again.",
} as const;

/**
 * Where the lab service delivers a team's events. The worker's management key is used: SERVICE_MANAGEMENT_KEY. Commands
 * for one team in one environment run one after the other.
 *
 * Any of them throws WebhookInvalid before anything is done, ManagementKeyMissing, ManagementKeyRefused,
 * FeatureNotEnabled, WebhookRefused, ServiceDown (nothing is lost: send it again), WebhooksInterrupted, TimedOut,
 * NoWorker, WorkerFailing, TemporalUnreachable, TemporalRefused and UnexpectedFailure. The default deadline of `list` and
 * `delete` is 30 seconds; a command may take longer while the service is slow, and waits for the one before it.
 */
export class WebhookOperations {
  private readonly calls: TemporalCalls;

  constructor(calls: TemporalCalls) {
    this.calls = calls;
  }

  async list(place: WebhookPlace, options: CallOptions = {}): Promise<WebhookEndpoint[]> {
    const { endpoints } = await this.carryOut<WebhooksListed>(isCarriedOut, place, { do: 'list' }, options);
    return endpoints;
  }

  /**
   * Has events delivered to an address: all of them, or those of the given types. An address is registered once: one
   * that is there already is answered with as it is, `created` is false then, and nothing of it is changed.
   *
   * The answer has the signing secret where payloads are encrypted; without encryption keys it is to be read in the
   * service's dashboard. Deadline: 10 minutes, as long as a command may take, because the secret is answered with once.
   * @throws EncryptionRequired for an address that is a credential by itself, where payloads are not encrypted
   */
  async register(
    place: WebhookPlace,
    { url, eventTypes = [] }: { url: string; eventTypes?: readonly string[] },
    options: CallOptions = {},
  ): Promise<WebhookRegistered> {
    check(place, urlFaults(url));
    if (isSignedUrl(url)) this.requireEncryption('An address that is a credential by itself');
    return this.carryOut(isRegistering, place, { do: 'register', url, eventTypes: [...eventTypes] }, options);
  }

  /**
   * Has an endpoint signed with a new secret, and answers with it. For a while deliveries carry both signatures: add the
   * new secret to the receiver's within that time. Sent again after `ServiceDown`, it may rotate once more.
   * Deadline: 10 minutes, as long as a command may take. After `TimedOut` the endpoint may have a new secret: take it from
   * the service's dashboard, or rotate again.
   * @throws EncryptionRequired where payloads are not encrypted, before anything is done; WebhookNotFound
   */
  async rotate(place: WebhookPlace, webhookId: string, options: CallOptions = {}): Promise<WebhookSecretRotated> {
    check(place, idFaults({ webhookId }));
    this.requireEncryption('A new signing secret');
    return this.carryOut(isRotating, place, { do: 'rotate', webhookId }, options);
  }

  /** Deletes an endpoint. One that does not exist is not an error. */
  async delete(place: WebhookPlace, webhookId: string, options: CallOptions = {}): Promise<WebhookDeleted> {
    check(place, idFaults({ webhookId }));
    return this.carryOut(isCarriedOut, place, { do: 'delete', webhookId }, options);
  }

  private async carryOut<Result extends ManageWebhooksResult>(
    kind: CallKind,
    place: WebhookPlace,
    command: WebhookCommand,
    options: CallOptions,
  ): Promise<Result> {
    check(place, []);
    const { orgId, teamId, environment } = place;
    const input: ManageWebhooksInput = { orgId, teamId, environment, command };
    return this.calls.call(kind, options, (call) => this.afterOthers(call, manageWebhooksId(place), input));
  }

  private async afterOthers<Result>(call: OneCall, workflowId: string, input: ManageWebhooksInput): Promise<Result> {
    const { client, taskQueue } = this.calls;
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
        this.calls.client.workflow.getHandle(workflowId),
        'Another command on the same endpoints is still under way, and this one was not sent: send it again.',
      );
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw error;
    }
  }

  /** True if this client encrypts its payloads and can read encrypted answers. */
  private requireEncryption(what: string): void {
    if (this.calls.client.options.loadedDataConverter.payloadCodecs.length > 0) return;
    throw new EncryptionRequired(
      `${what} would be readable in Temporal, because payloads are not encrypted: set LABOPS_ENCRYPTION_KEYS for worker and client`,
    );
  }
}

/** Everything that is wrong, at once. A caller in plain JavaScript is checked by no compiler. */
function check({ orgId, teamId, environment }: WebhookPlace, others: RefusedField[]): void {
  const fields = [...idFaults({ orgId, teamId, environment }), ...others];
  if (fields.length === 0) return;
  throw new WebhookInvalid(`The command is not valid: ${joinFaults(fields)}`, { fields });
}

/** They are part of a workflow ID, which is readable: an e-mail address, for example, must not be. */
function idFaults(ids: Readonly<Record<string, unknown>>): RefusedField[] {
  return Object.entries(ids)
    .filter(([, id]) => typeof id !== 'string' || !isAddressable(id))
    .map(([field]) => ({ field, message: 'must be 1 to 128 letters, digits, dots, hyphens or underscores' }));
}

function urlFaults(url: unknown): RefusedField[] {
  if (typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return [];
  return [{ field: 'url', message: 'must be an http or https address' }];
}
