import { afterEach, beforeEach, expect, test } from 'vitest';
import { Kit } from './kit.js';
import { LeavingUser } from './leaving-user.js';
import { deleteUserId, kitOrderId } from '../../protocol/ids.js';
import { eventually } from '../rig/eventually.js';
import { resolveDeletionPolicy } from '../../protocol/deletion/policy.js';
import { setStage, type RunningWorker } from './story.js';

/*
 * Two workers on one queue, of which one lacks NOTIFY_URL and DATABASE_URL. The full server: the one that skips time
 * keeps waiting for a worker that has stopped.
 */
const stage = setStage({ eventsPerRun: 10_000, keepsHealthData: true });

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
  const kept = async () => (await stage.testStore?.store.summaries({ userId }))?.length;
  await eventually(async () => expect(await kept()).toBe(1));
  // The other one does all that comes before the erasure.
  await stage.stopWorker();
  const handle = await leavingUser.requestDeletion({ policy: { ...resolveDeletionPolicy(), grace: 8_000 } });
  expect(await failureOf(deleteUserId(userId), 'eraseHealthData')).toMatch(/DATABASE_URL is not set/);
  await leavingUser.expectState(handle, { phase: 'confirming' });
  expect(await kept()).toBe(1);
  await takenOver();
  expect(await handle.result()).toMatchObject({ outcome: 'deleted' });
  expect(await kept()).toBe(0);
  await eventually(() => expect(leavingUser.notified.at(-1)).toBe('deleted'));
});
