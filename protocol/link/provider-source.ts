/*
 * Compares a provider's name in a link with the slug that the service shows later, in a user's connected sources and in
 * a connection's webhook; nothing else compares them. That both are the same word is not documented but follows from
 * all that is known (docs/internals/lab-service.md); a deployment with other names needs a change only here.
 */

/** The provider of a link for which the user chooses one on the service's page; no service knows a provider of this name. */
export const anyProvider = 'any';

/** The slug of the source that a link of this provider makes: lower case, and hyphens written as underscores. */
export function sourceSlugOf(provider: string): string {
  return provider.trim().toLowerCase().replaceAll('-', '_');
}

/** True if a slug of the service's names the source of this provider. Case, `-` and `_` make no difference. */
export function isSameSource(provider: string, slug: string): boolean {
  return sourceSlugOf(provider) === sourceSlugOf(slug);
}
