import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { DeletionRefused, GraceEnded, UserHasRunningWork, UserUnknown } from '../../client/index.js';
import { deleteUserId } from '../../workflows/deletion/address.js';
import { kitOrderId, placeKitOrderId } from '../../workflows/order/address.js';
import { parsingJobId, submitReportId } from '../../workflows/report/address.js';
import { labUserIdKey } from '../../workflows/search-attributes.js';
import { ALink } from './a-link.js';
import { eventually } from '../rig/eventually.js';
import { Leaver } from './leaver.js';
import { submission, submit, uploadPath } from './report.js';
import { eventsOf } from './recorded.js';
import { setStage } from './story.js';

/* The full server: running work is found by visibility, which the one that skips time has not. */
const stage = setStage({ eventsPerRun: 10_000 });

/** Visibility lags by about a second behind a start. */
async function listed(leaver: Leaver, ...names: string[]): Promise<void> {
  const query = `${labUserIdKey.name} = '${leaver.userId}' AND ExecutionStatus = 'Running'`;
  await eventually(async () => {
    const running: string[] = [];
    for await (const { type } of stage.temporal.workflow.list({ query })) running.push(type);
    expect(running.toSorted()).toEqual(names);
  });
}

async function placeFor(leaver: Leaver) {
  const kit = await stage.place({ userId: leaver.userId });
  await kit.shows({ userId: leaver.userId });
  await listed(leaver, 'kitOrder');
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
    await listed(leaver, 'placeKitOrder');
    const handle = await leaver.requestDeletion({ ...soon, policy: { onRunningWork: 'cancel' } });
    const workflowId = placeKitOrderId(input.reference);
    expect(handle.requested?.work).toEqual([
      { workflowId, name: 'placeKitOrder', fate: 'not_cancelled', reason: 'NoCancelCommand' },
    ]);
  });

  test('is found whatever case the user id was given in when it was started', async () => {
    const leaver = await Leaver.arrive(stage);
    const shouted = leaver.userId.toUpperCase();
    await ALink.start(stage, { userId: shouted });
    const kit = await stage.place({ userId: shouted });
    await stage.sandbox.addFault({ method: 'POST', path: uploadPath, action: { kind: 'answer', status: 503 } });
    const upload = await submission(stage, { userId: shouted });
    await stage.product.reports.submit(upload);
    await listed(leaver, 'kitOrder', 'linkProvider', 'submitReport');
    const refused: unknown = await leaver.requestDeletion().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UserHasRunningWork);
    const names = (refused as UserHasRunningWork).workflows.map(({ name }) => name);
    expect(names.toSorted()).toEqual(['kitOrder', 'linkProvider', 'submitReport']);
    const [order] = await stage.sandbox.requests({ method: 'POST', path: '/v3/order/testkit' });
    expect(JSON.stringify(order)).not.toContain(shouted);
    for await (const { rootOrderId } of stage.product.orders.list({ userId: shouted })) {
      expect(rootOrderId).toBe(kit.rootOrderId);
    }
    await stage.temporal.workflow.getHandle(submitReportId(upload.reference)).terminate();
  });

  test('of other users is none of this one', async () => {
    const [leaver, other] = [await Leaver.arrive(stage), await Leaver.arrive(stage)];
    await placeFor(other);
    expect((await leaver.requestDeletion(soon)).requested).toMatchObject({ phase: 'grace', work: [] });
  });
});

describe('links and reports', () => {
  test('are cancelled by their own command; a report may come back, and its upload has no such command', async () => {
    const leaver = await Leaver.arrive(stage);
    const link = await ALink.start(stage, { userId: leaver.userId });
    const report = await submit(stage, { userId: leaver.userId });
    const down = { kind: 'answer', status: 503 } as const;
    await stage.sandbox.addFault({ method: 'POST', path: uploadPath, action: down });
    const upload = await submission(stage, { userId: leaver.userId });
    await stage.product.reports.submit(upload);
    await listed(leaver, 'linkProvider', 'parsingJob', 'submitReport');
    const handle = await leaver.requestDeletion({ ...soon, policy: { onRunningWork: 'cancel' } });
    const fates = Object.fromEntries(
      (handle.requested?.work ?? []).map(({ name, fate, reason }) => [name, `${fate} ${reason ?? ''}`.trim()]),
    );
    expect(fates).toEqual({
      linkProvider: 'cancelled',
      parsingJob: 'cancelled NoLongerFollowed',
      submitReport: 'not_cancelled NoCancelCommand',
    });
    expect(await link.handle.result()).toMatchObject({ outcome: 'cancelled' });
    expect(await report.handle.result()).toMatchObject({ outcome: 'abandoned' });
    await stage.temporal.workflow.getHandle(submitReportId(upload.reference)).terminate();
  });

  test('that only wait for a receiver that is down are no running work any more', async () => {
    const leaver = await Leaver.arrive(stage);
    const report = await submit(stage, { userId: leaver.userId });
    stage.receiver.isDown = true;
    await stage.sandbox.moveJob(report.jobId, { status: 'completed', results: 'none' });
    await eventually(async () => {
      const query = `WorkflowId = '${parsingJobId(report.jobId)}' AND LabPhase = 'completed' AND ExecutionStatus = 'Running'`;
      expect((await stage.temporal.workflow.count(query)).count).toBe(1);
    });
    expect((await leaver.requestDeletion(soon)).requested).toMatchObject({ phase: 'grace', work: [] });
    stage.receiver.isDown = false;
  });
});

test('work is not cancelled before it is known that there is anything to delete', async () => {
  const leaver = await Leaver.arrive(stage);
  const kit = await placeFor(leaver);
  const unknown = { kind: 'answer', status: 404, body: { detail: 'Not found' } } as const;
  await stage.sandbox.addFault({ path: leaver.path, action: unknown });
  const requesting = leaver.requestDeletion({ policy: { onRunningWork: 'cancel' } });
  await expect(requesting).rejects.toBeInstanceOf(UserUnknown);
  await kit.shows({ phase: 'awaiting_registration' });
});

test('a refusal says what was cancelled before', async () => {
  const leaver = await Leaver.arrive(stage);
  const kit = await placeFor(leaver);
  const refusal = { kind: 'answer', status: 400, body: { detail: 'Not this one' } } as const;
  await stage.sandbox.addFault({ method: 'DELETE', path: leaver.path, action: refusal });
  const refused = await leaver
    .requestDeletion({ policy: { onRunningWork: 'cancel' } })
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(DeletionRefused);
  expect((refused as DeletionRefused).work).toEqual([kitWork(kit.rootOrderId, { fate: 'cancelled' })]);
});

test('what was told to be final stays final while the service would still undo it', async () => {
  const leaver = await Leaver.arrive(stage);
  expect(await (await leaver.requestDeletion(soon)).result()).toMatchObject({ outcome: 'deleted' });
  const query = `WorkflowId = '${deleteUserId(leaver.userId)}' AND ExecutionStatus = 'Completed'`;
  await eventually(async () => expect((await stage.temporal.workflow.count(query)).count).toBe(1));
  expect(await leaver.reads()).toMatch(/scheduled/);
  await expect(leaver.requestDeletion()).rejects.toBeInstanceOf(UserUnknown);
  const again = await stage.product.users.deletion(leaver.userId);
  expect(await again.result()).toMatchObject({ outcome: 'deleted' });
  await expect(again.undo()).rejects.toBeInstanceOf(GraceEnded);
  expect(await leaver.reads()).toMatch(/scheduled/);
});

test('a worker that is away for the whole grace adds no time to it', async () => {
  const leaver = await Leaver.arrive(stage);
  const handle = await leaver.requestDeletion({ graceDays: 8 / 86_400, policy: { reminderBefore: '2s' } });
  await leaver.tells('deletion_scheduled');
  await stage.stopWorker();
  await sleep(Date.parse(handle.requested?.graceUntil ?? '') - Date.now() + 1000);
  await stage.startWorker();
  const { graceUntil, outcome } = await handle.result();
  expect({ graceUntil, outcome }).toEqual({ graceUntil: handle.requested?.graceUntil, outcome: 'deleted' });
  const late = (await eventsOf(stage, deleteUserId(leaver.userId))).filter(
    ({ eventTime }) => Number(eventTime?.seconds) * 1000 > Date.parse(graceUntil ?? ''),
  );
  const [next] = late.filter(
    (event) => event.timerStartedEventAttributes ?? event.activityTaskScheduledEventAttributes,
  );
  expect(next?.activityTaskScheduledEventAttributes, 'it goes on at once').toBeTruthy();
  expect(leaver.told, 'a reminder after the end is none').toEqual(['deletion_scheduled', 'deleted']);
});
