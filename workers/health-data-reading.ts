import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { exactUtcInstant } from '../service/timestamps.js';
import { StoreFailed } from '../store/database.js';
import type { HealthDataStore } from '../store/health-data-store.js';
import type { StoredSample } from '../store/health-data-reader.js';
import { boundedServer, closeWithin, type HttpLimits, httpLimits, listen } from './listening.js';

/** A day at a sample per second, with some room; the rest is cut off, and the answer says so. */
const mostSamples = 100_000;

/** Nothing that is under way when the process ends is worth a wait. */
const closeWithinMs = 1_000;

/** The page of a browser may call this machine by any name that leads to it; programs call it by these. */
const ourHosts = /^(127\.0\.0\.1|localhost)(:\d+)?$/;

const text = z.string().min(1);
const day = z.iso.date().refine((date) => !date.startsWith('0000'), 'is not a day that exists');
const summariesQuery = z.strictObject({
  resource: text.optional(),
  from: day.optional(),
  to: day.optional(),
});
const instant = z.iso
  .datetime({ offset: true })
  .refine((text) => exactUtcInstant(text) !== undefined, 'is not an instant that exists');
const samplesQuery = z.strictObject({ resource: text, from: instant, to: instant, provider: text.optional() });

/** Every request names a user; the ids are as long as a key may be. */
const ofUser = z.object({ userId: text });
const ofWorkout = z.object({ userId: text, workoutId: text });

/**
 * Reads the store over HTTP, for somebody who tries things out: a directory can be opened by one process alone, so this one
 * has to be asked. Without any authentication, and therefore on this machine only; a backend opens PostgreSQL itself.
 *
 *     GET /users/<user id>/summaries?resource=activity&from=2026-01-05&to=2026-01-06
 *     GET /users/<user id>/samples?resource=glucose&from=2026-01-05T00:00:00Z&to=2026-01-06T00:00:00Z
 *     GET /users/<user id>/workouts/<workout id>/stream
 *
 * @throws StartFailed in one line when it cannot listen
 */
export async function startHealthDataReading(
  store: HealthDataStore,
  port: number,
  limits = httpLimits,
): Promise<{ url: string; close(): Promise<void> }> {
  const app = routes(store, limits);
  const settings = { host: 'HEALTH_DATA_PORT', port: 'HEALTH_DATA_PORT' };
  const url = await listen(app, { host: '127.0.0.1', port, settings });
  return { url, close: () => closeWithin(app, closeWithinMs) };
}

function routes(store: HealthDataStore, limits: HttpLimits): FastifyInstance {
  const app = boundedServer(limits);
  app.addHook('onRequest', async (request, reply) => {
    if (ourHosts.test(request.headers.host ?? '')) return;
    await reply.code(403).send({ error: 'ask for this machine by 127.0.0.1 or localhost' });
  });
  app.setErrorHandler(async (error, _request, reply) => answerTo(error, reply));
  app.get('/users/:userId/summaries', async ({ params, query }) => {
    const { resource, from, to } = summariesQuery.parse(query);
    const days = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
    return { summaries: await store.summaries({ ...ofUser.parse(params), ...(resource && { resource }), ...days }) };
  });
  app.get('/users/:userId/samples', async ({ params, query }) => {
    const { provider, ...wanted } = samplesQuery.parse(query);
    return someOf(store.samples({ ...ofUser.parse(params), ...wanted, ...(provider && { provider }) }));
  });
  app.get('/users/:userId/workouts/:workoutId/stream', async ({ params }, reply) => {
    const found = await store.workoutStream(ofWorkout.parse(params));
    return found ?? reply.code(404).send({ error: 'nothing is known of this workout' });
  });
  return app;
}

async function someOf(all: AsyncIterable<StoredSample>): Promise<{ samples: StoredSample[]; cutOff: boolean }> {
  const samples: StoredSample[] = [];
  for await (const sample of all) {
    if (samples.length === mostSamples) return { samples, cutOff: true };
    samples.push(sample);
  }
  return { samples, cutOff: false };
}

async function answerTo(error: unknown, reply: FastifyReply): Promise<FastifyReply> {
  if (error instanceof z.ZodError) {
    const wrong = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    return reply.code(400).send({ error: wrong.join('; ') });
  }
  if (error instanceof StoreFailed) {
    return reply.code(error.isDataRefused ? 400 : 503).send({ error: error.message });
  }
  throw error;
}
