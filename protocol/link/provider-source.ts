/*
 * The one place that knows how a provider's name in a link compares to the source's slug that the service shows later,
 * in a user's connected sources and in the webhook of a connection. That both are the same word is not documented but
 * follows from all that is known (docs/lab-service.md); a deployment where they differ is taught here.
 */

/** The slug of the source that a link of this provider makes: lower case, and hyphens written as underscores. */
export function sourceSlugOf(provider: string): string {
  return provider.trim().toLowerCase().replaceAll('-', '_');
}

/** Whether a slug that the service sent names the source of this provider. Spellings that differ in case, `-` or `_` do. */
export function isSameSource(provider: string, slug: string): boolean {
  return sourceSlugOf(provider) === sourceSlugOf(slug);
}
