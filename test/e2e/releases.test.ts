import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { kitOrderId, placeKitOrderId } from '../../protocol/ids.js';
import { deploymentOptions } from '../../workers/deployment.js';
import { replayOpen } from '../../workers/replay.js';
import { kitFor, registration } from '../rig/cast.js';
import { startBuilt } from '../rig/built.js';
import { startLink, workflowOf } from './linked-user.js';
import { patience, stack } from './stack.js';

const lab = stack();

const deploymentName = 'lab-operations-releases';
const changedWorkflows = fileURLToPath(new URL('../replay/changed-workflows', import.meta.url));

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

/** Undefined until a worker has answered the run's first task. */
async function buildOf(workflowId: string): Promise<string | null | undefined> {
  const { raw } = await lab.rig.client.workflow.getHandle(workflowId).describe();
  return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId;
}

async function openOn(buildId: string): Promise<number> {
  const query = `TemporalWorkerDeploymentVersion = '${deploymentName}:${buildId}' AND ExecutionStatus = 'Running'`;
  return (await lab.rig.client.workflow.count(query)).count;
}

async function failedTasksOf(workflowId: string): Promise<number> {
  const { events } = await lab.rig.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).filter(({ workflowTaskFailedEventAttributes: failed }) => failed != null).length;
}

test('a replay of the open workflows says which of them a build would not continue', async () => {
  const { orderId } = await lab.place();
  await lab.untilIdle(orderId);
  const replay = await startBuilt('workers/labops.ts', { env: lab.workerEnv, args: ['replay', '--open', '20'] });
  expect(await replay.exit, replay.output()).toEqual({ code: 0, signal: null });
  expect(replay.output()).toMatch(/^kitOrder: [1-9]\d* replayed, 0 differ$/m);
  const wrong = await startBuilt('workers/labops.ts', { env: lab.workerEnv, args: ['replay', '--open', 'all'] });
  expect(await wrong.exit, wrong.output()).toEqual({ code: 2, signal: null });

  const { code } = await bundleWorkflowCode({ workflowsPath: changedWorkflows });
  const replays = await replayOpen(lab.rig.client, lab.rig.taskQueue, { workflowBundle: { code } });
  const orders = replays.find(({ workflowType }) => workflowType === 'kitOrder');
  expect(orders?.differing.map(({ workflowId }) => workflowId)).toContain(kitOrderId(orderId));
});

test('an incompatible release breaks nothing that the one before began, and the way back is open', async ({ skip }) => {
  skip(
    await movesRuns(),
    'from Temporal 1.31 on, an order moves to the new release, and this one has nothing but stubs',
  );
  await lab.worker.stop();
  await lab.startWorker({ TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: 'build-a' });
  expect(lab.worker.output()).toContain('The deployment has no current version');
  await makeCurrent('build-a');
  const { handle, orderId } = await lab.place();
  const link = await startLink(lab);
  await expect.poll(() => buildOf(workflowOf(lab, link).workflowId), patience).toBe('build-a');

  const { code } = await bundleWorkflowCode({ workflowsPath: changedWorkflows });
  const later = await lab.rig.startWorker({
    workflowBundle: { code },
    activities: { neverCalled: () => undefined },
    ...deploymentOptions({ deploymentName, buildId: 'build-b' }),
  });
  await makeCurrent('build-b');
  await lab.sandbox.move(orderId, 'with_customer');
  const { kit_sample_id: sampleId } = await lab.sandbox.order(orderId);
  expect(await handle.register(registration(sampleId ?? ''))).toMatchObject({ registered: true });
  await lab.sandbox.move(orderId, 'delivered_to_lab');
  // Its webhook would start another run if it came after the end.
  await lab.sandbox.settleWebhooks();
  await lab.sandbox.move(orderId, 'completed');
  expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  await link.handle.cancel();
  expect(await failedTasksOf(kitOrderId(orderId))).toBe(0);
  await expect.poll(() => openOn('build-a'), patience).toBe(0);

  const userId = await lab.newUser();
  await lab.labs.orders.place(kitFor(userId, `releases-${userId}`));
  await expect.poll(() => buildOf(placeKitOrderId(`releases-${userId}`)), patience).toBe('build-b');

  await makeCurrent('build-a');
  const back = await lab.place();
  await expect.poll(() => buildOf(kitOrderId(back.orderId)), patience).toBe('build-a');
  await later.stop();

  // What has ended is shown after the last worker of its release.
  await lab.worker.stop();
  expect(await handle.state()).toMatchObject({ outcome: 'completed', phase: 'completed', waiting: { for: 'nothing' } });
  expect(await link.handle.state()).toMatchObject({ outcome: 'cancelled' });
  await lab.startWorker({ TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: 'build-a' });
});

/** Earlier servers do not tell a pinned run that there is another release. */
async function movesRuns(): Promise<boolean> {
  const { serverVersion } = await lab.rig.client.workflowService.getSystemInfo({});
  return serverVersion.localeCompare('1.31', 'en', { numeric: true }) >= 0;
}

test('a compatible release takes over an order at its next event (Temporal 1.31 and later)', async ({ skip }) => {
  skip(!(await movesRuns()), 'this Temporal server is older than 1.31');
  await lab.worker.stop();
  await lab.startWorker({ TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: 'build-c' });
  const before = lab.worker;
  await makeCurrent('build-c');
  const { handle, orderId } = await lab.place();
  await lab.sandbox.move(orderId, 'transit_customer');
  await expect.poll(async () => (await handle.state()).phase, patience).toBe('in_transit_to_customer');
  await lab.startWorker({ TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: 'build-d' });
  await makeCurrent('build-d');

  await lab.sandbox.move(orderId, 'with_customer');
  await expect.poll(() => buildOf(kitOrderId(orderId)), patience).toBe('build-d');
  await before.stop();
  const { kit_sample_id: sampleId } = await lab.sandbox.order(orderId);
  expect(await handle.register(registration(sampleId ?? ''))).toMatchObject({
    phase: 'with_customer',
    registered: true,
  });
  await lab.sandbox.move(orderId, 'delivered_to_lab');
  // Its webhook would start another run if it came after the end.
  await lab.sandbox.settleWebhooks();
  await lab.sandbox.move(orderId, 'completed');
  expect(await handle.result()).toMatchObject({ outcome: 'completed', orderId });
  await expect.poll(async () => (await lab.runsOf(orderId)).length, patience).toBeGreaterThan(1);
});
