import type { WebhookPlace } from '../../service/management/webhooks.js';

/* The words of operators' calls on webhook endpoints. */

export interface OneWebhook extends WebhookPlace {
  webhookId: string;
}

export interface WebhookToRegister extends WebhookPlace {
  url: string;
  /** None: all. */
  eventTypes?: string[];
}

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
