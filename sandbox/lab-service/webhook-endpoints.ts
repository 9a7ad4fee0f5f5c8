import { randomBytes } from 'node:crypto';
import type { Clock } from './clock.js';

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
