import type { FastifyRequest } from 'fastify';
import type { Lab } from './lab.js';
import { ORG_ID, type ManagementKey, type Team } from './organisation.js';
import { pathText, pathUuid } from './path-ids.js';
import { invalidFields, refusal } from './problems.js';
import { oneOf } from './validation.js';

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
    if (pathUuid(request, 'org_id') !== ORG_ID) throw refusal(403, 'The key is of another organisation');
    return manager;
  }

  orgAdmin(request: FastifyRequest): ManagementKey {
    const manager = this.manager(request);
    if (manager.role !== 'org_admin') throw refusal(403, 'An org key is needed');
    return manager;
  }

  /** The team in the path, where the key reaches it. */
  team(request: FastifyRequest): Team {
    const manager = this.manager(request);
    const id = pathUuid(request, 'team_id');
    this.reaches(manager, id);
    const team = this.#lab.organisation.teams.get(id);
    if (team === undefined) throw refusal(404, 'Team not found');
    return team;
  }

  /** Throws the 403 where the key does not reach the team. */
  reaches(manager: ManagementKey, teamId: string): void {
    if (manager.teamIds !== null && !manager.teamIds.includes(teamId)) {
      throw refusal(403, 'The key is not bound to this team');
    }
  }
}

/** A path parameter out of a list; else the 422 of a field. */
export function pathChoice(request: FastifyRequest, name: string, ...choices: readonly string[]): string {
  const value = pathText(request, name);
  const fault = oneOf(...choices)(value);
  if (fault === undefined) return value;
  throw invalidFields([{ ...fault, loc: ['path', name], input: value }]);
}

/** A page of a list from a cursor on, and the cursor of the next page. */
export function cursorPage<T>(
  items: readonly T[],
  cursor: string | null,
  size: number,
): { items: T[]; next: string | null } {
  const place = cursor === null ? '0' : Buffer.from(cursor, 'base64url').toString();
  if (!/^\d{1,9}$/.test(place)) {
    const problem = { type: 'value_error', msg: 'Value error, the cursor is not one of this list', ctx: { error: {} } };
    throw invalidFields([{ ...problem, loc: ['query', 'next_cursor'], input: cursor }]);
  }
  const from = Number(place);
  const end = from + size;
  const next = end < items.length ? Buffer.from(String(end)).toString('base64url') : null;
  return { items: items.slice(from, end), next };
}
