import { z } from 'zod';
import type { Transport } from '../http/http.js';
import type { CallOptions, ServiceCall } from '../http/calls.js';
import * as fields from '../fields.js';
import { cursorPages } from '../http/paging.js';
import { checkedRequest, requiredTextSchema } from '../validation.js';

/* Addresses that a team's events are delivered to, and their signing secrets. Shapes come from docs/internals/lab-service.md. */

/** The endpoints of one team in one environment. */
export interface WebhookPlace {
  orgId: string;
  teamId: string;
  /** `production`, `sandbox`; the list grows. */
  environment: string;
}

const webhookSchema = z.looseObject({
  id: fields.id,
  description: fields.text,
  rate_limit: fields.number,
  url: fields.text,
  disabled: fields.flag,
  /** Event types that are delivered; null or empty: all. */
  filter_types: fields.list(z.string()),
  created_at: fields.timestamp,
  updated_at: fields.timestamp,
});

export type Webhook = z.output<typeof webhookSchema>;

/** Headers that go along with every delivery. Those that are sensitive are named and not shown. */
const webhookHeadersSchema = z.looseObject({
  headers: z.record(z.string(), z.string()),
  sensitive: fields.list(z.string()),
});

type WebhookHeaders = z.output<typeof webhookHeadersSchema>;

const urlSchema = z
  .string()
  .refine((url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol), 'must be an http or https address');

const filterSchema = z.array(requiredTextSchema).nullish();
const rateSchema = z.int('must be a whole number').positive('must be above zero').nullish();

const secretSchema = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/]{22,}={0,2}$/, 'must be whsec_ followed by base64 of at least 16 bytes');

const createWebhookRequestSchema = z.strictObject({
  url: urlSchema,
  description: z.string().optional(),
  /** Deliveries per second, as far as is known; the unit is not documented. */
  rate_limit: rateSchema,
  disabled: z.boolean().optional(),
  filter_types: filterSchema,
  /** The signing secret of deliveries; if absent, the service generates one. */
  secret: secretSchema.nullish(),
});

const updateWebhookRequestSchema = z.strictObject({
  url: urlSchema.nullish(),
  description: z.string().nullish(),
  rate_limit: rateSchema,
  disabled: z.boolean().nullish(),
  filter_types: filterSchema,
});

const headersRequestSchema = z.strictObject({
  headers: z.record(
    z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "must have names that HTTP's headers can have"),
    z.string().regex(/^[\x20-\x7e]*$/, 'must be printable ASCII'),
  ),
});

type CreateWebhookRequest = z.output<typeof createWebhookRequestSchema>;
export type UpdateWebhookRequest = z.output<typeof updateWebhookRequestSchema>;

interface WebhookListOptions extends CallOptions {
  /** Endpoints per page; default 50, the documented default. */
  pageSize?: number;
}

/** Webhook endpoints. No error repeats a secret or a header's value. */
export interface Webhooks {
  /** All endpoints, page by page as they are consumed; the options hold for each page's call. */
  list(place: WebhookPlace, options?: WebhookListOptions): AsyncGenerator<Webhook, void, undefined>;
  create(place: WebhookPlace, request: CreateWebhookRequest, options?: CallOptions): Promise<Webhook>;
  get(place: WebhookPlace, webhookId: string, options?: CallOptions): Promise<Webhook>;
  update(
    place: WebhookPlace,
    webhookId: string,
    request: UpdateWebhookRequest,
    options?: CallOptions,
  ): Promise<Webhook>;
  delete(place: WebhookPlace, webhookId: string, options?: CallOptions): Promise<void>;
  getHeaders(place: WebhookPlace, webhookId: string, options?: CallOptions): Promise<WebhookHeaders>;
  /** Replaces all headers. */
  setHeaders(
    place: WebhookPlace,
    webhookId: string,
    headers: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<void>;
  /** The signing secret, `whsec_…`: a credential that belongs in no log. */
  getSecret(place: WebhookPlace, webhookId: string, options?: CallOptions): Promise<string>;
  /**
   * Sets a new signing secret: the given one, else one that the service generates (read it with `getSecret`). For a
   * while deliveries carry two signatures; if possible, a receiver should know both secrets before this is called.
   */
  rotateSecret(place: WebhookPlace, webhookId: string, secret?: string, options?: CallOptions): Promise<void>;
}

const webhooksPath = '/v1/org/{org_id}/team/{team_id}/{environment}/webhook';
const webhookPath = `${webhooksPath}/{webhook_id}`;

const pageSchema = z.looseObject({ data: fields.answeredList(webhookSchema), next_cursor: fields.text });

export function createWebhooks(transport: Transport): Webhooks {
  return {
    list: (place, options) =>
      cursorPages(async (cursor) => {
        const { data, next_cursor: nextCursor } = await transport.request({
          ...at(place, undefined, { method: 'GET', path: webhooksPath, options }),
          query: { next_cursor: cursor, limit: options?.pageSize ?? 50 },
          answer: pageSchema,
        });
        return { items: data.items, nextCursor };
      }),
    create: async (place, request, options) => {
      const call = { method: 'POST', path: webhooksPath } as const;
      const body = checkedRequest(call, createWebhookRequestSchema, request);
      const secrets = body.secret == null ? [] : [body.secret];
      return transport.request({
        ...at(place, undefined, { ...call, body, secrets, options }),
        answer: webhookSchema,
      });
    },
    get: (place, id, options) =>
      transport.request({ ...at(place, id, { method: 'GET', path: webhookPath, options }), answer: webhookSchema }),
    update: async (place, id, request, options) => {
      const call = { method: 'PATCH', path: webhookPath } as const;
      const body = checkedRequest(call, updateWebhookRequestSchema, request);
      return transport.request({ ...at(place, id, { ...call, body, options }), answer: webhookSchema });
    },
    delete: (place, id, options) => transport.send(at(place, id, { method: 'DELETE', path: webhookPath, options })),
    getHeaders: (place, id, options) =>
      transport.request({
        ...at(place, id, { method: 'GET', path: `${webhookPath}/headers`, options }),
        answer: webhookHeadersSchema,
      }),
    setHeaders: async (place, id, headers, options) => {
      const call = { method: 'PUT', path: `${webhookPath}/headers` } as const;
      const body = checkedRequest(call, headersRequestSchema, { headers });
      const secrets = Object.values(headers);
      await transport.send(at(place, id, { ...call, body, secrets, options }));
    },
    getSecret: (place, id, options) =>
      transport.request({
        ...at(place, id, { method: 'GET', path: `${webhookPath}/secret`, options }),
        answer: secretAnswerSchema,
      }),
    rotateSecret: async (place, id, secret, options) => {
      const call = { method: 'POST', path: `${webhookPath}/secret/rotate` } as const;
      const body = checkedRequest(call, z.object({ key: secretSchema.optional() }), { key: secret });
      const secrets = secret === undefined ? [] : [secret];
      await transport.send(at(place, id, { ...call, body, secrets, options }));
    },
  };
}

const secretAnswerSchema = z.looseObject({ key: z.string().min(1) }).transform(({ key }) => key);

function at(place: WebhookPlace, webhookId: string | undefined, call: ServiceCall): ServiceCall {
  const params = { org_id: place.orgId, team_id: place.teamId, environment: place.environment };
  return {
    ...call,
    params: webhookId === undefined ? params : { ...params, webhook_id: webhookId },
    auth: 'management',
  };
}
