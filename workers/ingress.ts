import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { addressAndWay } from '../client/temporal-connection.js';
import { isWorthALine } from '../client/webhooks/endpoint.js';
import { readEncryption } from '../client/config.js';
import { createWebhookHandler, type WebhookHandler } from '../client/webhooks/handler.js';
import type { LiveKeys } from '../client/encryption/live-keys.js';
import type { HealthDataStore } from '../store/health-data-store.js';
import { type IngressConfig, readIngressConfig } from './settings/config.js';
import { dataConverterOf, liveKeys } from './encryption.js';
import { healthDataSinks, storeOf, deliveredMessages } from './health-data.js';
import { boundedServer, closeWithin, hideErrors, type HttpLimits, httpLimits, listen } from './listening.js';
import { createLog } from './log.js';
import { BackgroundConnection, installRuntime } from './native-connection.js';
import { isProgram, runProgram, shutdownRequested, startTracing } from './process.js';
import { observeWebhooks } from './monitoring/metrics.js';
import { answerReadiness, type Monitoring, type Readiness, startMonitoring } from './monitoring/server.js';
import { followApiKey } from './settings/temporal.js';
import { readyTimeoutMs, storeHealth, temporalHealth, watchRejectedEvents } from './monitoring/health.js';
import type { Tracing } from './monitoring/otlp-tracing.js';

interface Given {
  /** A store that the caller has opened, and closes, instead of the one of DATABASE_URL. */
  opened?: HealthDataStore | undefined;
  /** The encryption keys, if the caller follows them already; its end stops that. */
  keys?: LiveKeys | undefined;
  /** Its bounds for connections. */
  limits?: HttpLimits;
  /** The server of its metrics and health. */
  monitoring?: Monitoring | undefined;
  /** The traces that it adds to. */
  tracing?: Tracing | undefined;
}

export interface RunningIngress {
  /** Its URL, without a trailing slash; webhooks go to `<url>/webhooks`. */
  url: string;
  counts: WebhookHandler['counts'];
  /**
   * First announces on `/ready` that it stops, and continues to answer for the drain time, so load balancers have sent
   * their requests elsewhere before it refuses new connections. Then lets running requests finish within the grace
   * period, and closes the rest.
   */
  close(): Promise<void>;
}

/** The keys that can be replaced while the process runs, until `unfollow`. */
async function following(connection: BackgroundConnection, config: IngressConfig, log: Logger, given: Given) {
  const keys = given.keys ?? (await liveKeys(config, log));
  const unfollowApiKey = followApiKey(connection, config.temporal, log);
  const unfollow = (): void => {
    unfollowApiKey();
    keys?.stop();
  };
  return { keys, unfollow };
}

/**
 * Starts the ingress in this process. It also starts without Temporal and without its database: until they can be
 * reached, webhooks that need them are answered 503, which makes the sender try again, and `/ready` gives the reason.
 * It is 503 only without Temporal: orders do not need the database.
 *
 * @throws StartFailed in one line if it cannot listen
 */
export async function startIngress(config: IngressConfig, log: Logger, given: Given = {}): Promise<RunningIngress> {
  for (const warning of config.warnings) log.warn(warning);
  const { namespace } = config.temporal;
  const { opened, limits = httpLimits, monitoring, tracing } = given;
  const connection = new BackgroundConnection(config.temporal);
  const { keys, unfollow } = await following(connection, config, log, given);
  const store = await storeOf({ ...config, keys }, opened, log);
  const observed = monitoring && observeWebhooks(monitoring.registry);
  // Not the configuration's: where nothing is set, a handler without keys asks whether the workers encrypt.
  const encryption = readEncryption();
  const handler = createWebhookHandler({
    temporal: new Client({ connection, namespace, ...dataConverterOf(keys, log), ...tracing?.client }),
    secrets: config.webhookSecrets,
    taskQueue: config.taskQueue,
    installation: config.installation,
    ...(encryption && { encryption }),
    maxBytes: config.webhookMaxBytes,
    ...(config.teamId !== undefined && { teamId: config.teamId }),
    ...(store && { ...healthDataSinks(store), deliveredMessages: deliveredMessages(store) }),
    ...(observed && { observe: observed.answered }),
    logger: log,
  });
  const stopping = new AbortController();
  const address = addressAndWay(config.temporal.address);
  const isTemporalReady = temporalHealth(connection, { process: 'ingress', address, namespace, log });
  const health = store && storeHealth(store, { answerWithinMs: readyTimeoutMs, log });
  const ready = async (): Promise<Readiness> => {
    if (stopping.signal.aborted) return { status: 'stopping' };
    const [isReady, details] = await Promise.all([isTemporalReady(), health?.()]);
    const reason = 'Temporal cannot be used; the log of the ingress says why';
    // Also while the database is away: a process that is taken out of service would take orders' webhooks with it.
    return isReady ? { status: 'ready', details } : { status: 'not ready', reason, details };
  };
  monitoring?.watch({ ready, ...(health && { refresh: watchRejectedEvents(monitoring.registry, health) }) });
  const app = routes(answering(handler, tracing), { limits, ready, log, strayed: observed?.strayed });
  const settings = { host: 'INGRESS_HOST', port: 'INGRESS_PORT' };
  const end = async (): Promise<void> => {
    unfollow();
    await Promise.all([connection.close(), store?.close()]);
  };
  const url = await listen(app, { ...config, settings }).catch(async (error: unknown) => {
    await end();
    throw error;
  });
  // Nobody may be polling `/ready`: log at once what a wrong address would otherwise cost the first webhook.
  isTemporalReady().catch((error: unknown) => log.error({ error }, 'Temporal could not be checked'));
  return {
    url,
    counts: () => handler.counts(),
    close: async () => {
      stopping.abort();
      // Without a drain the port closes before anything else can happen.
      if (config.drainSeconds > 0) await sleep(config.drainSeconds * 1000);
      await closeWithin(app, config.shutdownGraceSeconds * 1000);
      await end();
    },
  };
}

type NodeHandler = WebhookHandler['node'];

/** Answers webhooks, each in a trace of its own if there are traces. */
function answering(handler: WebhookHandler, tracing: Tracing | undefined): NodeHandler {
  if (!tracing) return (request, response) => handler.node(request, response);
  return (request, response) =>
    tracing.receiveWebhook(async () => {
      await handler.node(request, response);
      return response.statusCode;
    });
}

interface Routed {
  limits: HttpLimits;
  ready: () => Promise<Readiness>;
  log: Logger;
  strayed: (() => void) | undefined;
}

function routes(answer: NodeHandler, { limits, ready, log, strayed }: Routed): FastifyInstance {
  let strays = 0;
  const app = boundedServer(limits, {
    onStray: ({ headers }) => {
      if (!hasSignature(headers)) return; // a scanner's, not a webhook
      strayed?.();
      strays += 1;
      const message =
        'a webhook was sent to another path than /webhooks: correct the address of the endpoint at the service';
      if (isWorthALine(strays)) log.warn({ times: strays }, message);
    },
  });
  hideErrors(app, log, {
    logged: 'a request of the ingress failed',
    message: 'The ingress failed; its log says why',
  });
  app.all('/webhooks', {
    // A hook before any parsing, because the handler needs the bytes, and fastify refuses odd content types with 415.
    onRequest: async (request, reply) => {
      reply.hijack();
      await answer(request.raw, reply.raw);
      return reply;
    },
    handler: () => undefined, // never reached: the hook has answered
  });
  app.get('/health', () => ({ status: 'up' }));
  app.get('/ready', async (_request, reply) => answerReadiness(reply, await ready()));
  return app;
}

function hasSignature(headers: IncomingHttpHeaders): boolean {
  return headers['svix-signature'] !== undefined || headers['webhook-signature'] !== undefined;
}

async function main(): Promise<void> {
  const config = readIngressConfig();
  const log = createLog(config, 'ingress');
  // It warns of every call that it repeats; each webhook has a line of its own.
  const level = log.isLevelEnabled('error') ? 'error' : config.logLevel;
  installRuntime({ logLevel: level }, log.child({}, { level }));
  const requested = shutdownRequested();
  const monitoring = await startMonitoring(config.monitoring, log, { task_queue: config.taskQueue });
  const tracing = await startTracing(config, 'ingress', log);
  const ingress = await startIngress(config, log, { monitoring, tracing });
  const { address, namespace } = config.temporal;
  const keepsHealthData = config.databaseUrl !== undefined;
  const { taskQueue } = config;
  log.info({ url: `${ingress.url}/webhooks`, address, namespace, taskQueue, keepsHealthData }, 'ingress started');
  const signal = await requested;
  log.info({ signal }, 'ingress stops: requests under way may finish');
  await ingress.close();
  await Promise.all([monitoring?.close(), tracing?.close()]);
  log.info('ingress stopped');
}

if (isProgram('workers/ingress')) await runProgram(main);
