import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Lab } from './lab.js';
import { cursorPage, pathChoice, type OrgAccess } from './org-access.js';
import type { ManagementKey, Role, TeamApiKey } from './organisation.js';
import type { Json } from './order-body.js';
import { pathUuid } from './path-ids.js';
import { refusal, unacceptable } from './problems.js';
import { timestamp } from './timestamps.js';
import { Fields, oneOf, uuid } from './validation.js';

const ROLES = ['org_admin', 'team_admin'] as const;
const MANAGEMENT_KEYS = '/v1/org/:org_id/management_key';
const TEAM_KEYS = '/v1/org/:org_id/team_api_keys/:env/:region';

/** Management keys. */
export function orgManagementKeyRoutes(app: FastifyInstance, lab: Lab, access: OrgAccess): void {
  const { managementKeys } = lab.organisation;
  const found = (request: FastifyRequest): ManagementKey => {
    access.orgAdmin(request);
    const key = managementKeys.get(pathUuid(request, 'key_id'));
    if (key === undefined) throw refusal(404, 'Management key not found');
    return key;
  };

  app.get(MANAGEMENT_KEYS, (request) => {
    access.orgAdmin(request);
    const fields = Fields.ofQuery(request.query);
    const teamId = fields.optionalString('team_id', uuid);
    const role = fields.optionalString('role', oneOf(...ROLES));
    const cursor = fields.optionalString('next_cursor');
    fields.finish();
    const matching = [...managementKeys.values()].filter(
      (key) => (teamId === null || key.teamIds?.includes(teamId) === true) && (role === null || key.role === role),
    );
    const { items, next } = cursorPage(matching, cursor, lab.settings.current.managementPageSize);
    return { data: items.map((key) => managementKeyBody(lab, key)), next_cursor: next };
  });

  app.post(MANAGEMENT_KEYS, (request) => {
    access.orgAdmin(request);
    const fields = Fields.ofBody(request.body);
    const label = fields.string('label');
    const role = fields.string('role', oneOf(...ROLES)) as Role;
    const teamIds = boundTeams(fields);
    fields.finish();
    if ((role === 'team_admin') === (teamIds === null || teamIds.length === 0)) {
      throw unacceptable(['body', 'team_role_bindings'], `the bindings do not fit the role ${role}`, null);
    }
    const key = lab.organisation.addManagementKey({ label, role, teamIds }, { type: 'management_key' });
    return { ...managementKeyBody(lab, key), key: key.key };
  });

  app.patch(`${MANAGEMENT_KEYS}/:key_id`, (request) => {
    const key = found(request);
    const fields = Fields.ofBody(request.body);
    const label = fields.optionalString('label');
    const teamIds = boundTeams(fields);
    fields.finish();
    if (teamIds !== null && key.role === 'org_admin') {
      throw unacceptable(['body', 'team_role_bindings'], 'an org key is bound to no team', null);
    }
    key.label = label ?? key.label;
    key.teamIds = teamIds ?? key.teamIds;
    return managementKeyBody(lab, key);
  });

  app.delete(`${MANAGEMENT_KEYS}/:key_id`, (request) => {
    const key = found(request);
    managementKeys.delete(key.id);
    return managementKeyBody(lab, key);
  });
}

function boundTeams(fields: Fields): string[] | null {
  return fields.optionalObjects('team_role_bindings')?.map((binding) => binding.string('team_id', uuid)) ?? null;
}

/** Never with the key itself. */
function managementKeyBody(lab: Lab, { id, label, createdAt, creator, role, teamIds }: ManagementKey): Json {
  const created = timestamp(createdAt, lab.settings.current.naiveTimestamps);
  const bindings = teamIds?.map((teamId) => ({ team_id: teamId })) ?? null;
  return { id, label, created_at: created, creator, role, team_role_bindings: bindings };
}

/** Team API keys. */
export function orgTeamKeyRoutes(app: FastifyInstance, lab: Lab, access: OrgAccess): void {
  const { teamApiKeys } = lab.organisation;
  const place = (request: FastifyRequest): Pick<TeamApiKey, 'environment' | 'region'> => ({
    environment: pathChoice(request, 'env', 'production', 'sandbox'),
    region: pathChoice(request, 'region', 'us', 'eu'),
  });
  const reachable = (request: FastifyRequest): TeamApiKey[] => {
    const { teamIds } = access.manager(request);
    const { environment, region } = place(request);
    return [...teamApiKeys.values()].filter(
      (key) =>
        key.environment === environment && key.region === region && (teamIds === null || teamIds.includes(key.teamId)),
    );
  };

  app.get(TEAM_KEYS, (request) => {
    const keys = reachable(request);
    const fields = Fields.ofQuery(request.query);
    const teamId = fields.optionalString('team_id', uuid);
    const cursor = fields.optionalString('next_cursor');
    fields.finish();
    const matching = keys.filter((key) => teamId === null || key.teamId === teamId);
    const { items, next } = cursorPage(matching, cursor, lab.settings.current.managementPageSize);
    return { api_keys: items.map((key) => teamKeyBody(lab, key)), next_cursor: next };
  });

  app.post(TEAM_KEYS, (request) => {
    const manager = access.manager(request);
    const at = place(request);
    const fields = Fields.ofBody(request.body);
    const label = fields.string('label');
    const teamId = fields.string('team_id', uuid).toLowerCase();
    fields.finish();
    access.reaches(manager, teamId);
    if (!lab.organisation.teams.has(teamId)) throw refusal(404, 'Team not found');
    return teamKeyBody(lab, lab.organisation.addTeamApiKey({ ...at, label, teamId }));
  });

  app.delete(TEAM_KEYS, (request) => {
    const ids = new Set(reachable(request).map(({ id }) => id));
    const fields = Fields.ofQuery(request.query);
    const asked = fields.optionalStrings('api_key_id', uuid) ?? [];
    fields.finish();
    const success = asked.filter((id) => ids.has(id));
    for (const id of success) teamApiKeys.delete(id);
    return { success, failure: [], not_found: asked.filter((id) => !ids.has(id)) };
  });
}

function teamKeyBody(lab: Lab, { id, label, value, teamId, createdAt }: TeamApiKey): Json {
  return {
    ...{ id, label, value, team_id: teamId },
    created_at: timestamp(createdAt, lab.settings.current.naiveTimestamps),
  };
}
