import * as fields from '../fields.js';
import { z } from 'zod';
import type { Transport } from '../http/http.js';
import type { CallOptions } from '../http/calls.js';
import { listByCursor } from '../http/paging.js';
import { checkedRequest, requiredTextSchema, emailSchema } from '../validation.js';
import { RequestInvalid } from '../errors.js';
import { type LabAccount, type LabAccountFilter, labAccountSchema, labAccountsSchema } from '../lab-tests.js';

/* Management keys. The specification names the two kinds; the shapes come from docs/internals/lab-service.md. */

const managementKeySchema = z.looseObject({
  id: fields.id,
  label: fields.text,
  created_at: fields.timestamp,
  /** `type` is `org_member`, `removed_org_member`, `service_staff`, `management_key`, or one not known yet. */
  creator: fields.part(z.looseObject({ type: fields.text, id: fields.text })),
  /** `org_admin`: the whole organisation; `team_admin`: the teams that it is bound to. The list grows. */
  role: fields.text,
  team_role_bindings: fields.list(z.looseObject({ team_id: fields.text })),
});

/** `key` is the key itself, which is shown this once: a credential that belongs in no log. */
const createdManagementKeySchema = managementKeySchema.extend({ key: z.string().min(1) });

type ManagementKey = z.output<typeof managementKeySchema>;
type CreatedManagementKey = z.output<typeof createdManagementKeySchema>;

const bindingsSchema = z.array(z.strictObject({ team_id: requiredTextSchema })).nullish();

/** A team key is bound to one team or more; two and more only here, not in the dashboard (specification). */
const createManagementKeyRequestSchema = z
  .strictObject({
    label: requiredTextSchema,
    role: z.enum(['org_admin', 'team_admin'], { error: 'must be org_admin or team_admin' }),
    team_role_bindings: bindingsSchema,
  })
  .refine(({ role, team_role_bindings: teams }) => (role === 'team_admin') === (teams != null && teams.length > 0), {
    path: ['team_role_bindings'],
    error: 'must name a team for team_admin, and none for org_admin',
  });

type CreateManagementKeyRequest = z.output<typeof createManagementKeyRequestSchema>;

interface ManagementKeyFilter {
  teamId?: string;
  /** `org_admin`, `team_admin`; the list grows. */
  role?: string;
}

/** Management keys; an org key is needed. No answer but that of `create` shows a key. */
export interface ManagementKeys {
  /** All keys. The service names a next cursor and no way to ask for it; it is sent back as elsewhere (assumed). */
  list(
    orgId: string,
    filter?: ManagementKeyFilter,
    options?: CallOptions,
  ): AsyncGenerator<ManagementKey, void, undefined>;
  create(orgId: string, request: CreateManagementKeyRequest, options?: CallOptions): Promise<CreatedManagementKey>;
  delete(orgId: string, keyId: string, options?: CallOptions): Promise<void>;
}

const keysPath = '/v1/org/{org_id}/management_key';
const keyPath = `${keysPath}/{key_id}`;

const keyPageSchema = z.looseObject({
  data: fields.answeredList(managementKeySchema),
  next_cursor: fields.text,
});

export function createManagementKeys(transport: Transport): ManagementKeys {
  return {
    list: (orgId, filter = {}, options) => {
      const params = { org_id: orgId };
      const query = { team_id: filter.teamId, role: filter.role };
      const call = { path: keysPath, params, query, auth: 'management', options, answer: keyPageSchema } as const;
      return listByCursor(transport, call, ({ data }) => data.items);
    },
    create: async (orgId, request, options) => {
      const params = { org_id: orgId };
      const call = { method: 'POST', path: keysPath, params, auth: 'management', options } as const;
      const body = checkedRequest(call, createManagementKeyRequestSchema, request);
      return transport.request({ ...call, body, answer: createdManagementKeySchema });
    },
    delete: (orgId, keyId, options) =>
      transport.send({
        method: 'DELETE',
        path: keyPath,
        params: { org_id: orgId, key_id: keyId },
        auth: 'management',
        options,
      }),
  };
}

/* Team API keys, which a management key manages and never is (specification). Shapes are docs/internals/lab-service.md's. */

/** The part of an organisation that lives in one environment of one region. */
export interface OrgRegion {
  orgId: string;
  /** `production`, `sandbox`; the list grows. */
  environment: string;
  /** `us`, `eu`; the list grows. */
  region: string;
}

const teamApiKeySchema = z.looseObject({
  id: fields.id,
  label: fields.text,
  /** The key itself: a credential that belongs in no log. */
  value: fields.text,
  team_id: fields.text,
  created_at: fields.timestamp,
});

type TeamApiKey = z.output<typeof teamApiKeySchema>;

const createTeamApiKeyRequestSchema = z.strictObject({
  label: requiredTextSchema,
  team_id: requiredTextSchema,
});

type CreateTeamApiKeyRequest = z.output<typeof createTeamApiKeyRequestSchema>;

const idsSchema = fields.list(fields.id);

/** The result for each key that should be deleted. */
const deletedTeamApiKeysSchema = z
  .looseObject({ success: idsSchema, failure: idsSchema, not_found: idsSchema })
  .transform(({ success, failure, not_found: notFound }) => ({
    deleted: success ?? [],
    failed: failure ?? [],
    notFound: notFound ?? [],
  }));

type DeletedTeamApiKeys = z.output<typeof deletedTeamApiKeysSchema>;

export interface TeamApiKeys {
  /** All keys, page by page as they are consumed; the options hold for each page's call. */
  list(
    place: OrgRegion,
    filter?: { teamId?: string },
    options?: CallOptions,
  ): AsyncGenerator<TeamApiKey, void, undefined>;
  create(place: OrgRegion, request: CreateTeamApiKeyRequest, options?: CallOptions): Promise<TeamApiKey>;
  /** Also resolves if some were not deleted: check the answer. */
  delete(place: OrgRegion, keyIds: readonly string[], options?: CallOptions): Promise<DeletedTeamApiKeys>;
}

const apiKeysPath = '/v1/org/{org_id}/team_api_keys/{env}/{region}';

const apiKeyPageSchema = z.looseObject({
  api_keys: fields.answeredList(teamApiKeySchema),
  next_cursor: fields.text,
});

export function createTeamApiKeys(transport: Transport): TeamApiKeys {
  return {
    list: (place, filter = {}, options) => {
      const params = regionParams(place);
      const query = { team_id: filter.teamId };
      const call = { path: apiKeysPath, params, query, auth: 'management', options, answer: apiKeyPageSchema } as const;
      return listByCursor(transport, call, (page) => page.api_keys.items);
    },
    create: async (place, request, options) => {
      const call = { method: 'POST', path: apiKeysPath } as const;
      const body = checkedRequest(call, createTeamApiKeyRequestSchema, request);
      const params = regionParams(place);
      return transport.request({ ...call, params, body, auth: 'management', options, answer: teamApiKeySchema });
    },
    delete: async (place, keyIds, options) => {
      const call = { method: 'DELETE', path: apiKeysPath } as const;
      // Without an id the service would be asked to delete nothing, or everything.
      if (keyIds.length === 0) throw new RequestInvalid(call, [{ field: 'keyIds', message: 'must name a key' }]);
      return transport.request({
        ...call,
        params: regionParams(place),
        query: { api_key_id: keyIds },
        auth: 'management',
        options,
        answer: deletedTeamApiKeysSchema,
      });
    },
  };
}

export function regionParams({ orgId, environment, region }: OrgRegion): Record<string, string> {
  return { org_id: orgId, env: environment, region };
}

interface OrgLabAccountFilter extends LabAccountFilter {
  teamId?: string;
}

/** Lab accounts of an organisation, and which of its teams may order on each. Shapes are docs/internals/lab-service.md's. */
export interface OrgLabAccounts {
  list(place: OrgRegion, filter?: OrgLabAccountFilter, options?: CallOptions): Promise<LabAccount[]>;
  /** Replaces the list of teams that may order on the account. Undefined if the service answers without the account. */
  setTeams(
    place: OrgRegion,
    accountId: string,
    teamIds: readonly string[],
    options?: CallOptions,
  ): Promise<LabAccount | undefined>;
}

const accountsPath = '/v1/org/{org_id}/lab_account/{env}/{region}';

export function createOrgLabAccounts(transport: Transport): OrgLabAccounts {
  return {
    list: (place, filter = {}, options) =>
      transport.get(accountsPath, regionParams(place), labAccountsSchema, options, {
        query: { lab_account_id: filter.labAccountId, team_id: filter.teamId, status: filter.status },
        auth: 'management',
      }),
    setTeams: async (place, accountId, teamIds, options) => {
      const call = { method: 'PATCH', path: `${accountsPath}/{account_id}` } as const;
      const params = { ...regionParams(place), account_id: accountId };
      const requestSchema = z.strictObject({ team_id_allowlist: z.array(requiredTextSchema) });
      const body = checkedRequest(call, requestSchema, { team_id_allowlist: [...teamIds] });
      const answer = z
        .looseObject({ lab_account: labAccountSchema.nullish() })
        .transform((answered): LabAccount | undefined => answered.lab_account ?? undefined);
      return transport.request({ ...call, params, body, auth: 'management', options, answer });
    },
  };
}

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

const teamPageSchema = z.looseObject({ teams: fields.answeredList(teamSchema), next_cursor: fields.text });

export function createTeams(transport: Transport): Teams {
  return {
    list: (orgId, filter = {}, options) => {
      const params = { org_id: orgId };
      const query = { team_id: filter.teamId, region: filter.region, search_query: filter.searchQuery };
      const call = { path: teamsPath, params, query, auth: 'management', options, answer: teamPageSchema } as const;
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
