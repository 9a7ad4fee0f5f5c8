import type { WebhookPlace } from '../../service/management-webhooks.js';

/** One command at a time for the endpoints of one team in one environment: whoever registers twice is heard in turn. */
export function manageWebhooksId({ orgId, teamId, environment }: WebhookPlace): string {
  return `manage-webhooks/${orgId}/${teamId}/${environment}`;
}
