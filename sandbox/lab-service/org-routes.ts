import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Lab } from './lab.js';
import type { Json } from './order-body.js';
import { cursorPage, cursorQuery, environment, placeIn, type OrgAccess } from './org-access.js';
import { inventedOrgId, playedPlace, roles, type ManagementKey, type Team, type TeamApiKey } from './organisation.js';
import { ServiceProblem, refusal, unacceptable } from './problems.js';
import type { LabAccount } from './seed.js';
import { newId } from './state.js';
import { timestamp } from './time.js';
import { email, optional, pathUuid, queryList, readBody, readQuery, uuid } from './validation.js';

/** The management API, except webhooks: teams, management keys, team API keys and lab accounts. */

const teamsPath = '/v1/org/:org_id/team';
const managementKeysPath = '/v1/org/:org_id/management_key';
const teamKeysPath = '/v1/org/:org_id/team_api_keys/:environment/:region';
const accountsPath = '/v1/org/:org_id/lab_account/:environment/:region';

const region = z.enum(['us', 'eu']);
const teamName = z.string().max(80);
const integrationTeamId = optional(z.string().max(256));
const anyFields = optional(z.looseObject({}));

const teamsQuery = z.object({
  team_id: optional(uuid),
  region: queryList(region),
  search_query: z.string().max(80).default(''),
  ...cursorQuery,
});

/** Switches of a team, which are shown as its settings. */
const teamSwitches = z.object({
  lab_tests_patient_sms_communication_enabled: optional(z.boolean()),
  lab_tests_patient_email_communication_enabled: optional(z.boolean()),
  reject_duplicate_connection: optional(z.boolean()),
  sdk_per_device_activity_timeseries: optional(z.boolean()),
  partial_webhooks_enabled: optional(z.boolean()),
  minor_ordering_enabled: optional(z.boolean()),
});

const newTeam = z.object({
  id: optional(uuid),
  name: teamName,
  region,
  integration_team_id: integrationTeamId,
  critical_result_notification_email: optional(email),
  brand_information: anyFields,
  logo_url: optional(z.string().max(2083)),
  ...teamSwitches.shape,
});

/** Teams of the organisation. */
export function orgTeamRoutes(app: FastifyInstance, lab: Lab, access: OrgAccess): void {
  app.get(teamsPath, (request) => {
    const { teamIds } = access.manager(request);
    const query = readQuery(teamsQuery, request.query);
    const found = [...lab.organisation.teams.values()].filter(
      (team) =>
        (teamIds === null || teamIds.includes(team.id)) &&
        (query.team_id === null || team.id === query.team_id) &&
        (query.region === null || query.region.some((name) => name === team.region)) &&
        team.name.toLowerCase().includes(query.search_query.toLowerCase()),
    );
    const { items, next } = cursorPage(found, query, lab.settings.managementPageSize);
    return { teams: items.map((team) => teamBody(team)), next_cursor: next };
  });

  app.post(teamsPath, (request) => {
    access.requireOrgKey(request);
    const team = readBody(newTeam, request.body);
    refuseConflict(lab, team.integration_team_id);
    const switches = teamSwitches.parse(team);
    const added = lab.organisation.addTeam({
      id: team.id ?? newId(),
      name: team.name,
      region: team.region,
      integrationTeamId: team.integration_team_id,
      settings: { sandbox: switches, production: switches },
    });
    return teamBody(added);
  });

  app.get(`${teamsPath}/:team_id`, (request) => {
    const team = access.team(request);
    const { include_environment: included } = readQuery(
      z.object({ include_environment: queryList(environment) }),
      request.query,
    );
    const environments = environment.options.filter((name) => included?.includes(name));
    const settings = Object.fromEntries(environments.map((name) => [name, team.settings[name]]));
    return { ...teamBody(team), environments, ...settings };
  });

  app.delete(`${teamsPath}/:team_id`, (request) => {
    access.requireOrgKey(request);
    lab.organisation.teams.delete(access.team(request).id);
    return {};
  });
}

/** The customer's own id of a team is one team's. */
function refuseConflict(lab: Lab, integrationTeamId: string | null): void {
  if (integrationTeamId === null) return;
  const other = [...lab.organisation.teams.values()].find((team) => team.integrationTeamId === integrationTeamId);
  if (other !== undefined) throw new ServiceProblem(409, { team_id: other.id });
}

function teamBody(team: Team): Json {
  const { id, name, createdAt, region: at, integrationTeamId } = team;
  const created = timestamp(createdAt);
  return { id, name, created_on: created, region: at, integration_team_id: integrationTeamId };
}

const bindings = optional(z.array(z.object({ team_id: uuid })));

const managementKeysQuery = z.object({ team_id: optional(uuid), role: optional(z.enum(roles)), ...cursorQuery });

const newManagementKey = z.object({ label: z.string(), role: z.enum(roles), team_role_bindings: bindings });

/** Management keys. */
export function orgManagementKeyRoutes(app: FastifyInstance, lab: Lab, access: OrgAccess): void {
  const found = (request: FastifyRequest): ManagementKey => {
    access.requireOrgKey(request);
    const key = lab.organisation.managementKeys.get(pathUuid(request, 'key_id'));
    if (key === undefined) throw refusal(404, 'Management key not found');
    return key;
  };

  app.get(managementKeysPath, (request) => {
    access.requireOrgKey(request);
    const query = readQuery(managementKeysQuery, request.query);
    const matching = [...lab.organisation.managementKeys.values()].filter(
      ({ role, teamIds }) =>
        (query.team_id === null || teamIds?.includes(query.team_id) === true) &&
        (query.role === null || role === query.role),
    );
    const { items, next } = cursorPage(matching, query, lab.settings.managementPageSize);
    return { data: items.map((key) => managementKeyBody(key)), next_cursor: next };
  });

  app.post(managementKeysPath, (request) => {
    access.requireOrgKey(request);
    const { label, role, team_role_bindings: bound } = readBody(newManagementKey, request.body);
    const teamIds = bound?.map(({ team_id }) => team_id) ?? null;
    if ((role === 'team_admin') === (teamIds === null || teamIds.length === 0)) {
      throw unacceptable(['body', 'team_role_bindings'], `the bindings do not fit the role ${role}`, null);
    }
    const key = lab.organisation.addManagementKey({ label, role, teamIds }, { type: 'management_key' });
    return { ...managementKeyBody(key), key: key.key };
  });

  app.delete(`${managementKeysPath}/:key_id`, (request) => {
    const key = found(request);
    lab.organisation.managementKeys.delete(key.id);
    return managementKeyBody(key);
  });
}

/** Never with the key itself. */
function managementKeyBody({ id, label, createdAt, creator, role, teamIds }: ManagementKey): Json {
  const created = timestamp(createdAt);
  const bound = teamIds?.map((teamId) => ({ team_id: teamId })) ?? null;
  return { id, label, created_at: created, creator, role, team_role_bindings: bound };
}

const teamKeysQuery = z.object({ team_id: optional(uuid), ...cursorQuery });

/** Team API keys. */
export function orgTeamKeyRoutes(app: FastifyInstance, lab: Lab, access: OrgAccess): void {
  const reachable = (request: FastifyRequest): TeamApiKey[] => {
    const { teamIds } = access.manager(request);
    const place = placeIn(request);
    return [...lab.organisation.teamApiKeys.values()].filter(
      (key) => isAt(place, key) && (teamIds === null || teamIds.includes(key.teamId)),
    );
  };

  app.get(teamKeysPath, (request) => {
    const keys = reachable(request);
    const query = readQuery(teamKeysQuery, request.query);
    const matching = keys.filter(({ teamId }) => query.team_id === null || teamId === query.team_id);
    const { items, next } = cursorPage(matching, query, lab.settings.managementPageSize);
    return { api_keys: items.map((key) => teamKeyBody(key)), next_cursor: next };
  });

  app.post(teamKeysPath, (request) => {
    access.manager(request);
    const place = placeIn(request);
    const { label, team_id } = readBody(z.object({ label: z.string(), team_id: uuid }), request.body);
    const { id: teamId } = access.team(request, team_id);
    return teamKeyBody(lab.organisation.addTeamApiKey({ ...place, label, teamId }));
  });

  app.delete(teamKeysPath, (request) => {
    const ids = new Set(reachable(request).map(({ id }) => id));
    const { api_key_id: asked } = readQuery(z.object({ api_key_id: queryList(uuid) }), request.query);
    const [success, missing] = [asked?.filter((id) => ids.has(id)), asked?.filter((id) => !ids.has(id))];
    for (const id of success ?? []) lab.organisation.teamApiKeys.delete(id);
    return { success: success ?? [], failure: [], not_found: missing ?? [] };
  });
}

function teamKeyBody({ id, label, value, teamId, createdAt }: TeamApiKey): Json {
  return { id, label, value, team_id: teamId, created_at: timestamp(createdAt) };
}

const accountsQuery = z.object({
  lab_account_id: optional(uuid),
  team_id: optional(uuid),
  status: optional(z.enum(['active', 'pending', 'suspended', 'ready_to_launch'])),
});

/** Lab accounts of the organisation: the seed's, in the place that the stand-in plays; none elsewhere. */
export function orgLabAccountRoutes(app: FastifyInstance, lab: Lab, access: OrgAccess): void {
  const accountsAt = (request: FastifyRequest): LabAccount[] =>
    isAt(playedPlace, placeIn(request)) ? lab.organisation.labAccounts() : [];

  app.get(accountsPath, (request) => {
    const { teamIds } = access.manager(request);
    const accounts = accountsAt(request);
    const query = readQuery(accountsQuery, request.query);
    const data = accounts.filter(
      ({ id, status, team_id_allowlist: allowed }) =>
        (query.lab_account_id === null || id === query.lab_account_id) &&
        (query.status === null || status === query.status) &&
        (query.team_id === null || allowed.includes(query.team_id)) &&
        (teamIds === null || allowed.some((teamId) => teamIds.includes(teamId))),
    );
    return { data: data.map((account) => ({ ...account, org_id: inventedOrgId })) };
  });

  app.patch(`${accountsPath}/:account_id`, (request) => {
    access.requireOrgKey(request);
    const id = pathUuid(request, 'account_id');
    const account = accountsAt(request).find((other) => other.id === id);
    if (account === undefined) throw refusal(404, 'Lab account not found');
    const { team_id_allowlist } = readBody(z.object({ team_id_allowlist: z.array(uuid) }), request.body);
    lab.organisation.allow(id, team_id_allowlist);
    return { lab_account: { ...account, team_id_allowlist, org_id: inventedOrgId } };
  });
}

type Place = Pick<TeamApiKey, 'environment' | 'region'>;

function isAt(place: Place, other: Place): boolean {
  return place.environment === other.environment && place.region === other.region;
}
