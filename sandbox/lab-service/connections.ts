import { randomBytes } from 'node:crypto';
import type { Json } from './order-body.js';
import { sourceOf } from './providers.js';
import type { Settings, SettingsStore } from './settings.js';
import type { Connection, User } from './state.js';
import { timestamp } from './timestamps.js';
import type { Webhooks } from './webhooks.js';

export type ConnectionEventType = 'provider.connection.created' | 'provider.connection.error';

/** An entry of a user's `connected_sources`. */
export function connectedSource({ slug, createdAt }: Connection, settings: Settings): Json {
  return { created_on: timestamp(createdAt, settings.naiveTimestamps), source: { ...sourceOf(slug) } };
}

/** The sources that users are connected to, one of each slug, and the webhooks that tell of them. */
export class Connections {
  readonly #settings: SettingsStore;
  readonly #webhooks: Webhooks;

  constructor(settings: SettingsStore, webhooks: Webhooks) {
    this.#settings = settings;
    this.#webhooks = webhooks;
  }

  isConnected(user: User, provider: string): boolean {
    return user.connections.some(({ slug }) => slug === sourceOf(provider).slug);
  }

  /** Connects a source; one of the same slug gives way to it. */
  connect(user: User, provider: string, at: number, { webhook }: { readonly webhook: boolean }): Connection {
    const { slug } = sourceOf(provider);
    const connection = { slug, createdAt: at, providerId: `pid_${randomBytes(6).toString('hex')}` };
    user.connections = [...user.connections.filter((other) => other.slug !== slug), connection];
    if (webhook) this.announce(user, provider, 'provider.connection.created');
    return connection;
  }

  /** Returns whether there was one. */
  disconnect(user: User, provider: string): boolean {
    const before = user.connections.length;
    user.connections = user.connections.filter(({ slug }) => slug !== sourceOf(provider).slug);
    return user.connections.length < before;
  }

  /** Tells of a connection, whether there is one or not: a stale delivery tells of one that has long been there. */
  announce(user: User, provider: string, eventType: ConnectionEventType): void {
    const { connectionSlugIn } = this.#settings.current;
    const data = { user_id: user.id, [connectionSlugIn]: sourceOf(provider) };
    this.#webhooks.announceAbout(user, eventType, data);
  }
}
