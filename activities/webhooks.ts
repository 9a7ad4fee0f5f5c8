import { createHash } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import { NotFound, RequestInvalid } from '../service/errors.js';
import type { Webhook, WebhookPlace } from '../service/management-webhooks.js';
import { isSignedUrl } from '../protocol/report/signed-url.js';
import type { WebhookEndpoint, WebhookRegistered } from '../protocol/webhook-endpoints.js';
import type { ActivityDependencies } from './activities.js';
import { asFailures, usualSettling } from './failures.js';

export interface OneWebhook {
  place: WebhookPlace;
  webhookId: string;
}

export interface WebhookToRegister {
  place: WebhookPlace;
  url: string;
  eventTypes: string[];
}

/** Webhook endpoints of a team, through the management API. A secret is returned only if payloads are encrypted. */
export function webhookActivities({ service, encrypts }: Pick<ActivityDependencies, 'service' | 'encrypts'>) {
  const { webhooks } = service.management;
  const shown = (webhook: Webhook) => endpointOf(webhook, encrypts);
  const fingerprint = async ({ place, webhookId }: OneWebhook) =>
    createHash('sha256')
      .update(await webhooks.getSecret(place, webhookId))
      .digest('hex');

  return {
    async listWebhooks(place: WebhookPlace): Promise<WebhookEndpoint[]> {
      return calling(async () => {
        const endpoints: WebhookEndpoint[] = [];
        for await (const webhook of webhooks.list(place)) endpoints.push(shown(webhook));
        return endpoints;
      });
    },

    /** The endpoint with this address, or a new one: a creation whose answer was lost is found again. */
    async registerWebhook({ place, url, eventTypes }: WebhookToRegister): Promise<Omit<WebhookRegistered, 'secret'>> {
      if (!encrypts && isSignedUrl(url)) throw unprotected('The address is a credential by itself');
      return calling(async () => {
        for await (const webhook of webhooks.list(place)) {
          if (isSameAddress(webhook.url, url)) return { endpoint: shown(webhook), created: false };
        }
        const filter = eventTypes.length > 0 ? { filter_types: eventTypes } : {};
        return { endpoint: shown(await webhooks.create(place, { url, ...filter })), created: true };
      }, usualSettling);
    },

    /** Undefined if payloads are not encrypted: the secret would be readable in Temporal. */
    async readWebhookSecret({ place, webhookId }: OneWebhook): Promise<Pick<WebhookRegistered, 'secret'>> {
      if (!encrypts) return {};
      return callingOne(async () => ({ secret: await webhooks.getSecret(place, webhookId) }));
    },

    /** Identifies a secret without revealing it. */
    async fingerprintWebhookSecret(one: OneWebhook): Promise<string> {
      if (!encrypts) throw unprotected('A new signing secret is a credential');
      return callingOne(() => fingerprint(one));
    },

    /** The new secret, unless an earlier attempt has made it already. */
    async rotateWebhookSecret(one: OneWebhook & { before: string }): Promise<string> {
      if (!encrypts) throw unprotected('A new signing secret is a credential');
      const { place, webhookId, before } = one;
      return callingOne(async () => {
        if ((await fingerprint(one)) === before) await webhooks.rotateSecret(place, webhookId);
        return webhooks.getSecret(place, webhookId);
      }, usualSettling);
    },

    /** True if there was one to delete. */
    async deleteWebhook({ place, webhookId }: OneWebhook): Promise<boolean> {
      return calling(async () => {
        try {
          await webhooks.delete(place, webhookId);
          return true;
        } catch (error) {
          if (error instanceof NotFound) return false;
          throw error;
        }
      });
    },
  };
}

/** A missing endpoint has its own failure type. */
async function callingOne<T>(calls: () => Promise<T>, settling?: number): Promise<T> {
  const typed = async () => {
    try {
      return await calls();
    } catch (error) {
      if (error instanceof NotFound) throw ApplicationFailure.nonRetryable(error.message, 'WebhookNotFound');
      throw error;
    }
  };
  return calling(typed, settling);
}

/** A worker without a management key has one, too. */
async function calling<T>(calls: () => Promise<T>, settling?: number): Promise<T> {
  const typed = async () => {
    try {
      return await calls();
    } catch (error) {
      if (error instanceof RequestInvalid && error.fields.some(({ field }) => field === 'managementKey')) {
        const message = 'The worker has no management key: set SERVICE_MANAGEMENT_KEY for it';
        throw ApplicationFailure.nonRetryable(message, 'ManagementKeyMissing');
      }
      throw error;
    }
  };
  return asFailures('WebhookRefused', typed, settling);
}

function unprotected(what: string): ApplicationFailure {
  const message = `${what}, and payloads are not encrypted: it would be readable in Temporal. Set LABOPS_ENCRYPTION_KEYS`;
  return ApplicationFailure.nonRetryable(message, 'EncryptionRequired');
}

function isSameAddress(one: string | undefined | null, other: string): boolean {
  if (one == null || !URL.canParse(one) || !URL.canParse(other)) return one === other;
  return new URL(one).href === new URL(other).href;
}

function endpointOf({ id, url, disabled, filter_types, created_at }: Webhook, encrypts: boolean): WebhookEndpoint {
  return {
    id,
    ...(url != null && { url: encrypts || !isSignedUrl(url) ? url : withoutCredentials(url) }),
    disabled: disabled === true,
    eventTypes: filter_types ?? [],
    ...(created_at != null && { createdAt: created_at }),
  };
}

/** An address that cannot be parsed may contain anything. */
function withoutCredentials(url: string): string {
  if (!URL.canParse(url)) return '';
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
