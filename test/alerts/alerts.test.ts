import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { freePort } from '../../sandbox/temporal/ports.js';
import { patience, stack } from '../e2e/stack.js';
import { kitFor } from '../rig/cast.js';
import { rulesPath } from '../rig/monitoring.js';
import { startProcess, type StartedProcess } from '../rig/processes.js';
import { findPrometheus, startPrometheus, type Prometheus } from './prometheus.js';
import { shortened } from './shortened.js';

/* Each alert is fired by a real fault, as Prometheus itself sees it, and ends when the fault is over. */

const metricsPort = await freePort();
const lab = stack({ own: true, worker: { METRICS_PORT: String(metricsPort) } });
const folder = mkdtempSync(join(tmpdir(), 'labops-alerts-'));
let prometheus: Prometheus;

beforeAll(async () => {
  await findPrometheus();
  const rules = shortened(await readFile(rulesPath, 'utf8'));
  prometheus = await startPrometheus(folder, rules, [`127.0.0.1:${metricsPort}`]);
});
afterAll(() => rm(folder, { recursive: true }));

const wait = { timeout: 150_000, interval: 500 };

/** Sees the alert fire after the fault, and end after the remedy; it does not fire before. */
async function firesAndClears(alert: string, fault: () => Promise<unknown>, remedy: () => Promise<unknown>) {
  const fires = async () => (await prometheus.firing()).includes(alert);
  await expect.poll(fires, wait).toBe(false);
  const began = performance.now();
  await fault();
  await expect.poll(fires, wait).toBe(true);
  const fired = performance.now();
  await remedy();
  await expect.poll(fires, wait).toBe(false);
  const [after, until] = [fired - began, performance.now() - fired].map((ms) => Math.round(ms / 1000));
  process.stdout.write(`${alert}: fired ${after} s after the fault, cleared ${until} s after the remedy began\n`);
}

async function placeSome(count: number): Promise<void> {
  const userId = await lab.newUser();
  const orders = Array.from({ length: count }, () => kitFor(userId, `waiting-${randomUUID()}`));
  await Promise.all(orders.map((order) => lab.labs.orders.place(order)));
}

test('without a worker nobody polls', async () => {
  // A poller that was seen before is what the rule remembers.
  await pause(3_000);
  await firesAndClears(
    'LabopsNoPollers',
    () => lab.worker.stop('SIGKILL'),
    () => lab.startWorker(),
  );
});

/** A worker from a release whose workflows notify by another activity than those that run have recorded. */
async function startIncompatibleRelease(): Promise<StartedProcess> {
  const release = join(inject('buildFolder'), '..', `changed-${randomUUID()}`);
  await cp(inject('buildFolder'), release, { recursive: true });
  for (const name of ['workflow-bundle.js', 'workflow-bundle-encoded-failures.js']) {
    const bundle = await readFile(join(release, name), 'utf8');
    const changed = bundle.replaceAll('.notify.executeWithOptions', '.handOverNotifications.executeWithOptions');
    expect(changed).not.toBe(bundle);
    await writeFile(join(release, name), changed);
  }
  const env = { ...lab.workerEnv, LOG_LEVEL: 'error' };
  const worker = await startProcess(process.execPath, [join(release, 'workers', 'worker.js')], { env });
  void worker.exit.then(() => rm(release, { recursive: true, force: true }));
  return worker;
}

test('a release that does not fit the histories is non-deterministic until the old one is back', async () => {
  const placed = await lab.place();
  await lab.sandbox.move(placed.orderId, 'transit_customer');
  await expect.poll(async () => (await placed.handle.state()).phase, patience).toBe('in_transit_to_customer');
  await lab.untilIdle(placed.orderId);
  let incompatible: StartedProcess | undefined;
  await firesAndClears(
    'LabopsNonDeterminism',
    async () => {
      await lab.worker.stop();
      incompatible = await startIncompatibleRelease();
      await lab.sandbox.move(placed.orderId, 'with_customer');
    },
    async () => {
      await incompatible?.stop();
      await lab.startWorker();
    },
  );
  await expect.poll(async () => (await placed.handle.state()).phase, patience).not.toBe('in_transit_to_customer');
});

test('a worker that stands still lets tasks wait', async () => {
  await firesAndClears(
    'LabopsTasksWait',
    async () => {
      process.kill(lab.worker.pid, 'SIGSTOP');
      await placeSome(40);
      await pause(12_000);
      process.kill(lab.worker.pid, 'SIGCONT');
    },
    async () => undefined,
  );
});

test('a worker without the right key is stuck in workflow tasks', async () => {
  const foreign = `invented:${randomBytes(32).toString('base64')}`;
  await firesAndClears(
    'LabopsStuckWorkflowTasks',
    async () => {
      await lab.worker.stop();
      await lab.startWorker({ LABOPS_ENCRYPTION_KEYS: foreign });
      await placeSome(1);
    },
    async () => {
      await lab.worker.stop();
      await lab.startWorker();
    },
  );
});

test('attention that nobody answers gets older than its limit', async () => {
  const placed = await lab.place();
  await firesAndClears(
    'LabopsAttentionOverdue',
    async () => {
      for (const status of ['transit_customer', 'lost']) await lab.sandbox.move(placed.orderId, status);
    },
    () => placed.handle.resolveProblem({ orderId: placed.orderId, decision: 'abandon' }),
  );
});
