import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { pglite } from '../../store/pglite.js';
import { postgres } from '../../store/postgres.js';
import { oneSpellingOfUsers } from '../../store/tables.js';
import { describeStores } from '../rig/stores.js';
import { activity, receive } from './received.js';

const spellings = (uuid: string): string[] => [
  uuid,
  uuid.toUpperCase(),
  uuid.replaceAll('-', ''),
  uuid.replaceAll('-', '').toUpperCase(),
  `{${uuid}}`,
  `urn:uuid:${uuid}`,
  ` ${uuid} `,
];

describeStores('a user', (rig) => {
  test('has the same data under every spelling of the id, and is deleted under all by each', async () => {
    const { store } = rig();
    for (const [index] of spellings(randomUUID()).entries()) {
      const uuid = randomUUID();
      const all = spellings(uuid);
      for (const [at, userId] of all.entries())
        expect(await receive(store, activity(userId, String(at)))).toBe('stored');
      await store.setAside(
        { reason: 'not_handled' },
        { id: randomUUID(), body: `broken "${uuid.replaceAll('-', '')}"` },
      );
      for (const userId of all) expect(await store.summaries({ userId })).toHaveLength(all.length);
      await store.deleteUserData(all[index] ?? '');
      for (const userId of all) {
        expect(await store.summaries({ userId })).toEqual([]);
        expect(await receive(store, activity(userId, 'late'))).toBe('user_deleted');
      }
      expect(await store.rejected.count()).toBe(0);
    }
  });

  test('whose id is a UUID in an unknown form has no data: the event waits for a person', async () => {
    const { store } = rig();
    const userId = randomUUID().replaceAll('-', '_');
    expect(await receive(store, activity(userId, '1'))).not.toBe('stored');
    expect(await store.summaries({ userId })).toEqual([]);
  });

  test('who was stored under several spellings is one user after the migration, and nothing of a deleted one is left', async () => {
    const { place, store } = rig();
    // A directory has one opener at a time: its store is closed for good here, as this is the last test.
    if ('directory' in place) await store.close();
    const database = 'directory' in place ? await pglite(place.directory) : postgres(place.databaseUrl);
    const [uuid, deleted, odd] = [randomUUID(), randomUUID(), 'an-invented-id'];
    const rows: string[] = [];
    for (const [at, id] of [...spellings(uuid), ...spellings(deleted), odd].entries()) {
      const received = `2026-01-01T00:00:${String(at + 10)}Z`;
      rows.push(`
        insert into health_data.summaries values ('${id}', 'activity', 'same', 'p', '', null, null, '{"at":${at}}', '${received}');
        insert into health_data.summaries values ('${id}', 'activity', 'own-${at}', 'p', '', null, null, '{}', '${received}');
        insert into health_data.samples values ('${id}', 'glucose', '2026-01-01', 'p', '', '{"at":${at}}', '${received}');
        insert into health_data.workout_streams (user_id, workout_id, provider, noticed_at) values ('${id}', '${id}', 'p', '${received}');
        insert into health_data.history_notices values ('${id}', 'sleep', 'p', '', '{}', '${received}');
        insert into health_data.connections values ('${id}', 'p', 'created', '{}', '${received}');
        insert into health_data.rejected_events (message_id, user_id, reason, body, received_at) values ('m${at}', '${id}', 'r', '', '${received}');`);
    }
    const [, upper = '', bare = ''] = spellings(deleted);
    rows.push(`insert into health_data.deleted_users (user_id) values ('${upper}'), ('${bare}');`);
    await database.transaction((transaction) => transaction.script(rows.join('')));
    await database.transaction((transaction) => transaction.script(oneSpellingOfUsers));

    const tables = ['summaries', 'samples', 'workout_streams', 'history_notices', 'connections', 'rejected_events'];
    const sql = tables.map(
      (table) =>
        `select '${table}' as "table", user_id, count(*)::int as rows from health_data.${table} where user_id is not null group by user_id`,
    );
    const counts = await database.query<{ table: string; user_id: string; rows: number }>(sql.join(' union all '));
    const of = (user: string) =>
      Object.fromEntries(counts.filter(({ user_id }) => user_id === user).map(({ table, rows }) => [table, rows]));
    const all = spellings(uuid).length;
    const once = { samples: 1, workout_streams: 1, history_notices: 1, connections: 1 };
    expect(of(uuid)).toEqual({ ...once, summaries: all + 1, rejected_events: all });
    expect(of(odd)).toEqual({ ...once, summaries: 2, rejected_events: 1 });
    expect(new Set(counts.map(({ user_id }) => user_id))).toEqual(new Set([uuid, odd]));
    const [latest] = await database.query(
      `select data from health_data.summaries where user_id = $1 and summary_id = 'same'`,
      [uuid],
    );
    expect(latest).toMatchObject({ data: { at: all - 1 } });
    expect(
      await database.query('select user_id from health_data.deleted_users where user_id = $1', [deleted]),
    ).toHaveLength(1);
    await database.close();
  });
});
