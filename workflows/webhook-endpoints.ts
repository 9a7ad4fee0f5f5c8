import { type ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { isAddressable, manageWebhooksId } from '../protocol/ids.js';
import {
  isWebhookSecret,
  webhookSecretRule,
  type ManageWebhooksInput,
  type ManageWebhooksResult,
  type WebhookChange,
  type WebhookCommand,
  type WebhookRegistered,
} from '../protocol/webhook-endpoints.js';
import type { WebhookPlace } from '../service/management-webhooks.js';
import { activities } from './activities.js';
import { refuse, throwRefusal } from './entity/commands.js';
import { isObject } from './entity/fields.js';

/**
 * Carries out one command on the webhook endpoints of a team. Its ID is the team's, so no two run at once: what one
 * makes is there when the next one looks.
 */
export async function manageWebhooks(input: ManageWebhooksInput): Promise<ManageWebhooksResult> {
  const { command, ...place } = (input as Partial<ManageWebhooksInput> | null | undefined) ?? {};
  return carryOut(checkedPlace(place), checkedCommand(command)).catch(throwRefusal);
}

async function carryOut(place: WebhookPlace, command: WebhookCommand): Promise<ManageWebhooksResult> {
  switch (command.do) {
    case 'list':
      return {
        endpoints: await activities.listWebhooks.executeWithOptions({ summary: 'all endpoints' }, [place]),
      };
    case 'register':
      return register(place, command);
    case 'read':
      return { endpoint: await activities.readWebhook({ place, webhookId: checkedId(command.webhookId) }) };
    case 'update': {
      const { change } = command;
      return { endpoint: await activities.updateWebhook({ place, webhookId: checkedId(command.webhookId), change }) };
    }
    case 'readHeaders': {
      const webhookId = checkedId(command.webhookId);
      return { webhookId, ...(await activities.readWebhookHeaders({ place, webhookId })) };
    }
    case 'setHeaders': {
      const { headers } = command;
      const webhookId = checkedId(command.webhookId);
      await activities.setWebhookHeaders({ place, webhookId, headers });
      return { webhookId, names: Object.keys(headers) };
    }
    case 'rotate':
      return { webhookId: command.webhookId, secret: await rotate(place, command) };
    case 'delete': {
      const webhookId = checkedId(command.webhookId);
      return { webhookId, deleted: await activities.deleteWebhook({ place, webhookId }) };
    }
    default:
      command satisfies never;
      throw invalid('command.do', 'must be list, register, read, update, readHeaders, setHeaders, rotate or delete');
  }
}

async function register(
  place: WebhookPlace,
  { url, eventTypes }: WebhookCommand & { do: 'register' },
): Promise<WebhookRegistered> {
  const registered = await activities.registerWebhook({ place, url, eventTypes: eventTypes ?? [] });
  return { ...registered, ...(await activities.readWebhookSecret({ place, webhookId: registered.endpoint.id })) };
}

/** A rotation whose answer was lost is recognised by the secret: it is not the one from before. */
async function rotate(
  place: WebhookPlace,
  { webhookId: id, secret }: WebhookCommand & { do: 'rotate' },
): Promise<string> {
  const webhookId = checkedId(id);
  if (secret != null) return activities.rotateWebhookSecret({ place, webhookId, secret });
  const before = await activities.fingerprintWebhookSecret({ place, webhookId });
  return activities.rotateWebhookSecret({ place, webhookId, before });
}

/** An ID that another place's commands would not wait for lets two run at once. */
function checkedPlace({ orgId, teamId, environment }: Partial<WebhookPlace>): WebhookPlace {
  const place = { orgId, teamId, environment } as WebhookPlace;
  for (const [field, value] of Object.entries(place)) {
    if (!isAddressable(value)) throw invalid(field, addressable);
  }
  if (workflowInfo().workflowId !== manageWebhooksId(place)) {
    throw invalid('workflowId', 'must be manage-webhooks/<orgId>/<teamId>/<environment>');
  }
  return place;
}

/** A backend in another language is checked by no compiler, and an error of any other kind would be retried forever. */
function checkedCommand(command: unknown): WebhookCommand {
  const fields = (command ?? {}) as Partial<
    Record<'do' | 'url' | 'eventTypes' | 'change' | 'headers' | 'secret', unknown>
  >;
  const { do: what, url, eventTypes, change, headers, secret } = fields;
  if (what === 'register') {
    if (typeof url !== 'string') throw invalid('command.url', 'must be a string');
    if (eventTypes != null && !Array.isArray(eventTypes)) throw invalid('command.eventTypes', 'must be a list');
  }
  if (what === 'update') checkChange(change);
  if (what === 'setHeaders' && !isObject(headers)) throw invalid('command.headers', 'must be an object');
  if (what === 'rotate' && secret != null && !isWebhookSecret(secret))
    throw invalid('command.secret', webhookSecretRule);
  return (command ?? {}) as WebhookCommand;
}

/** The service's own request is checked before it is sent, but its fields have other names. */
function checkChange(change: unknown): void {
  if (!isObject(change)) throw invalid('command.change', 'must be an object');
  const unknown = Object.keys(change).find((field) => !changeable.includes(field as keyof WebhookChange));
  if (unknown !== undefined)
    throw invalid('command.change', `must contain only these fields: ${changeable.join(', ')}`);
  if (Object.keys(change).length === 0) throw invalid('command.change', 'must contain at least one field');
  const { url, eventTypes } = change as { url?: unknown; eventTypes?: unknown };
  if (url !== undefined && typeof url !== 'string') throw invalid('command.change', 'url must be a string');
  if (eventTypes !== undefined && !Array.isArray(eventTypes))
    throw invalid('command.change', 'eventTypes must be a list');
}

const changeable: readonly (keyof WebhookChange)[] = ['url', 'description', 'disabled', 'eventTypes', 'rateLimit'];

function checkedId(webhookId: unknown): string {
  if (isAddressable(webhookId)) return webhookId;
  throw invalid('webhookId', addressable);
}

const addressable = 'must be 1 to 128 letters, digits, dots, hyphens or underscores';

function invalid(field: string, message: string): ApplicationFailure {
  const details = { fields: [{ field, message }] };
  return refuse('InvalidCommand', `The command is not valid: ${field} ${message}`, details);
}
