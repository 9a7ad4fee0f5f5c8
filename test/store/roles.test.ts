import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { pino } from 'pino';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { AuditChain, AuditHashes, verifyChains } from '../../store/audit-trail.js';
import { openHealthData } from '../../store/health-data-reader.js';
import { openStore } from '../../store/health-data-store.js';
import { migrateDatabase, migrationNames, TablesOutdated } from '../../store/schema-state.js';
import { storeOf } from '../../workers/health-data.js';
import { workerCommand } from '../e2e/labops.js';
import { installCommand } from '../rig/postgres.js';
import { as, newDatabase, referenceKeys } from '../rig/stores.js';
import { activity, glucose, receive, sample, source } from './received.js';

const postgresUrl = inject('postgresUrl');
const note = postgresUrl === undefined ? ` (skipped, because it is not installed: ${installCommand})` : '';

type Place = Awaited<ReturnType<typeof newDatabase>>;

async function run(place: Place, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: place.databaseUrl });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** With a message so old that the first call of a store removes it, in the background. */
async function migrated(): Promise<Place> {
  const place = await newDatabase(postgresUrl ?? '');
  await migrateDatabase(place.databaseUrl);
  await run(place, `insert into health_data.received_messages values ('old', now() - interval '31 days')`);
  return place;
}

const oldMessages = (place: Place) =>
  run(place, `select 1 from health_data.received_messages where message_id = 'old'`);

async function openedAs(role: string, place: Place) {
  const store = await openStore(as(role, place));
  onTestFinished(() => store.close());
  return store;
}

describe.skipIf(postgresUrl === undefined)(`the roles of deploy/database-roles.sql, on PostgreSQL${note}`, () => {
  test('get their rights with the tables, and again each time', async () => {
    const place = await newDatabase(postgresUrl ?? '');
    const roles = ['lab_auditor', 'lab_codec', 'lab_ingress', 'lab_reader', 'lab_worker'];
    expect(await migrateDatabase(place.databaseUrl)).toEqual({ applied: migrationNames, roles });
    expect(await migrateDatabase(place.databaseUrl)).toEqual({ applied: [], roles });
  });

  test('get them by `labops migrate`, which says what it has done, and what it lacks', async () => {
    const place = await newDatabase(postgresUrl ?? '');
    const labops = async ({ databaseUrl }: Place) => {
      const { code, stdout, stderr } = await workerCommand(['migrate'], { DATABASE_URL: databaseUrl });
      return [code, stdout + stderr];
    };
    const lacking = await labops(as('lab_worker', place));
    expect(lacking).toEqual([1, expect.stringMatching(/The database lacks 0001-tables.+ Run `labops migrate` with/)]);
    const done = await labops(place);
    const said =
      /Tables: applied 0001-tables\.\nRights: lab_auditor, lab_codec, lab_ingress, lab_reader, lab_worker\.\n$/;
    expect(done).toEqual([0, expect.stringMatching(said)]);
  });

  test('get them from a user who owns nothing but the schema', async () => {
    const place = await newDatabase(postgresUrl ?? '');
    const owner = `owner_${place.databaseUrl.split('/').at(-1)}`;
    await run(place, `create role ${owner} login; create schema health_data authorization ${owner}`);
    expect((await migrateDatabase(as(owner, place).databaseUrl)).applied).toEqual(migrationNames);
    const store = await openedAs('lab_ingress', place);
    expect(await receive(store, activity('u', '1'))).toBe('stored');
    await run(place, `drop owned by ${owner}; drop role ${owner}`);
  });

  test('can create nothing, and the reader can read neither rejected events nor who was deleted', async () => {
    const place = await migrated();
    for (const role of ['lab_auditor', 'lab_codec', 'lab_ingress', 'lab_reader', 'lab_worker']) {
      const create = run(as(role, place), 'create table health_data.more (id text)');
      await expect(create, role).rejects.toMatchObject({ code: '42501' });
    }
    for (const table of ['rejected_events', 'deleted_users', 'received_messages']) {
      const read = run(as('lab_reader', place), `select 1 from health_data.${table}`);
      await expect(read, table).rejects.toMatchObject({ code: '42501' });
    }
  });

  test('the worker does all that it does: replays and their events, erasure, streams, and the removal of what is old', async () => {
    const place = await migrated();
    const store = await openedAs('lab_worker', place);
    const userId = randomUUID();
    expect(await receive(store, activity(userId, '1'))).toBe('stored');
    expect(await receive(store, glucose(userId, [sample('2026-01-05T10:00:00Z', 1), 'bad']))).toBe('set_aside');
    expect(await receive(store, { event_type: 'historical.data.sleep.created', user_id: userId })).toBe('stored');
    const connection = { event_type: 'provider.connection.created', user_id: userId, data: { source } };
    expect(await receive(store, connection)).toBe('stored');
    expect(await store.writeStream({ userId, workoutId: 'w', stream: {} })).toBe('stored');
    const [rejected] = await store.rejected.list();
    await store.rejected.replay(rejected?.id ?? '', () => Promise.resolve());
    expect(await store.rejected.expire(90)).toBe(true);
    await store.deleteUserData(userId);
    expect(await receive(store, activity(userId, '2'))).toBe('user_deleted');
    await expect.poll(() => oldMessages(place)).toEqual([]);
  });

  test('the ingress, which strangers reach, reads no stream and no rejected event, and neither erases nor forgets a user', async () => {
    const place = await migrated();
    const store = await openedAs('lab_ingress', place);
    const refused = { databaseCode: '42501' };
    await store.setAside({ reason: 'not_handled' }, { id: randomUUID(), body: '{}' });
    await expect(store.rejected.get('1')).rejects.toMatchObject(refused);
    await expect(store.workoutStream({ userId: 'u', workoutId: 'w' })).rejects.toMatchObject(refused);
    await expect(store.writeStream({ userId: 'u', workoutId: 'w', stream: {} })).rejects.toMatchObject(refused);
    await expect(store.deleteUserData('some-user')).rejects.toMatchObject(refused);
    expect(await store.rejected.expire(90), 'the same chore as the worker').toBe(true);
    await expect.poll(() => oldMessages(place)).toEqual([]);
    for (const table of ['deleted_users', 'samples', 'rejected_events']) {
      const erase = run(as('lab_ingress', place), `delete from health_data.${table}`);
      await expect(erase, table).rejects.toMatchObject({ code: '42501' });
    }
  });

  test('the audit trail is appended to by worker and codec server, read by auditors alone, and changed by nobody', async () => {
    const place = await migrated();
    const hashes = new AuditHashes(() => referenceKeys);
    const entry = { at: '2026-01-05T10:00:00.123Z', action: 'a', subjects: ['s'], outcome: 'done', event: 'e' };
    for (const role of ['lab_worker', 'lab_codec', 'lab_auditor']) {
      const [store, chain] = [await openedAs(role, place), new AuditChain(role, hashes)];
      await store.audit.append(chain, [{ ...entry, event: role }, entry]);
      await store.audit.append(chain, [{ ...entry, event: `${role}/2` }]);
    }
    const auditor = await openedAs('lab_auditor', place);
    expect(await verifyChains(auditor.audit.chains(), hashes)).toEqual({ rows: 7, writers: 3, faults: [] });
    const refused = { code: '42501' };
    for (const role of ['lab_worker', 'lab_codec', 'lab_auditor', 'lab_ingress', 'lab_reader']) {
      for (const change of [`update health_data.audit_trail set outcome = 'x'`, 'delete from health_data.audit_trail'])
        await expect(run(as(role, place), change), role).rejects.toMatchObject(refused);
      if (role === 'lab_auditor') continue;
      const read = run(as(role, place), 'select actor from health_data.audit_trail');
      await expect(read, role).rejects.toMatchObject(refused);
    }
    for (const role of ['lab_ingress', 'lab_reader']) {
      const insert = run(as(role, place), 'insert into health_data.audit_trail select * from health_data.audit_trail');
      await expect(insert, role).rejects.toMatchObject(refused);
    }
  });

  test('a process that may not migrate starts with older tables, and says in one sentence what to run', async () => {
    const place = await migrated();
    await run(place, `delete from health_data.migrations where name = '${migrationNames.at(-1)}'`);
    const sentence = `The database lacks ${migrationNames.at(-1)}, and its user is not allowed to migrate it. Run \`labops migrate\` with`;
    const refused = await openStore(as('lab_worker', place)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(TablesOutdated);
    expect(refused).toMatchObject({ kind: 'misconfigured', message: expect.stringContaining(sentence) as string });
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(line) });
    const config = { ...as('lab_ingress', place), databasePoolSize: 1, rejectedEventsDays: 90, keys: undefined };
    await (await storeOf(config, undefined, log))?.close();
    expect(lines.map((line) => (JSON.parse(line) as { reason: string }).reason)).toEqual([
      expect.stringContaining(sentence) as string,
    ]);
  });

  test('a role that has no rights yet is told which command gives them', async () => {
    const place = await migrated();
    await run(place, 'revoke all on schema health_data from lab_reader');
    const health = openHealthData(as('lab_reader', place));
    await expect(health.connections('u')).rejects.toThrow(/permission denied for schema health_data.+labops migrate/);
    await health.close();
  });
});
