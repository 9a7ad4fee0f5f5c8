import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  isGrpcServiceError,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createWebhookHandler, type WebhookHandler } from '../client/webhooks/handler.js';
import type { HealthDataStore } from '../store/health-data-store.js';
import { type IngressConfig, readIngressConfig } from './config.js';
import { dataConverterOf } from './encryption.js';
import { healthDataSinks, storeOf, takenMessages } from './health-data.js';
import { boundedServer, closeWithin, type HttpLimits, httpLimits, listen } from './listening.js';
import { createLog } from './log.js';
import { isProgram, runProgram, shutdownRequested } from './process.js';
import { remembered } from './remembered.js';
import { type StoreHealth, storeHealth } from './store-health.js';

/** Probes of container platforms usually wait for 1 to 5 seconds. */
const readyTimeoutMs = 2_000;

const reconnection = {
  // By default gRPC pauses up to 2 minutes between attempts to reconnect; webhooks would be refused for as long.
  channelArgs: { 'grpc.max_reconnect_backoff_ms': 5_000 },
  // Two retries within a second and a bit, for a blip: the sender has a schedule of its own. The SDK's ten attempts
  // outlast the handler's deadline, and one that still waits when the connection is closed ends the process.
  interceptors: [makeGrpcRetryInterceptor(defaultGrpcRetryOptions({ maxAttempts: 3, initialIntervalMs: () => 200 }))],
};

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

/**
 * Starts the ingress in this process. It also starts without Temporal and without its database: until they can be
 * reached, webhooks that need them are answered 503, which makes the sender try again, and `/ready` gives the reason.
 * It is 503 only without Temporal: orders do not need the database.
 *
 * @param given `opened`: a store that the caller has opened, and closes, instead of the one of DATABASE_URL; `limits`:
 * its bounds for connections
 * @throws StartFailed in one line if it cannot listen
 */
export async function startIngress(
  config: IngressConfig,
  log: Logger,
  given: { opened?: HealthDataStore | undefined; limits?: HttpLimits } = {},
): Promise<RunningIngress> {
  for (const warning of config.warnings) log.warn(warning);
  const { namespace, connection: options } = config.temporal;
  const { opened, limits = httpLimits } = given;
  const store = storeOf(config, opened);
  const connection = Connection.lazy({ ...options, ...reconnection });
  const handler = createWebhookHandler({
    temporal: new Client({ connection, namespace, ...dataConverterOf(config.keyRing, log) }),
    secrets: config.webhookSecrets,
    taskQueue: config.taskQueue,
    maxBytes: config.webhookMaxBytes,
    ...(config.teamId !== undefined && { teamId: config.teamId }),
    ...(store && { ...healthDataSinks(store), taken: takenMessages(store) }),
    logger: log,
  });
  const stopping = new AbortController();
  const where = { address: options.address, namespace };
  const probes = new Set<Promise<unknown>>();
  const temporalReady = remembered(() => isTemporalReady(connection, where, log, probes));
  const app = routes(handler, limits, {
    temporalReady,
    storeHealth: store && storeHealth(store, { answerWithinMs: readyTimeoutMs, log }),
    stopping: stopping.signal,
  });
  const settings = { host: 'INGRESS_HOST', port: 'INGRESS_PORT' };
  const url = await listen(app, { ...config, settings }).catch(async (error: unknown) => {
    await Promise.all([connection.close(), store?.close()]);
    throw error;
  });
  // Nobody may be polling `/ready`: log at once what a wrong address would otherwise cost the first webhook.
  temporalReady().catch((error: unknown) => log.error({ error }, 'Temporal could not be checked'));
  return {
    url,
    counts: () => handler.counts(),
    close: async () => {
      stopping.abort();
      // Without a drain the port closes before anything else can happen.
      if (config.drainSeconds > 0) await sleep(config.drainSeconds * 1000);
      await closeWithin(app, config.shutdownGraceSeconds * 1000);
      // A probe that is about to retry on a closed connection would throw where nobody can catch it.
      await Promise.allSettled(probes);
      await Promise.all([connection.close(), store?.close()]);
    },
  };
}

/** The parts of `/ready`. */
interface Readiness {
  temporalReady: () => Promise<boolean>;
  storeHealth: (() => Promise<StoreHealth>) | undefined;
  stopping: AbortSignal;
}

function routes(handler: WebhookHandler, limits: HttpLimits, readiness: Readiness): FastifyInstance {
  const app = boundedServer(limits);
  app.all('/webhooks', {
    // A hook before any parsing, because the handler needs the bytes, and fastify refuses odd content types with 415.
    onRequest: async (request, reply) => {
      reply.hijack();
      await handler.node(request.raw, reply.raw);
      return reply;
    },
    handler: () => undefined, // never reached: the hook has answered
  });
  app.get('/health', () => ({ status: 'up' }));
  app.get('/ready', async (_request, reply) => {
    if (readiness.stopping.aborted) return reply.code(503).send({ status: 'stopping' });
    const [isReady, health] = await Promise.all([readiness.temporalReady(), readiness.storeHealth?.()]);
    const reason = 'Temporal cannot be used; the log of the ingress says why';
    if (!isReady) return reply.code(503).send({ status: 'not ready', ...health, reason });
    // Also while the database is away: a process that is taken out of service would take orders' webhooks with it.
    return { status: 'ready', ...health };
  });
  return app;
}

/** The reason is only logged: it names internal addresses, and anybody may ask if the ingress is ready. */
async function isTemporalReady(
  connection: Connection,
  where: { address: string | undefined; namespace: string },
  log: Logger,
  probes: Set<Promise<unknown>>,
): Promise<boolean> {
  const { namespace } = where;
  const abort = AbortSignal.timeout(readyTimeoutMs);
  const tooLong = once(abort, 'abort').then(() => `no answer within ${readyTimeoutMs / 1000} seconds`);
  // A deadline, because it also ends the attempts that follow a pause, which a signal does not.
  const asked = connection
    .withDeadline(Date.now() + readyTimeoutMs, () => connection.workflowService.describeNamespace({ namespace }))
    .then(() => undefined)
    .catch((error: unknown) => {
      if (!isGrpcServiceError(error)) throw error;
      return error.details || error.message;
    })
    .finally(() => probes.delete(asked));
  probes.add(asked);
  const reason = await Promise.race([asked, tooLong]);
  if (reason !== undefined) {
    const remedy = 'start it, or correct TEMPORAL_ADDRESS or TEMPORAL_NAMESPACE';
    log.warn({ reason, ...where }, `the ingress is not ready: Temporal cannot be used: ${remedy}`);
  }
  return reason === undefined;
}

async function main(): Promise<void> {
  const config = readIngressConfig();
  const log = createLog(config.logLevel, 'ingress');
  const requested = shutdownRequested();
  const ingress = await startIngress(config, log);
  const { address, namespace } = config.temporal;
  const keepsHealthData = config.databaseUrl !== undefined;
  const { taskQueue } = config;
  log.info({ url: `${ingress.url}/webhooks`, address, namespace, taskQueue, keepsHealthData }, 'ingress started');
  const signal = await requested;
  log.info({ signal }, 'ingress stops: requests under way may finish');
  await ingress.close();
  log.info('ingress stopped');
}

if (isProgram(import.meta.url)) await runProgram(main);
