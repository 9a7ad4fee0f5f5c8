import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CloudEvent } from '../../client/index.js';
import { recordingHandler } from '../rig/recording-handler.js';

/** A notification as the product's endpoint receives it, as far as the stories read it. */
interface Notification {
  /** The CloudEvent's id: the same for every repeat. */
  id: string;
  /** `result`, `phase_changed`, … without the prefix; those of links keep their area: `link.ended`. */
  type: string;
  /** The order, the parsing job or the user that it is about. */
  subject: string;
  data: Record<string, unknown>;
}

export interface NotificationReceiver {
  url: string;
  /** Which notifications it refuses for good, by their ids; usually none. */
  refuses: (id: string) => boolean;
  /** Everything about the chain of a root order, or a parsing job, in the order in which it came, repeats included. */
  about(id: string): Notification[];
  /** Everything about a user's links, in the order in which it came, repeats included. */
  aboutLinksOf(userId: string): Notification[];
  /** Everything about an order's appointments, in the order in which it came, repeats included. */
  aboutAppointmentsOf(orderId: string): Notification[];
  close(): Promise<void>;
}

/** The product's endpoint for notifications: a real server with the client's own handler. */
export async function startNotificationReceiver(secret: string): Promise<NotificationReceiver> {
  const accepted: Notification[] = [];
  const handler = recordingHandler(secret, (event) => accepted.push(notificationIn(event)));
  const server = createServer((request, response) => {
    if (!receiver.refuses(String(request.headers['webhook-id']))) return void handler.node(request, response);
    request.resume();
    response.writeHead(422).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: NotificationReceiver = {
    refuses: () => false,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/notifications`,
    about: (id) => accepted.filter(({ data }) => (data['root_order_id'] ?? data['job_id']) === id),
    aboutLinksOf: (userId) => accepted.filter(({ type, subject }) => type.startsWith('link.') && subject === userId),
    aboutAppointmentsOf: (orderId) =>
      accepted.filter(({ type, subject }) => type.startsWith('appointment.') && subject === orderId),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      handler.expectGenuine();
    },
  };
  return receiver;
}

function notificationIn(event: CloudEvent): Notification {
  return { ...event, type: event.type.replace(/^labops\.(?:order\.|report\.)?/, '') };
}
