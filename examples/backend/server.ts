import multipart from '@fastify/multipart';
import { fastify, type FastifyError, type FastifyInstance } from 'fastify';
// In your backend: '@lab-operations/client'.
import { createNotificationHandler, LabOperations, Refusal, ServiceError } from '../../client/index.js';
import { accountRoutes } from './account.js';
import { appointmentRoutes } from './appointments.js';
import { type BackendConfig, readConfig } from './config.js';
import { html, page } from './html.js';
import { linkRoutes } from './links.js';
import { orderRoutes, orderStateRoutes, resultRoutes } from './orders.js';
import { reportRoutes } from './reports.js';
import { staffRoutes } from './staff.js';

/** A product backend with server-rendered pages. It uses nothing but the client. */
async function start({ port, service, taskQueue, notifySecrets, reportFolder }: BackendConfig): Promise<void> {
  const lab = await LabOperations.connect({ service, taskQueue });
  // In your backend: a table, written in the transaction that handles the event.
  const handled = new Set<string>();
  const notifications = createNotificationHandler({
    secrets: notifySecrets,
    alreadyHandled: (id) => handled.has(id),
    on: {},
    onOther: ({ id, type, subject }) => {
      handled.add(id);
      process.stdout.write(`${type} ${subject}\n`);
    },
  });

  const app = fastify();
  await app.register(multipart, { limits: { fileSize: 50_000_000 } });
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );
  answerErrors(app);
  // Signatures cover the raw bytes: no parser may read them first.
  await app.register(async (raw) => {
    raw.removeAllContentTypeParsers();
    raw.addContentTypeParser('*', (_request, _payload, done) => done(null));
    raw.post('/notifications', (request, reply) => {
      reply.hijack();
      return notifications.node(request.raw, reply.raw);
    });
  });
  orderRoutes(app, lab);
  orderStateRoutes(app, lab, notifications);
  resultRoutes(app, lab);
  appointmentRoutes(app, lab);
  linkRoutes(app, lab);
  reportRoutes(app, lab, reportFolder);
  accountRoutes(app, lab);
  staffRoutes(app, lab);
  process.once('SIGTERM', () => void app.close().then(() => lab.close()));
  await app.listen({ port, host: '127.0.0.1' });
  process.stdout.write(`listening on http://127.0.0.1:${port}\n`);
}

/** A refusal is shown to the user it concerns, with the service's own sentence; everything else is a fault of ours. */
function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const isRefusal = error instanceof Refusal;
    const status = isRefusal ? 422 : (error.statusCode ?? (error instanceof ServiceError ? 502 : 500));
    // A refusal's message names the call and the fields, never a person.
    if (status >= 500) request.log.error(error);
    const faults = isRefusal ? error.fields.map(({ field, message }) => html`<li>${field}: ${message}</li>`) : [];
    const content = html`<p>${isRefusal ? error.sentence : undefined}</p>
      <ul>
        ${faults}
      </ul>`;
    return reply
      .code(status)
      .type('text/html')
      .send(page(isRefusal ? error.name : 'This did not work', content));
  });
}

await start(readConfig());
