import type { Transport } from './http.js';
import { type ManagementKeys, createManagementKeys } from './management-keys.js';
import { type OrgLabAccounts, createOrgLabAccounts } from './management-lab-accounts.js';
import { type Teams, createTeams } from './management-teams.js';
import { type Webhooks, createWebhooks } from './management-webhooks.js';
import { type TeamApiKeys, createTeamApiKeys } from './team-api-keys.js';

/**
 * The management API of an organisation. Every call carries the management key (`ServiceConfig.managementKey`; without
 * one it is `RequestInvalid`) and rejects with a `ServiceError`; requests are checked before anything is sent. It
 * belongs to a paid tier, so a team without it is refused. An org key may do everything; a team key reaches its own
 * teams and nothing of the organisation: `Unauthorized`.
 *
 * No key and no secret is in an error. Some answers are keys and secrets; their docs say so.
 */
export interface Management {
  readonly teams: Teams;
  readonly webhooks: Webhooks;
  readonly managementKeys: ManagementKeys;
  readonly teamApiKeys: TeamApiKeys;
  readonly labAccounts: OrgLabAccounts;
}

export function createManagement(transport: Transport): Management {
  return {
    teams: createTeams(transport),
    webhooks: createWebhooks(transport),
    managementKeys: createManagementKeys(transport),
    teamApiKeys: createTeamApiKeys(transport),
    labAccounts: createOrgLabAccounts(transport),
  };
}
