import { z } from 'zod';
import type { Transport } from '../http/http.js';
import type { CallOptions } from '../http/calls.js';
import * as fields from '../fields.js';
import { listByCursor } from '../http/paging.js';
import { checkedRequest, requiredTextSchema } from '../validation.js';

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

const pageSchema = z.looseObject({ data: fields.answeredList(managementKeySchema), next_cursor: fields.text });

export function createManagementKeys(transport: Transport): ManagementKeys {
  return {
    list: (orgId, filter = {}, options) => {
      const params = { org_id: orgId };
      const query = { team_id: filter.teamId, role: filter.role };
      const call = { path: keysPath, params, query, auth: 'management', options, answer: pageSchema } as const;
      return listByCursor(transport, call, ({ data }) => data.items);
    },
    create: async (orgId, request, options) => {
      const call = { method: 'POST', path: keysPath } as const;
      const body = checkedRequest(call, createManagementKeyRequestSchema, request);
      return transport.request({
        ...call,
        params: { org_id: orgId },
        body,
        auth: 'management',
        options,
        answer: createdManagementKeySchema,
      });
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
