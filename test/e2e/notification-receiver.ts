import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verify } from '../../client/index.js';

/** What the product's endpoint is told, as far as the stories look at it. */
export interface Told {
  /** The CloudEvent's id: the same for every repetition. */
  id: string;
  /** `result`, `phase_changed`, … without the prefix; those of links keep their area: `link.ended`. */
  type: string;
  /** The order or parsing job it is about, or the user. */
  subject: string;
  data: Record<string, unknown>;
}

export interface NotificationReceiver {
  url: string;
  /** Everything about the chain of a root order, or a parsing job, in the order in which it came, repetitions included. */
  about(id: string): Told[];
  /** Everything about a user's links, in the order in which it came, repetitions included. */
  aboutLinksOf(userId: string): Told[];
  /** Everything about an order's appointments, in the order in which it came, repetitions included. */
  aboutAppointmentsOf(orderId: string): Told[];
  close(): Promise<void>;
}

/** The product's endpoint for notifications: a real server that takes only what is signed. */
export async function startNotificationReceiver(secret: string): Promise<NotificationReceiver> {
  const told: Told[] = [];
  const server = createServer((request, response) => {
    read(request).then(
      (body) => {
        const accepted = verify(request.headers, body, [secret], Date.now()).ok;
        if (accepted) told.push(toldBy(body));
        response.writeHead(accepted ? 204 : 401).end();
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/notifications`,
    about: (id) => told.filter(({ data }) => (data['root_order_id'] ?? data['job_id']) === id),
    aboutLinksOf: (userId) => told.filter(({ type, subject }) => type.startsWith('link.') && subject === userId),
    aboutAppointmentsOf: (orderId) =>
      told.filter(({ type, subject }) => type.startsWith('appointment.') && subject === orderId),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function toldBy(body: Buffer): Told {
  const event = JSON.parse(body.toString()) as Told;
  return { ...event, type: event.type.replace(/^labops\.(?:order\.|report\.)?/, '') };
}
