import { createHash } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import { NotFound, RequestInvalid } from '../service/errors.js';
import type { UpdateWebhookRequest, Webhook, WebhookPlace } from '../service/management-webhooks.js';
import { isSignedUrl } from '../protocol/report/signed-url.js';
import { usualSettling } from '../protocol/settling.js';
import type {
  WebhookChange,
  WebhookEndpoint,
  WebhookHeadersRead,
  WebhookRegistered,
} from '../protocol/webhook-endpoints.js';
import type { ActivityDependencies } from './dependencies.js';
import { isFirstOfActivity } from './attempt.js';
import { asFailures } from './failures.js';

interface OneWebhook {
  place: WebhookPlace;
  webhookId: string;
}

/** The fingerprint of the secret to replace, or the secret that is to replace it. */
type WebhookRotation = OneWebhook & ({ before: string } | { secret: string });

interface WebhookToRegister {
  place: WebhookPlace;
  url: string;
  eventTypes: string[];
}

type Dependencies = Pick<ActivityDependencies, 'service' | 'encrypts'>;

/** Webhook endpoints of a team, through the management API. A secret is returned only if payloads are encrypted. */
export function webhookActivities(dependencies: Dependencies) {
  return { ...endpointActivities(dependencies), ...credentialActivities(dependencies) };
}

function endpointActivities({ service, encrypts }: Dependencies) {
  const { webhooks } = service.management;
  const shown = (webhook: Webhook) => endpointOf(webhook, encrypts);

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

    async readWebhook({ place, webhookId }: OneWebhook): Promise<WebhookEndpoint> {
      return callingOne(async () => shown(await webhooks.get(place, webhookId)));
    },

    /** Sent twice, it changes nothing more. */
    async updateWebhook({ place, webhookId, change }: OneWebhook & { change: WebhookChange }) {
      if (!encrypts && isSignedUrl(change.url ?? '')) throw unprotected('The address is a credential by itself');
      const request = requestOf(change);
      return callingOne(async () => {
        const changed = await webhooks.update(place, webhookId, request);
        if (Object.values(request).every((value) => value !== null)) return shown(changed);
        const read = await webhooks.get(place, webhookId);
        requireCleared(request, read);
        return shown(read);
      });
    },

    /** True if there was one to delete. A 404 after another attempt says nothing: that attempt may have deleted it. */
    async deleteWebhook({ place, webhookId }: OneWebhook): Promise<boolean> {
      return calling(async () => {
        try {
          await webhooks.delete(place, webhookId);
          return true;
        } catch (error) {
          if (error instanceof NotFound) return !isFirstOfActivity();
          throw error;
        }
      });
    },
  };
}

function credentialActivities({ service, encrypts }: Dependencies) {
  const { webhooks } = service.management;
  return {
    async readWebhookHeaders({ place, webhookId }: OneWebhook): Promise<Omit<WebhookHeadersRead, 'webhookId'>> {
      if (!encrypts) throw unprotected('A header may be a credential');
      return callingOne(async () => {
        const { headers, sensitive } = await webhooks.getHeaders(place, webhookId);
        return { headers, sensitive: sensitive ?? [] };
      });
    },

    async setWebhookHeaders({ place, webhookId, headers }: OneWebhook & { headers: Record<string, string> }) {
      if (!encrypts) throw unprotected('A header may be a credential');
      return callingOne(() => webhooks.setHeaders(place, webhookId, headers));
    },

    /** Undefined if payloads are not encrypted: the secret would be readable in Temporal. */
    async readWebhookSecret({ place, webhookId }: OneWebhook): Promise<Pick<WebhookRegistered, 'secret'>> {
      if (!encrypts) return {};
      return callingOne(async () => ({ secret: await webhooks.getSecret(place, webhookId) }));
    },

    /** Identifies a secret without revealing it. */
    async fingerprintWebhookSecret({ place, webhookId }: OneWebhook): Promise<string> {
      if (!encrypts) throw unprotected('A new signing secret is a credential');
      return callingOne(async () => fingerprintOf(await webhooks.getSecret(place, webhookId)));
    },

    /** The new secret, unless an earlier attempt has made it already. */
    async rotateWebhookSecret(rotation: WebhookRotation): Promise<string> {
      if (!encrypts) throw unprotected('A new signing secret is a credential');
      const { place, webhookId } = rotation;
      return callingOne(async () => {
        const current = await webhooks.getSecret(place, webhookId);
        const given = 'secret' in rotation ? rotation.secret : undefined;
        const isGiven = (secret: string) => given !== undefined && withoutPadding(secret) === withoutPadding(given);
        if ('before' in rotation ? fingerprintOf(current) !== rotation.before : isGiven(current)) return current;
        await webhooks.rotateSecret(place, webhookId, given);
        const rotated = await webhooks.getSecret(place, webhookId);
        if (rotated === current) throw notRotatedYet();
        if (given !== undefined && !isGiven(rotated)) throw otherSecret();
        return rotated;
      }, usualSettling);
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

/** A read right after the rotation may be older. A receiver with the old secret would refuse every delivery. */
function notRotatedYet(): ApplicationFailure {
  return ApplicationFailure.create({
    message: 'The service still shows the secret from before its rotation',
    type: 'AnswerUnreadable',
    nonRetryable: false,
    nextRetryDelay: usualSettling,
  });
}

function otherSecret(): ApplicationFailure {
  const message =
    'was not taken: the service made one of its own, and signs with it. See it in the dashboard of the service';
  return ApplicationFailure.nonRetryable(`The secret ${message}`, 'WebhookRefused', {
    fields: [{ field: 'secret', message }],
  });
}

/** Base64 with its padding and without it is the same key. */
function withoutPadding(secret: string): string {
  return secret.replace(/=+$/, '');
}

function isSameAddress(one: string | undefined | null, other: string): boolean {
  if (one == null || !URL.canParse(one) || !URL.canParse(other)) return one === other;
  return new URL(one).href === new URL(other).href;
}

function fingerprintOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Fields that `change` omits are absent: the service ignores null, except in a field that null clears. */
function requestOf({ url, description, disabled, eventTypes, rateLimit }: WebhookChange): UpdateWebhookRequest {
  return {
    ...(url !== undefined && { url }),
    ...(description !== undefined && { description }),
    ...(disabled !== undefined && { disabled }),
    ...(eventTypes !== undefined && { filter_types: eventTypes.length > 0 ? eventTypes : null }),
    ...(rateLimit !== undefined && { rate_limit: rateLimit }),
  };
}

/** It is not documented if null clears a field or leaves it as it is, and an answer may repeat the request. */
function requireCleared(request: UpdateWebhookRequest, { filter_types: types, rate_limit: rateLimit }: Webhook): void {
  const kept = [
    ...(request.filter_types === null && types?.length
      ? [{ field: 'eventTypes', message: `is still ${types.join(', ')}` }]
      : []),
    ...(request.rate_limit === null && rateLimit != null
      ? [{ field: 'rateLimit', message: `is still ${rateLimit}` }]
      : []),
  ];
  if (kept.length === 0) return;
  const which = kept.map(({ field, message }) => `${field} ${message}`).join('; ');
  const message = `The service accepted the change, but did not remove a filter or a limit: ${which}`;
  throw ApplicationFailure.nonRetryable(message, 'WebhookChangeIgnored', { fields: kept });
}

function endpointOf(webhook: Webhook, encrypts: boolean): WebhookEndpoint {
  const { id, url, disabled, description, rate_limit, filter_types, created_at, updated_at } = webhook;
  return {
    id,
    ...(url != null && { url: encrypts || !isSignedUrl(url) ? url : withoutCredentials(url) }),
    disabled: disabled === true,
    eventTypes: filter_types ?? [],
    ...(description != null && description !== '' && { description }),
    ...(rate_limit != null && { rateLimit: rate_limit }),
    ...(created_at != null && { createdAt: created_at }),
    ...(updated_at != null && { updatedAt: updated_at }),
  };
}

/** An address that cannot be parsed may contain anything. */
function withoutCredentials(url: string): string {
  if (!URL.canParse(url)) return '';
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
