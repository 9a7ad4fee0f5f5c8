import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Lab } from './lab.js';
import { cursorPage, pathChoice, type OrgAccess } from './org-access.js';
import type { Json } from './order-body.js';
import { pathText } from './path-ids.js';
import { refusal, unacceptable } from './problems.js';
import { timestamp } from './timestamps.js';
import { Fields, type StringRule } from './validation.js';
import type { EndpointPlace, WebhookEndpoint } from './webhook-endpoints.js';

const WEBHOOKS = '/v1/org/:org_id/team/:team_id/:environment/webhook';
const WEBHOOK = `${WEBHOOKS}/:webhook_id`;
const RATE = { min: 1, max: Number.MAX_SAFE_INTEGER };
/** Headers of these names are not shown again. */
const SENSITIVE = /authorization|cookie|key|secret|token/i;

/** Webhook endpoints of a team in one environment. */
export function orgWebhookRoutes(app: FastifyInstance, lab: Lab, access: OrgAccess): void {
  const place = (request: FastifyRequest): EndpointPlace => ({
    teamId: access.team(request).id,
    environment: pathChoice(request, 'environment', 'production', 'sandbox'),
  });
  const endpoint = (request: FastifyRequest): WebhookEndpoint => {
    const found = lab.endpoints.get(place(request), pathText(request, 'webhook_id'));
    if (found === undefined) throw refusal(404, 'Webhook not found');
    return found;
  };
  const shown = (found: WebhookEndpoint): Json => endpointBody(found, lab.settings.current.naiveTimestamps);

  app.get(WEBHOOKS, (request) => {
    const all = lab.endpoints.at(place(request));
    const fields = Fields.ofQuery(request.query);
    const cursor = fields.optionalString('next_cursor');
    const limit = fields.queryInteger('limit', 50, { min: 1, max: 250 });
    fields.finish();
    const { items, next } = cursorPage(all, cursor, limit);
    return { data: items.map(shown), next_cursor: next };
  });
  app.post(WEBHOOKS, (request) => shown(lab.endpoints.create(place(request), newEndpoint(request.body))));
  app.get(WEBHOOK, (request) => shown(endpoint(request)));
  app.patch(WEBHOOK, (request) => {
    const found = endpoint(request);
    lab.endpoints.change(found, endpointChange(request.body));
    return shown(found);
  });
  app.delete(WEBHOOK, (request, reply) => {
    lab.endpoints.remove(endpoint(request));
    return reply.code(204).send();
  });
  headerAndSecretRoutes(app, lab, endpoint);
}

function headerAndSecretRoutes(
  app: FastifyInstance,
  lab: Lab,
  endpoint: (request: FastifyRequest) => WebhookEndpoint,
): void {
  app.get(`${WEBHOOK}/headers`, (request) => {
    const headers = Object.entries(endpoint(request).headers);
    return {
      headers: Object.fromEntries(headers.filter(([name]) => !SENSITIVE.test(name))),
      sensitive: headers.map(([name]) => name).filter((name) => SENSITIVE.test(name)),
    };
  });
  app.put(`${WEBHOOK}/headers`, (request, reply) => {
    const found = endpoint(request);
    lab.endpoints.change(found, { headers: headersRequest(request.body) });
    return reply.code(204).send();
  });
  app.get(`${WEBHOOK}/secret`, (request) => ({ key: endpoint(request).secrets[0] }));
  app.post(`${WEBHOOK}/secret/rotate`, (request, reply) => {
    const found = endpoint(request);
    const fields = Fields.ofBody(request.body);
    const key = fields.optionalString('key', secret);
    fields.finish();
    lab.endpoints.rotate(found, key);
    return reply.code(204).send();
  });
}

function newEndpoint(body: unknown): Parameters<Lab['endpoints']['create']>[1] {
  const fields = Fields.ofBody(body);
  const request = {
    url: fields.string('url', address),
    description: fields.optionalString('description') ?? '',
    rateLimit: fields.optionalInteger('rate_limit', RATE),
    disabled: fields.optionalBoolean('disabled') ?? false,
    filterTypes: fields.optionalStrings('filter_types'),
    secret: fields.optionalString('secret', secret),
  };
  fields.finish();
  return request;
}

/** Fields that are left out stay; null removes a limit or a filter. */
function endpointChange(body: unknown): Parameters<Lab['endpoints']['change']>[1] {
  const fields = Fields.ofBody(body);
  const url = fields.optionalString('url', address);
  const description = fields.optionalString('description');
  const disabled = fields.optionalBoolean('disabled');
  const rateLimit = fields.optionalInteger('rate_limit', RATE);
  const filterTypes = fields.optionalStrings('filter_types');
  fields.finish();
  const given = body as Record<string, unknown>;
  return {
    ...(url !== null && { url }),
    ...(description !== null && { description }),
    ...(disabled !== null && { disabled }),
    ...('rate_limit' in given && { rateLimit }),
    ...('filter_types' in given && { filterTypes }),
  };
}

function headersRequest(body: unknown): Record<string, string> {
  const fields = Fields.ofBody(body);
  fields.object('headers');
  fields.finish();
  const { headers } = body as { headers: Record<string, unknown> };
  const wrong = Object.entries(headers).find(([, value]) => typeof value !== 'string');
  if (wrong !== undefined) throw unacceptable(['body', 'headers', wrong[0]], 'a header is a text', null);
  return headers as Record<string, string>;
}

const address: StringRule = (value) =>
  URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
    ? undefined
    : { type: 'url_parsing', msg: 'Input should be a valid URL', ctx: { error: 'not an http address' } };

const secret: StringRule = (value) =>
  /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(value)
    ? undefined
    : { type: 'value_error', msg: 'Value error, a secret is whsec_ and base64', ctx: { error: {} } };

function endpointBody(endpoint: WebhookEndpoint, naive: boolean): Json {
  return {
    id: endpoint.id,
    description: endpoint.description,
    rate_limit: endpoint.rateLimit,
    url: endpoint.url,
    disabled: endpoint.disabled,
    filter_types: endpoint.filterTypes,
    created_at: timestamp(endpoint.createdAt, naive),
    updated_at: timestamp(endpoint.updatedAt, naive),
  };
}
