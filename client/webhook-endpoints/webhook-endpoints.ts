import { WorkflowExecutionAlreadyStartedError, WorkflowFailedError, type Client } from '@temporalio/client';
import type { WebhookPlace } from '../../service/management-webhooks.js';
import { isAddressable } from '../../workflows/order/address.js';
import { isSignedUrl } from '../../workflows/report/signed-url.js';
import { manageWebhooksId } from '../../workflows/webhooks/address.js';
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
} from '../../workflows/webhooks/messages.js';
import type { RefusedField } from '../errors.js';
import { inOneLine } from '../input-faults.js';
import { inWords } from '../workflow-calls.js';
import { EncryptionRequired, WebhookInvalid, webhookWords } from './errors.js';

/** A command takes at most two rounds of three minutes. One that no worker takes up is not carried out days later. */
const runTimeout = '10 minutes';

/**
 * Where the lab service delivers a team's events. The worker's management key is used: SERVICE_MANAGEMENT_KEY. Commands
 * for one team in one environment run one after the other.
 *
 * Any of them throws WebhookInvalid before anything is done, ManagementKeyMissing, ManagementKeyRefused,
 * FeatureNotEnabled, WebhookRefused, ServiceDown (nothing is lost: send it again) and WebhooksInterrupted.
 */
export class WebhookOperations {
  private readonly temporal: Client;
  private readonly taskQueue: string;

  constructor(temporal: Client, taskQueue: string) {
    this.temporal = temporal;
    this.taskQueue = taskQueue;
  }

  async list(place: WebhookPlace): Promise<WebhookEndpoint[]> {
    const { endpoints } = await this.carryOut<WebhooksListed>(place, { do: 'list' });
    return endpoints;
  }

  /**
   * Has events delivered to an address: all of them, or those of the given types. An address is registered once: one
   * that is there already is answered with as it is, `created` is false then, and nothing of it is changed.
   *
   * The answer has the signing secret where payloads are encrypted; without encryption keys it is to be read in the
   * service's dashboard.
   * @throws EncryptionRequired for an address that is a credential by itself, where payloads are not encrypted
   */
  async register(
    place: WebhookPlace,
    { url, eventTypes = [] }: { url: string; eventTypes?: readonly string[] },
  ): Promise<WebhookRegistered> {
    check(place, urlFaults(url));
    if (isSignedUrl(url)) this.demandEncryption('An address that is a credential by itself');
    return this.carryOut(place, { do: 'register', url, eventTypes: [...eventTypes] });
  }

  /**
   * Has an endpoint signed with a new secret, and answers with it. For a while deliveries carry both signatures: add the
   * new secret to the receiver's within that time. Sent again after `ServiceDown`, it may rotate once more.
   * @throws EncryptionRequired where payloads are not encrypted, before anything is done; WebhookNotFound
   */
  async rotate(place: WebhookPlace, webhookId: string): Promise<WebhookSecretRotated> {
    check(place, idFaults({ webhookId }));
    this.demandEncryption('A new signing secret');
    return this.carryOut(place, { do: 'rotate', webhookId });
  }

  /** Has nothing delivered there any more. One that is not there is no error. */
  async delete(place: WebhookPlace, webhookId: string): Promise<WebhookDeleted> {
    check(place, idFaults({ webhookId }));
    return this.carryOut(place, { do: 'delete', webhookId });
  }

  private async carryOut<Result extends ManageWebhooksResult>(
    place: WebhookPlace,
    command: WebhookCommand,
  ): Promise<Result> {
    check(place, []);
    const { orgId, teamId, environment } = place;
    const input: ManageWebhooksInput = { orgId, teamId, environment, command };
    const workflowId = manageWebhooksId(place);
    const { workflow } = this.temporal;
    for (;;) {
      try {
        const handle = await workflow.start(manageWebhooksName, {
          workflowId,
          taskQueue: this.taskQueue,
          args: [input],
          workflowIdConflictPolicy: 'FAIL',
          workflowExecutionTimeout: runTimeout,
          staticSummary: `Webhook endpoints: ${command.do}`,
          staticDetails: 'Carries out one command on the webhook endpoints of a team in one environment.',
        });
        return await inWords(webhookWords, () => handle.result() as Promise<Result>);
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        await this.untilEnded(workflowId);
      }
    }
  }

  /** What became of another command is its caller's business. */
  private async untilEnded(workflowId: string): Promise<void> {
    try {
      await this.temporal.workflow.getHandle(workflowId).result();
    } catch (error) {
      if (!(error instanceof WorkflowFailedError)) throw error;
    }
  }

  /** Whether this client encrypts what it sends and can read what comes back. */
  private demandEncryption(what: string): void {
    if (this.temporal.options.loadedDataConverter.payloadCodecs.length > 0) return;
    throw new EncryptionRequired(
      `${what} would be readable in Temporal, because payloads are not encrypted: set LABOPS_ENCRYPTION_KEYS for worker and client`,
    );
  }
}

/** Everything that is wrong, at once. A caller in plain JavaScript is checked by no compiler. */
function check({ orgId, teamId, environment }: WebhookPlace, others: RefusedField[]): void {
  const fields = [...idFaults({ orgId, teamId, environment }), ...others];
  if (fields.length === 0) return;
  throw new WebhookInvalid(`The command is not valid: ${inOneLine(fields)}`, { fields });
}

/** They stand in a workflow ID, which is readable: an e-mail address, for one, cannot. */
function idFaults(ids: Readonly<Record<string, unknown>>): RefusedField[] {
  return Object.entries(ids)
    .filter(([, id]) => typeof id !== 'string' || !isAddressable(id))
    .map(([field]) => ({ field, message: 'must be 1 to 128 letters, digits, dots, hyphens or underscores' }));
}

function urlFaults(url: unknown): RefusedField[] {
  if (typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return [];
  return [{ field: 'url', message: 'must be an http or https address' }];
}
