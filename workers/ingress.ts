import { once } from 'node:events';
import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  isGrpcServiceError,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';
import { fastify, type FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createWebhookHandler, type WebhookHandler } from '../client/webhooks/handler.js';
import type { HealthDataStore } from '../store/health-data-store.js';
import type { StoreAccess } from '../store/store-access.js';
import { type IngressConfig, readIngressConfig } from './config.js';
import { dataConverterOf } from './encryption.js';
import { healthDataSinks, storeOf } from './health-data.js';
import { closeWithin, listen } from './listening.js';
import { createLog } from './log.js';
import { isProgram, runProgram, shutdownRequested } from './process.js';
import { storeHealth } from './store-health.js';

/** The sender gives up after 15 s: a request that takes longer to arrive is of no use to anybody. */
const requestTimeoutMs = 15_000;

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
  /** Where it listens, without a trailing slash; webhooks go to `<url>/webhooks`. */
  url: string;
  counts: WebhookHandler['counts'];
  /** Takes no new connections, lets requests under way finish within the grace, and closes the rest. */
  close(): Promise<void>;
}

/**
 * Starts the ingress in this process. It starts without Temporal and without its database too: until they can be reached,
 * webhooks that need them are answered 503, which makes the sender try again, and `/ready` says why. It is 503 without
 * Temporal only: orders do not need the database.
 * @param opened a store that the caller has open, and closes, in place of the one of DATABASE_URL
 * @throws StartFailed in one line when it cannot listen
 */
export async function startIngress(
  config: IngressConfig,
  log: Logger,
  opened?: HealthDataStore,
): Promise<RunningIngress> {
  const { namespace, connection: options } = config.temporal;
  const store = storeOf(config, opened);
  const connection = Connection.lazy({ ...options, ...reconnection });
  const handler = createWebhookHandler({
    temporal: new Client({ connection, namespace, ...dataConverterOf(config.keyRing, log) }),
    secrets: config.webhookSecrets,
    taskQueue: config.taskQueue,
    maxBytes: config.webhookMaxBytes,
    ...(store && healthDataSinks(store)),
    logger: log,
  });
  const app = routes(handler, store, () => temporalNotReady(connection, namespace));
  const settings = { host: 'INGRESS_HOST', port: 'INGRESS_PORT' };
  const url = await listen(app, { ...config, settings }).catch(async (error: unknown) => {
    await Promise.all([connection.close(), store?.close()]);
    throw error;
  });
  return {
    url,
    counts: () => handler.counts(),
    close: async () => {
      await closeWithin(app, config.shutdownGraceSeconds * 1000);
      await Promise.all([connection.close(), store?.close()]);
    },
  };
}

function routes(
  handler: WebhookHandler,
  store: StoreAccess | undefined,
  temporal: () => Promise<string | undefined>,
): FastifyInstance {
  const healthData = store && storeHealth(store, readyTimeoutMs);
  const app = fastify({ requestTimeout: requestTimeoutMs, http: { connectionsCheckingInterval: 5_000 } });
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
    const [notReady, health] = await Promise.all([temporal(), healthData?.()]);
    if (notReady !== undefined) return reply.code(503).send({ status: 'not ready', ...health, reason: notReady });
    // Also while the database is away: a process that is taken out of service would take orders' webhooks with it.
    return { status: 'ready', ...health };
  });
  return app;
}

async function temporalNotReady(connection: Connection, namespace: string): Promise<string | undefined> {
  const abort = AbortSignal.timeout(readyTimeoutMs);
  const tooLong = once(abort, 'abort').then(() => `Temporal did not answer within ${readyTimeoutMs / 1000} seconds`);
  const asked = connection
    .withAbortSignal(abort, () => connection.workflowService.describeNamespace({ namespace }))
    .then(() => undefined)
    .catch((error: unknown) => {
      if (!isGrpcServiceError(error)) throw error;
      return `Temporal: ${error.details || error.message}`;
    });
  return Promise.race([asked, tooLong]);
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
