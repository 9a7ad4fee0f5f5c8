import { createHash } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import { NotFound, RequestInvalid } from '../../service/errors.js';
import type { UpdateWebhookRequest, Webhook, WebhookPlace } from '../../service/management/webhooks.js';
import { unprotected, type AnswerOf, type TakenBy } from '../../protocol/operators/operator-calls.js';
import { isSignedUrl } from '../../protocol/report/signed-url.js';
import { defaultSettling } from '../../protocol/settling.js';
import type { OneWebhook, WebhookChange, WebhookEndpoint } from '../../protocol/operators/webhook-endpoints.js';
import { isFirstOfActivity } from '../attempt.js';
import type { ActivityDependencies } from '../dependencies.js';
import { asFailures } from '../failures.js';
import { omitNullish } from '../../service/json-object.js';

/** The fingerprint of the secret to replace, or the secret that is to replace it. */
type WebhookRotation = OneWebhook & ({ before: string } | { secret: string });

type Dependencies = Pick<ActivityDependencies, 'service' | 'encrypts'>;

/** The calls on webhook endpoints, through the management API. A credential is taken and answered only if payloads are encrypted. */
export function webhookActivities(dependencies: Dependencies) {
  const calls = { ...endpointCalls(dependencies), ...credentialCalls(dependencies) };
  const activities = Object.entries(calls).map(([name, call]) => {
    const makes = call as (input: object) => Promise<unknown>;
    return [name, (input: object) => calling(name, input, dependencies.encrypts, makes)];
  });
  return Object.fromEntries(activities) as typeof calls;
}

/** Milliseconds that a call may still be running after its answer was lost: sent again earlier, it may be done twice. */
const settlings: Readonly<Record<string, number>> = {
  registerWebhook: defaultSettling,
  rotateWebhookSecret: defaultSettling,
};

/** A missing endpoint has its own failure type, and so has a worker without a management key. */
async function calling(
  name: string,
  input: object,
  encrypts: boolean,
  call: (input: object) => Promise<unknown>,
): Promise<unknown> {
  // A secret's fingerprint is read only to rotate it.
  const operatorCall = name === 'fingerprintWebhookSecret' ? 'rotateWebhookSecret' : name;
  const problem = encrypts ? undefined : unprotected(operatorCall, input);
  if (problem !== undefined) throw ApplicationFailure.nonRetryable(problem, 'EncryptionRequired');
  const typed = async () => {
    try {
      return await call(input);
    } catch (error) {
      if (error instanceof NotFound && 'webhookId' in input) {
        throw ApplicationFailure.nonRetryable(error.message, 'WebhookNotFound');
      }
      if (error instanceof RequestInvalid && error.fields.some(({ field }) => field === 'managementKey')) {
        const message = 'The worker has no management key: set SERVICE_MANAGEMENT_KEY for it';
        throw ApplicationFailure.nonRetryable(message, 'ManagementKeyMissing');
      }
      throw error;
    }
  };
  return asFailures('WebhookRefused', typed, settlings[name]);
}

function endpointCalls({ service, encrypts }: Dependencies) {
  const { webhooks } = service.management;
  const shown = (webhook: Webhook) => endpointOf(webhook, encrypts);

  return {
    async listWebhooks(place: WebhookPlace): Promise<WebhookEndpoint[]> {
      const endpoints: WebhookEndpoint[] = [];
      for await (const webhook of webhooks.list(place)) endpoints.push(shown(webhook));
      return endpoints;
    },

    /** The endpoint with this address, or a new one: a creation whose answer was lost is found again. */
    async registerWebhook(endpoint: TakenBy<'registerWebhook'>): Promise<AnswerOf<'registerWebhook'>> {
      const { url, eventTypes = [] } = endpoint;
      for await (const webhook of webhooks.list(endpoint)) {
        if (isSameAddress(webhook.url, url)) return { endpoint: shown(webhook), created: false };
      }
      const filter = eventTypes.length > 0 ? { filter_types: eventTypes } : {};
      return { endpoint: shown(await webhooks.create(endpoint, { url, ...filter })), created: true };
    },

    async readWebhook(webhook: OneWebhook): Promise<WebhookEndpoint> {
      return shown(await webhooks.get(webhook, webhook.webhookId));
    },

    /** Sent twice, it changes nothing more. */
    async updateWebhook(webhook: TakenBy<'updateWebhook'>): Promise<WebhookEndpoint> {
      return shown(await webhooks.update(webhook, webhook.webhookId, requestOf(webhook)));
    },

    /** True if there was one to delete. A 404 after another attempt says nothing: that attempt may have deleted it. */
    async deleteWebhook({ webhookId, ...place }: OneWebhook): Promise<AnswerOf<'deleteWebhook'>> {
      try {
        await webhooks.delete(place, webhookId);
        return { webhookId, deleted: true };
      } catch (error) {
        if (error instanceof NotFound) return { webhookId, deleted: !isFirstOfActivity() };
        throw error;
      }
    },
  };
}

function credentialCalls({ service, encrypts }: Dependencies) {
  const { webhooks } = service.management;
  return {
    async readWebhookHeaders(webhook: OneWebhook): Promise<AnswerOf<'readWebhookHeaders'>> {
      const { webhookId } = webhook;
      const { headers, sensitive } = await webhooks.getHeaders(webhook, webhookId);
      return { webhookId, headers, sensitive: sensitive ?? [] };
    },

    async setWebhookHeaders(webhook: TakenBy<'setWebhookHeaders'>): Promise<AnswerOf<'setWebhookHeaders'>> {
      const { webhookId, headers } = webhook;
      await webhooks.setHeaders(webhook, webhookId, headers);
      return { webhookId, names: Object.keys(headers) };
    },

    /** Undefined if payloads are not encrypted: the secret would be readable in Temporal. */
    async readWebhookSecret(webhook: OneWebhook): Promise<{ secret?: string }> {
      if (!encrypts) return {};
      return { secret: await webhooks.getSecret(webhook, webhook.webhookId) };
    },

    /** Identifies a secret without revealing it. */
    async fingerprintWebhookSecret(webhook: OneWebhook): Promise<string> {
      return fingerprintOf(await webhooks.getSecret(webhook, webhook.webhookId));
    },

    /** The new secret, unless an earlier attempt has made it already. */
    async rotateWebhookSecret(rotation: WebhookRotation): Promise<AnswerOf<'rotateWebhookSecret'>> {
      const { webhookId } = rotation;
      const given = 'secret' in rotation ? rotation.secret : undefined;
      const isGiven = (secret: string) => given !== undefined && withoutPadding(secret) === withoutPadding(given);
      const current = await webhooks.getSecret(rotation, webhookId);
      const isDone = 'before' in rotation ? fingerprintOf(current) !== rotation.before : isGiven(current);
      if (isDone) return { webhookId, secret: current };
      await webhooks.rotateSecret(rotation, webhookId, given);
      const secret = await webhooks.getSecret(rotation, webhookId);
      if (secret === current) throw notRotatedYet();
      if (given !== undefined && !isGiven(secret)) throw otherSecret();
      return { webhookId, secret };
    },
  };
}

/** A read right after the rotation may be older. A receiver with the old secret would refuse every delivery. */
function notRotatedYet(): ApplicationFailure {
  return ApplicationFailure.create({
    message: 'The service still shows the secret from before its rotation',
    type: 'AnswerUnreadable',
    nonRetryable: false,
    nextRetryDelay: defaultSettling,
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

/** A field that is left out stays; null removes a filter or a limit. */
function requestOf({ url, description, disabled, eventTypes, rateLimit }: WebhookChange): UpdateWebhookRequest {
  const types = eventTypes?.length === 0 ? null : eventTypes;
  return { url, description, disabled, filter_types: types, rate_limit: rateLimit };
}

function endpointOf(webhook: Webhook, encrypts: boolean): WebhookEndpoint {
  const { id, url, disabled, description, rate_limit, filter_types, created_at, updated_at } = webhook;
  return {
    id,
    ...(url != null && { url: encrypts || !isSignedUrl(url) ? url : withoutCredentials(url) }),
    disabled: disabled === true,
    eventTypes: filter_types ?? [],
    ...(description != null && description !== '' && { description }),
    ...omitNullish({ rateLimit: rate_limit, createdAt: created_at, updatedAt: updated_at }),
  };
}

/** An address that cannot be parsed may contain anything. */
function withoutCredentials(url: string): string {
  if (!URL.canParse(url)) return '';
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
