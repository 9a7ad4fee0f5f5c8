import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verify } from '../../service/webhook-signature.js';

/** A notification as the product gets it: a CloudEvent. */
export interface Notification {
  id: string;
  /** Without its prefix `labops.order.` or `labops.report.`. */
  type: string;
  /** The order or parsing job that it is about. */
  subject: string;
  time: string;
  data: Record<string, unknown>;
}

/** The product's endpoint: takes what is signed and well-formed, and can be down. */
export interface NotificationReceiver {
  readonly url: string;
  /** Whether it refuses everything with 503. */
  isDown: boolean;
  /** How often it was called, refusals included. */
  attempts: number;
  readonly accepted: Notification[];
  close(): Promise<void>;
}

export async function startNotificationReceiver(secret: string): Promise<NotificationReceiver> {
  const accepted: Notification[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      receiver.attempts += 1;
      const status = receiver.isDown ? 503 : verify(request.headers, body, [secret], Date.now()).ok ? 204 : 401;
      if (status === 204) accepted.push(read(body, request));
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: NotificationReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/notifications`,
    isDown: false,
    attempts: 0,
    accepted,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function read(body: Buffer, { headers }: IncomingMessage): Notification {
  const { specversion, ...event } = JSON.parse(body.toString()) as Notification & { specversion: string };
  if (specversion !== '1.0' || event.id !== headers['webhook-id']) throw new Error('This is no CloudEvent of ours.');
  return { ...event, type: event.type.replace(/^labops\.(order|report)\./, '') };
}
