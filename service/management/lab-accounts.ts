import { z } from 'zod';
import type { Transport } from '../http/http.js';
import type { CallOptions } from '../http/calls.js';
import { type LabAccount, type LabAccountFilter, labAccountSchema, labAccountsSchema } from '../lab-tests.js';
import { type OrgRegion, regionParams } from './team-api-keys.js';
import { checkedRequest, requiredTextSchema } from '../validation.js';

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
      const requestSchema = z.strictObject({ team_id_allowlist: z.array(requiredTextSchema) });
      const body = checkedRequest(call, requestSchema, { team_id_allowlist: [...teamIds] });
      return transport.request({
        ...call,
        params: { ...regionParams(place), account_id: accountId },
        body,
        auth: 'management',
        options,
        answer: z
          .looseObject({ lab_account: labAccountSchema.nullish() })
          .transform((answer): LabAccount | undefined => answer.lab_account ?? undefined),
      });
    },
  };
}
