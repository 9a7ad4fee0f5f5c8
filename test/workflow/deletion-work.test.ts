import { randomUUID } from 'node:crypto';
import { resolveDeletionPolicy } from '../../protocol/deletion/policy.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { DeletionRefused, GraceEnded, UserHasRunningWork, UserUnknown } from '../../client/index.js';
import {
  bookAppointmentId,
  deleteUserId,
  kitOrderId,
  placeKitOrderId,
  parsingJobId,
  submitReportId,
} from '../../protocol/ids.js';
import { bookAppointmentName } from '../../protocol/appointment/messages.js';
import { placeKitOrderName } from '../../protocol/order/placing-messages.js';
import { labUserIdKey } from '../../protocol/search-attributes.js';
import { UserLink } from './user-link.js';
import { taskQueue } from '../rig/environments.js';
import { eventually } from '../rig/eventually.js';
import { LeavingUser } from './leaving-user.js';
import { submission, submit, uploadPath } from './report.js';
import { eventsOf } from './recorded.js';
import { setStage } from './story.js';

/* The full server: running work is found by visibility, which the one that skips time has not. */
const stage = setStage({ eventsPerRun: 10_000, keepsHealthData: true });

/** Visibility lags by about a second behind a start. */
async function listed(leavingUser: LeavingUser, ...names: string[]): Promise<void> {
  const query = `${labUserIdKey.name} = '${leavingUser.userId}' AND ExecutionStatus = 'Running'`;
  await eventually(async () => {
    const running: string[] = [];
    for await (const { type } of stage.temporal.workflow.list({ query })) running.push(type);
    expect(running.toSorted()).toEqual(names);
  });
}

async function placeFor(leavingUser: LeavingUser) {
  const kit = await stage.place({ userId: leavingUser.userId });
  await kit.expectState({ userId: leavingUser.userId });
  await listed(leavingUser, 'kitOrder');
  return kit;
}

const kitWork = (rootOrderId: string, more: object = {}) => ({
  workflowId: kitOrderId(rootOrderId),
  name: 'kitOrder',
  ...more,
});

/** A deletion that ends soon, so the next story has the stage for itself. */
const soon = { ...resolveDeletionPolicy(), grace: 1_000 };
/** On a busy machine so short a grace is over when the request is answered. */
const accepted = expect.stringMatching(/^(grace|confirming)$/) as string;

describe('running work', () => {
  test('prevents the deletion by default: it is named, and the service is asked nothing', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const kit = await placeFor(leavingUser);
    const refused: unknown = await leavingUser.requestDeletion().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UserHasRunningWork);
    expect((refused as UserHasRunningWork).workflows).toEqual([kitWork(kit.rootOrderId)]);
    expect(await leavingUser.readUser()).toBe('present');
    expect(await stage.countRequests('DELETE', leavingUser.path)).toBe(0);
    const handle = await stage.product.users.deletion(leavingUser.userId);
    const work = [kitWork(kit.rootOrderId, { fate: 'left' })];
    expect(await handle.result()).toMatchObject({ outcome: 'running_work', work });
    await kit.expectState({ phase: 'awaiting_registration' });
  });

  test('is left alone and named if the policy says so', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const kit = await placeFor(leavingUser);
    const handle = await leavingUser.requestDeletion({ policy: { ...soon, onRunningWork: 'leave' } });
    const work = [kitWork(kit.rootOrderId, { fate: 'left' })];
    expect(handle.requested).toMatchObject({ phase: accepted, work });
    await kit.expectState({ phase: 'awaiting_registration' });
    expect(await handle.result()).toMatchObject({ outcome: 'deleted', work });
  });

  test('is cancelled if the policy says so, and then the user is deleted', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const kit = await placeFor(leavingUser);
    const handle = await leavingUser.requestDeletion({ policy: { ...soon, onRunningWork: 'cancel' } });
    const work = [kitWork(kit.rootOrderId, { fate: 'cancelled' })];
    expect(handle.requested).toMatchObject({ phase: accepted, work });
    expect(await kit.result()).toMatchObject({ outcome: 'cancelled' });
    expect(await handle.result()).toMatchObject({ outcome: 'deleted', work });
  });

  test('running work that cannot be cancelled is named with the reason, and does not hold up the deletion', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const kit = await placeFor(leavingUser);
    await kit.move('transit_customer');
    const handle = await leavingUser.requestDeletion({ policy: { ...soon, onRunningWork: 'cancel' } });
    const work = [kitWork(kit.rootOrderId, { fate: 'not_cancelled', reason: 'CancelRefused' })];
    expect(handle.requested).toMatchObject({ phase: accepted, work });
    await kit.expectState({ phase: 'in_transit_to_customer' });
  });

  test('running work that is a placement is cancelled before it has an order', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const down = { kind: 'answer', status: 503 } as const;
    await stage.sandbox.addFault({ method: 'POST', path: '/v3/order/testkit', action: down });
    const input = await stage.input({ userId: leavingUser.userId, policy: { creationTimeout: '5s' } });
    await stage.product.orders.place(input);
    await listed(leavingUser, 'placeKitOrder');
    const handle = await leavingUser.requestDeletion({ policy: { ...soon, onRunningWork: 'cancel' } });
    const workflowId = placeKitOrderId(input.reference);
    expect(handle.requested?.work).toEqual([{ workflowId, name: 'placeKitOrder', fate: 'cancelled' }]);
  });

  test('running work that is a placement by another backend is found even if that set no search attributes', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const down = { kind: 'answer', status: 503 } as const;
    await stage.sandbox.addFault({ method: 'POST', path: '/v3/order/testkit', action: down });
    const input = await stage.input({ userId: leavingUser.userId, policy: { creationTimeout: '5s' } });
    const workflowId = placeKitOrderId(input.reference);
    await stage.temporal.workflow.start(placeKitOrderName, { workflowId, taskQueue, args: [input] });
    await listed(leavingUser, 'placeKitOrder');
    const refused: unknown = await leavingUser.requestDeletion().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UserHasRunningWork);
    expect((refused as UserHasRunningWork).workflows).toEqual([{ workflowId, name: 'placeKitOrder' }]);
    expect(await leavingUser.readUser()).toBe('present');
  });

  test('running work that is a submission whose file is never taken is cancelled, and does not hold up the deletion', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const refuse = { kind: 'refuse' } as const;
    await stage.sandbox.addFault({ method: 'POST', path: uploadPath, action: refuse });
    const given = await submission(stage, { userId: leavingUser.userId });
    await stage.product.reports.submit(given);
    await listed(leavingUser, 'submitReport');
    const handle = await leavingUser.requestDeletion({ policy: { ...soon, onRunningWork: 'cancel' } });
    const work = [{ workflowId: submitReportId(given.reference), name: 'submitReport', fate: 'cancelled' }];
    expect(handle.requested).toMatchObject({ phase: accepted, work });
    const query = `WorkflowId = '${submitReportId(given.reference)}' AND ExecutionStatus = 'Running'`;
    await eventually(async () => expect((await stage.temporal.workflow.count(query)).count).toBe(0));
    expect(await handle.result()).toMatchObject({ outcome: 'deleted', work });
  });

  test('running work that is a submission whose file is just being taken is no longer followed either', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    // Meanwhile the deletion is started and finds it, with all that a busy machine takes for that.
    const action = { kind: 'delay', delayMs: 10_000 } as const;
    await stage.sandbox.addFault({ method: 'POST', path: uploadPath, times: 1, action });
    const given = await submission(stage, { userId: leavingUser.userId });
    const report = await stage.product.reports.submit(given);
    await listed(leavingUser, 'submitReport');
    const handle = await leavingUser.requestDeletion({ policy: { ...soon, onRunningWork: 'cancel' } });
    const workflowId = submitReportId(given.reference);
    const work = [{ workflowId, name: 'submitReport', fate: 'cancelled', reason: 'NoLongerFollowed' }];
    expect(handle.requested).toMatchObject({ phase: accepted, work });
    expect(await report.result()).toMatchObject({ outcome: 'abandoned' });
    expect(await handle.result()).toMatchObject({ outcome: 'deleted', work });
  });

  test('is found whichever case the user id had when it was started', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const shouted = leavingUser.userId.toUpperCase();
    await UserLink.start(stage, { userId: shouted });
    const kit = await stage.place({ userId: shouted });
    await stage.sandbox.addFault({ method: 'POST', path: uploadPath, action: { kind: 'answer', status: 503 } });
    const upload = await submission(stage, { userId: shouted });
    await stage.product.reports.submit(upload);
    await listed(leavingUser, 'kitOrder', 'linkProvider', 'submitReport');
    const refused: unknown = await leavingUser.requestDeletion().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UserHasRunningWork);
    const names = (refused as UserHasRunningWork).workflows.map(({ name }) => name);
    expect(names.toSorted()).toEqual(['kitOrder', 'linkProvider', 'submitReport']);
    const [order] = await stage.sandbox.requests({ method: 'POST', path: '/v3/order/testkit' });
    expect(JSON.stringify(order)).not.toContain(shouted);
    const found: (string | undefined)[] = [];
    for await (const { rootOrderId } of stage.product.orders.list({ userId: shouted })) found.push(rootOrderId);
    expect(found).toEqual([kit.rootOrderId]);
    await stage.temporal.workflow.getHandle(submitReportId(upload.reference)).terminate();
  });

  test('running work of other users is left alone', async () => {
    const [leavingUser, other] = [await LeavingUser.arrive(stage), await LeavingUser.arrive(stage)];
    await placeFor(other);
    expect((await leavingUser.requestDeletion({ policy: soon })).requested).toMatchObject({
      phase: accepted,
      work: [],
    });
  });
});

describe('links and reports', () => {
  test('are cancelled by their own command, even during an upload; a report may come back', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const link = await UserLink.start(stage, { userId: leavingUser.userId });
    const report = await submit(stage, { userId: leavingUser.userId });
    const down = { kind: 'answer', status: 503 } as const;
    await stage.sandbox.addFault({ method: 'POST', path: uploadPath, action: down });
    const upload = await submission(stage, { userId: leavingUser.userId });
    await stage.product.reports.submit(upload);
    await listed(leavingUser, 'linkProvider', 'parsingJob', 'submitReport');
    const handle = await leavingUser.requestDeletion({ policy: { ...soon, onRunningWork: 'cancel' } });
    const fates = Object.fromEntries(
      (handle.requested?.work ?? []).map(({ name, fate, reason }) => [name, `${fate} ${reason ?? ''}`.trim()]),
    );
    expect(fates).toEqual({
      linkProvider: 'cancelled',
      parsingJob: 'cancelled NoLongerFollowed',
      submitReport: 'cancelled',
    });
    expect(await link.handle.result()).toMatchObject({ outcome: 'cancelled' });
    expect(await report.handle.result()).toMatchObject({ outcome: 'abandoned' });
  });

  test('links and reports that only wait for a receiver that is down are no longer running work', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const report = await submit(stage, { userId: leavingUser.userId });
    stage.receiver.isDown = true;
    await stage.sandbox.moveJob(report.jobId, { status: 'completed', results: 'none' });
    await eventually(async () => {
      const query = `WorkflowId = '${parsingJobId(report.jobId)}' AND LabPhase = 'completed' AND ExecutionStatus = 'Running'`;
      expect((await stage.temporal.workflow.count(query)).count).toBe(1);
    });
    expect((await leavingUser.requestDeletion({ policy: soon })).requested).toMatchObject({
      phase: accepted,
      work: [],
    });
    stage.receiver.isDown = false;
  });
});

test('a final deletion erases rejected events that name only an order or a report of the user', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const kit = await placeFor(leavingUser);
  const report = await submit(stage, { userId: leavingUser.userId });
  await listed(leavingUser, 'kitOrder', 'parsingJob');
  const aside = async (data: object): Promise<string> => {
    const id = randomUUID();
    await stage.testStore?.store.setAside({ reason: 'not_handled' }, { id, body: JSON.stringify({ data }) });
    return id;
  };
  await aside({ order_id: kit.rootOrderId, result: 'critical' });
  await aside({ id: report.jobId });
  const other = await aside({ order_id: randomUUID() });
  const handle = await leavingUser.requestDeletion({ policy: { ...soon, onRunningWork: 'leave' } });
  expect(await handle.result()).toMatchObject({ outcome: 'deleted' });
  expect((await stage.testStore?.store.rejected.list())?.map(({ messageId }) => messageId)).toEqual([other]);
});

test('an appointment whose workflow does not answer does not hold up a final deletion', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const stuck = await stage.temporal.workflow.start(bookAppointmentName, {
    workflowId: bookAppointmentId(randomUUID()),
    taskQueue: 'a-queue-without-a-worker',
    typedSearchAttributes: [{ key: labUserIdKey, value: leavingUser.userId }],
  });
  stage.onClear(async () => void (await stuck.terminate()));
  await listed(leavingUser, 'bookAppointment');
  const messageId = randomUUID();
  const body = JSON.stringify({ user_id: leavingUser.userId });
  await stage.testStore?.store.setAside({ userId: leavingUser.userId, reason: 'not_handled' }, { id: messageId, body });
  const handle = await leavingUser.requestDeletion({ policy: { ...soon, onRunningWork: 'leave' } });
  expect(await handle.result({ deadline: '80s' })).toMatchObject({ outcome: 'deleted' });
  expect((await stage.testStore?.store.rejected.list())?.filter((event) => event.messageId === messageId)).toEqual([]);
});

test('work is not cancelled before it is known that there is anything to delete', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const kit = await placeFor(leavingUser);
  const unknown = { kind: 'answer', status: 404, body: { detail: 'Not found' } } as const;
  await stage.sandbox.addFault({ path: leavingUser.path, action: unknown });
  const requesting = leavingUser.requestDeletion({ policy: { onRunningWork: 'cancel' } });
  await expect(requesting).rejects.toBeInstanceOf(UserUnknown);
  await kit.expectState({ phase: 'awaiting_registration' });
});

test('a refusal names what was cancelled before', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const kit = await placeFor(leavingUser);
  const refusal = { kind: 'answer', status: 400, body: { detail: 'Not this one' } } as const;
  await stage.sandbox.addFault({ method: 'DELETE', path: leavingUser.path, action: refusal });
  const refused = await leavingUser
    .requestDeletion({ policy: { onRunningWork: 'cancel' } })
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(DeletionRefused);
  expect((refused as DeletionRefused).work).toEqual([kitWork(kit.rootOrderId, { fate: 'cancelled' })]);
});

test('a deletion that was notified as final stays final even if the service would still undo it', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  expect(await (await leavingUser.requestDeletion({ policy: soon })).result()).toMatchObject({ outcome: 'deleted' });
  const query = `WorkflowId = '${deleteUserId(leavingUser.userId)}' AND ExecutionStatus = 'Completed'`;
  await eventually(async () => expect((await stage.temporal.workflow.count(query)).count).toBe(1));
  expect(await leavingUser.readUser()).toMatch(/scheduled/);
  await expect(leavingUser.requestDeletion()).rejects.toBeInstanceOf(UserUnknown);
  const again = await stage.product.users.deletion(leavingUser.userId);
  expect(await again.result()).toMatchObject({ outcome: 'deleted' });
  await expect(again.undo()).rejects.toBeInstanceOf(GraceEnded);
  expect(await leavingUser.readUser()).toMatch(/scheduled/);
});

test('a worker that is away for the whole grace adds no time to it', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const handle = await leavingUser.requestDeletion({
    policy: { ...resolveDeletionPolicy(), grace: 30_000, reminderBefore: 2_000 },
  });
  await leavingUser.expectNotifications('deletion_scheduled');
  await stage.stopWorker();
  await sleep(Date.parse(handle.requested?.graceUntil ?? '') - Date.now() + 1000);
  await stage.startWorker();
  const { version, graceUntil, outcome } = await handle.result();
  const end = handle.requested?.graceUntil;
  expect({ version, graceUntil, outcome }).toEqual({ version: 1, graceUntil: end, outcome: 'deleted' });
  const late = (await eventsOf(stage, deleteUserId(leavingUser.userId))).filter(
    ({ eventTime }) => Number(eventTime?.seconds) * 1000 > Date.parse(graceUntil ?? ''),
  );
  const [next] = late.filter(
    (event) => event.timerStartedEventAttributes ?? event.activityTaskScheduledEventAttributes,
  );
  expect(next?.activityTaskScheduledEventAttributes, 'it goes on at once').toBeTruthy();
  expect(leavingUser.notified, 'a reminder after the end is none').toEqual(['deletion_scheduled', 'deleted']);
});
