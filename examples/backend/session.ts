import type { FastifyRequest } from 'fastify';

/** An answer that is not a page: what was asked for does not exist for this user. */
export class NotYours extends Error {
  readonly statusCode = 404;
}

/**
 * The user who is logged in: the lab service's id, which your backend keeps with the account. The example takes it from a cookie
 * that anybody can set. In your backend: from your session.
 */
export function userOf(request: FastifyRequest): string {
  const [, userId] = /(?:^|; )user=([0-9a-f-]{36})(?:;|$)/.exec(request.headers.cookie ?? '') ?? [];
  if (userId === undefined) throw new NotYours('Nobody is logged in');
  return userId;
}

/** References of orders and reports begin with their user's id, so the path shows whose they are. */
export function newReference(userId: string): string {
  return `${userId}.${Date.now().toString(36)}`;
}

export function referenceOf(request: FastifyRequest): string {
  const { reference = '' } = request.params as { reference?: string };
  if (!reference.startsWith(`${userOf(request)}.`)) throw new NotYours('There is no such order or report');
  return reference;
}

/** A form's fields; empty ones are left out. */
export function fieldsOf(request: FastifyRequest): Record<string, string> {
  const entries = Object.entries((request.body ?? {}) as Record<string, string>);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}
