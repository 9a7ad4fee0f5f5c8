import ms from 'ms';
import { describe, expect, test } from 'vitest';
import { deleteUserId } from '../../protocol/ids.js';
import { labAttentionKey } from '../../protocol/search-attributes.js';
import { Leaver } from './leaver.js';
import { eventsOf } from './recorded.js';
import { setStage, type Stage } from './story.js';

const stage = setStage({ keepsHealthData: true });

/** What the store has about the user. */
async function keptOf({ kept }: Stage, { userId }: Leaver): Promise<number> {
  if (!kept) throw new Error('This stage has no store.');
  const { store } = kept;
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

async function withHealthData(): Promise<Leaver> {
  const leaver = await Leaver.arrive(stage);
  await stage.sandbox.sendHealthData(leaver.userId, { kind: 'summary' });
  await stage.sandbox.sendHealthData(leaver.userId, { kind: 'samples', count: 3 });
  await stage.sandbox.sendHealthData(leaver.userId, { kind: 'history' });
  await stage.sandbox.sendHealthData(leaver.userId, { kind: 'untidy', variant: 'without_provider' });
  await stage.sandbox.settleWebhooks();
  expect(await keptOf(stage, leaver)).toBe(6);
  return leaver;
}

async function activitiesOf({ userId }: Leaver): Promise<string[]> {
  const events = await eventsOf(stage, deleteUserId(userId));
  return events.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? []);
}

test('the end of the grace erases all health data, and what arrives later is not kept', async () => {
  const leaver = await withHealthData();
  const other = await withHealthData();
  const handle = await leaver.requestDeletion();
  await stage.skip('6 days');
  expect(await keptOf(stage, leaver), 'within the grace all is there').toBe(6);
  await stage.skip('25 hours');
  expect(await handle.result()).toMatchObject({ outcome: 'deleted' });
  expect(await keptOf(stage, leaver)).toBe(0);
  expect(leaver.notified).toEqual(['deletion_scheduled', 'deletion_reminder', 'deleted']);
  expect((await activitiesOf(leaver)).filter((name) => name === 'eraseHealthData')).toHaveLength(1);
  const body = JSON.stringify({ user_id: leaver.userId });
  const late = { id: `late-${leaver.userId}`, body };
  expect(await stage.kept?.store.setAside({ userId: leaver.userId, reason: 'late' }, late)).toBe('user_deleted');
  expect(await keptOf(stage, other)).toBe(6);
});

test('rejected events that name the user only by the product’s own reference are erased too', async () => {
  const leaver = await withHealthData();
  const body = JSON.stringify({ client_user_id: leaver.clientUserId });
  const message = { id: `odd-${leaver.userId}`, body };
  await stage.kept?.store.setAside({ reason: 'unreadable' }, message);
  const handle = await leaver.requestDeletion({ clientUserId: leaver.clientUserId });
  await stage.skip('8 days');
  await handle.result();
  const left = await stage.kept?.store.rejected.list({ limit: 1000 });
  expect(left?.filter(({ messageId }) => messageId === message.id)).toEqual([]);
});

describe('nothing is erased', () => {
  test('nothing is erased by an undo, however late', async () => {
    const leaver = await withHealthData();
    const handle = await leaver.requestDeletion();
    await stage.skip('6 days');
    expect(await handle.undo()).toMatchObject({ outcome: 'undone' });
    expect(await keptOf(stage, leaver)).toBe(6);
    expect(await activitiesOf(leaver)).not.toContain('eraseHealthData');
  });

  test('nothing is erased if the user was restored elsewhere', async () => {
    const leaver = await withHealthData();
    const handle = await leaver.requestDeletion();
    await stage.skip('3 days');
    await stage.sandbox.restoreUser(leaver.userId);
    await stage.skip('5 days');
    expect(await handle.result()).toMatchObject({ outcome: 'undone', undo: { by: 'elsewhere' } });
    expect(await keptOf(stage, leaver)).toBe(6);
  });

  test('nothing is erased by a deletion that is refused', async () => {
    const leaver = await withHealthData();
    const refusal = { kind: 'answer', status: 400, body: { detail: 'Not now' } } as const;
    await stage.sandbox.addFault({ method: 'DELETE', path: leaver.path, action: refusal });
    await expect(leaver.requestDeletion()).rejects.toMatchObject({ name: 'DeletionRefused' });
    expect(await keptOf(stage, leaver)).toBe(6);
  });
});

describe('a database that is away at the end', () => {
  test('delays the notification; a person is asked to look, and the deletion ends by itself', async () => {
    const leaver = await withHealthData();
    const handle = await leaver.requestDeletion();
    await stage.skip('6 days');
    if (stage.kept) stage.kept.isDown = true;
    await stage.skip('27 hours');
    const state = await leaver.expectState(handle, { phase: 'confirming' });
    expect(state.attention).toMatchObject([{ reason: 'erasure_delayed' }]);
    const { typedSearchAttributes } = await stage.temporal.workflow.getHandle(deleteUserId(leaver.userId)).describe();
    expect(typedSearchAttributes.get(labAttentionKey)).toEqual(['erasure_delayed']);
    expect(leaver.notified).not.toContain('deleted');
    if (stage.kept) stage.kept.isDown = false;
    expect(await stage.finish(deleteUserId(leaver.userId))).toMatchObject({ outcome: 'deleted', attention: [] });
    expect(await keptOf(stage, leaver)).toBe(0);
    expect(leaver.notified.slice(-3)).toEqual([
      'attention_raised erasure_delayed',
      'attention_cleared erasure_delayed',
      'deleted',
    ]);
  });

  test('erases nothing of a user who was restored elsewhere meanwhile', async () => {
    const leaver = await withHealthData();
    const handle = await leaver.requestDeletion({ graceDays: 1 });
    if (stage.kept) stage.kept.isDown = true;
    await stage.skip(ms('1 day') + ms('10 minutes'));
    await leaver.expectState(handle, { phase: 'confirming' });
    await stage.sandbox.restoreUser(leaver.userId);
    if (stage.kept) stage.kept.isDown = false;
    expect(await stage.finish(deleteUserId(leaver.userId))).toMatchObject({ outcome: 'undone' });
    expect(await keptOf(stage, leaver)).toBe(6);
  });
});
