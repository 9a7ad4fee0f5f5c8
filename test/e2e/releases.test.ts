import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kitOrderId } from '../../protocol/ids.js';
import { takesMessageFirst } from '../../proof/faults/checks.js';
import { samplePdf } from '../../sandbox/sample-report.js';
import { openStore, type HealthDataStore } from '../../store/health-data-store.js';
import * as workflows from '../../workflows/index.js';
import { startBuilt } from '../rig/built.js';
import type { Build } from '../rig/build.js';
import { changedBuild } from '../rig/changed-build.js';
import { findPostgres, installCommand, startPostgres, type PostgresServer } from '../rig/postgres.js';
import { startProcess } from '../rig/processes.js';
import { newDatabase } from '../rig/stores.js';
import { startLong, startOrder, startShort, type Work } from './every-workflow.js';
import { patience, stack } from './stack.js';

const deploymentName = 'lab-operations-releases';
const reportRoot = mkdtempSync(join(tmpdir(), 'lab-releases-'));
const worker: Record<string, string | undefined> = { REPORT_ROOT: reportRoot, HEALTH_DATA: undefined };
let postgres: PostgresServer;
let place: { databaseUrl: string };
let store: HealthDataStore;
let changed: Build;

beforeAll(async () => {
  const programs = await findPostgres();
  if (programs === undefined) throw new Error(installCommand);
  postgres = await startPostgres(programs);
  place = await newDatabase(postgres.url);
  store = await openStore(place);
  worker['DATABASE_URL'] = place.databaseUrl;
  await writeFile(join(reportRoot, 'report.pdf'), samplePdf(['labops-sandbox: stuck']));
  changed = await changedBuild();
});
/** Readable, so that a failure says what broke. */
const lab = stack({
  keys: '',
  worker,
  // By default Temporal waits for minutes before it says that a version is drained.
  serverArguments: ['VisibilityGracePeriod', 'RefreshInterval'].flatMap((setting) => [
    '--dynamic-config-value',
    `matching.wv.VersionDrainageStatus${setting}="1s"`,
  ]),
});
afterAll(async () => {
  await store.close();
  await postgres.stop();
  await changed.remove();
  await rm(reportRoot, { recursive: true });
});

/** Waits until workers of the build poll: before that it cannot be the current one. */
async function makeCurrent(buildId: string): Promise<void> {
  const { workflowService } = lab.rig.client;
  const setCurrent = () =>
    workflowService.setWorkerDeploymentCurrentVersion({ namespace: lab.rig.namespace, deploymentName, buildId });
  await expect.poll(async () => setCurrent().then(() => 'current', String), patience).toBe('current');
  const routed = async () => {
    const taskQueue = { name: lab.rig.taskQueue };
    const { versioningInfo } = await workflowService.describeTaskQueue({
      namespace: lab.rig.namespace,
      taskQueue,
      taskQueueType: 1,
    });
    return versioningInfo?.currentDeploymentVersion?.buildId;
  };
  await expect.poll(routed, patience).toBe(buildId);
}

function versioned(buildId: string): Record<string, string> {
  return { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId };
}

/** `build-a: Running`; no build until a worker has answered the run's first task. */
async function standingOf({ workflowId }: Work): Promise<string> {
  const { raw, status } = await lab.rig.client.workflow.getHandle(workflowId).describe();
  const buildId = raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId;
  return `${buildId}: ${status.name}`;
}

async function expectStanding(work: readonly Work[], standing: string): Promise<void> {
  const standings = async () =>
    Promise.all(work.map(async (each) => [each.workflowType, await standingOf(each).catch(String)]));
  await expect.poll(standings, patience).toEqual(work.map(({ workflowType }) => [workflowType, standing]));
}

async function finish(work: readonly Work[]): Promise<void> {
  for (const each of work) await each.finish();
}

function runningOn(buildId: string): string {
  return `TemporalWorkerDeploymentVersion = '${deploymentName}:${buildId}' AND ExecutionStatus = 'Running'`;
}

/** As `temporal workflow update-options --query …` does (docs/releases.md). */
async function pinRunsOf(buildId: string): Promise<void> {
  const pinned = { version: { deploymentName, buildId }, behavior: 1 };
  await lab.rig.client.workflowService.startBatchOperation({
    namespace: lab.rig.namespace,
    jobId: randomUUID(),
    reason: 'before the release is taken back',
    visibilityQuery: runningOn(buildId),
    updateWorkflowOptionsOperation: {
      workflowExecutionOptions: { versioningOverride: { pinned } },
      updateMask: { paths: ['versioning_override'] },
    },
  });
}

async function isPinned({ workflowId }: Work): Promise<boolean> {
  const { raw } = await lab.rig.client.workflow.getHandle(workflowId).describe();
  return raw.workflowExecutionInfo?.versioningInfo?.versioningOverride?.pinned != null;
}

/** As `temporal worker deployment describe-version` shows it. */
async function expectDrained(buildId: string): Promise<void> {
  const open = async () => {
    const ids: string[] = [];
    for await (const { workflowId } of lab.rig.client.workflow.list({ query: runningOn(buildId) }))
      ids.push(workflowId);
    return ids;
  };
  await expect.poll(open, patience).toEqual([]);
  const drained = 2;
  const drainage = async () => {
    const { workerDeploymentVersionInfo: version } =
      await lab.rig.client.workflowService.describeWorkerDeploymentVersion({
        namespace: lab.rig.namespace,
        deploymentVersion: { deploymentName, buildId },
      });
    return version?.drainageInfo?.status;
  };
  await expect.poll(drainage, patience).toBe(drained);
}

/** A failed workflow task is tried again until the run is closed, so a run that ends well may hide it. */
async function failures(): Promise<string[]> {
  const found: string[] = [];
  for await (const { workflowId, runId, status } of lab.rig.client.workflow.list()) {
    if (['FAILED', 'TERMINATED', 'TIMED_OUT'].includes(status.name)) found.push(`${workflowId}: ${status.name}`);
    const { events } = await lab.rig.client.workflow.getHandle(workflowId, runId).fetchHistory();
    for (const { workflowTaskFailedEventAttributes: failed } of events ?? []) {
      if (failed && !takesMessageFirst.includes(failed.cause))
        found.push(`${workflowId}: ${failed.cause} ${failed.failure?.message}`);
    }
  }
  return found;
}

test('a replay of the open workflows says which of them a build would not continue', async () => {
  const { handle, orderId } = await lab.place();
  await lab.untilIdle(orderId);
  const replay = await startBuilt('workers/labops.ts', { env: lab.workerEnv, args: ['replay', '--open', '20'] });
  expect(await replay.exit, replay.output()).toEqual({ code: 0, signal: null });
  expect(replay.output()).toMatch(/^kitOrder: [1-9]\d* replayed, 0 differ$/m);
  const args = [join(changed.folder, 'workers/labops.js'), 'replay', '--open', '20', '-o', 'json'];
  const differing = await startProcess(process.execPath, args, { env: lab.workerEnv });
  expect(await differing.exit, differing.output()).toEqual({ code: 1, signal: null });
  expect(differing.output()).toMatch(/"workflowType": "kitOrder",\s+"replayed": 1,\s+"differing": \[\s+\{/);
  expect(differing.output()).toContain(kitOrderId(orderId));
  await handle.cancel();
  // It has no version: the first task that it had after this test would go to the release that is current then.
  await handle.result();
});

test('an incompatible release breaks no run of any workflow that the one before began, and neither does the way back', async () => {
  await lab.worker.stop();
  await lab.startWorker(versioned('build-a'));
  expect(lab.worker.output()).toContain('The deployment has no current version');
  await makeCurrent('build-a');
  const before = await startLong(lab);
  const later = await startProcess(process.execPath, [join(changed.folder, 'workers/worker.js')], {
    env: { ...lab.workerEnv, ...versioned('build-b') },
    ready: /worker started/,
  });
  const beforeShort = await startShort(lab, store, place);
  const all = [...before, ...beforeShort.work];
  const types = new Set(all.map(({ workflowType }) => workflowType));
  expect([...types].toSorted()).toEqual(Object.keys(workflows).toSorted());
  await expectStanding(all, 'build-a: RUNNING');

  await makeCurrent('build-b');
  await beforeShort.release();
  await finish(beforeShort.work);
  for (const each of before) await each.advance();
  await expectStanding(before, 'build-b: RUNNING');
  await finish(before);
  await expectDrained('build-a');

  const after = await startLong(lab);
  const afterShort = await startShort(lab, store, place);
  await expectStanding([...after, ...afterShort.work], 'build-b: RUNNING');
  await pinRunsOf('build-b');
  await expect.poll(async () => (await Promise.all(after.map(isPinned))).every(Boolean), patience).toBe(true);
  await makeCurrent('build-a');
  await afterShort.release();
  await finish(afterShort.work);
  for (const each of after) await each.advance();
  await expectStanding(after, 'build-b: RUNNING');
  const back = await startOrder(lab);
  await expectStanding(back, 'build-a: RUNNING');
  await finish(after);
  await finish(back);
  await expectDrained('build-b');
  expect(await failures()).toEqual([]);
  await later.stop();

  // What has ended is shown after the last worker of its release.
  await lab.worker.stop();
  for (const { workflowId } of [...before, ...after]) {
    await expect(lab.rig.client.workflow.getHandle(workflowId).result()).resolves.toBeDefined();
  }
});
