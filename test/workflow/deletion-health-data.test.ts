import { describe, expect, test } from 'vitest';
import { deleteUserId } from '../../protocol/ids.js';
import { labAttentionKey } from '../../protocol/search-attributes.js';
import { eventually } from '../rig/eventually.js';
import { LeavingUser } from './leaving-user.js';
import { eventsOf } from './recorded.js';
import { setStage, type Stage } from './story.js';

const stage = setStage({ keepsHealthData: true });

/** What the store has about the user. */
async function storedOf({ testStore }: Stage, { userId }: LeavingUser): Promise<number> {
  if (!testStore) throw new Error('This stage has no store.');
  const { store } = testStore;
  const found = [...(await store.summaries({ userId })), ...(await store.historyNotices(userId))];
  const samples = store.samples({
    userId,
    resource: 'glucose',
    from: '2000-01-01T00:00:00Z',
    to: '2100-01-01T00:00:00Z',
  });
  for await (const sample of samples) found.push(sample as never);
  const rejected = await store.rejected.list({ limit: 1000 });
  return found.length + rejected.filter((event) => event.userId === userId).length;
}

async function withHealthData(): Promise<LeavingUser> {
  const leavingUser = await LeavingUser.arrive(stage);
  await stage.sandbox.sendHealthData(leavingUser.userId, { kind: 'summary' });
  await stage.sandbox.sendHealthData(leavingUser.userId, { kind: 'samples', count: 3 });
  await stage.sandbox.sendHealthData(leavingUser.userId, { kind: 'history' });
  await stage.sandbox.sendHealthData(leavingUser.userId, { kind: 'untidy', variant: 'without_provider' });
  await stage.sandbox.settleWebhooks();
  await eventually(async () => expect(await storedOf(stage, leavingUser)).toBe(6));
  return leavingUser;
}

async function activitiesOf({ userId }: LeavingUser): Promise<string[]> {
  const events = await eventsOf(stage, deleteUserId(userId));
  return events.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? []);
}

test('the end of the grace erases all health data, and what arrives later is not kept', async () => {
  const leavingUser = await withHealthData();
  const other = await withHealthData();
  const handle = await leavingUser.requestDeletion();
  await stage.skip('6 days');
  expect(await storedOf(stage, leavingUser), 'within the grace all is there').toBe(6);
  await stage.skip('25 hours');
  expect(await handle.result()).toMatchObject({ outcome: 'deleted' });
  expect(await storedOf(stage, leavingUser)).toBe(0);
  expect(leavingUser.notified).toEqual(['deletion_scheduled', 'deletion_reminder', 'deleted']);
  expect((await activitiesOf(leavingUser)).filter((name) => name === 'eraseHealthData')).toHaveLength(1);
  const body = JSON.stringify({ user_id: leavingUser.userId });
  const late = { id: `late-${leavingUser.userId}`, body };
  expect(await stage.testStore?.store.setAside({ userId: leavingUser.userId, reason: 'late' }, late)).toBe(
    'user_deleted',
  );
  expect(await storedOf(stage, other)).toBe(6);
});

test('rejected events that name the user only by the product’s own reference are erased too', async () => {
  const leavingUser = await withHealthData();
  const body = JSON.stringify({ client_user_id: leavingUser.clientUserId });
  const message = { id: `odd-${leavingUser.userId}`, body };
  await stage.testStore?.store.setAside({ reason: 'unreadable' }, message);
  const handle = await leavingUser.requestDeletion({ clientUserId: leavingUser.clientUserId });
  await stage.skip('8 days');
  await handle.result();
  const left = await stage.testStore?.store.rejected.list({ limit: 1000 });
  expect(left?.filter(({ messageId }) => messageId === message.id)).toEqual([]);
});

describe('a database that is away at the end', () => {
  test('delays the notification; a person is asked to look, and the deletion ends by itself', async () => {
    const leavingUser = await withHealthData();
    const handle = await leavingUser.requestDeletion();
    await stage.skip('6 days');
    if (stage.testStore) stage.testStore.isDown = true;
    await stage.skip('27 hours');
    const state = await leavingUser.expectState(handle, { phase: 'confirming' });
    expect(state.attention).toMatchObject([{ reason: 'erasure_delayed' }]);
    const { typedSearchAttributes } = await stage.temporal.workflow
      .getHandle(deleteUserId(leavingUser.userId))
      .describe();
    expect(typedSearchAttributes.get(labAttentionKey)).toEqual(['erasure_delayed']);
    expect(leavingUser.notified).not.toContain('deleted');
    if (stage.testStore) stage.testStore.isDown = false;
    expect(await stage.finish(deleteUserId(leavingUser.userId))).toMatchObject({ outcome: 'deleted', attention: [] });
    expect(await storedOf(stage, leavingUser)).toBe(0);
    expect(leavingUser.notified.slice(-3)).toEqual([
      'attention_raised erasure_delayed',
      'attention_cleared erasure_delayed',
      'deleted',
    ]);
  });
});
