import multipart from '@fastify/multipart';
import { fastify, type FastifyInstance } from 'fastify';
// In your backend: '@lab-operations/client', and '@lab-operations/client/health-data'.
import { LabOperations } from '../../client/index.js';
import { createNotificationHandler, type NotificationHandler } from '../../client/notifications/index.js';
import { openHealthData } from '../../store/health-data-reader.js';
import { accountRoutes } from './account.js';
import { appointmentRoutes } from './appointments.js';
import { type BackendConfig, readConfig } from './config.js';
import { answerErrors } from './errors.js';
import { healthDataRoutes } from './health-data.js';
import { importRoutes } from './imports.js';
import { linkRoutes } from './links.js';
import { matchReviewRoutes } from './match-reviews.js';
import { orderingRoutes } from './ordering.js';
import { orderRoutes } from './orders.js';
import { reportRoutes } from './reports.js';
import { protect } from './protection.js';
import { resultRoutes } from './results.js';
import { sessionRoutes } from './session.js';
import { staffRoutes } from './staff.js';
import { webhookRoutes } from './webhook-endpoints.js';

/** A product backend with server-rendered pages. It uses nothing but the client. */
async function start(config: BackendConfig): Promise<void> {
  const { port, service, taskQueue, databaseUrl } = config;
  const lab = await LabOperations.connect({ service, taskQueue });
  const health = databaseUrl === undefined ? undefined : openHealthData({ databaseUrl });
  const notifications = notificationsWith(config.notifySecrets);
  // By default a request may take forever to arrive. The worker gives up after 15 s.
  const app = fastify({ requestTimeout: 15_000 });
  await app.register(multipart, { limits: { fileSize: 50_000_000 } });
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );
  protect(app);
  answerErrors(app);
  await receiveNotifications(app, notifications);
  sessionRoutes(app, lab, config.staffKey);
  orderingRoutes(app, lab);
  orderRoutes(app, lab, notifications);
  resultRoutes(app, lab);
  appointmentRoutes(app, lab);
  linkRoutes(app, lab);
  healthDataRoutes(app, health);
  reportRoutes(app, lab, config.reportFolder);
  accountRoutes(app, lab);
  staffRoutes(app, lab);
  matchReviewRoutes(app, lab);
  importRoutes(app, lab);
  webhookRoutes(app, lab, config.webhookPlace);
  process.once('SIGTERM', () => void app.close().then(() => Promise.all([lab.close(), health?.close()])));
  await app.listen({ port, host: '127.0.0.1' });
  process.stdout.write(`listening on http://127.0.0.1:${port}\n`);
}

function notificationsWith(secrets: string[]): NotificationHandler {
  // In your backend: a table, written in the transaction that handles the event.
  const handled = new Set<string>();
  return createNotificationHandler({
    secrets,
    alreadyHandled: (id) => handled.has(id),
    on: {},
    onOther: ({ id, type, subject }) => {
      handled.add(id);
      process.stdout.write(`${type} ${subject}\n`);
    },
  });
}

/** Signatures cover the raw bytes: no parser may read them first. */
async function receiveNotifications(app: FastifyInstance, notifications: NotificationHandler): Promise<void> {
  await app.register(async (raw) => {
    raw.removeAllContentTypeParsers();
    raw.addContentTypeParser('*', (_request, _payload, done) => done(null));
    raw.post('/notifications', (request, reply) => {
      reply.hijack();
      return notifications.node(request.raw, reply.raw);
    });
  });
}

await start(readConfig());
