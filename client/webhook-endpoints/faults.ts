import { isAddressable } from '../../protocol/ids.js';
import { isWebhookSecret, webhookSecretRule, type WebhookChange } from '../../protocol/webhook-endpoints.js';
import { isObject } from '../../service/json-object.js';
import type { WebhookPlace } from '../../service/management-webhooks.js';
import type { RefusedField } from '../errors.js';
import { refuseFaulty } from '../input-faults.js';
import { WebhookInvalid } from './errors.js';

/* Faults of commands on webhook endpoints, by field. A caller in plain JavaScript is checked by no compiler. */

/**
 * Refuses a command with everything that is wrong with it, at once.
 * @throws WebhookInvalid
 */
export function checkCommand({ orgId, teamId, environment }: WebhookPlace, others: RefusedField[]): void {
  refuseFaulty('The command', [...idFaults({ orgId, teamId, environment }), ...others], WebhookInvalid);
}

/** They are part of a workflow ID, which is readable: an e-mail address, for example, must not be. */
export function idFaults(ids: Readonly<Record<string, unknown>>): RefusedField[] {
  return Object.entries(ids)
    .filter(([, id]) => !isAddressable(id))
    .map(([field]) => ({ field, message: 'must be 1 to 128 letters, digits, dots, hyphens or underscores' }));
}

export function urlFaults(url: unknown): RefusedField[] {
  return isAddress(url) ? [] : [{ field: 'url', message: 'must be an http or https address' }];
}

export function changeFaults(change: unknown): RefusedField[] {
  const fields = isObject(change) ? Object.entries(change) : [];
  if (fields.length === 0) return [{ field: 'change', message: 'must have at least one field' }];
  return fields.flatMap(([field, value]) => {
    const rule = Object.hasOwn(changeRules, field) ? changeRules[field as keyof WebhookChange] : undefined;
    if (rule === undefined) return [{ field, message: 'is not known here' }];
    return rule.holds(value) ? [] : [{ field, message: rule.says }];
  });
}

/** The messages contain no value: it may be a credential. */
export function headerFaults(headers: unknown): RefusedField[] {
  const entries = isObject(headers) ? Object.entries(headers) : undefined;
  const areHeaders = entries?.every(
    ([name, value]) =>
      /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && typeof value === 'string' && /^[\x20-\x7e]*$/.test(value),
  );
  if (areHeaders === true) return [];
  return [{ field: 'headers', message: 'must be an object of HTTP header names with values in printable ASCII' }];
}

export function secretFaults(secret: unknown): RefusedField[] {
  return secret === undefined || isWebhookSecret(secret) ? [] : [{ field: 'secret', message: webhookSecretRule }];
}

const changeRules: Record<keyof WebhookChange, { says: string; holds: (value: unknown) => boolean }> = {
  url: { says: 'must be an http or https address', holds: isAddress },
  description: { says: 'must be a string', holds: (value) => typeof value === 'string' },
  disabled: { says: 'must be true or false', holds: (value) => typeof value === 'boolean' },
  eventTypes: {
    says: 'must be a list of non-empty strings',
    holds: (value) => Array.isArray(value) && value.every((type) => typeof type === 'string' && type !== ''),
  },
  rateLimit: {
    says: 'must be a whole number above zero, or null',
    holds: (value) => value === null || (Number.isSafeInteger(value) && (value as number) > 0),
  },
};

function isAddress(url: unknown): boolean {
  return typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
