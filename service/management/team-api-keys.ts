import { z } from 'zod';
import type { Transport } from '../http/http.js';
import type { CallOptions } from '../http/calls.js';
import { RequestInvalid } from '../errors.js';
import * as fields from '../fields.js';
import { listByCursor } from '../http/paging.js';
import { checkedRequest, requiredTextSchema } from '../validation.js';

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

const keysPath = '/v1/org/{org_id}/team_api_keys/{env}/{region}';

const pageSchema = z.looseObject({ api_keys: fields.answeredList(teamApiKeySchema), next_cursor: fields.text });

export function createTeamApiKeys(transport: Transport): TeamApiKeys {
  return {
    list: (place, filter = {}, options) => {
      const params = regionParams(place);
      const query = { team_id: filter.teamId };
      const call = { path: keysPath, params, query, auth: 'management', options, answer: pageSchema } as const;
      return listByCursor(transport, call, (page) => page.api_keys.items);
    },
    create: async (place, request, options) => {
      const call = { method: 'POST', path: keysPath } as const;
      const body = checkedRequest(call, createTeamApiKeyRequestSchema, request);
      const params = regionParams(place);
      return transport.request({ ...call, params, body, auth: 'management', options, answer: teamApiKeySchema });
    },
    delete: async (place, keyIds, options) => {
      const call = { method: 'DELETE', path: keysPath } as const;
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
