import { afterEach, describe, expect, test } from 'vitest';
import { UserHasRunningWork } from '../../client/index.js';
import type { RunningWork, WorkFate } from '../../protocol/deletion/messages.js';
import { eventually } from '../rig/eventually.js';
import { deleteUserId } from '../../protocol/ids.js';
import { eventsOf } from './recorded.js';
import { LeavingUser } from './leaving-user.js';
import { setStage } from './story.js';

/** A cancellation that takes long. */
const cancelling = { isStuck: true, started: 0 };

/* Temporal's list: the server that skips time has none, and the other one is never down. */
const list = { isDown: false, asked: 0, work: [] as RunningWork[], late: [] as RunningWork[] };

const stage = setStage({
  activities: {
    findRunningWork() {
      list.asked += 1;
      if (list.isDown) throw new Error('Temporal has no list now');
      return Promise.resolve({ work: list.asked > 1 ? [...list.work, ...list.late] : list.work, notifies: true });
    },
    cancelWork(): Promise<WorkFate> {
      cancelling.started += 1;
      if (cancelling.isStuck) throw new Error('It does not answer now');
      return Promise.resolve({ fate: 'cancelled' });
    },
  },
});

afterEach(() => {
  Object.assign(list, { isDown: false, asked: 0, work: [], late: [] });
  Object.assign(cancelling, { isStuck: true, started: 0 });
});

const kit = { workflowId: 'kit-order/0d4c1f7e-5a11-4e0b-9d0e-2f1b6c7a8d90', name: 'kitOrder' };

/** A request while Temporal's list cannot be read. */
async function requestWithoutList(leavingUser: LeavingUser) {
  list.isDown = true;
  const requesting = leavingUser.requestDeletion();
  await eventually(() => expect(list.asked).toBeGreaterThan(0));
  await leavingUser.untilRequested();
  // Between two attempts, which are made after 46 and 78 seconds.
  await stage.skip('55 seconds');
  const handle = await requesting;
  expect(handle.requested).toMatchObject({ phase: 'requested' });
  return handle;
}

test('running work that is found only after the request was answered is notified to the product, with what it is', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const handle = await requestWithoutList(leavingUser);
  Object.assign(list, { isDown: false, work: [kit] });
  await stage.skip('5 minutes');
  expect(await handle.result()).toMatchObject({ outcome: 'running_work', work: [{ ...kit, fate: 'left' }] });
  await leavingUser.expectNotifications('deletion_failed running_work');
  const [notified] = stage.receiver.accepted.filter(({ data }) => data['user_id'] === leavingUser.userId);
  expect(notified?.data).toMatchObject({ work: [{ name: 'kitOrder', fate: 'left' }] });
  expect(await stage.countRequests('DELETE', leavingUser.path)).toBe(0);
});

describe('work that began after the first check', () => {
  test('is found just before anything is sent, and nothing is deleted', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    list.late = [kit];
    const refused: unknown = await leavingUser.requestDeletion().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UserHasRunningWork);
    expect((refused as UserHasRunningWork).workflows).toEqual([kit]);
    expect(await stage.countRequests('DELETE', leavingUser.path)).toBe(0);
  });

  test('is cancelled too if the policy says so, and named with the rest', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const link = { workflowId: 'link-provider/invented/ring', name: 'linkProvider' };
    Object.assign(list, { work: [kit], late: [link] });
    cancelling.isStuck = false;
    const handle = await leavingUser.requestDeletion({ policy: { onRunningWork: 'cancel' } });
    expect(handle.requested).toMatchObject({
      phase: 'grace',
      work: [
        { ...kit, fate: 'cancelled' },
        { ...link, fate: 'cancelled' },
      ],
    });
    expect(cancelling.started).toBe(2);
  });
});

test('a deletion that is withdrawn before it is known whether the product must be notified is notified all the same', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const handle = await requestWithoutList(leavingUser);
  expect(await handle.undo()).toMatchObject({ outcome: 'undone', undo: { restored: [] } });
  await leavingUser.expectNotifications('deletion_undone');
});

describe('a deletion that is undone while running work is being cancelled', () => {
  async function undoneMeanwhile(leavingUser: LeavingUser) {
    list.work = [kit];
    const requesting = leavingUser.requestDeletion({ policy: { onRunningWork: 'cancel' } });
    await eventually(() => expect(cancelling.started).toBeGreaterThan(0));
    await leavingUser.untilRequested();
    await stage.skip('40 seconds');
    const handle = await requesting;
    const undoing = handle.undo();
    undoing.catch(() => undefined);
    // The undo was accepted: the second update, after the request.
    await eventually(async () => {
      const events = await eventsOf(stage, deleteUserId(leavingUser.userId));
      const accepted = events.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes);
      expect(accepted).toHaveLength(2);
    });
    await leavingUser.expectState(handle, { phase: 'requested' });
    return { handle, undoing };
  }

  test('is withdrawn: nothing was sent, and nothing is reported as restored', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const { handle, undoing } = await undoneMeanwhile(leavingUser);
    cancelling.isStuck = false;
    await stage.skip('30 seconds');
    expect(await undoing).toMatchObject({
      outcome: 'undone',
      undo: { by: 'command', restored: [], notRestored: [] },
      work: [{ ...kit, fate: 'cancelled' }],
    });
    expect(await handle.result()).not.toHaveProperty('scheduledAt');
    expect(await stage.countRequests('DELETE', leavingUser.path)).toBe(0);
  });

  test('is withdrawn even while the service is down', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const { handle, undoing } = await undoneMeanwhile(leavingUser);
    await stage.sandbox.addFault({ path: '/v2/user/**', action: { kind: 'answer', status: 503 } });
    cancelling.isStuck = false;
    await stage.skip('5 minutes');
    expect(await undoing).toMatchObject({ outcome: 'undone', undo: { restored: [] } });
    await stage.sandbox.removeFaults();
    await stage.skip('1 day');
    expect(await leavingUser.readUser()).toBe('present');
    expect(await handle.result()).toMatchObject({ outcome: 'undone' });
  });
});
