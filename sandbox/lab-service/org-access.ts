import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Lab } from './lab.js';
import { inventedOrgId, type ManagementKey, type Team } from './organisation.js';
import { invalidFields, refusal, valueError } from './problems.js';
import { optional, pathUuid, readPath } from './validation.js';

/** True for a request of the management API, which has a management key instead of a team API key. */
export function isOfManagement(request: FastifyRequest): boolean {
  return request.url.startsWith('/v1/org/');
}

/**
 * The rights of management keys. An org key may do everything; a team key reaches the teams that it is bound to, and nothing of the
 * organisation. None of the refusals is documented; assumed.
 */
export class OrgAccess {
  readonly #lab: Lab;
  readonly #headers: readonly string[];

  /** @param headers the names under which a management key is taken, the current one and the deprecated one */
  constructor(lab: Lab, headers: readonly string[]) {
    this.#lab = lab;
    this.#headers = headers;
  }

  /** The key behind a request to the organisation in its path; 401 and 403 otherwise. */
  manager(request: FastifyRequest): ManagementKey {
    const given = this.#headers.map((name) => request.headers[name]).find((value) => typeof value === 'string');
    const manager = typeof given === 'string' ? this.#lab.organisation.managerWith(given) : undefined;
    if (manager === undefined) throw refusal(401, 'Invalid management key');
    if (pathUuid(request, 'org_id') !== inventedOrgId) throw refusal(403, 'The key is of another organisation');
    return manager;
  }

  requireOrgKey(request: FastifyRequest): void {
    if (this.manager(request).role !== 'org_admin') throw refusal(403, 'An org key is needed');
  }

  /** The team in the path or of an id, where the key reaches it. */
  team(request: FastifyRequest, id = pathUuid(request, 'team_id')): Team {
    const { teamIds } = this.manager(request);
    if (teamIds !== null && !teamIds.includes(id)) throw refusal(403, 'The key is not bound to this team');
    const team = this.#lab.organisation.teams.get(id);
    if (team === undefined) throw refusal(404, 'Team not found');
    return team;
  }
}

export const environment = z.enum(['sandbox', 'production']);

/** The environment, and the region, in a path. */
export function placeIn(request: FastifyRequest) {
  return readPath(z.object({ environment, region: z.enum(['us', 'eu']) }), request);
}

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
