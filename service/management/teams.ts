import { z } from 'zod';
import type { Transport } from '../http/http.js';
import type { CallOptions } from '../http/calls.js';
import * as fields from '../fields.js';
import { listByCursor } from '../http/paging.js';
import { checkedRequest, emailSchema, requiredTextSchema } from '../validation.js';

/*
 * Teams of an organisation. Shapes come from docs/internals/lab-service.md; the specification only states that org keys manage
 * teams.
 */

const settingsSchema = z.record(z.string(), z.unknown()).nullish().catch(undefined);

const teamSchema = z.looseObject({
  id: fields.id,
  name: fields.text,
  created_on: fields.timestamp,
  /** `us`, `eu`, or one not known yet. */
  region: fields.text,
  /** The customer's own key for the team. */
  integration_team_id: fields.text,
  /** The environments whose settings were read: `sandbox`, `production`. */
  environments: fields.list(z.string()),
  sandbox: settingsSchema,
  production: settingsSchema,
});

type Team = z.output<typeof teamSchema>;

const nameSchema = requiredTextSchema.max(80, 'must be at most 80 characters long');
const integrationIdSchema = z.string().max(256, 'must be at most 256 characters long').nullish();

const createTeamRequestSchema = z.strictObject({
  name: nameSchema,
  /** `us` or `eu`; the list grows. */
  region: requiredTextSchema,
  /** The team's own id, chosen by the caller. */
  id: requiredTextSchema.nullish(),
  integration_team_id: integrationIdSchema,
  lab_tests_patient_sms_communication_enabled: z.boolean().optional(),
  lab_tests_patient_email_communication_enabled: z.boolean().optional(),
  critical_result_notification_email: emailSchema.nullish(),
  /** Its form is not documented. */
  brand_information: z.record(z.string(), z.unknown()).nullish(),
  logo_url: z.url('must be a URL').max(2083, 'must be at most 2,083 characters long').nullish(),
  reject_duplicate_connection: z.boolean().optional(),
  sdk_per_device_activity_timeseries: z.boolean().optional(),
  partial_webhooks_enabled: z.boolean().nullish(),
  minor_ordering_enabled: z.boolean().nullish(),
});

type CreateTeamRequest = z.output<typeof createTeamRequestSchema>;

interface TeamFilter {
  teamId?: string;
  /** Any of them. */
  region?: readonly string[];
  /** At most 80 characters. */
  searchQuery?: string;
}

/** Teams. To create and to delete one needs an org key; a team key of the team does for the rest. */
export interface Teams {
  /** All teams, page by page as they are consumed; the options hold for each page's call. */
  list(orgId: string, filter?: TeamFilter, options?: CallOptions): AsyncGenerator<Team, void, undefined>;
  /** `ServiceRefused` with status 409 if the `integration_team_id` is another team's. */
  create(orgId: string, request: CreateTeamRequest, options?: CallOptions): Promise<Team>;
  /** With the settings of these environments, if they are named. */
  get(
    orgId: string,
    teamId: string,
    read?: { includeEnvironment?: readonly string[] },
    options?: CallOptions,
  ): Promise<Team>;
  delete(orgId: string, teamId: string, options?: CallOptions): Promise<void>;
}

const teamsPath = '/v1/org/{org_id}/team';
const teamPath = `${teamsPath}/{team_id}`;

const pageSchema = z.looseObject({ teams: fields.answeredList(teamSchema), next_cursor: fields.text });

export function createTeams(transport: Transport): Teams {
  return {
    list: (orgId, filter = {}, options) => {
      const params = { org_id: orgId };
      const query = { team_id: filter.teamId, region: filter.region, search_query: filter.searchQuery };
      const call = { path: teamsPath, params, query, auth: 'management', options, answer: pageSchema } as const;
      return listByCursor(transport, call, ({ teams }) => teams.items);
    },
    create: async (orgId, request, options) => {
      const call = { method: 'POST', path: teamsPath } as const;
      const body = checkedRequest(call, createTeamRequestSchema, request);
      const params = { org_id: orgId };
      return transport.request({ ...call, params, body, auth: 'management', options, answer: teamSchema });
    },
    get: (orgId, teamId, { includeEnvironment } = {}, options) =>
      transport.get(teamPath, { org_id: orgId, team_id: teamId }, teamSchema, options, {
        query: { include_environment: includeEnvironment },
        auth: 'management',
      }),
    delete: (orgId, teamId, options) =>
      transport.send({
        method: 'DELETE',
        path: teamPath,
        params: { org_id: orgId, team_id: teamId },
        auth: 'management',
        options,
      }),
  };
}
