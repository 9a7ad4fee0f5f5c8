import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { boundedServer, closeWithin, hideErrors, httpLimits, listen } from '../listening.js';
import type { Registry } from 'prom-client';
import { createRegistry } from './metrics.js';

/** The address at which a process shows its metrics and its health; without a port there is none. */
export interface MonitoringConfig {
  host: string;
  /** 0: a free one. Without it the process shows nothing. */
  port?: number | undefined;
}

/** A process's answer to a probe, with what may be shown to anybody. */
export interface Readiness {
  status: 'ready' | 'not ready' | 'starting' | 'stopping';
  /** Why it is not ready; a detail of an address is in the log only. */
  reason?: string;
  details?: object | undefined;
}

/** A part of a process that is watched. */
interface WatchedPart {
  ready: () => Promise<Readiness>;
  /** Brings gauges up to date before they are shown. */
  refresh?: () => Promise<void>;
  /** More metrics, in Prometheus' text format. */
  page?: () => Promise<string>;
}

export interface Monitoring {
  registry: Registry;
  /** Until the first part is added, the process is not ready. */
  watch(part: WatchedPart): void;
  close(): Promise<void>;
}

/**
 * Serves `/metrics`, `/health` and `/ready`, from before the process starts its work until after its end.
 *
 * @param labels of every metric of our own
 * @throws StartFailed in one line if it cannot listen
 */
export async function startMonitoring(
  { host, port }: MonitoringConfig,
  log: Logger,
  labels: Record<string, string> = {},
): Promise<Monitoring | undefined> {
  if (port === undefined) return undefined;
  const registry = createRegistry(labels);
  const parts: WatchedPart[] = [];
  const app = boundedServer(httpLimits);
  hideErrors(app, log, {
    logged: 'a request for metrics or health failed',
    message: 'The request failed; the log says why',
  });
  app.get('/health', () => ({ status: 'up' }));
  app.get('/ready', async (_request, reply) => answerReadiness(reply, await readinessOf(parts)));
  serveMetrics(app, { registry, parts, log });
  const url = await listen(app, { host, port, settings: { host: 'METRICS_HOST', port: 'METRICS_PORT' } });
  log.info({ metricsUrl: `${url}/metrics` }, 'metrics are served');
  return {
    registry,
    watch: (part) => void parts.push(part),
    close: () => closeWithin(app, closeWithinMs),
  };
}

/** A scrape that is under way needs no longer. */
const closeWithinMs = 1_000;

/** Also how the other ports of a process answer a probe: 503 unless it may get work. */
export function answerReadiness(reply: FastifyReply, { status, reason, details }: Readiness): FastifyReply {
  return reply
    .code(status === 'ready' ? 200 : 503)
    .send({ status, ...details, ...(reason !== undefined && { reason }) });
}

async function readinessOf(parts: readonly WatchedPart[]): Promise<Readiness> {
  if (parts.length === 0) return { status: 'starting' };
  const all = await Promise.all(parts.map(({ ready }) => ready()));
  const details = Object.assign({}, ...all.map((each) => each.details)) as object;
  return { ...(all.find(({ status }) => status !== 'ready') ?? { status: 'ready' }), details };
}

interface Served {
  registry: Registry;
  parts: readonly WatchedPart[];
  log: Logger;
}

function serveMetrics(app: FastifyInstance, { registry, parts, log }: Served): void {
  app.get('/metrics', async (_request, reply) => {
    await Promise.all(parts.map(async (part) => part.refresh?.()));
    const pages = await Promise.all(
      parts.map(async ({ page }) => {
        try {
          return await page?.();
        } catch (error) {
          // What can be shown is shown: alerts notice what is missing.
          log.warn({ err: error }, "the SDK's metrics cannot be read");
          return undefined;
        }
      }),
    );
    const own = await registry.metrics();
    return reply.type(registry.contentType).send([own, ...pages.filter((page) => page !== undefined)].join('\n'));
  });
}
