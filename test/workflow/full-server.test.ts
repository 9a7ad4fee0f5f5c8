import { describe, expect, test, afterEach, beforeEach } from 'vitest';
import { randomUUID } from 'node:crypto';
import { errors } from '../../client/index.js';
import { Kit } from './kit.js';
import { LeavingUser } from './leaving-user.js';
import { UserLink } from './user-link.js';
import { Visit } from './visit.js';
import { bookAppointmentId, deleteUserId, kitOrderId, placeKitOrderId, submitReportId } from '../../protocol/ids.js';
import { all } from '../rig/all.js';
import { eventually } from '../rig/eventually.js';
import { labUserIdKey } from '../../protocol/search-attributes.js';
import { placeKitOrderName } from '../../protocol/order/placing-messages.js';
import { setStage, type RunningWorker } from './story.js';
import { submission, submit, uploadPath } from './report.js';
import { taskQueue } from '../rig/environments.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';
import { stateWith } from './watched.js';

/* The full server: it lists workflows, keeps its time, and lets workers come and go. */
const stage = setStage({ eventsPerRun: 10_000, keepsHealthData: true });

/** Visibility lags by about a second behind a start. */
async function listed(leavingUser: LeavingUser, ...names: string[]): Promise<void> {
  const query = `${labUserIdKey.name} = '${leavingUser.userId}' AND ExecutionStatus = 'Running'`;
  await eventually(async () => {
    const running = await all(stage.temporal.workflow.list({ query }));
    expect(running.map(({ type }) => type).toSorted()).toEqual(names);
  });
}

async function placeFor(leavingUser: LeavingUser) {
  const kit = await stage.place({ userId: leavingUser.userId });
  await kit.expectState({ userId: leavingUser.userId });
  await listed(leavingUser, 'kitOrder');
  return kit;
}

/** The work that a deletion by the usual policy is refused for. */
async function workThatPrevents(leavingUser: LeavingUser) {
  const refused: unknown = await leavingUser.requestDeletion().catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(errors.UserHasRunningWork);
  return (refused as errors.UserHasRunningWork).workflows;
}

const kitWork = (rootOrderId: string, more: object = {}) => ({
  workflowId: kitOrderId(rootOrderId),
  name: 'kitOrder',
  ...more,
});

/** A deletion that ends soon, so the next story has the stage for itself. */
const soon = { ...resolvePolicy('deletion'), grace: 1_000 };
const quick = { creationTimeout: '5s', creationSettling: '8s' } as const;

describe('running work', () => {
  test('prevents the deletion by default: it is named, and the service is asked nothing', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const kit = await placeFor(leavingUser);
    expect(await workThatPrevents(leavingUser)).toEqual([kitWork(kit.rootOrderId)]);
    expect(await leavingUser.readUser()).toBe('present');
    expect(await stage.countRequests('DELETE', leavingUser.path)).toBe(0);
    const handle = await stage.product.users.getDeletionHandle({ userId: leavingUser.userId });
    const work = [kitWork(kit.rootOrderId, { fate: 'left' })];
    expect(await handle.result()).toMatchObject({ outcome: 'running_work', work });
    await kit.expectState({ phase: 'awaiting_registration' });
  });

  test('of every kind is cancelled by its own command if the policy says so, also before it has an order or a job, and then the user is deleted', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const { userId } = leavingUser;
    const kit = await placeFor(leavingUser);
    const link = await UserLink.start(stage, { userId });
    const report = await submit(stage, { userId });
    const action = { kind: 'answer', status: 503 } as const;
    for (const path of ['/v3/order/testkit', uploadPath])
      await stage.sandbox.addFault({ method: 'POST', path, action });
    await stage.product.orders.place(await stage.input({ userId, policy: quick }));
    await stage.product.reports.submit(await submission(stage, { userId }));
    await listed(leavingUser, 'kitOrder', 'linkProvider', 'parsingJob', 'placeKitOrder', 'submitReport');
    const handle = await leavingUser.requestDeletion({ policy: { ...soon, onRunningWork: 'cancel' } });
    const ends = [kit.result(), link.handle.result(), report.handle.result()];
    const [{ outcome, work }, ...ended] = await Promise.all([handle.result(), ...ends]);
    expect(ended).toMatchObject([{ outcome: 'cancelled' }, { outcome: 'cancelled' }, { outcome: 'abandoned' }]);
    const fates = work.map(({ name, fate, reason }) => `${name} ${fate} ${reason ?? ''}`.trim());
    expect(fates.toSorted()).toEqual([
      ...['kitOrder cancelled', 'linkProvider cancelled', 'parsingJob cancelled NoLongerFollowed'],
      ...['placeKitOrder cancelled', 'submitReport cancelled'],
    ]);
    expect(outcome).toBe('deleted');
  });

  test('running work that is a placement by another backend is found even if that set no search attributes', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const down = { kind: 'answer', status: 503 } as const;
    await stage.sandbox.addFault({ method: 'POST', path: '/v3/order/testkit', action: down });
    const input = await stage.input({ userId: leavingUser.userId, policy: quick });
    const workflowId = placeKitOrderId(input.reference);
    await stage.temporal.workflow.start(placeKitOrderName, { workflowId, taskQueue, args: [input] });
    await listed(leavingUser, 'placeKitOrder');
    expect(await workThatPrevents(leavingUser)).toEqual([{ workflowId, name: 'placeKitOrder' }]);
    expect(await leavingUser.readUser()).toBe('present');
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
    const names = (await workThatPrevents(leavingUser)).map(({ name }) => name);
    expect(names.toSorted()).toEqual(['kitOrder', 'linkProvider', 'submitReport']);
    const [order] = await stage.sandbox.requests({ method: 'POST', path: '/v3/order/testkit' });
    expect(JSON.stringify(order)).not.toContain(shouted);
    expect(await all(stage.product.orders.list({ userId: shouted }))).toMatchObject([{ rootOrderId: kit.rootOrderId }]);
    await stage.temporal.workflow.getHandle(submitReportId(upload.reference)).terminate();
  });
});

test('a final deletion erases rejected events that name only an order or a report of the user', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const kit = await placeFor(leavingUser);
  const report = await submit(stage, { userId: leavingUser.userId });
  await listed(leavingUser, 'kitOrder', 'parsingJob');
  const aside = async (data: object): Promise<string> => {
    const id = randomUUID();
    await stage.store.setAside({ reason: 'not_handled' }, { id, body: JSON.stringify({ data }) });
    return id;
  };
  await aside({ order_id: kit.rootOrderId, result: 'critical' });
  await aside({ id: report.jobId });
  const other = await aside({ order_id: randomUUID() });
  const handle = await leavingUser.requestDeletion({ policy: { ...soon, onRunningWork: 'leave' } });
  expect(await handle.result()).toMatchObject({ outcome: 'deleted' });
  expect((await stage.store.rejected.list()).map(({ messageId }) => messageId)).toEqual([other]);
});

test('an appointment is running work of its user: a deletion cancels it if the policy says so', async () => {
  const visit = await Visit.start(stage);
  await visit.choose();
  const userId = (await visit.expectState({ phase: 'confirmed' })).userId ?? '';
  const query = `${labUserIdKey.name} = '${userId}' AND ExecutionStatus = 'Running'`;
  await eventually(async () => expect((await stage.temporal.workflow.count(query)).count).toBe(2));
  const leavingUser = new LeavingUser(stage, { user_id: userId, client_user_id: 'invented' });
  const policy = { ...soon, onRunningWork: 'cancel' } as const;
  const handle = await leavingUser.requestDeletion({ policy });
  const { work } = await handle.result();
  const found = work.find(({ workflowId }) => workflowId === bookAppointmentId(visit.orderId));
  // Its order is cancelled at the same time, and cancels the appointment too if it is faster.
  expect(['cancelled', 'ended']).toContain(found?.fate);
  expect(await stage.service.appointments.get(visit.orderId)).toMatchObject({ status: 'cancelled' });
});

test('a refusal names what was cancelled before', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const kit = await placeFor(leavingUser);
  const refusal = { kind: 'answer', status: 400, body: { detail: 'Not this one' } } as const;
  await stage.sandbox.addFault({ method: 'DELETE', path: leavingUser.path, action: refusal });
  const refused = await leavingUser
    .requestDeletion({ policy: { onRunningWork: 'cancel' } })
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(errors.DeletionRefused);
  expect((refused as errors.DeletionRefused).work).toEqual([kitWork(kit.rootOrderId, { fate: 'cancelled' })]);
});

test('a deletion that was notified as final stays final even if the service would still undo it', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  expect(await (await leavingUser.requestDeletion({ policy: soon })).result()).toMatchObject({ outcome: 'deleted' });
  const query = `WorkflowId = '${deleteUserId(leavingUser.userId)}' AND ExecutionStatus = 'Completed'`;
  await eventually(async () => expect((await stage.temporal.workflow.count(query)).count).toBe(1));
  expect(await leavingUser.readUser()).toMatch(/scheduled/);
  await expect(leavingUser.requestDeletion()).rejects.toBeInstanceOf(errors.UserUnknown);
  const again = await stage.product.users.getDeletionHandle({ userId: leavingUser.userId });
  expect(await again.result()).toMatchObject({ outcome: 'deleted' });
  await expect(again.undo()).rejects.toBeInstanceOf(errors.GraceEnded);
  expect(await leavingUser.readUser()).toMatch(/scheduled/);
});

test('a notification that the receiver refuses for good is set aside, the next one goes out, and an operator finds it and has it sent again', async () => {
  stage.receiver.refuses = ({ data }) => data['phase'] === 'in_transit_to_customer';
  const kit = await stage.place();
  await kit.move('transit_customer', 'with_customer');
  await kit.expectNotifications('phase_changed awaiting_registration', 'phase_changed awaiting_registration');
  expect(stage.receiver.refused).toHaveLength(1);
  const source = kitOrderId(kit.rootOrderId);
  await eventually(async () => {
    const waiting = await all(stage.product.notifications.list({ page: { limit: 10, onNext: () => undefined } }));
    expect(waiting.map((each) => each.source)).toContain(source);
  });
  expect(await stage.product.notifications.isWaiting(source)).toBe(true);
  const { undelivered } = await stage.product.notifications.state(source);
  expect(undelivered).toMatchObject([{ type: 'labops.order.phase_changed', refusedWith: 422 }]);
  stage.receiver.refuses = () => false;
  await stage.product.notifications.resend(source, { ids: [undelivered[0]?.id ?? ''] });
  await eventually(() => expect(kit.notified).toContain('phase_changed in_transit_to_customer'));
  await eventually(async () => expect(await stage.product.notifications.isWaiting(source)).toBe(false));
});

/** Two workers on one queue, of which one lacks NOTIFY_URL and DATABASE_URL. */
describe('a worker without the settings of another', () => {
  let forgetful: RunningWorker;
  beforeEach(async () => {
    forgetful = await stage.startForgetfulWorker();
  });
  afterEach(() => stage.startWorker());

  /** The other worker is alone: otherwise chance would decide how many attempts fail, at growing intervals. */
  async function takenOver(): Promise<void> {
    await forgetful.stop();
    await stage.startWorker();
  }

  /** Waits until an attempt of the activity has failed, and returns the failure. */
  async function failureOf(workflowId: string, activity: string): Promise<string> {
    return eventually(async () => {
      const { raw } = await stage.temporal.workflow.getHandle(workflowId).describe();
      const pending = raw.pendingActivities?.find(({ activityType }) => activityType?.name === activity);
      expect(pending?.lastFailure?.message).toBeTruthy();
      return pending?.lastFailure?.message ?? '';
    });
  }

  test('an order that only a worker without the endpoint has met keeps its notifications until a worker has it', async () => {
    await stage.stopWorker();
    const handle = await stage.product.orders.place(await stage.input());
    const kit = new Kit(stage, handle, await handle.orderId());
    await kit.expectState({ phase: 'awaiting_registration' });
    expect(await failureOf(kitOrderId(kit.rootOrderId), 'notify')).toMatch(/set NOTIFY_URL and NOTIFY_SECRET/);
    await takenOver();
    await kit.expectNotifications('phase_changed awaiting_registration');
  });

  test('a worker without the database neither erases a deleted user’s data nor ends the deletion, until one has it', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const { userId } = leavingUser;
    await stage.sandbox.sendHealthData(userId, { kind: 'summary' });
    await stage.sandbox.settleWebhooks();
    const kept = async () => (await stage.store.summaries({ userId })).length;
    await eventually(async () => expect(await kept()).toBe(1));
    // The other one does all that comes before the erasure.
    await stage.stopWorker();
    const handle = await leavingUser.requestDeletion({ policy: { ...resolvePolicy('deletion'), grace: 2_000 } });
    expect(await failureOf(deleteUserId(userId), 'eraseHealthData')).toMatch(/DATABASE_URL is not set/);
    await stateWith(handle, { phase: 'confirming' });
    expect(await kept()).toBe(1);
    await takenOver();
    expect(await handle.result()).toMatchObject({ outcome: 'deleted' });
    expect(await kept()).toBe(0);
    await eventually(() => expect(leavingUser.notified.at(-1)).toBe('deleted'));
  });
});
