import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openStore, type HealthDataStore } from '../../store/health-data-store.js';
import { readIngressConfig } from '../../workers/settings/config.js';
import { type RunningIngress, startIngress } from '../../workers/ingress.js';
import { devServer } from '../rig/environments.js';
import { startBuilt } from '../rig/built.js';
import { emptyDatabase } from '../rig/empty-database.js';
import { activity, glucose, sample, valuesOf } from '../store/received.js';
import { closedPort, orderEvent, signed } from '../unit/webhooks/sending.js';
import { ingressEnv } from './ingress-env.js';

const rig = devServer({ standing: 'integration' });
const running = new Set<RunningIngress>();

afterEach(async () => {
  await Promise.all([...running].map((ingress) => ingress.close()));
  running.clear();
});

async function ingressWith(settings: Record<string, string>, store?: HealthDataStore, log = pino({ level: 'silent' })) {
  const config = readIngressConfig({ ...ingressEnv(rig), ...settings });
  const ingress = await startIngress(config, log, { opened: store });
  running.add(ingress);
  return ingress;
}

const send = (url: string, body: Record<string, unknown>) => fetch(`${url}/webhooks`, signed(body));
const ready = async (url: string) => {
  const answer = await fetch(`${url}/ready`);
  return { status: answer.status, ...((await answer.json()) as Record<string, unknown>) };
};

describe('an ingress with a store', () => {
  let folder: string;
  let store: HealthDataStore;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lab-operations-ingress-'));
    store = await openStore({ directory: await emptyDatabase(join(folder, 'data')) });
    return async () => {
      await store.close();
      await rm(folder, { recursive: true });
    };
  });

  test('answers 204 once a signed webhook is stored: it can be queried at once', async () => {
    const { url } = await ingressWith({}, store);
    const userId = randomUUID();
    const batch = [sample('2026-01-05T10:00:00Z', 1), sample('2026-01-05T10:05:00Z', 2)];
    expect((await send(url, glucose(userId, batch))).status).toBe(204);
    expect((await send(url, activity(userId, 'day'))).status).toBe(204);
    expect(await valuesOf(store, userId)).toEqual([1, 2]);
    expect(await store.summaries({ userId, from: '2026-01-05', to: '2026-01-05' })).toMatchObject([{ id: 'day' }]);
  });

  test('does not deliver an order’s message that another ingress of the same store has delivered', async () => {
    const [first, second] = [await ingressWith({}, store), await ingressWith({}, store)];
    const sent = async () => {
      const captured = signed(orderEvent(randomUUID()));
      const before = second.counts().answers.delivered;
      for (const { url } of [first, second, second]) {
        expect((await fetch(`${url}/webhooks`, captured)).status).toBe(204);
      }
      return second.counts().answers.delivered - before;
    };
    // A store that takes more than a second for one of its answers is not waited for: three messages are not all so slow.
    const delivered = [await sent(), await sent(), await sent()];
    expect(Math.min(...delivered)).toBe(0);
    expect(first.counts().answers).toMatchObject({ delivered: 3, repeated: 0 });
    const before = second.counts().answers.delivered;
    expect((await send(second.url, orderEvent(randomUUID()))).status).toBe(204);
    expect(second.counts().answers.delivered).toBe(before + 1);
  });

  test('keeps what nobody handles and what has no key, counts it on /ready, and logs nothing of it', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
    const { url } = await ingressWith({}, store, log);
    const before = await store.rejected.count();
    const person = { user_id: 'Testperson', client_user_id: 'Testperson' };
    const events = [
      { event_type: 'an.event.of.next.year', ...person },
      { event_type: 'labtest.order.updated', ...person, data: { id: { odd: 'Testperson' } } },
      orderEvent('Testperson/Invented'),
      glucose('Testperson', ['Testperson']),
    ];
    for (const event of events) expect((await send(url, event)).status).toBe(204);
    const rejected = await store.rejected.list({ limit: 4 });
    expect(rejected.map(({ reason }) => reason.split(':', 1)[0])).toEqual([
      '1 of 1 samples cannot be stored',
      'not_addressable',
      'unreadable',
      'not_handled',
    ]);
    await expect
      .poll(() => ready(url))
      .toEqual({
        status: 'ready',
        rejectedEvents: before + 4,
        expiredRejectedEvents: 0,
      });
    expect(lines.filter((line) => line.includes('"answer"'))).toHaveLength(4);
    expect(lines.join('')).not.toContain('Testperson');
  });
});

test('an ingress whose database is away starts, answers 503 for what it would keep, delivers orders, and says so on /ready, with the reason in the log', async () => {
  const databaseUrl = `postgres://lab:Testpassword@127.0.0.1:${await closedPort()}/lab`;
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
  const { url } = await ingressWith({ DATABASE_URL: databaseUrl }, undefined, log);
  expect((await send(url, activity(randomUUID(), 'day'))).status).toBe(503);
  expect((await send(url, { event_type: 'other' })).status).toBe(503);
  expect((await send(url, orderEvent(randomUUID()))).status).toBe(204);
  // 200: taking a process that is not ready out of service would stop the orders' webhooks too.
  const probed = async () => {
    const answer = await fetch(`${url}/ready`);
    return [answer.status, await answer.json()];
  };
  await expect.poll(probed).toEqual([200, { status: 'ready', healthData: 'unavailable' }]);
  expect(lines.join('')).toMatch(/ECONNREFUSED/);
  expect(lines.join('')).not.toContain('Testpassword');
});

test('an ingress without a store counts health data and drops it, as it does by default', async () => {
  const ingress = await ingressWith({});
  expect((await send(ingress.url, activity(randomUUID(), 'day'))).status).toBe(204);
  expect(ingress.counts().answers).toMatchObject({ health_data_counted: 1 });
  await expect.poll(() => ready(ingress.url)).toEqual({ status: 'ready' });
});

test('worker and ingress in one process keep health data in a directory, even through a restart', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lab-operations-single-'));
  const directory = await emptyDatabase(join(folder, 'data'));
  const service = { SERVICE_BASE_URL: 'http://127.0.0.1:9', SERVICE_API_KEY: 'sk_invented' };
  const env = { ...ingressEnv(rig), ...service, HEALTH_DATA_DIRECTORY: directory, TASK_QUEUE: 'single-process-test' };
  const userId = randomUUID();
  const listening = /"url":"([^"]+)\/webhooks"/;
  const started = await startBuilt('workers/single-process.ts', { env, ready: listening });
  const [, url = ''] = await started.waitFor(listening);
  expect((await send(url, activity(userId, 'day'))).status).toBe(204);
  const second = await startBuilt('workers/single-process.ts', { env });
  expect(await second.exit).toEqual({ code: 1, signal: null });
  expect(second.output()).toMatch(/^The health-data directory .+ is open in another process,.+\n$/);
  expect(await started.stop()).toEqual({ code: 0, signal: null });
  const store = await openStore({ directory });
  expect(await store.summaries({ userId })).toHaveLength(1);
  await store.close();
  await rm(folder, { recursive: true });
});
