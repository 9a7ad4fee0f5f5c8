import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { all } from '../rig/all.js';
import { describeStores } from '../rig/stores.js';
import { activity, glucose, receive, sample } from './received.js';

describeStores('the export of a user', (rig) => {
  test('has every row of the user once, over many pages, with rejected events that only mention the user or an order, and of nobody else', async () => {
    const { store, userId } = rig();
    const other = randomUUID();
    for (const id of [userId, other]) {
      await receive(store, activity(id, 'summary-1'));
      for (let minute = 0; minute < 60; minute += 1) {
        const samples = Array.from({ length: 40 }, (_, second) =>
          sample(`2026-01-05T10:${String(minute).padStart(2, '0')}:${String(second).padStart(2, '0')}Z`, second),
        );
        await receive(store, glucose(id, samples));
      }
    }
    const spellings = [userId.toUpperCase(), userId.replaceAll('-', ''), userId.replaceAll('-', '\\u002d')];
    for (const written of [...Array<string>(7).fill(userId), ...spellings, other, other.replaceAll('-', '\\u002d')]) {
      await store.setAside({ reason: 'not_handled' }, { id: randomUUID(), body: `{"x":"${written}"}` });
    }
    const orderId = randomUUID();
    for (const about of [{}, { user_id: other }]) {
      const body = JSON.stringify({ order_id: orderId, ...about });
      await store.setAside({ reason: 'not_handled', userId: about.user_id }, { id: randomUUID(), body });
    }
    await store.setAside({ reason: 'not_handled' }, { id: randomUUID(), body: '{"client_user_id":"invented-7"}' });
    const known = { workIds: [orderId], clientUserId: 'invented-7' };
    const rows = await all(store.export(userId.toUpperCase(), known));
    const kinds = ['summaries', 'samples', 'rejected_events'];
    expect(kinds.map((each) => rows.filter(({ kind }) => kind === each).length)).toEqual([1, 2400, 12]);
    expect(rows).toHaveLength(2413);
    expect(new Set(rows.map((row) => row['sampled_at'])).size, 'and none for the others').toBe(2401);
    expect(JSON.stringify(rows)).not.toContain(other);

    expect(await all(store.export(randomUUID()))).toEqual([]);

    await store.deleteUserData(userId);
    expect(await all(store.export(userId))).toMatchObject([{ kind: 'deleted_users', user_id: userId }]);
  });
});
