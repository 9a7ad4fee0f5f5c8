import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { verify } from '../../client/index.js';
import { loopback } from '../temporal/ports.js';

const orderEventSchema = z.object({
  id: z.string(),
  type: typeSchema('order'),
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

const userEventSchema = z.object({
  id: z.string(),
  type: typeSchema('user'),
  time: z.string(),
  data: z.looseObject({ user_id: z.string(), lost_connections: z.array(z.string()).optional() }),
});

/** Without its prefix. */
function typeSchema(area: string) {
  const prefix = `labops.${area}.`;
  return z
    .string()
    .startsWith(prefix)
    .transform((type) => type.slice(prefix.length));
}

/** What the product is told of an order: the part of the CloudEvent that the stories look at. */
export type OrderNotification = z.output<typeof orderEventSchema>;

/** The same of a user. */
export type UserNotification = z.output<typeof userEventSchema>;

/** Far more than any notification has. */
const largestBody = 64 * 1024;

/** The product's own endpoint for notifications, as a product would write it: it verifies, drops repeats and passes on. */
export class NotificationReceiver {
  readonly #secret: string;
  /** By id: what comes again was delivered though its answer got lost. */
  readonly #received = new Set<string>();
  readonly #orders = new Mailboxes<OrderNotification>();
  readonly #users = new Mailboxes<UserNotification>();
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

  /** Calls back once for each notification of the chain, also for those that have come already. */
  listen(rootOrderId: string, listener: (notification: OrderNotification) => void): void {
    this.#orders.open(rootOrderId, listener);
  }

  /** The same for what is about a user and no order. */
  listenToUser(userId: string, listener: (notification: UserNotification) => void): void {
    this.#users.open(userId, listener);
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
    const event: unknown = JSON.parse(body.toString('utf8'));
    const { data: ofOrder } = orderEventSchema.safeParse(event);
    const { data: ofUser } = userEventSchema.safeParse(event);
    const { id } = ofOrder ?? ofUser ?? {};
    if (id === undefined) return answer(400);
    answer(204);
    if (this.#received.has(id)) return;
    this.#received.add(id);
    if (ofOrder) this.#orders.put(ofOrder.data.root_order_id, ofOrder);
    if (ofUser) this.#users.put(ofUser.data.user_id, ofUser);
  }
}

/** Keeps what comes for each key, and passes it on to whoever has asked for it, then or later. */
class Mailboxes<Item> {
  readonly #kept = new Map<string, Item[]>();
  readonly #listeners = new Map<string, (item: Item) => void>();

  put(key: string, item: Item): void {
    this.#kept.set(key, [...(this.#kept.get(key) ?? []), item]);
    this.#listeners.get(key)?.(item);
  }

  open(key: string, listener: (item: Item) => void): void {
    for (const past of this.#kept.get(key) ?? []) listener(past);
    this.#listeners.set(key, listener);
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
