import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CloudEvent, NotificationHandler } from '../../client/index.js';
import { recordingHandler } from '../rig/recording-handler.js';

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

/** The product's endpoint: a real server with the client's own handler, which can be down. */
export interface NotificationReceiver {
  readonly url: string;
  /** Whether it refuses everything with 503. */
  isDown: boolean;
  /** Which notifications it refuses; usually none. */
  refuses: (notification: Notification) => boolean;
  /** The status that it refuses them with; usually 422. */
  refusal: number;
  /** Sent with every refusal, if set. */
  retryAfter?: string | undefined;
  /** What it refused so, as often as it came. */
  readonly refused: Notification[];
  /** How often it was called, refusals included. */
  attempts: number;
  readonly accepted: Notification[];
  /** A handler that gets every request in addition to the one that records; what it answers counts. */
  product?: NotificationHandler | undefined;
  close(): Promise<void>;
}

export async function startNotificationReceiver(secret: string): Promise<NotificationReceiver> {
  const accepted: Notification[] = [];
  const refused: Notification[] = [];
  const handler = recordingHandler(secret, (event) => {
    const notification = notificationIn(event);
    if (receiver.refuses(notification)) {
      refused.push(notification);
      throw new Error('The story refuses this notification');
    }
    accepted.push(notification);
  });
  const answerTo = async ({ headers }: IncomingMessage, body: Buffer): Promise<{ status: number }> => {
    if (receiver.isDown) return { status: 503 };
    const answer = await handler.handle({ headers, body });
    const isRefused = answer.status === 500 && refused.some(({ id }) => id === headers['webhook-id']);
    if (isRefused) return { status: receiver.refusal };
    return answer.status === 204 && receiver.product ? receiver.product.handle({ headers, body }) : answer;
  };
  const server = createServer((request, response) => {
    void readBody(request).then(
      async (body) => {
        receiver.attempts += 1;
        const { status } = await answerTo(request, body);
        const { retryAfter } = receiver;
        response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end();
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: NotificationReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/notifications`,
    isDown: false,
    refuses: () => false,
    refusal: 422,
    refused,
    attempts: 0,
    accepted,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      handler.expectGenuine();
    },
  };
  return receiver;
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function notificationIn(event: CloudEvent): Notification {
  return { ...event, type: event.type.replace(/^labops\.(order|report)\./, '') };
}
