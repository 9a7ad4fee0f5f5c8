import { mkdtempSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { all } from '../rig/all.js';
import { kitFor, personal } from '../rig/cast.js';
import { startBuilt } from '../rig/built.js';
import { emptyDatabase } from '../rig/empty-database.js';
import { eventually } from '../rig/eventually.js';
import {
  alertQuestions,
  monitoringUrl,
  namesIn,
  panelQuestions,
  type Sample,
  scrape,
  valueOf,
} from '../rig/monitoring.js';
import type { StartedProcess } from '../rig/processes.js';
import { type Proxy, startProxy } from '../rig/temporal-proxy.js';
import { patience, type Placed, stack } from './stack.js';

const monitored = { METRICS_PORT: '0' };
const worker: Record<string, string> = { ...monitored, RECONCILE_EVERY_MINUTES: '60', SHUTDOWN_GRACE_SECONDS: '30' };
let way: Proxy;
beforeAll(async () => {
  way = await startProxy(() => lab.rig.address);
  worker['TEMPORAL_ADDRESS'] = way.address;
});
const lab = stack({ worker });
afterAll(() => way.close());
const directory = mkdtempSync(join(tmpdir(), 'labops-metrics-'));

let ingress: StartedProcess;
let single: StartedProcess;
let codec: StartedProcess;

/** Each kind of process once; the single process is there for its database. */
beforeAll(async () => {
  const own = { INGRESS_HOST: '127.0.0.1', INGRESS_PORT: '0' };
  const env = { ...lab.workerEnv, ...monitored, ...own, TEMPORAL_ADDRESS: lab.rig.address };
  const data = await emptyDatabase(join(directory, 'data'));
  const key = `invented:${Buffer.from('an-invented-codec-key-32-bytes--').toString('base64')}`;
  // A database and keys: it has an audit trail.
  const store = { TASK_QUEUE: 'another', HEALTH_DATA: undefined, HEALTH_DATA_DIRECTORY: data, AUDIT_KEYS: key };
  const keys = { LABOPS_ENCRYPTION_KEYS: key, CODEC_PORT: '0' };
  [ingress, single, codec] = await Promise.all([
    startBuilt('workers/ingress.ts', { env, ready: /ingress started/ }),
    startBuilt('workers/single-process.ts', { env: { ...env, ...store }, ready: /worker and ingress started/ }),
    startBuilt('workers/codec-server.ts', { env: { ...env, ...keys }, ready: /codec server started/ }),
  ]);
  await lab.sandbox.changeSettings({ webhookUrl: ingressUrl() });
});
afterAll(() => rm(directory, { recursive: true }));

function ingressUrl(): string {
  return /"url":"(http[^"]+\/webhooks)"/.exec(ingress.output())?.[1] ?? '';
}

async function probe(program: StartedProcess, path: string): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${monitoringUrl(program)}${path}`);
  return { status: answer.status, body: await answer.json() };
}

/** An order whose kit is lost, so it waits for a person; a call that failed; a webhook that is refused; a workflow that nobody can run. */
async function letHappen(): Promise<Placed> {
  const down = { kind: 'answer', status: 503, body: { detail: 'Down for maintenance' } } as const;
  await lab.sandbox.addFault({ method: 'POST', path: '/v3/order/testkit', times: 1, action: down });
  const placed = await lab.place({ creationTimeout: '15s', creationSettling: '20s' });
  for (const status of ['transit_customer', 'lost']) await lab.sandbox.move(placed.orderId, status);
  await expect.poll(async () => (await placed.handle.state()).attention.length, patience).toBe(1);
  await lab.rig.client.workflow.start('unheardOf', { workflowId: 'unheard-of', taskQueue: lab.rig.taskQueue });
  expect((await fetch(ingressUrl(), { method: 'POST', body: '{}' })).status).toBe(401);
  await expect.poll(() => all(lab.labs.orders.list({ attention: true })), patience).toHaveLength(1);
  return placed;
}

/** A scrape leaves out what it could not count in time. */
const untilAttentionIsShown = () =>
  eventually(async () => {
    const found = await scrape(lab.worker);
    expect(valueOf(found, 'labops_workflows_with_attention')).toBe(1);
    return found;
  });

let placed: Placed;
let samples: Sample[];
let shown: Sample[];

test('the metrics show what has happened', async () => {
  placed = await letHappen();
  await expect.poll(() => lab.receiver.accepted.length, patience).toBeGreaterThan(1);
  samples = await eventually(async () => {
    const found = await untilAttentionIsShown();
    expect(valueOf(found, 'labops_notifications_total', { outcome: 'delivered' })).toBeGreaterThan(1);
    expect(found.map(({ name }) => name)).toContain('temporal_workflow_task_execution_failed_total');
    return found;
  });
  const kit = { workflow_type: 'kitOrder' };
  const [{ reason, since } = { reason: '', since: '' }] = (await placed.handle.state()).attention;
  expect(valueOf(samples, 'labops_open_workflows', { ...kit, phase: 'failed' })).toBe(1);
  expect(valueOf(samples, 'labops_attention', { ...kit, reason })).toBe(1);
  const age = valueOf(samples, 'labops_attention_oldest_seconds', { ...kit, reason });
  expect(age).toBeGreaterThan(0);
  expect(age).toBeLessThan((Date.now() - Date.parse(since)) / 1000 + 1);
  const creation = { route: 'POST /v3/order/testkit' };
  expect(valueOf(samples, 'labops_service_call_seconds_count', { ...creation, status: '503' })).toBe(1);
  expect(valueOf(samples, 'labops_service_call_seconds_count', { ...creation, status: '200' })).toBe(1);

  // No pass has run yet: it counts from when the schedule was made.
  const reconciled = valueOf(samples, 'labops_last_reconciliation_timestamp_seconds') ?? 0;
  expect(Math.abs(Date.now() / 1000 - reconciled)).toBeLessThan(600);

  const received = await scrape(ingress);
  expect(valueOf(received, 'labops_webhooks_total', { answer: 'headers_missing', result: 'refused' })).toBe(1);
  const delivered = valueOf(received, 'labops_webhooks_total', { answer: 'delivered', result: 'taken' });
  expect(delivered).toBeGreaterThan(1);
  expect(valueOf(received, 'labops_webhook_lag_seconds_count', { kind: 'order' })).toBe(delivered);
  const stored = await eventually(async () => {
    const found = await scrape(single);
    expect(valueOf(found, 'labops_database_up')).toBe(1);
    return found;
  });
  expect(valueOf(stored, 'labops_rejected_events', { state: 'waiting' })).toBe(0);
  shown = [...samples, ...received, ...stored, ...(await scrape(codec))];
});

test('every metric that an alert or a panel names is there', async () => {
  const present = new Set(shown.map(({ name }) => name));
  const missing = [...(await alertQuestions()), ...(await panelQuestions())].flatMap((question) =>
    namesIn(question)
      .filter((name) => !present.has(name))
      .map((name) => `${question.name}: ${name}`),
  );
  expect(missing).toEqual([]);
});

test('the docs have every metric of our own, and no other', async () => {
  const page = await readFile(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
  const stem = (name: string) => name.replace(/_(bucket|sum|count)$/, '');
  const own = new Set(shown.map(({ name }) => stem(name)).filter((name) => name.startsWith('labops_')));
  expect(new Set(page.match(/\blabops_[a-z_]*[a-z]/g))).toEqual(own);
});

test('no label has an id or anything personal', () => {
  const values = new Set(shown.flatMap(({ labels }) => Object.values(labels)));
  const ids = [placed.orderId, placed.userId, placed.reference];
  for (const value of values) {
    expect(value).not.toMatch(personal);
    expect(value).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/i);
    expect(ids.filter((id) => value.includes(id))).toEqual([]);
  }
});

test('each process is up and ready', async () => {
  for (const program of [lab.worker, ingress, single, codec]) {
    expect((await probe(program, '/health')).body).toEqual({ status: 'up' });
    const ready = () => probe(program, '/ready');
    await expect.poll(ready, patience).toMatchObject({ status: 200, body: { status: 'ready' } });
  }
  const stored = async () => (await probe(single, '/ready')).body;
  await expect.poll(stored, patience).toMatchObject({ rejectedEvents: 0 });
});

test('a worker that loses Temporal is not ready and shows how old its numbers are, until Temporal is back', async () => {
  await untilAttentionIsShown();
  way.cut();
  const status = async () => (await probe(lab.worker, '/ready')).status;
  await expect.poll(status, patience).toBe(503);
  expect((await probe(lab.worker, '/health')).status).toBe(200);
  const failures = async () => valueOf(await scrape(lab.worker), 'labops_fleet_failures_total');
  // A count is given up after about 25 seconds.
  await expect.poll(failures, { timeout: 2 * patience.timeout, interval: 1_000 }).toBeGreaterThan(0);
  const [age, needy] = ['labops_fleet_age_seconds', 'labops_workflows_with_attention'];
  const old = await scrape(lab.worker);
  expect([valueOf(old, needy), valueOf(old, age)]).toEqual([1, expect.any(Number)]);
  expect(valueOf(old, age)).toBeGreaterThan(20);
  way.open();
  await expect.poll(status, patience).toBe(200);
});

test('a worker that drains is not ready, and answers until it has ended', async () => {
  const slow = { kind: 'delay', delayMs: 20_000, phase: 'before_work' } as const;
  await lab.sandbox.addFault({ method: 'POST', path: '/v3/order/testkit', times: 1, action: slow });
  await lab.sandbox.clearRequests();
  const userId = await lab.newUser();
  await lab.labs.orders.place(kitFor(userId, `draining-${userId}`));
  await expect.poll(() => lab.creations(), patience).toBe(1);
  const stopped = lab.worker.stop();
  const ready = async () => probe(lab.worker, '/ready');
  await expect.poll(ready, patience).toEqual({ status: 503, body: { status: 'stopping' } });
  expect(await stopped).toEqual({ code: 0, signal: null });
});
