import { canonicalUserId } from '../user-id.js';
import { sourceSlugOf } from './provider-source.js';

/** How a message finds the workflow of a link. Nobody else builds one of these IDs. */

/** What may stand in a workflow ID and in a request's path; a provider's name is a slug of the service's. */
const addressablePattern = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/;

export function isLinkAddressable(userId: unknown, provider: unknown): boolean {
  return [userId, provider].every((part) => typeof part === 'string' && addressablePattern.test(part));
}

/**
 * One link of a user with a provider at a time. Both spellings of a provider, the link's and that of its source in
 * webhooks, give the same ID, and so do both of a user's UUID.
 */
export function linkProviderId(userId: string, provider: string): string {
  return `link-provider/${canonicalUserId(userId)}/${sourceSlugOf(provider)}`;
}
