import { createHash, randomUUID } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { parseKeyRing } from '../../client/encryption/key-ring.js';
import { openStore, type HealthDataStore } from '../../store/health-data-store.js';
import type { ReferenceKeys } from '../../store/reference-hashes.js';
import { emptyDatabase } from '../rig/empty-database.js';
import { newDatabase, referenceKeys } from '../rig/stores.js';
import { eventually } from '../rig/eventually.js';
import { activity, glucose, receive, sample, samplesOf } from './received.js';

const [key] = referenceKeys;
const other = parseKeyRing(`other:${Buffer.from('another-key-for-tombstones-00001').toString('base64')}`)[0];

async function directory(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lab-operations-tombstones-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return emptyDatabase(join(folder, 'data'));
}

test('nothing of a deleted user is left in the files of a directory', async () => {
  const at = await directory();
  const userId = randomUUID();
  const marked = `INVENTED-${randomUUID()}`;
  const files = () => {
    try {
      return execFileSync('grep', ['-rlE', `${marked}`, at], { encoding: 'utf8' })
        .trim()
        .split('\n');
    } catch {
      return []; // grep ends so when it finds nothing
    }
  };
  const store = await openStore({ directory: at });
  try {
    for (let day = 0; day < 50; day++) await receive(store, activity(userId, String(day), { note: marked }));
    await store.setAside({ userId, reason: 'not_handled' }, { id: randomUUID(), body: marked });
    expect(files()).not.toEqual([]);
    await store.deleteUserData(userId);
    expect(files()).toEqual([]);
  } finally {
    await store.close();
  }
  expect(files(), 'nor after the store was closed').toEqual([]);
});

const postgresUrl = inject('postgresUrl');

describe.skipIf(postgresUrl === undefined)('on PostgreSQL', () => {
  async function opened() {
    const place = await newDatabase(postgresUrl ?? '');
    const store = await openStore(place, { referenceKeys });
    const client = new Client({ connectionString: place.databaseUrl });
    await client.connect();
    onTestFinished(async () => {
      await client.end();
      await store.close();
    });
    return { store, client };
  }

  const clientUserId = 'invented.person@example.com';

  /** The same database, opened with these keys. */
  async function openedWith(...keys: ReferenceKeys[]): Promise<HealthDataStore[]> {
    const place = await newDatabase(postgresUrl ?? '');
    const stores: HealthDataStore[] = [];
    for (const keysOfOne of keys) stores.push(await openStore(place, { referenceKeys: keysOfOne }));
    onTestFinished(async () => {
      for (const store of stores) await store.close();
    });
    return stores;
  }

  const body = JSON.stringify({ client_user_id: clientUserId });
  const late = (store: HealthDataStore | undefined) =>
    store?.setAside({ reason: 'not_json' }, { id: randomUUID(), body });

  test('a tombstone knows the reference by the key, by the previous key, and by no other', async () => {
    const [deleting, rotated, foreign, keyless] = await openedWith([key], [other, key], [other], []);
    await deleting?.deleteUserData(randomUUID(), { clientUserId });
    expect(await late(deleting)).toBe('user_deleted');
    expect(await late(rotated)).toBe('user_deleted');
    expect(await late(foreign)).toBe('set_aside');
    expect(await late(keyless)).toBe('set_aside');
  });

  test('a tombstone refuses an event by the reference alone for as long as the service may send it again', async () => {
    const { store, client } = await opened();
    await store.deleteUserData(randomUUID(), { clientUserId });
    const after = async (days: number) => {
      await client.query('update health_data.deleted_users set deleted_at = now() - make_interval(days => $1)', [days]);
      return late(store);
    };
    expect(await after(61)).toBe('user_deleted');
    expect(await after(63)).toBe('set_aside');
  });

  test('a tombstone keeps nothing of the reference without a key, and still refuses what names the user', async () => {
    const [keyless, keyed] = await openedWith([], [key]);
    const userId = randomUUID();
    await keyless?.deleteUserData(userId, { clientUserId });
    expect(await late(keyed)).toBe('set_aside');
    expect(keyless && (await receive(keyless, activity(userId, '1')))).toBe('user_deleted');
  });

  test('a tombstone has no hash that can be made without the key', async () => {
    const { store, client } = await opened();
    await store.deleteUserData(randomUUID(), { clientUserId });
    const hashes = 'select client_user_hash as hash from health_data.deleted_users';
    const { rows } = await client.query<{ hash: string }>(hashes);
    expect(rows).toEqual([{ hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string }]);
    expect(rows[0]?.hash).not.toBe(createHash('sha256').update(clientUserId).digest('hex'));
  });

  test('an event that names its user only in its body, and is being written when the deletion begins, does not outlive it', async () => {
    const { store, client } = await opened();
    // A write waits at its very end, after it has looked for tombstones, for as long as this connection has the lock.
    await client.query(`
      create function health_data.wait() returns trigger language plpgsql as
        'begin perform pg_advisory_xact_lock(4711); return new; end';
      create trigger wait before insert on health_data.rejected_events
        for each row execute function health_data.wait();
      select pg_advisory_lock(4711);
    `);
    const waiting = async () => {
      const { rows } = await client.query<{ count: number }>(
        `select count(*)::int as count from pg_locks where locktype = 'advisory' and not granted
           and database = (select oid from pg_database where datname = current_database())`,
      );
      return rows[0]?.count;
    };
    const userId = randomUUID();
    const body = JSON.stringify({ order: { user_id: userId } });
    const writing = store.setAside({ reason: 'unreadable' }, { id: randomUUID(), body });
    await eventually(async () => expect(await waiting()).toBe(1));
    let isDeleted = false;
    const deleting = store.deleteUserData(userId).then(() => (isDeleted = true));
    await eventually(async () => expect(isDeleted || (await waiting()) === 2).toBe(true));
    await client.query('select pg_advisory_unlock(4711)');
    expect(await writing).toBe('set_aside');
    await deleting;
    expect(await store.rejected.count()).toBe(0);
  });

  test('saved tombstones delete what a restored backup brought back, as docs/health-data.md says', async () => {
    const { store, client } = await opened();
    const [gone, other] = [randomUUID(), randomUUID()];
    for (const userId of [gone, other]) {
      await receive(store, activity(userId, '1'));
      await receive(store, glucose(userId, [sample('2026-01-05T10:00:00Z', 1)]));
      await store.setAside({ reason: 'not_json' }, { id: randomUUID(), body: `user ${userId.toUpperCase()}` });
    }
    const [, sql = ''] =
      /```sql\n(-- after the saved rows[^]*?)```/.exec(await readFile('docs/health-data.md', 'utf8')) ?? [];
    await client.query(`create table restored_tombstones (like health_data.deleted_users);
      insert into restored_tombstones (user_id, deleted_at) values ('${gone}', now())`);
    await client.query(sql);
    expect(await store.summaries({ userId: gone })).toEqual([]);
    expect(await samplesOf(store, gone, 'glucose')).toEqual([]);
    expect(await store.rejected.count()).toBe(1);
    expect(await receive(store, activity(gone, '2'))).toBe('user_deleted');
    expect(await store.summaries({ userId: other })).toHaveLength(1);
    expect(await samplesOf(store, other, 'glucose')).toHaveLength(1);
  });

  test('rejected events expire: their content is erased, the row stays, and it is counted', async () => {
    const place = await newDatabase(postgresUrl ?? '');
    const store = await openStore(place, { rejectedEventsDays: 10 });
    onTestFinished(() => store.close());
    const client = new Client({ connectionString: place.databaseUrl });
    await client.connect();
    await client.query(`insert into health_data.rejected_events (message_id, reason, body, received_at)
      select 'old-' || number, 'not_handled', '{}', now() - interval '11 days' from generate_series(1, 450) as number
      union all select 'young', 'not_handled', '{}', now() - interval '9 days'`);
    await client.end();
    const standing = () => store.standing(); // probes alone are enough
    await expect.poll(standing).toEqual({ rejectedEvents: 1, expiredRejectedEvents: 450 });
    expect(await store.rejected.list()).toMatchObject([{ messageId: 'young', state: 'waiting' }]);
    const [expired] = await store.rejected.list({ state: 'expired', limit: 1 });
    expect(await store.rejected.get(expired?.id ?? '')).toMatchObject({ state: 'expired', body: null });
    const replayed = store.rejected.replay(expired?.id ?? '', () => Promise.resolve());
    await expect(replayed).rejects.toThrow(/is expired already/);
  });
});
