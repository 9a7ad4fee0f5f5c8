import Fastify from 'fastify';
import { defaultBrand, knownPaths, type ServiceDescription } from '../../service/description.js';
import type { FastifyInstance } from 'fastify';
import { appointmentRoutes, walkInRoutes } from './appointment-routes.js';
import type { Settings } from './settings.js';
import { controlRoutes, refuseWebPages } from './control.js';
import { documentRoutes, orderRoutes } from './order-routes.js';
import { faultHooks, isControl } from './faults.js';
import { Lab } from './lab.js';
import { labTestRoutes } from './lab-test-routes.js';
import { isOfBrowser, linkRoutes } from './links.js';
import { matchReviewRoutes } from './match-reviews.js';
import { OrgAccess, isOfManagement, orgWebhookRoutes } from './webhook-endpoints.js';
import { reportRoutes } from './reports.js';
import { ServiceProblem, invalidFields, refusal } from './validation.js';
import { timeseriesRoutes } from './health-data.js';
import { providerRoutes, userRoutes } from './users.js';

export interface LabServiceOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** The one team API key that is accepted. */
  readonly apiKey: string;
  /** The org key that the management API takes from the start. Without one nobody can manage anything. */
  readonly managementKey?: string;
  /** The brand and the paths of the deployment that it plays. A path that is not described is served in every known spelling. */
  readonly description?: ServiceDescription;
  /** Comes before every path of the service: `/lab`. Default: none. */
  readonly basePath?: string;
  /** Settings that differ from the defaults; a reset returns to them. */
  readonly settings?: Partial<Settings>;
  /** Gets a line for each webhook whose first attempt fails: ids and the status. Default: none. */
  readonly log?: (line: string) => void;
}

export interface LabService {
  /** `http://127.0.0.1:4010`: base address of service and control interface. */
  readonly url: string;
  readonly port: number;
  /** Ends it: no timer, socket or delivery is left. */
  close(): Promise<void>;
}

/**
 * Starts the stand-in of the lab service. Rejects with the `EADDRINUSE` of Node when the port is taken, and with a
 * ZodError when a setting is out of bounds.
 */
export async function startLabService(options: LabServiceOptions): Promise<LabService> {
  const lab = new Lab(options.settings ?? {}, options.log);
  const closing = new AbortController();
  // Open keep-alive connections must not hold up the end.
  const { description = {}, basePath = '' } = options;
  const app = Fastify({ forceCloseConnections: true, rewriteUrl: ({ url = '/' }) => pathBelow(basePath, url) });
  takeBodies(app);
  writeProblems(app);
  refuseWebPages(app);
  faultHooks(app, lab, closing.signal);
  const brand = (description.brand ?? defaultBrand).toLowerCase();
  const pathsOf = (field: keyof typeof knownPaths) => (description[field] ? [description[field]] : knownPaths[field]);
  requireApiKey(app, `x-${brand}-api-key`, options.apiKey);
  userRoutes(app, lab, pathsOf('usersPath'));
  providerRoutes(app, lab);
  linkRoutes(app, lab, `x-${brand}-link-token`);
  orderRoutes(app, lab, { list: pathsOf('ordersPath'), creation: pathsOf('createOrderPath') });
  reportRoutes(app, lab);
  appointmentRoutes(app, lab);
  matchReviewRoutes(app, lab);
  walkInRoutes(app, lab);
  labTestRoutes(app);
  documentRoutes(app, lab);
  timeseriesRoutes(app);
  orgWebhookRoutes(app, lab, new OrgAccess(options.managementKey, ['x-management-key', `x-${brand}-org-key`]));
  controlRoutes(app, lab);
  const host = options.host ?? '127.0.0.1';
  try {
    await app.listen({ port: options.port, host });
  } catch (error) {
    await Promise.all([app.close(), lab.close()]);
    throw error;
  }
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  return {
    url: `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`,
    port,
    close: async () => {
      closing.abort();
      await app.close();
      await lab.close();
    },
  };
}

/** The control interface has no base path, and nothing else is outside of it. */
function pathBelow(basePath: string, url: string): string {
  if (url.startsWith('/_sandbox/')) return url;
  return url.startsWith(`${basePath}/`) ? url.slice(basePath.length) : '/outside-of-the-base-path';
}

/** Reads JSON bodies; an empty body, or one in another format, counts as none, so validation reports the missing fields. */
function takeBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) => {
    if (text === '') return done(null, undefined);
    try {
      done(null, JSON.parse(String(text)));
    } catch {
      const issue = { type: 'json_invalid', loc: ['body', 0], msg: 'JSON decode error', input: {} };
      done(invalidFields([{ ...issue, ctx: { error: 'Expecting value' } }]));
    }
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _bytes, done) => done(null, undefined));
}

function writeProblems(app: FastifyInstance): void {
  app.setNotFoundHandler(() => {
    throw refusal(404, 'Not Found');
  });
  app.setErrorHandler((error, _request, reply) => {
    if (error instanceof ServiceProblem) {
      if (typeof error.body === 'string') return reply.code(error.status).type('text/plain').send(error.body);
      return reply.code(error.status).send(error.body);
    }
    const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
    if (status < 500 && error instanceof Error) return reply.code(status).send({ detail: error.message });
    // A fault of the stand-in itself must not pass for one of the service.
    process.stderr.write(`lab service sandbox: ${error instanceof Error ? error.stack : String(error)}\n`);
    return reply.code(500).type('text/plain').send('Internal Server Error');
  });
}

/** The body of a 401 is not documented; assumed. */
function requireApiKey(app: FastifyInstance, header: string, apiKey: string): void {
  app.addHook('onRequest', async (request) => {
    if (isControl(request) || isOfBrowser(request) || isOfManagement(request)) return;
    if (request.headers[header] !== apiKey) throw refusal(401, 'Invalid API key');
  });
}
