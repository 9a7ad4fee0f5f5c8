import { expect, test } from 'vitest';
import { deleteUserId } from '../../protocol/ids.js';
import { eventually } from '../rig/eventually.js';
import { LeavingUser } from './leaving-user.js';
import { setStage } from './story.js';

// So few that a deletion that is requested several times continues in a new run.
const stage = setStage({ eventsPerRun: 40 });

test('a deletion that is requested very often continues in new runs, notifies once and can be undone', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const handle = await leavingUser.requestDeletion();
  // If a run ends while it notifies, the next one notifies again.
  await leavingUser.expectNotifications('deletion_scheduled');
  const workflow = stage.temporal.workflow.getHandle(deleteUserId(leavingUser.userId));
  const { runId: first } = await workflow.describe();
  const { graceUntil } = await handle.state();
  for (let n = 0; n < 12; n += 1) {
    const again = await leavingUser.requestDeletion();
    expect(again.requested).toMatchObject({ phase: 'grace', graceUntil });
  }
  await eventually(async () => expect((await workflow.describe()).runId).not.toBe(first));
  expect(await handle.state()).toMatchObject({ phase: 'grace', graceUntil });
  expect(await handle.undo()).toMatchObject({
    outcome: 'undone',
    undo: { lostConnections: ['invented_watch', 'invented_ring'] },
  });
  expect(await handle.result()).toMatchObject({ outcome: 'undone' });
  await leavingUser.expectNotifications('deletion_scheduled', 'deletion_undone');
  expect(await leavingUser.readUser()).toBe('present');
});

test('a request to delete again that arrives during the change to a new run is not lost', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const handle = await leavingUser.requestDeletion();
  const workflow = stage.temporal.workflow.getHandle(deleteUserId(leavingUser.userId));
  while ((await workflow.describe()).historyLength < 36) await leavingUser.requestDeletion();
  const { runId: first } = await workflow.describe();
  await stage.sandbox.restoreUser(leavingUser.userId);
  expect((await leavingUser.requestDeletion()).requested).toMatchObject({ phase: 'grace' });
  await eventually(async () => expect((await workflow.describe()).runId).not.toBe(first));
  // So soon after the first request a read may be older than it: the user is read half a minute later, in real time here.
  await expect
    .poll(() => leavingUser.notified, { timeout: 90_000, interval: 100 })
    .toEqual(['deletion_scheduled', 'deletion_undone', 'deletion_scheduled']);
  expect(await leavingUser.readUser()).not.toBe('present');
  await handle.undo();
});
