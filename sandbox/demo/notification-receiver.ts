import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createNotificationHandler, type NotificationEvent } from '../../client/index.js';
import { loopback } from '../temporal/ports.js';
import { Occurrences } from './occurrences.js';

/** The product's own endpoint for notifications, mounted as a product mounts it. It drops repeats. */
export class NotificationReceiver {
  readonly received = new Occurrences<NotificationEvent>();
  readonly #server: Server;

  /** @param secret `whsec_…`, the worker's NOTIFY_SECRET */
  constructor(secret: string) {
    const handled = new Set<string>();
    const handler = createNotificationHandler({
      secrets: [secret],
      on: {},
      // The demo's worker is of this version, so it sends no type that is unknown here.
      onOther: (event) => {
        handled.add(event.id);
        this.received.add(event as NotificationEvent);
      },
      alreadyHandled: (id) => handled.has(id),
    });
    this.#server = createServer((request, response) => void handler.node(request, response));
  }

  /** Listens on a free port and returns the address. */
  async start(): Promise<string> {
    this.#server.listen(0, loopback);
    await once(this.#server, 'listening');
    return `http://${loopback}:${(this.#server.address() as AddressInfo).port}/notifications`;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}
