import { randomBytes } from 'node:crypto';
import type { Lab } from './lab.js';
import { sourceSlugOf } from '../../protocol/link/provider-source.js';
import type { Connection, User } from './state.js';
import { timestamp } from './clock.js';

/** Providers of health data that nobody makes. The specification has twelve that take a password and names none. */
export const passwordProviders = [
  'invented_watch',
  'invented_band',
  'invented_ring',
  'invented_scale',
  'invented_meter',
  'invented_patch',
  'invented_pump',
  'invented_strap',
  'invented_clip',
  'invented_lamp',
  'invented_pillow',
  'invented_app',
] as const;

/** Providers that ask for an e-mail address alone. */
export const emailProviders = ['invented_reader', 'invented_logger'] as const;

interface Source {
  readonly name: string;
  readonly slug: string;
  readonly logo: string;
}

/** The source as the service shows it for a provider. */
export function sourceOf(provider: string): Source {
  const slug = sourceSlugOf(provider);
  const words = slug.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return { name: words.join(' '), slug, logo: `https://logos.example.com/${encodeURIComponent(slug)}.png` };
}

export type ConnectionEventType = 'provider.connection.created' | 'provider.connection.error';

/** An entry of a user's `connected_sources`. */
export function connectedSource({ slug, createdAt }: Connection) {
  return { created_on: timestamp(createdAt), source: { ...sourceOf(slug) } };
}

/** Connects a source; one of the same slug gives way to it. */
export function connect(
  lab: Lab,
  user: User,
  provider: string,
  at: number,
  { webhook }: { webhook: boolean },
): Connection {
  const { slug } = sourceOf(provider);
  const connection = { slug, createdAt: at, providerId: `pid_${randomBytes(6).toString('hex')}`, error: null };
  user.connections = [...user.connections.filter((other) => other.slug !== slug), connection];
  if (webhook) announceConnection(lab, user, provider, 'provider.connection.created');
  return connection;
}

/** Reports a connection, even if there is none or it is old: a delivery may be stale. */
export function announceConnection(lab: Lab, user: User, provider: string, eventType: ConnectionEventType): void {
  const data = { user_id: user.id, source: sourceOf(provider) };
  lab.webhooks.announceAbout(user, eventType, data);
}

/** Reports that a connection broke. @param errorType null as in older bodies, which have none */
export function announceError(lab: Lab, user: User, provider: string, errorType: string | null): void {
  lab.webhooks.announceAbout(user, 'provider.connection.error', {
    user_id: user.id,
    provider: sourceOf(provider).slug,
    message: connectionErrorMessage,
    error_details: connectionErrorMessage,
    ...(errorType !== null && { error_type: errorType }),
  });
}

/** The connection breaks. False if there is none. */
export function breakConnection(lab: Lab, user: User, provider: string, errorType: string): boolean {
  const { slug } = sourceOf(provider);
  const error = { type: errorType, at: lab.clock.now() };
  const isThere = user.connections.some((each) => each.slug === slug);
  user.connections = user.connections.map((each) => (each.slug === slug ? { ...each, error } : each));
  return isThere;
}

/** Ends a connection. False if there was none. */
export function disconnect(user: User, provider: string): boolean {
  const left = user.connections.filter(({ slug }) => slug !== sourceOf(provider).slug);
  const isGone = left.length < user.connections.length;
  user.connections = left;
  return isGone;
}

/** Text for developers, which may quote a person. */
const connectionErrorMessage = 'Invented: the token of testperson@example.com cannot be refreshed';

/** An entry of `GET /v2/user/providers/{user_id}`. */
export function providerConnection({ slug, createdAt, providerId, error }: Connection) {
  return {
    ...sourceOf(slug),
    created_on: timestamp(createdAt),
    status: error === null ? 'connected' : 'error',
    external_user_id: providerId,
    error_details: error && {
      error_type: error.type,
      error_message: connectionErrorMessage,
      errored_at: timestamp(error.at),
    },
    resource_availability: {},
  };
}

/** An entry of `GET /v2/providers`. */
export function providerBody(provider: string, authType: 'password' | 'email') {
  return {
    ...sourceOf(provider),
    description: 'An invented provider',
    auth_type: authType,
    supported_resources: ['activity', 'sleep'],
  };
}
