import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { inventedTeamId } from './seed.js';
import { invalidFields, refusal, valueError, optional, pathUuid, readPath } from './validation.js';

/** True for a request of the management API, which has a management key instead of a team API key. */
export function isOfManagement(request: FastifyRequest): boolean {
  return request.url.startsWith('/v1/org/');
}

/** The rights of the management key, which reaches the one organisation. None of the refusals is documented; assumed. */
export class OrgAccess {
  readonly #key: string | undefined;
  readonly #headers: readonly string[];

  /**
   * @param key without one nobody can manage anything
   * @param headers the names under which it is taken, the current one and the deprecated one
   */
  constructor(key: string | undefined, headers: readonly string[]) {
    this.#key = key;
    this.#headers = headers;
  }

  /** The team in the path; 401, 403 and 404 otherwise. */
  team(request: FastifyRequest): string {
    const given = this.#headers.map((name) => request.headers[name]).find((value) => typeof value === 'string');
    if (given === undefined || given !== this.#key) throw refusal(401, 'Invalid management key');
    if (pathUuid(request, 'org_id') !== inventedOrgId) throw refusal(403, 'The key is of another organisation');
    const id = pathUuid(request, 'team_id');
    if (id !== inventedTeamId) throw refusal(404, 'Team not found');
    return id;
  }
}

const environment = z.enum(['sandbox', 'production']);

export function environmentIn(request: FastifyRequest): z.output<typeof environment> {
  return readPath(z.object({ environment }), request).environment;
}

export const cursorQuery = { next_cursor: optional(z.string()) };

/** A page of a list from a cursor on, and the cursor of the next page. */
export function cursorPage<T>(
  items: readonly T[],
  { next_cursor: cursor }: { next_cursor: string | null },
  size: number,
) {
  const place = cursor === null ? '0' : Buffer.from(cursor, 'base64url').toString();
  if (!/^\d{1,9}$/.test(place)) {
    const fault = valueError('the cursor is not one of this list');
    throw invalidFields([{ ...fault, loc: ['query', 'next_cursor'], input: cursor }]);
  }
  const end = Number(place) + size;
  const next = end < items.length ? Buffer.from(String(end)).toString('base64url') : null;
  return { items: items.slice(Number(place), end), next };
}

/** The stand-in's one organisation. Its id never changes. */
export const inventedOrgId = '0c9a0000-0000-4000-8000-000000000001';
/** The place that the stand-in plays: its webhook endpoints get the deliveries. */
export const playedPlace = { teamId: inventedTeamId, environment: 'sandbox' } as const;
