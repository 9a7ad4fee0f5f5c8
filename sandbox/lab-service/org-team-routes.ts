import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Lab } from './lab.js';
import { cursorPage, type OrgAccess } from './org-access.js';
import type { Team } from './organisation.js';
import type { Json } from './order-body.js';
import { ServiceProblem } from './problems.js';
import { newId } from './state.js';
import { timestamp } from './timestamps.js';
import { Fields, email, maxLength, oneOf, uuid } from './validation.js';

const REGIONS = ['us', 'eu'] as const;
const ENVIRONMENTS = ['sandbox', 'production'] as const;
const TEAMS = '/v1/org/:org_id/team';

/** Teams of the organisation. */
export function orgTeamRoutes(app: FastifyInstance, lab: Lab, access: OrgAccess): void {
  app.get(TEAMS, (request) => listTeams(lab, access, request));

  app.post(TEAMS, (request) => {
    access.orgAdmin(request);
    return teamBody(lab, createTeam(lab, request.body));
  });

  app.get(`${TEAMS}/:team_id`, (request) => {
    const team = access.team(request);
    const fields = Fields.ofQuery(request.query);
    const environments = fields.optionalStrings('include_environment', oneOf(...ENVIRONMENTS)) ?? [];
    fields.finish();
    const settings = ENVIRONMENTS.filter((name) => environments.includes(name));
    return {
      ...teamBody(lab, team),
      environments: settings,
      ...Object.fromEntries(settings.map((name) => [name, team.settings[name]])),
    };
  });

  app.patch(`${TEAMS}/:team_id`, (request) => {
    const team = access.team(request);
    changeTeam(lab, team, request.body);
    return teamBody(lab, team);
  });

  app.delete(`${TEAMS}/:team_id`, (request) => {
    access.orgAdmin(request);
    lab.organisation.teams.delete(access.team(request).id);
    return {};
  });
}

function listTeams(lab: Lab, access: OrgAccess, request: FastifyRequest): Json {
  const { teamIds } = access.manager(request);
  const fields = Fields.ofQuery(request.query);
  const id = fields.optionalString('team_id', uuid);
  const regions = fields.optionalStrings('region', oneOf(...REGIONS));
  const search = (fields.optionalString('search_query', maxLength(80)) ?? '').toLowerCase();
  const cursor = fields.optionalString('next_cursor');
  fields.finish();
  const found = [...lab.organisation.teams.values()].filter(
    (team) =>
      (teamIds === null || teamIds.includes(team.id)) &&
      (id === null || team.id === id) &&
      (regions === null || regions.includes(team.region)) &&
      team.name.toLowerCase().includes(search),
  );
  const { items, next } = cursorPage(found, cursor, lab.settings.current.managementPageSize);
  return { teams: items.map((team) => teamBody(lab, team)), next_cursor: next };
}

function createTeam(lab: Lab, body: unknown): Team {
  const fields = Fields.ofBody(body);
  const request = {
    id: fields.optionalString('id', uuid) ?? newId(),
    name: fields.string('name', maxLength(80)),
    region: fields.string('region', oneOf(...REGIONS)),
    integrationTeamId: fields.optionalString('integration_team_id', maxLength(256)),
  };
  fields.optionalString('critical_result_notification_email', email);
  fields.optionalObject('brand_information');
  fields.optionalString('logo_url', maxLength(2083));
  const switches = Object.fromEntries(
    [
      ...['lab_tests_patient_sms_communication_enabled', 'lab_tests_patient_email_communication_enabled'],
      ...['reject_duplicate_connection', 'sdk_per_device_activity_timeseries'],
      ...['partial_webhooks_enabled', 'minor_ordering_enabled'],
    ].map((name) => [name, fields.optionalBoolean(name)]),
  );
  fields.finish();
  refuseConflict(lab, request.integrationTeamId, undefined);
  return lab.organisation.addTeam({ ...request, settings: { sandbox: switches, production: switches } });
}

function changeTeam(lab: Lab, team: Team, body: unknown): void {
  const fields = Fields.ofBody(body);
  const name = fields.optionalString('name', maxLength(80));
  const integrationTeamId = fields.optionalString('integration_team_id', maxLength(256));
  const settings = ENVIRONMENTS.filter((environment) => fields.optionalObject(environment) !== null);
  fields.finish();
  refuseConflict(lab, integrationTeamId, team);
  team.name = name ?? team.name;
  team.integrationTeamId = integrationTeamId ?? team.integrationTeamId;
  for (const environment of settings) {
    const given = (body as Record<string, Json>)[environment];
    team.settings = { ...team.settings, [environment]: { ...team.settings[environment], ...given } };
  }
}

/** The customer's own id of a team is one team's. */
function refuseConflict(lab: Lab, integrationTeamId: string | null, own: Team | undefined): void {
  if (integrationTeamId === null) return;
  const other = [...lab.organisation.teams.values()].find((team) => team.integrationTeamId === integrationTeamId);
  if (other !== undefined && other !== own) throw new ServiceProblem(409, { team_id: other.id });
}

function teamBody(lab: Lab, { id, name, createdAt, region, integrationTeamId }: Team): Json {
  const created = timestamp(createdAt, lab.settings.current.naiveTimestamps);
  return { id, name, created_on: created, region, integration_team_id: integrationTeamId };
}
