import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { verify } from '../../client/index.js';
import { loopback } from '../temporal/ports.js';

const eventSchema = z.object({
  id: z.string(),
  type: z.string().transform((type) => type.replace(/^labops\.order\./, '')),
  time: z.string(),
  data: z.looseObject({
    order_id: z.string(),
    root_order_id: z.string(),
    phase: z.string().optional(),
    status: z.string().optional(),
    problem: z.string().optional(),
    reason: z.string().optional(),
    reminder: z.number().optional(),
    portal_url: z.string().nullish(),
    interpretation: z.string().optional(),
  }),
});

/** What the product is told of an order: the part of the CloudEvent that the stories look at. */
export type OrderNotification = z.output<typeof eventSchema>;

/** The word behind the last dot: what happened, of `received.testkit.ordered`. */
export function lastPart(status: string): string {
  return status.split('.').at(-1) ?? status;
}

/** Far more than any notification has. */
const largestBody = 64 * 1024;

type Listener = (notification: OrderNotification) => void;

/** The product's own endpoint for notifications, as a product would write it: it verifies, drops repeats and passes on. */
export class NotificationReceiver {
  readonly #secret: string;
  readonly #listeners = new Set<Listener>();
  readonly #seen = new Set<string>();
  readonly #server = createServer((request, response) => {
    this.#receive(request, response).catch(() => response.destroy());
  });

  /** @param secret `whsec_…`, the worker's NOTIFY_SECRET */
  constructor(secret: string) {
    this.#secret = secret;
  }

  /** Listens on a free port and answers with its address. */
  async start(): Promise<string> {
    this.#server.listen(0, loopback);
    await once(this.#server, 'listening');
    return `http://${loopback}:${(this.#server.address() as AddressInfo).port}/notifications`;
  }

  /** Calls back for each notification once, whatever order it is about. */
  listen(listener: Listener): void {
    this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const answer = (status: number): void => {
      response.writeHead(status).end();
    };
    if (!verify(request.headers, body, [this.#secret], Date.now()).ok) return answer(401);
    const { data: notification } = eventSchema.safeParse(JSON.parse(body.toString('utf8')));
    if (!notification) return answer(400);
    answer(204);
    if (this.#seen.has(notification.id)) return;
    this.#seen.add(notification.id);
    for (const listener of this.#listeners) listener(notification);
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > largestBody) throw new Error('The notification is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
