import type { WebhookPlace } from '../service/management-webhooks.js';

/**
 * Who the management of webhook endpoints is: its name, input and results. One run carries out one command, and its
 * result is the answer. docs/messages.md shows the same as JSON for backends in other languages.
 */

export const manageWebhooksName = 'manageWebhooks';

export type WebhookCommand =
  | { do: 'list' }
  /** An endpoint with the same address is not made twice; it is answered with as it is. */
  | { do: 'register'; url: string; eventTypes?: string[] }
  | { do: 'rotate'; webhookId: string }
  | { do: 'delete'; webhookId: string };

export interface ManageWebhooksInput extends WebhookPlace {
  command: WebhookCommand;
}

/** Where a team's events are delivered. */
export interface WebhookEndpoint {
  id: string;
  /** Where payloads are not encrypted, an address that is a credential by itself is shown without what makes it one. */
  url?: string;
  disabled: boolean;
  /** The event types that are delivered; none: all. */
  eventTypes: string[];
  /** ISO 8601 in UTC. */
  createdAt?: string;
}

export interface WebhooksListed {
  endpoints: WebhookEndpoint[];
}

export interface WebhookRegistered {
  endpoint: WebhookEndpoint;
  /** False where there was an endpoint with this address already. */
  created: boolean;
  /** What deliveries are signed with, `whsec_…`: a credential. Only where payloads are encrypted. */
  secret?: string;
}

export interface WebhookSecretRotated {
  webhookId: string;
  /** The new one, `whsec_…`: a credential. For a while deliveries also carry the old one's signature. */
  secret: string;
}

export interface WebhookDeleted {
  webhookId: string;
  /** False where there was none with this id, or not any more. */
  deleted: boolean;
}

export type ManageWebhooksResult = WebhooksListed | WebhookRegistered | WebhookSecretRotated | WebhookDeleted;
