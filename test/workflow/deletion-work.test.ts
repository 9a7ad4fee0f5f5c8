import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { TypedSearchAttributes } from '@temporalio/common';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { beforeAll, describe, expect, test } from 'vitest';
import { UserHasRunningWork, type FoundWork } from '../../client/index.js';
import { kitOrderId, placeKitOrderId } from '../../workflows/order/address.js';
import { labUserIdKey } from '../../workflows/search-attributes.js';
import { eventually } from './kit.js';
import { Leaver } from './leaver.js';
import { setStage } from './story.js';

/* The full server: running work is found by visibility, which the one that skips time has not. */
const stage = setStage({ eventsPerRun: 10_000 });

/** Visibility lags by about a second behind a start. */
async function listed(leaver: Leaver, count: number): Promise<void> {
  const query = `${labUserIdKey.name} = '${leaver.userId}' AND ExecutionStatus = 'Running'`;
  await eventually(async () => expect((await stage.temporal.workflow.count(query)).count).toBe(count));
}

async function placeFor(leaver: Leaver) {
  const kit = await stage.place({ userId: leaver.userId });
  await kit.shows({ userId: leaver.userId });
  await listed(leaver, 1);
  return kit;
}

const kitWork = (rootOrderId: string, more: object = {}) => ({
  workflowId: kitOrderId(rootOrderId),
  name: 'kitOrder',
  ...more,
});

/** A deletion that ends soon, so that the next story has the stage for itself. */
const soon = { graceDays: 1 / 86_400 };

describe('running work', () => {
  test('is by default a reason to delete nothing: it is named, and nothing was asked of the service', async () => {
    const leaver = await Leaver.arrive(stage);
    const kit = await placeFor(leaver);
    const refused: unknown = await leaver.requestDeletion().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UserHasRunningWork);
    expect((refused as UserHasRunningWork).workflows).toEqual([kitWork(kit.rootOrderId)]);
    expect(await leaver.reads()).toBe('present');
    expect(await stage.countRequests('DELETE', leaver.path)).toBe(0);
    const handle = await stage.product.users.deletion(leaver.userId);
    const work = [kitWork(kit.rootOrderId, { fate: 'left' })];
    expect(await handle.result()).toMatchObject({ outcome: 'running_work', work });
    await kit.shows({ phase: 'awaiting_registration' });
  });

  test('is left alone and named where the policy says so', async () => {
    const leaver = await Leaver.arrive(stage);
    const kit = await placeFor(leaver);
    const handle = await leaver.requestDeletion({ ...soon, policy: { onRunningWork: 'leave' } });
    const work = [kitWork(kit.rootOrderId, { fate: 'left' })];
    expect(handle.requested).toMatchObject({ phase: 'grace', work });
    await kit.shows({ phase: 'awaiting_registration' });
    expect(await handle.result()).toMatchObject({ outcome: 'deleted', work });
  });

  test('is cancelled where the policy says so, and then the user is deleted', async () => {
    const leaver = await Leaver.arrive(stage);
    const kit = await placeFor(leaver);
    const handle = await leaver.requestDeletion({ ...soon, policy: { onRunningWork: 'cancel' } });
    const work = [kitWork(kit.rootOrderId, { fate: 'cancelled' })];
    expect(handle.requested).toMatchObject({ phase: 'grace', work });
    expect(await kit.ends()).toMatchObject({ outcome: 'cancelled' });
    expect(await handle.result()).toMatchObject({ outcome: 'deleted', work });
  });

  test('that cannot be cancelled is said, with the reason, and does not hold up the deletion', async () => {
    const leaver = await Leaver.arrive(stage);
    const kit = await placeFor(leaver);
    await kit.goes('transit_customer');
    const handle = await leaver.requestDeletion({ ...soon, policy: { onRunningWork: 'cancel' } });
    const work = [kitWork(kit.rootOrderId, { fate: 'not_cancelled', reason: 'CancelRefused' })];
    expect(handle.requested).toMatchObject({ phase: 'grace', work });
    await kit.shows({ phase: 'in_transit_to_customer' });
  });

  test('that is a placing has no cancel command, which is said', async () => {
    const leaver = await Leaver.arrive(stage);
    const down = { kind: 'answer', status: 503 } as const;
    await stage.sandbox.addFault({ method: 'POST', path: '/v3/order/testkit', action: down });
    const input = await stage.input({ userId: leaver.userId, policy: { creationTimeout: '1s' } });
    await stage.product.orders.place(input);
    await listed(leaver, 1);
    const handle = await leaver.requestDeletion({ ...soon, policy: { onRunningWork: 'cancel' } });
    const workflowId = placeKitOrderId(input.reference);
    expect(handle.requested?.work).toEqual([
      { workflowId, name: 'placeKitOrder', fate: 'not_cancelled', reason: 'NoCancelCommand' },
    ]);
  });

  test('of other users is none of this one', async () => {
    const [leaver, other] = [await Leaver.arrive(stage), await Leaver.arrive(stage)];
    await placeFor(other);
    expect((await leaver.requestDeletion(soon)).requested).toMatchObject({ phase: 'grace', work: [] });
  });
});

describe('links and reports', () => {
  let code = '';
  beforeAll(async () => {
    const workflowsPath = fileURLToPath(new URL('other-areas', import.meta.url));
    ({ code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') }));
  });

  test('are cancelled by their own command where they take it', async () => {
    const leaver = await Leaver.arrive(stage);
    const taskQueue = `other-areas-${randomUUID()}`;
    const worker = await stage.startOtherWorker({ taskQueue, workflowBundle: { code } });
    try {
      const workflowIds: Record<string, string> = {};
      for (const name of ['linkProvider', 'parsingJob', 'submitReport', 'fetchWorkoutStream']) {
        workflowIds[name] = `${name}-${randomUUID()}`;
        const typedSearchAttributes = new TypedSearchAttributes([{ key: labUserIdKey, value: leaver.userId }]);
        await stage.temporal.workflow.start(name, { workflowId: workflowIds[name], taskQueue, typedSearchAttributes });
      }
      await listed(leaver, 4);
      const handle = await leaver.requestDeletion({ ...soon, policy: { onRunningWork: 'cancel' } });
      const work: readonly FoundWork[] = handle.requested?.work ?? [];
      const fates = Object.fromEntries(work.map(({ name, fate, reason }) => [name, `${fate} ${reason ?? ''}`.trim()]));
      expect(fates).toEqual({
        linkProvider: 'cancelled',
        parsingJob: 'not_cancelled CancelRefused',
        submitReport: expect.stringMatching(/^not_cancelled ./) as string,
      });
      expect(await stage.temporal.workflow.getHandle(workflowIds['linkProvider'] ?? '').result()).toBeUndefined();
      for (const name of ['parsingJob', 'submitReport', 'fetchWorkoutStream']) {
        await stage.temporal.workflow.getHandle(workflowIds[name] ?? '').terminate();
      }
    } finally {
      await worker.stop();
    }
  });
});

test('a worker that is away for the whole grace adds no time to it', async () => {
  const leaver = await Leaver.arrive(stage);
  const handle = await leaver.requestDeletion({ graceDays: 4 / 86_400, policy: { reminderBefore: '2s' } });
  await leaver.tells('deletion_scheduled');
  await stage.stopWorker();
  await sleep(Date.parse(handle.requested?.graceUntil ?? '') - Date.now() + 1000);
  await stage.startWorker();
  const began = Date.now();
  const { graceUntil, outcome } = await handle.result();
  expect({ graceUntil, outcome }).toEqual({ graceUntil: handle.requested?.graceUntil, outcome: 'deleted' });
  expect(Date.now() - began).toBeLessThan(4000);
  expect(leaver.told, 'a reminder after the end is none').toEqual(['deletion_scheduled', 'deleted']);
});
