import { Client, WorkflowFailedError } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { randomUUID } from 'node:crypto';
import { errors, LabOperations } from '../../client/index.js';
import { LeavingUser } from './leaving-user.js';
import { Workout } from './workout.js';
import { deleteUserId, kitOrderId } from '../../protocol/ids.js';
import { activitiesOf, eventsOf, textOf } from './recorded.js';
import { all } from '../rig/all.js';
import { eventually } from '../rig/eventually.js';
import { glucose, sample, samplesOf, valuesOf } from '../store/received.js';
import { labUserIdKey } from '../../protocol/search-attributes.js';
import { orderEvent } from '../unit/webhooks/sending.js';
import { setStage } from './story.js';
import { taskQueue } from '../rig/environments.js';

/* Health data and rejected events, which the store keeps: what only a server shows of them; the store itself is tested in test/store. */

const stage = setStage({ keepsHealthData: true });

/** What the store has about the user. */
async function storedOf({ userId }: LeavingUser): Promise<number> {
  const { store } = stage;
  const rejected = (await store.rejected.list({ limit: 1000 })).filter((event) => event.userId === userId);
  const ofUser = [
    ...[await store.summaries({ userId }), await store.historyNotices(userId), rejected],
    await samplesOf(store, userId, 'glucose'),
  ];
  return ofUser.flat().length;
}

async function withHealthData(): Promise<LeavingUser> {
  const leavingUser = await LeavingUser.arrive(stage);
  await stage.sandbox.sendHealthData(leavingUser.userId, { kind: 'summary' });
  await stage.sandbox.sendHealthData(leavingUser.userId, { kind: 'samples', count: 3 });
  await stage.sandbox.sendHealthData(leavingUser.userId, { kind: 'history' });
  await stage.sandbox.sendHealthData(leavingUser.userId, { kind: 'untidy', variant: 'without_provider' });
  await stage.sandbox.settleWebhooks();
  await eventually(async () => expect(await storedOf(leavingUser)).toBe(6));
  return leavingUser;
}

test('the end of the grace erases all health data, and what arrives later is not kept', async () => {
  const leavingUser = await withHealthData();
  const other = await withHealthData();
  const handle = await leavingUser.requestDeletion();
  await stage.skip('6 days');
  expect(await storedOf(leavingUser), 'within the grace all is there').toBe(6);
  await stage.skip('25 hours');
  expect(await handle.result()).toMatchObject({ outcome: 'deleted' });
  expect(await storedOf(leavingUser)).toBe(0);
  expect(leavingUser.notified).toEqual(['deletion_scheduled', 'deletion_reminder', 'deleted']);
  expect(
    (await activitiesOf(stage, deleteUserId(leavingUser.userId))).filter((name) => name === 'eraseHealthData'),
  ).toHaveLength(1);
  const body = JSON.stringify({ user_id: leavingUser.userId });
  const late = { id: `late-${leavingUser.userId}`, body };
  expect(await stage.store.setAside({ userId: leavingUser.userId, reason: 'late' }, late)).toBe('user_deleted');
  expect(await storedOf(other)).toBe(6);
});

// proves 7, 215, 264, 303
test('a notice leads to the stream being fetched and kept, by one call of the service and one activity', async () => {
  const workout = await Workout.of(stage);
  await workout.sendNotice();
  expect(await workout.result()).toEqual({ workoutId: workout.workoutId, outcome: 'stored', moments: 60 });
  expect(await workout.stored()).toMatchObject({
    notice: { workout_id: workout.workoutId },
    stream: { power: null, resistance: [], heartrate: expect.arrayContaining([null, 110]) as number[] },
    fetchedAt: expect.any(String) as string,
  });
  expect(await workout.countReads()).toBe(1);
  expect(await workout.activities()).toEqual(['fetchStream']);
  const { typedSearchAttributes } = await stage.temporal.workflow.getHandle(workout.workflowId).describe();
  expect(typedSearchAttributes.get(labUserIdKey)).toBe(workout.userId);
  const text = textOf(await eventsOf(stage, workout.workflowId));
  expect(text, 'nothing of the stream enters Temporal').toContain(workout.workoutId);
  for (const word of ['heartrate', 'lat', 'altitude', 'sport', 'invented_run']) expect(text).not.toContain(`"${word}"`);
});

test('an update of the workout fetches the stream again, in a run of its own', async () => {
  const workout = await Workout.of(stage);
  await workout.sendNotice();
  await workout.result();
  const [before, firstRun] = [await workout.stored(), await workout.runId()];
  await workout.sendNotice();
  expect(await workout.runId()).not.toBe(firstRun);
  expect(await workout.result()).toMatchObject({ outcome: 'stored' });
  expect(await workout.countReads()).toBe(2);
  expect((await workout.stored())?.fetchedAt).not.toBe(before?.fetchedAt);
});

const at = '2026-01-05T10:00:00Z';

/** An event that an earlier release, or a database limit, put aside. */
async function storeRejected(event: Record<string, unknown>, reason = 'not_handled'): Promise<string> {
  const eventType = typeof event['event_type'] === 'string' ? event['event_type'] : undefined;
  const messageId = `msg_${randomUUID()}`;
  await stage.store.setAside({ eventType, reason }, { id: messageId, body: JSON.stringify(event) });
  const [latest] = await stage.store.rejected.list({ limit: 1 });
  expect(latest).toMatchObject({ messageId });
  return latest?.id ?? '';
}

const unknown = () => ({ event_type: `an.event.of.${randomUUID()}`, client_user_id: 'Testperson' });

/** A page of the list, and the token of the next one. */
async function listed(
  filter: Parameters<LabOperations['rejectedEvents']['list']>[0],
  part: { limit: number; after?: string },
) {
  let next: string | undefined;
  const onNext = (after: string) => void (next = after);
  const events = await all(stage.product.rejectedEvents.list(filter, { page: { ...part, onNext } }));
  return { events, next };
}

describe('the list', () => {
  test('has ids, types, reasons and times, a page at a time, and how many wait', async () => {
    const before = await stage.product.rejectedEvents.count();
    const type = `an.event.of.${randomUUID()}`;
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.push(await storeRejected({ ...unknown(), event_type: type }));
    await storeRejected(unknown(), 'unreadable: odd');
    expect(await stage.product.rejectedEvents.count()).toBe(before + 4);
    const { events, next } = await listed({ eventType: type }, { limit: 2 });
    expect(events.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    expect(events[0]).toEqual({
      id: ids[2],
      messageId: expect.stringMatching(/^msg_/) as string,
      eventType: type,
      reason: 'not_handled',
      receivedAt: expect.stringMatching(/Z$/) as string,
      state: 'waiting',
    });
    const last = await listed({ eventType: type }, { limit: 2, ...(next !== undefined && { after: next }) });
    expect(last).toMatchObject({ events: [{ id: ids[0] }], next: undefined });
    expect((await listed({ reason: 'unreadable' }, { limit: 1 })).events).toMatchObject([
      { reason: 'unreadable: odd' },
    ]);
  });

  test('leaves out users, and a type that does not look like one', async () => {
    await stage.store.setAside(
      { eventType: 'Testperson Invented, Springfield', userId: 'Testperson', reason: 'not_handled' },
      { id: randomUUID(), body: '{}' },
    );
    const { events } = await listed({}, { limit: 1 });
    expect(events[0]).not.toHaveProperty('eventType');
    expect(JSON.stringify(events)).not.toContain('Testperson');
  });
});

describe('a replay', () => {
  test('gives health data to the store as received when it first came, and erases the rejected body', async () => {
    const userId = randomUUID();
    const id = await storeRejected(glucose(userId, [sample(at, 7)]));
    const { receivedAt } = await stage.store.rejected.get(id);
    expect(await stage.product.rejectedEvents.replay({ id })).toEqual({
      replayed: { health_data_accepted: 1 },
      left: {},
      leftEvents: [],
    });
    expect(await samplesOf(stage.store, userId, 'glucose')).toMatchObject([{ receivedAt, data: { value: 7 } }]);
    expect(await stage.store.rejected.get(id)).toMatchObject({ state: 'replayed', body: null });
  });

  test('delivers an order’s event to its workflow', async () => {
    const { rootOrderId } = await stage.place();
    await stage.sandbox.settleWebhooks();
    const id = await storeRejected(orderEvent(rootOrderId), 'unreadable: a schema of last year');
    const signals = async () =>
      (await eventsOf(stage, kitOrderId(rootOrderId))).filter(
        (event) => event.workflowExecutionSignaledEventAttributes,
      );
    const before = (await signals()).length;
    expect(await stage.product.rejectedEvents.replay({ id })).toMatchObject({ replayed: { delivered: 1 } });
    await eventually(async () => expect(await signals()).toHaveLength(before + 1));
  });

  test('leaves an event that still cannot be handled waiting, with the reason, and goes on to the others', async () => {
    const userId = randomUUID();
    const reason = `not_handled ${randomUUID()}`;
    const first = await storeRejected(unknown(), reason);
    await storeRejected(glucose(userId, [sample(at, 5)]), reason);
    const last = await storeRejected(unknown(), reason);
    const result = await stage.product.rejectedEvents.replay({ reason });
    expect(result).toEqual({
      replayed: { health_data_accepted: 1 },
      left: { not_handled: 2 },
      leftEvents: [
        { id: last, answer: 'not_handled' },
        { id: first, answer: 'not_handled' },
      ],
    });
    expect(await stage.store.rejected.get(first)).toMatchObject({
      state: 'waiting',
      body: expect.any(String) as string,
    });
    expect(await valuesOf(stage.store, userId)).toEqual([5]);
  });

  test('a replay of many events takes no more than the limit, and says where it stopped', async () => {
    const reason = `many ${randomUUID()}`;
    const ids: string[] = [];
    for (let n = 0; n < 120; n += 1) ids.push(await storeRejected(glucose(randomUUID(), [sample(at, n)]), reason));
    const part = await stage.product.rejectedEvents.replay({ reason, limit: 60 });
    expect(part).toMatchObject({ replayed: { health_data_accepted: 60 }, next: ids[60] });
    const rest = await stage.product.rejectedEvents.replay({ reason });
    expect(rest).toEqual({ replayed: { health_data_accepted: 60 }, left: {}, leftEvents: [] });
  });

  test('a replay of an event that does not exist, or was settled, says so', async () => {
    await expect(stage.product.rejectedEvents.replay({ id: '123456789' })).rejects.toBeInstanceOf(
      errors.RejectedEventNotFound,
    );
    const id = await storeRejected(glucose(randomUUID(), [sample(at, 1)]));
    await stage.product.rejectedEvents.replay({ id });
    await expect(stage.product.rejectedEvents.replay({ id })).rejects.toBeInstanceOf(errors.RejectedEventSettled);
  });
});

test('discarding erases what the event held and keeps the reason; discarding again is success', async () => {
  const id = await storeRejected(unknown());
  const discard = (reason: string) => stage.product.rejectedEvents.discard(id, { reason });
  for (let time = 0; time < 2; time += 1) await discard('a test of the sender');
  await expect(discard('another')).rejects.toBeInstanceOf(errors.RejectedEventSettled);
  expect(await stage.store.rejected.get(id)).toMatchObject({ state: 'discarded', body: null });
  expect((await listed({ state: 'discarded' }, { limit: 1 })).events).toMatchObject([
    { id, discardReason: 'a test of the sender', settledAt: expect.any(String) as string },
  ]);
});

/** A client of its own, and the workflow IDs of the calls that Temporal has taken from it. */
function watchedClient(): { rejectedEvents: LabOperations['rejectedEvents']; started: string[] } {
  const started: string[] = [];
  const temporal = new Client({
    connection: stage.temporal.connection,
    interceptors: {
      workflow: [
        {
          startWithDetails: async (input, next) => {
            const answer = await next(input);
            started.push(input.options.workflowId);
            return answer;
          },
        },
      ],
    },
  });
  return { rejectedEvents: new LabOperations(temporal, { taskQueue }).rejectedEvents, started };
}

test('a database that is away is reported as such', async () => {
  if (stage.testStore) stage.testStore.isDown = true;
  const { rejectedEvents, started } = watchedClient();
  const counting = rejectedEvents.count().catch((error: unknown) => error);
  const workflowId = await eventually(() => started[0] ?? Promise.reject(new Error('not started')));
  await expect(stage.finish(workflowId)).rejects.toBeInstanceOf(WorkflowFailedError);
  expect(await counting).toBeInstanceOf(errors.StoreUnavailable);
});

test('histories hold nothing of the events', async () => {
  const { rejectedEvents, started } = watchedClient();
  const userId = randomUUID();
  const id = await storeRejected(glucose(userId, [sample(at, 4711.0815)]));
  await rejectedEvents.list().next();
  await rejectedEvents.replay({ id });
  await rejectedEvents.discard(await storeRejected(unknown()), { reason: 'not wanted' });
  expect(started).toHaveLength(3);
  const text = (await Promise.all(started.map((workflowId) => eventsOf(stage, workflowId)))).map(textOf).join('\n');
  expect(text).toContain(id);
  for (const secret of [userId, '4711.0815', 'Testperson']) expect(text).not.toContain(secret);
});
