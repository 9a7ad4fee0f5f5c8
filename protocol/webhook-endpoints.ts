import type { WebhookPlace } from '../service/management-webhooks.js';

/**
 * Who the management of webhook endpoints is: its name, input and results. One run carries out one command, and its
 * result is the answer. docs/messages.md shows the same as JSON for backends in other languages.
 */

export const manageWebhooksName = 'manageWebhooks';

export type WebhookCommand =
  | { do: 'list' }
  /** An endpoint with the same address is not created twice; the existing one is returned. */
  | { do: 'register'; url: string; eventTypes?: string[] }
  | { do: 'read'; webhookId: string }
  | { do: 'update'; webhookId: string; change: WebhookChange }
  /** Without values of those that the service does not show again. */
  | { do: 'readHeaders'; webhookId: string }
  /** Replaces all headers. */
  | { do: 'setHeaders'; webhookId: string; headers: Record<string, string> }
  /** With a secret that the receiver knows already, no delivery is refused; without one, the service makes it. */
  | { do: 'rotate'; webhookId: string; secret?: string }
  | { do: 'delete'; webhookId: string };

/** A secret that a caller makes is long enough not to be guessed: 32 characters of base64 are 24 bytes. */
export function isWebhookSecret(secret: unknown): secret is string {
  return typeof secret === 'string' && /^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(secret);
}

export const webhookSecretRule =
  'must be whsec_ followed by base64 of at least 24 bytes, without v1 or anything else before it';

/** Fields that are left out stay as they are. */
export interface WebhookChange {
  url?: string;
  description?: string;
  /** `false` enables an endpoint that was disabled, by the service too. */
  disabled?: boolean;
  /** The event types that are delivered; none: all. */
  eventTypes?: string[];
  /** Null removes the limit. The unit is not documented. */
  rateLimit?: number | null;
}

export interface ManageWebhooksInput extends WebhookPlace {
  command: WebhookCommand;
}

/** An address to which a team's events are delivered. */
export interface WebhookEndpoint {
  id: string;
  /** If payloads are not encrypted, an address that contains a credential is shown without it. */
  url?: string;
  disabled: boolean;
  /** The event types that are delivered; none: all. */
  eventTypes: string[];
  description?: string;
  /** The unit is not documented. */
  rateLimit?: number;
  /** ISO 8601 in UTC. */
  createdAt?: string;
  updatedAt?: string;
}

export interface WebhooksListed {
  endpoints: WebhookEndpoint[];
}

export interface WebhookRead {
  endpoint: WebhookEndpoint;
}

export interface WebhookHeadersRead {
  webhookId: string;
  /** Headers that go along with every delivery, by name. */
  headers: Record<string, string>;
  /** Names of further ones, whose values the service does not show again. */
  sensitive: string[];
}

export interface WebhookHeadersSet {
  webhookId: string;
  /** The names of all headers that deliveries have from now on. */
  names: string[];
}

export interface WebhookRegistered {
  endpoint: WebhookEndpoint;
  /** False if there was an endpoint with this address already. */
  created: boolean;
  /** The signing secret of deliveries, `whsec_…`: a credential. Only if payloads are encrypted. */
  secret?: string;
}

export interface WebhookSecretRotated {
  webhookId: string;
  /** The new one, `whsec_…`: a credential. For a while deliveries also carry the old one's signature. */
  secret: string;
}

export interface WebhookDeleted {
  webhookId: string;
  /** False if there was none with this id. True after a lost answer, too: its request may have deleted it. */
  deleted: boolean;
}

export type ManageWebhooksResult =
  | WebhooksListed
  | WebhookRead
  | WebhookHeadersRead
  | WebhookHeadersSet
  | WebhookRegistered
  | WebhookSecretRotated
  | WebhookDeleted;
