import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type Clock, timestamp } from './clock.js';
import { inventedTeamId } from './seed.js';
import {
  cursorPage,
  cursorQuery,
  optional,
  pathText,
  pathUuid,
  queryInteger,
  readBody,
  readPath,
  readQuery,
  refusal,
  valueError,
  withRule,
} from './validation.js';
import type { Lab } from './lab.js';
import type { Json } from './order-body.js';

/** How long deliveries also carry the signature of a secret that was rotated away. Not documented; assumed. */
const rotationPeriod = '24h';

export interface EndpointPlace {
  readonly teamId: string;
  readonly environment: string;
}

/** A webhook endpoint that somebody made through the management API. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly place: EndpointPlace;
  readonly createdAt: number;
  updatedAt: number;
  url: string;
  description: string;
  /** Taken and shown, not kept to. */
  rate_limit: number | null;
  disabled: boolean;
  /** Event types that are delivered; null or empty: all. */
  filter_types: readonly string[] | null;
  headers: Readonly<Record<string, string>>;
  /** The newest first; more than one while it rotates. */
  secrets: readonly string[];
}

type Changeable = 'url' | 'description' | 'rate_limit' | 'disabled' | 'filter_types' | 'headers';

/** What is undefined stays. */
export type EndpointChange = { readonly [Name in Changeable]?: WebhookEndpoint[Name] | undefined };

/** The address of a message, and how it is signed. */
export interface WebhookTarget {
  readonly url: string;
  readonly secrets: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

/** The endpoints of all teams. Deliveries go to those of one place: the stand-in plays one team in one environment. */
export class WebhookEndpoints {
  readonly #clock: Clock;
  readonly #played: EndpointPlace;
  readonly #endpoints = new Map<string, WebhookEndpoint>();

  constructor(clock: Clock, played: EndpointPlace) {
    this.#clock = clock;
    this.#played = played;
  }

  create(place: EndpointPlace, request: EndpointChange & { url: string; secret: string | null }): WebhookEndpoint {
    const now = this.#clock.now();
    const { secret, url, ...facts } = request;
    const endpoint: WebhookEndpoint = {
      ...{ id: `ep_${randomBytes(12).toString('base64url')}`, place, createdAt: now, updatedAt: now },
      ...{ description: '', rate_limit: null, disabled: false, filter_types: null, headers: {}, ...given(facts) },
      url,
      secrets: [secret ?? newSecret()],
    };
    this.#endpoints.set(endpoint.id, endpoint);
    return endpoint;
  }

  at(place: EndpointPlace): WebhookEndpoint[] {
    return [...this.#endpoints.values()].filter((endpoint) => isSame(endpoint.place, place));
  }

  get(place: EndpointPlace, id: string): WebhookEndpoint | undefined {
    const endpoint = this.#endpoints.get(id);
    return endpoint !== undefined && isSame(endpoint.place, place) ? endpoint : undefined;
  }

  change(endpoint: WebhookEndpoint, change: EndpointChange): void {
    Object.assign(endpoint, given(change), { updatedAt: this.#clock.now() });
  }

  remove(endpoint: WebhookEndpoint): void {
    this.#endpoints.delete(endpoint.id);
  }

  removeAll(): void {
    this.#endpoints.clear();
  }

  /** From now on the new secret signs, and for a while the old one beside it. */
  rotate(endpoint: WebhookEndpoint, secret: string | null): void {
    const old = endpoint.secrets;
    endpoint.secrets = [secret ?? newSecret(), ...old];
    endpoint.updatedAt = this.#clock.now();
    this.#clock.schedule(rotationPeriod, () => {
      endpoint.secrets = endpoint.secrets.slice(0, Math.max(1, endpoint.secrets.length - old.length));
    });
  }

  /** The endpoints that take events of this type. */
  receiving(eventType: string): WebhookEndpoint[] {
    return this.at(this.#played).filter(
      ({ disabled, filter_types: types }) =>
        !disabled && (types === null || types.length === 0 || types.includes(eventType)),
    );
  }

  /** As it is now; undefined where the endpoint was deleted or disabled meanwhile. */
  targetOf(id: string): WebhookTarget | undefined {
    const endpoint = this.#endpoints.get(id);
    return endpoint === undefined || endpoint.disabled ? undefined : endpoint;
  }
}

function given(change: EndpointChange): Partial<WebhookEndpoint> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

function isSame(one: EndpointPlace, other: EndpointPlace): boolean {
  return one.teamId === other.teamId && one.environment === other.environment;
}

export function newSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}

/** True for a request of the management API, which has a management key instead of a team API key. */
export function isOfManagement(request: FastifyRequest): boolean {
  return request.url.startsWith('/v1/org/');
}

/** The rights of the management key, which reaches the one organisation. None of the refusals is documented; assumed. */
export class OrgAccess {
  readonly #key: string | undefined;
  readonly #headers: readonly string[];

  /**
   * @param key without one nobody can manage anything
   * @param headers the names under which it is taken, the current one and the deprecated one
   */
  constructor(key: string | undefined, headers: readonly string[]) {
    this.#key = key;
    this.#headers = headers;
  }

  /** The team in the path; 401, 403 and 404 otherwise. */
  team(request: FastifyRequest): string {
    const given = this.#headers.map((name) => request.headers[name]).find((value) => typeof value === 'string');
    if (given === undefined || given !== this.#key) throw refusal(401, 'Invalid management key');
    if (pathUuid(request, 'org_id') !== inventedOrgId) throw refusal(403, 'The key is of another organisation');
    const id = pathUuid(request, 'team_id');
    if (id !== inventedTeamId) throw refusal(404, 'Team not found');
    return id;
  }
}

const environment = z.enum(['sandbox', 'production']);

/** The stand-in's one organisation. Its id never changes. */
export const inventedOrgId = '0c9a0000-0000-4000-8000-000000000001';
/** The place that the stand-in plays: its webhook endpoints get the deliveries. */
export const playedPlace = { teamId: inventedTeamId, environment: 'sandbox' } as const;

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
    environment: readPath(z.object({ environment }), request).environment,
  });
  const endpoint = (request: FastifyRequest): WebhookEndpoint => {
    const found = lab.endpoints.get(place(request), pathText(request, 'webhook_id'));
    if (found === undefined) throw refusal(404, 'Webhook not found');
    return found;
  };

  app.get(webhooksPath, (request) => {
    const all = lab.endpoints.at(place(request));
    const query = readQuery(endpointsQuery, request.query);
    const { items, next } = cursorPage(all, query, query.limit);
    return { data: items.map(endpointBody), next_cursor: next };
  });
  app.post(webhooksPath, (request) =>
    endpointBody(lab.endpoints.create(place(request), readBody(newEndpoint, request.body))),
  );
  app.get(webhookPath, (request) => endpointBody(endpoint(request)));
  app.patch(webhookPath, (request) => {
    const found = endpoint(request);
    lab.endpoints.change(found, readBody(endpointChange, request.body));
    return endpointBody(found);
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
