import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { verify } from '../../client/index.js';
import { loopback } from '../temporal/ports.js';
import { Occurrences } from './occurrences.js';

/** A CloudEvent of one area, its type without the prefix. */
function eventOf<Data extends z.ZodType>(area: string, data: Data) {
  const prefix = `labops.${area}.`;
  const type = z
    .string()
    .startsWith(prefix)
    .transform((whole) => whole.slice(prefix.length));
  return z.object({ id: z.string(), type, time: z.string(), data });
}

const orderEventSchema = eventOf(
  'order',
  z.looseObject({
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
);

const linkEventSchema = eventOf('link', z.looseObject({ user_id: z.string(), outcome: z.string().optional() }));

const appointmentEventSchema = eventOf(
  'appointment',
  z.looseObject({
    order_id: z.string(),
    phase: z.string().optional(),
    outcome: z.string().optional(),
    reason: z.string().optional(),
  }),
);

const userEventSchema = eventOf(
  'user',
  z.looseObject({ user_id: z.string(), lost_connections: z.array(z.string()).optional() }),
);

const reportEventSchema = eventOf(
  'report',
  z.looseObject({ job_id: z.string(), phase: z.string().optional(), results: z.number().optional() }),
);

/** What the product is told of an order: the part of the CloudEvent that the stories look at. */
export type OrderNotification = z.output<typeof orderEventSchema>;

/** What the product is told of a lab report. */
export type ReportNotification = z.output<typeof reportEventSchema>;

/** What the product is told of a user's link. */
export type LinkNotification = z.output<typeof linkEventSchema>;

/** What the product is told of an order's appointment. */
export type AppointmentNotification = z.output<typeof appointmentEventSchema>;

/** What the product is told of a user's deletion. */
export type UserNotification = z.output<typeof userEventSchema>;

/** Far more than any notification has. */
const largestBody = 64 * 1024;

/** The product's own endpoint for notifications, as a product would write it: it verifies, drops repeats and passes on. */
export class NotificationReceiver {
  /** What was told of orders. */
  readonly orders = new Occurrences<OrderNotification>();
  /** What was told of lab reports. */
  readonly reports = new Occurrences<ReportNotification>();
  /** What was told of links. */
  readonly links = new Occurrences<LinkNotification>();
  /** What was told of appointments. */
  readonly appointments = new Occurrences<AppointmentNotification>();
  /** What was told of users. */
  readonly users = new Occurrences<UserNotification>();
  readonly #secret: string;
  /** What comes again was delivered though its answer got lost. */
  readonly #ids = new Set<string>();
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
    const { data: ofLink } = linkEventSchema.safeParse(event);
    const { data: ofReport } = reportEventSchema.safeParse(event);
    const { data: ofAppointment } = appointmentEventSchema.safeParse(event);
    const { data: ofUser } = userEventSchema.safeParse(event);
    if (!ofOrder && !ofLink && !ofReport && !ofAppointment && !ofUser) return answer(400);
    answer(204);
    if (ofOrder && this.#isNew(ofOrder)) this.orders.add(ofOrder);
    if (ofLink && this.#isNew(ofLink)) this.links.add(ofLink);
    if (ofReport && this.#isNew(ofReport)) this.reports.add(ofReport);
    if (ofAppointment && this.#isNew(ofAppointment)) this.appointments.add(ofAppointment);
    if (ofUser && this.#isNew(ofUser)) this.users.add(ofUser);
  }

  #isNew({ id }: { id: string }): boolean {
    const isNew = !this.#ids.has(id);
    this.#ids.add(id);
    return isNew;
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
