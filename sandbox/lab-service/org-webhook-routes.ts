import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Lab } from './lab.js';
import { cursorPage, cursorQuery, environmentIn, type OrgAccess } from './org-access.js';
import type { Json } from './order-body.js';
import { timestamp } from './clock.js';
import { refusal, valueError, optional, pathText, queryInteger, readBody, readQuery, withRule } from './validation.js';
import type { EndpointPlace, WebhookEndpoint } from './webhook-endpoints.js';

const webhooksPath = '/v1/org/:org_id/team/:team_id/:environment/webhook';
const webhookPath = `${webhooksPath}/:webhook_id`;
/** Headers of these names are not shown again. */
const sensitiveName = /authorization|cookie|key|secret|token/i;

const endpointsQuery = z.object({ limit: queryInteger(1, 250).default(50), ...cursorQuery });

const address = withRule(z.string(), (value) =>
  URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
    ? undefined
    : { type: 'url_parsing', msg: 'Input should be a valid URL', ctx: { error: 'not an http address' } },
);

const secret = withRule(z.string(), (value) =>
  /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(value) ? undefined : valueError('a secret is whsec_ and base64'),
);

/** Fields that are left out stay; null removes a limit or a filter, and changes nothing else. */
const endpointChange = z.object({
  url: unlessNull(address),
  description: unlessNull(z.string()),
  disabled: unlessNull(z.boolean()),
  rate_limit: z.int().min(1).nullable().optional(),
  filter_types: z.array(z.string()).nullable().optional(),
});

const newEndpoint = endpointChange.extend({ url: address, secret: optional(secret) });

const endpointHeaders = z.object({ headers: z.record(z.string(), z.string()) });

function unlessNull<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** Webhook endpoints of a team in one environment. */
export function orgWebhookRoutes(app: FastifyInstance, lab: Lab, access: OrgAccess): void {
  const place = (request: FastifyRequest): EndpointPlace => ({
    teamId: access.team(request),
    environment: environmentIn(request),
  });
  const endpoint = (request: FastifyRequest): WebhookEndpoint => {
    const found = lab.endpoints.get(place(request), pathText(request, 'webhook_id'));
    if (found === undefined) throw refusal(404, 'Webhook not found');
    return found;
  };
  const shown = (found: WebhookEndpoint): Json => endpointBody(found);

  app.get(webhooksPath, (request) => {
    const all = lab.endpoints.at(place(request));
    const query = readQuery(endpointsQuery, request.query);
    const { items, next } = cursorPage(all, query, query.limit);
    return { data: items.map(shown), next_cursor: next };
  });
  app.post(webhooksPath, (request) => shown(lab.endpoints.create(place(request), readBody(newEndpoint, request.body))));
  app.get(webhookPath, (request) => shown(endpoint(request)));
  app.patch(webhookPath, (request) => {
    const found = endpoint(request);
    lab.endpoints.change(found, readBody(endpointChange, request.body));
    return shown(found);
  });
  app.delete(webhookPath, (request, reply) => {
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
  app.get(`${webhookPath}/headers`, (request) => {
    const headers = Object.entries(endpoint(request).headers);
    return {
      headers: Object.fromEntries(headers.filter(([name]) => !sensitiveName.test(name))),
      sensitive: headers.map(([name]) => name).filter((name) => sensitiveName.test(name)),
    };
  });
  app.put(`${webhookPath}/headers`, (request, reply) => {
    const found = endpoint(request);
    lab.endpoints.change(found, readBody(endpointHeaders, request.body));
    return reply.code(204).send();
  });
  app.get(`${webhookPath}/secret`, (request) => ({ key: endpoint(request).secrets[0] }));
  app.post(`${webhookPath}/secret/rotate`, (request, reply) => {
    const found = endpoint(request);
    const { key } = readBody(z.object({ key: optional(secret) }), request.body);
    lab.endpoints.rotate(found, key);
    return reply.code(204).send();
  });
}

function endpointBody(endpoint: WebhookEndpoint): Json {
  return {
    id: endpoint.id,
    description: endpoint.description,
    rate_limit: endpoint.rate_limit,
    url: endpoint.url,
    disabled: endpoint.disabled,
    filter_types: endpoint.filter_types,
    created_at: timestamp(endpoint.createdAt),
    updated_at: timestamp(endpoint.updatedAt),
  };
}
