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
  | { do: 'rotate'; webhookId: string }
  | { do: 'delete'; webhookId: string };

export interface ManageWebhooksInput extends WebhookPlace {
  command: WebhookCommand;
}

/** Where a team's events are delivered. */
export interface WebhookEndpoint {
  id: string;
  /** If payloads are not encrypted, an address that contains a credential is shown without it. */
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
  /** False if there was none with this id. */
  deleted: boolean;
}

export type ManageWebhooksResult = WebhooksListed | WebhookRegistered | WebhookSecretRotated | WebhookDeleted;
