import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { CloudEvent, NotificationHandler } from '../../client/notifications/index.js';
import { serveHttp } from '../../sandbox/temporal/ports.js';
import { recordingHandler } from './recording-handler.js';

/** A notification as the product gets it: a CloudEvent. */
export interface Notification {
  /** The same for every repeat. */
  id: string;
  /** `result`, `phase_changed`, … without `labops.` and, for orders and reports, their area; others keep it: `link.ended`. */
  type: string;
  /** The order, the parsing job or the user that it is about. */
  subject: string;
  time: string;
  data: Record<string, unknown>;
}

/** The product's endpoint: a real server with the client's own handler, which can be down. */
export interface NotificationReceiver {
  readonly url: string;
  /** True if it refuses everything with 503. */
  isDown: boolean;
  /** True if it takes requests and answers none of them. */
  hangs: boolean;
  /** True if it accepts everything and closes the connection instead of answering. */
  losesAnswers: boolean;
  /** Which notifications it refuses, with 422; usually none. */
  refuses: (notification: Notification) => boolean;
  /** What it refused so, as often as it came. */
  readonly refused: Notification[];
  /** How often it was called, refusals included. */
  attempts: number;
  /** What it accepted, in the order in which it came, repeats included. */
  readonly accepted: Notification[];
  /** A handler that gets every request in addition to the one that records; what it answers counts. */
  product?: NotificationHandler | undefined;
  /** What it accepted about the chain of a root order, or about a parsing job. */
  about(id: string): Notification[];
  /** What it accepted about a user's links. */
  aboutLinksOf(userId: string): Notification[];
  /** What it accepted about an order's appointments. */
  aboutAppointmentsOf(orderId: string): Notification[];
  /** Throws if something came that the product would not take. */
  expectGenuine(): void;
  /** Forgets all that came, and accepts everything again. */
  forget(): void;
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
    if (isRefused) return { status: 422 };
    return answer.status === 204 && receiver.product ? receiver.product.handle({ headers, body }) : answer;
  };
  const { url, close } = await serveHttp((request, response) =>
    buffer(request).then(
      async (body) => {
        receiver.attempts += 1;
        if (receiver.hangs) return;
        const { status } = await answerTo(request, body);
        if (receiver.losesAnswers) return response.destroy();
        response.writeHead(status).end();
      },
      () => response.destroy(),
    ),
  );
  const inArea = (area: string, about: string) =>
    accepted.filter(({ type, subject }) => type.startsWith(area) && subject === about);
  const receiver: NotificationReceiver = {
    url: `${url}/notifications`,
    ...asNew(),
    refused,
    accepted,
    about: (id) => accepted.filter(({ data }) => (data['root_order_id'] ?? data['job_id']) === id),
    aboutLinksOf: (userId) => inArea('link.', userId),
    aboutAppointmentsOf: (orderId) => inArea('appointment.', orderId),
    expectGenuine: () => handler.expectGenuine(),
    forget: () => {
      Object.assign(receiver, asNew());
      for (const list of [accepted, refused]) list.length = 0;
    },
    close: async () => {
      await close();
      handler.expectGenuine();
    },
  };
  return receiver;
}

const asNew = () => ({
  isDown: false,
  hangs: false,
  losesAnswers: false,
  refuses: () => false,
  attempts: 0,
  product: undefined,
});

function notificationIn(event: CloudEvent): Notification {
  return { ...event, type: event.type.replace(/^labops\.(?:order\.|report\.)?/, '') };
}
