import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { describeStores } from '../rig/stores.js';
import { activity, glucose, receive, sample, samplesOf, source } from './received.js';

const at = '2026-01-05T10:00:00Z';

/** JSON may spell any character by its number. */
function escaped(text: string, characters: RegExp): string {
  return text.replace(characters, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

describeStores('deleting a user', (rig) => {
  /** One thing of every kind. */
  async function fill(userId: string): Promise<void> {
    const { store } = rig();
    await receive(store, glucose(userId, [sample(at, 1), 'bad']));
    await receive(store, activity(userId, '1'));
    await receive(store, { event_type: 'historical.data.sleep.created', user_id: userId });
    await receive(store, { event_type: 'provider.connection.created', user_id: userId, data: { source } });
    await store.writeStream({ userId, workoutId: 'w', stream: {} });
    await store.setAside({ userId, reason: 'not_handled' }, { id: randomUUID(), body: '{}' });
    // Only the body says whose it is.
    const body = JSON.stringify({ order: { user: userId } });
    await store.setAside({ reason: 'unreadable' }, { id: randomUUID(), body });
  }

  async function countsOf(userId: string): Promise<number[]> {
    const { store } = rig();
    const rejected = await store.rejected.list({ limit: 1000 });
    const bodies = await Promise.all(rejected.map(async ({ id }) => (await store.rejected.get(id)).body));
    const itsBodies = bodies.filter((body) => body?.includes(userId));
    return [
      (await samplesOf(store, userId, 'glucose')).length,
      (await store.summaries({ userId })).length,
      (await store.historyNotices(userId)).length,
      (await store.connections(userId)).length,
      (await store.workoutStream({ userId, workoutId: 'w' })) ? 1 : 0,
      rejected.filter((each) => each.userId === userId).length,
      itsBodies.length,
    ];
  }

  test('deletes everything about the user, rejected events included, and nothing about others', async () => {
    const [userId, other] = [randomUUID(), randomUUID()];
    await fill(userId);
    await fill(other);
    const before = await countsOf(other);
    expect(before).toEqual([1, 1, 1, 1, 1, 2, 2]);
    expect(await rig().store.countUserData(userId)).toBe(7);
    await rig().store.deleteUserData(userId);
    expect(await rig().store.countUserData(userId)).toBe(0);
    expect(await countsOf(userId)).toEqual([0, 0, 0, 0, 0, 0, 0]);
    expect(await countsOf(other)).toEqual(before);
  });

  test('finds what came under the same UUID in capitals, as the service takes it in either case', async () => {
    const userId = randomUUID();
    await fill(userId.toUpperCase());
    expect(await rig().store.summaries({ userId: userId.toUpperCase() })).toHaveLength(1);
    expect((await countsOf(userId)).slice(0, 6)).toEqual([1, 1, 1, 1, 1, 2]);
    await rig().store.deleteUserData(userId);
    expect(await countsOf(userId)).toEqual([0, 0, 0, 0, 0, 0, 0]);
    expect((await countsOf(userId.toUpperCase())).at(-1)).toBe(0);
    expect(await receive(rig().store, activity(userId.toUpperCase(), '2'))).toBe('user_deleted');
  });

  test('refuses whatever comes later, and may be repeated', async () => {
    const { store, userId } = rig();
    await store.deleteUserData(userId);
    const body = { id: randomUUID(), body: '{}' };
    expect(await receive(store, glucose(userId, [sample(at, 1), 'bad']))).toBe('user_deleted');
    expect(await store.setAside({ userId, reason: 'not_handled' }, body)).toBe('user_deleted');
    expect(await store.writeStream({ userId, workoutId: 'w', stream: {} })).toBe('user_deleted');
    await store.deleteUserData(userId);
    expect(await countsOf(userId)).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });

  test('leaves nothing of events that were being written at the same time', async () => {
    const { store, userId } = rig();
    const writing = Array.from({ length: 12 }, (_, n) =>
      receive(store, glucose(userId, [sample(`2026-01-05T10:00:${String(n).padStart(2, '0')}Z`, n), 'bad'])),
    );
    const [taken] = await Promise.all([Promise.all(writing), store.deleteUserData(userId)]);
    expect(taken.every((each) => ['set_aside', 'user_deleted'].includes(each))).toBe(true);
    expect(await countsOf(userId)).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });

  test.each([
    ['JavaScript', (id: string) => JSON.stringify(id)],
    ['Python', (id: string) => escaped(JSON.stringify(id), /[\u0080-\uffff]/g)],
    ['hex digits in capitals', (id: string) => escaped(JSON.stringify(id), /[^ -~]/g).replace('e9', 'E9')],
    ['PHP', (id: string) => escaped(JSON.stringify(id), /[\u0080-\uffff]/g).replaceAll('/', '\\/')],
    ['Go', (id: string) => escaped(JSON.stringify(id), /[<>&]/g)],
  ])('finds a reference with any character, spelled as by %s', async (_writer, spell) => {
    const { store } = rig();
    const clientUserId = `Ren\u00e9 <${randomUUID()}> "\u{1f600}" & a/b \\`;
    const id = randomUUID();
    await store.setAside({ reason: 'not_handled' }, { id, body: `{"client_user_id":${spell(clientUserId)}}` });
    const before = await store.rejected.count();
    await store.deleteUserData(randomUUID(), { clientUserId });
    expect(await store.rejected.count()).toBe(before - 1);
  });

  test('leaves rejected events that name the reference and another user, who has it since', async () => {
    const { store, userId } = rig();
    const other = randomUUID();
    const clientUserId = `reference-${randomUUID()}`;
    const named = { client_user_id: clientUserId };
    const events = [
      [{ reason: 'not_handled', userId: other }, JSON.stringify(named)],
      [{ reason: 'not_handled' }, JSON.stringify({ ...named, user_id: other })],
      [
        { reason: 'not_json' },
        `{"data":{"user_id":"${escaped(other.toUpperCase(), /[-A-F]/g)}","value":NaN},"client_user_id":"${clientUserId}"}`,
      ],
    ] as const;
    const own = [
      JSON.stringify(named),
      JSON.stringify({ ...named, user_id: userId }),
      `{"client\\u005fuser_id":"${escaped(clientUserId, /[0-9r]/g)}"}`,
    ];
    for (const [event, body] of events) await store.setAside(event, { id: randomUUID(), body });
    for (const body of own) await store.setAside({ reason: 'not_handled' }, { id: randomUUID(), body });
    const before = await store.rejected.count();
    await store.deleteUserData(userId, { clientUserId });
    expect(await store.rejected.count()).toBe(before - own.length);
    expect((await countsOf(other)).slice(5)).toEqual([1, 1]);
  });

  test.each([
    ['nothing', /(?!)/g],
    ['hyphens', /-/g],
    ['digits', /[0-9]/g],
    ['letters', /[a-f]/g],
    ['every character', /[0-9a-f-]/g],
  ])('finds rejected events by ids with %s written as a number', async (_which, characters) => {
    const { store, userId } = rig();
    const orderId = randomUUID();
    const spelled = (id: string) => escaped(id, characters);
    const upper = (text: string) => text.replaceAll(/\\u00../g, (each) => each.toUpperCase().replace('U', 'u'));
    const bodies = [
      `{"data":{"user_id":"${spelled(userId)}","value":NaN}}`,
      `{"data":{"order_id":"${upper(spelled(orderId))}"}}`,
      `{"data":{"order_id":"${spelled('a-short-1')}"}}`,
      `not JSON: user ${userId.toUpperCase()} could not be found`,
    ];
    const others = [randomUUID(), 'not-a-short-1'].map(
      (id) => `{"data":{"order_id":"${spelled(id)}","note":"C:\\\\u0061"}}`,
    );
    for (const body of [...bodies, ...others]) await store.setAside({ reason: 'not_json' }, { id: randomUUID(), body });
    const before = await store.rejected.count();
    await store.deleteUserData(userId, { workIds: [orderId, 'a-short-1'] });
    expect(await store.rejected.count()).toBe(before - bodies.length);
  });

  test('refuses later events that name the user only by the product’s own reference, in any spelling', async () => {
    const { store } = rig();
    const clientUserId = `Ren\u00e9e "${randomUUID()}" /`;
    const userId = randomUUID();
    const aside = (body: string) => store.setAside({ reason: 'not_json' }, { id: randomUUID(), body });
    const spelled = JSON.stringify(clientUserId);
    const bodies = [
      `{"event_type":"other","client_user_id":${spelled}}`,
      `[{"data":{"client_user_id" : ${spelled.replace('\u00e9', '\\u00E9').replace('/', '\\/')},"value":NaN}}]`,
    ];
    await store.deleteUserData(userId, { clientUserId });
    await store.deleteUserData(userId);
    for (const body of bodies) expect(await aside(body)).toBe('user_deleted');
    expect(await aside(`{"value":NaN,"user_id":"${userId.toUpperCase()}"}`)).toBe('user_deleted');
    const unnamed = { event_type: 'daily.data.steps.created', client_user_id: clientUserId, data: { id: '1' } };
    expect(await receive(store, unnamed)).toBe('user_deleted');
    // The reference may be somebody else's by now.
    expect(await aside(`{"value":NaN,"client_user_id":${spelled},"user_id":"${randomUUID()}"}`)).toBe('set_aside');
    expect(await aside('{"client_user_id":"somebody else"}')).toBe('set_aside');
  });

  test('searches more rejected events than one statement does', async () => {
    const { store, userId } = rig();
    const before = await store.rejected.count();
    const bodies = Array.from({ length: 450 }, (_, n) => `{"order":{"user":"${n % 3 === 0 ? userId : n}"}}`);
    for (const body of bodies) await store.setAside({ reason: 'unreadable' }, { id: randomUUID(), body });
    await store.deleteUserData(userId);
    expect(await store.rejected.count()).toBe(before + 300);
    expect((await countsOf(userId)).at(-1)).toBe(0);
  });

  test('deletes more than fits into one statement', async () => {
    const { store, userId } = rig();
    for (let batch = 0; batch < 5; batch++) {
      const start = Date.parse(at) + batch * 10_000_000;
      const many = Array.from({ length: 9_000 }, (_, n) => sample(new Date(start + n * 1000).toISOString(), n));
      await receive(store, glucose(userId, many));
    }
    await store.deleteUserData(userId);
    expect(await samplesOf(store, userId, 'glucose')).toEqual([]);
  });
});
