import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { pino } from 'pino';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { DatabaseNotUtf8, StoreFailed, storeFailure } from '../../store/database.js';
import { DirectoryInUse } from '../../store/directory-lock.js';
import { openStore } from '../../store/health-data-store.js';
import { migrationNames, readSchemaState } from '../../store/schema-state.js';
import { storeOf } from '../../workers/health-data.js';
import { StartFailed } from '../../workers/process.js';
import { emptyDatabase } from '../rig/empty-database.js';
import { installCommand } from '../rig/postgres.js';
import { startProgram } from '../rig/processes.js';
import { describeStores, newDatabase } from '../rig/stores.js';
import { closedPort } from '../unit/webhooks/sending.js';
import { activity, glucose, receive, sample } from './received.js';

describeStores('a store', (rig) => {
  test('reveals nothing of its content when the database refuses', async () => {
    const { store } = rig();
    const refused = await store.summaries({ userId: 'Testperson\0' }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StoreFailed);
    const message = 'The database refused a statement (SQLSTATE 22021)';
    expect(refused).toMatchObject({ databaseCode: '22021', message });
    const { stack = '', cause } = refused as Error;
    expect(JSON.stringify([refused, stack, cause ?? null])).not.toContain('Testperson');
  });

  test('that was closed has everything when it is opened again, and is not migrated twice', async () => {
    const { place, store } = rig();
    await receive(store, activity('reopened', '1'));
    // A directory has one opener at a time (below): its store is closed for good here, as this is the last test.
    if ('directory' in place) await store.close();
    const again = await openStore(place);
    expect(await again.summaries({ userId: 'reopened' })).toHaveLength(1);
    await again.close();
  });
});

describe('failures of a driver', () => {
  const driverError = Object.assign(new Error('duplicate key, Testperson'), {
    ...{
      code: '23505',
      detail: 'Key (user_id)=(Testperson) already exists.',
      where: 'Testperson',
      params: ['Testperson'],
    },
  });

  test('lose everything that quotes a row', () => {
    const failure = storeFailure(driverError);
    const message = 'The database refused a statement (SQLSTATE 23505)';
    expect(failure).toMatchObject({ databaseCode: '23505', message });
    expect(JSON.stringify([failure, message, failure.stack, failure.cause ?? null])).not.toContain('Testperson');
  });

  test.each([
    [Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' }), /ECONNREFUSED 127/],
    [Object.assign(new Error('database "x" does not exist'), { code: '3D000' }), /database "x" does not exist/],
    [new AggregateError([Object.assign(new Error('connect ECONNREFUSED ::1:1'), { code: 'ECONNREFUSED' })]), /::1:1/],
    ['a text', /^The database failed\.$/],
  ])('failures of a driver that help keep their text: %s', (error, message) => {
    expect(storeFailure(error).message).toMatch(message);
  });
});

describe('a PGlite directory', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lab-operations-opening-'));
    return () => rm(folder, { recursive: true });
  });

  test('has one opener at a time, even by another name, and keeps its data', async () => {
    const directory = await emptyDatabase(join(folder, 'one'));
    const store = await openStore({ directory });
    await receive(store, activity('kept', '1'));
    await symlink(directory, join(folder, 'other-name'));
    for (const name of ['one', 'other-name']) {
      await expect(openStore({ directory: join(folder, name) })).rejects.toThrow(DirectoryInUse);
    }
    await store.close();
    const again = await openStore({ directory });
    expect(await again.summaries({ userId: 'kept' })).toHaveLength(1);
    await again.close();
  });

  test('is closed to other users of the machine, even if it was open to them', async () => {
    const directory = join(folder, 'closed');
    await mkdir(directory, { mode: 0o755 });
    for (const mode of [0o755, 0o750]) {
      await chmod(directory, mode);
      await (await openStore({ directory })).close();
      expect((await stat(directory)).mode & 0o777).toBe(0o700);
    }
    await (await openStore({ directory: join(folder, 'new', 'one') })).close();
    expect((await stat(join(folder, 'new', 'one'))).mode & 0o777).toBe(0o700);
  });

  test('a PGlite directory that is open to others and holds something else is refused, and keeps its rights', async () => {
    const directory = join(folder, 'shared');
    await mkdir(directory);
    await chmod(directory, 0o755);
    await writeFile(join(directory, 'somebody-elses'), '');
    await expect(openStore({ directory })).rejects.toThrow(/Other users .+ can enter .+chmod 700/);
    expect((await stat(directory)).mode & 0o777).toBe(0o755);
  });

  test('a PGlite directory that another process has open is refused with a helpful sentence', async () => {
    const directory = await emptyDatabase(join(folder, 'two'));
    const holder = await startProgram('test/rig/hold-store.ts', { args: [directory], ready: /holding/ });
    await expect(openStore({ directory })).rejects.toThrow(/is open in another process.+DATABASE_URL/);
    await holder.stop();
  });

  test('a PGlite directory stays with its opener while that is suspended, and is free once it was killed', async () => {
    const directory = await emptyDatabase(join(folder, 'three'));
    const holder = await startProgram('test/rig/hold-store.ts', { args: [directory], ready: /holding/ });
    process.kill(holder.pid, 'SIGSTOP');
    // As if it had been suspended for hours: nothing that it would have renewed is recent.
    for (const around of [folder, directory]) {
      for (const name of await readdir(around)) await utimes(join(around, name), new Date(0), new Date(0));
    }
    await expect(openStore({ directory })).rejects.toThrow(DirectoryInUse);
    await holder.stop('SIGKILL');
    await (await openStore({ directory })).close();
  });
});

const postgresUrl = inject('postgresUrl');
const note = postgresUrl === undefined ? ` (skipped, because it is not installed: ${installCommand})` : '';

describe.skipIf(postgresUrl === undefined)(`PostgreSQL${note}`, () => {
  test('is migrated once by many that start at the same time', async () => {
    const place = await newDatabase(postgresUrl ?? '');
    const stores = await Promise.all(Array.from({ length: 5 }, () => openStore(place)));
    const client = await clientOf(place.databaseUrl);
    const { rows } = await client.query('select name from health_data.migrations');
    expect(rows.map(({ name }: { name: string }) => name)).toEqual(migrationNames);
    await Promise.all(stores.map((store) => store.close()));
  });

  test.each(['LATIN1', 'SQL_ASCII', 'EUC_JP'])('in the encoding %s is refused, also to a process', async (encoding) => {
    const how = `encoding '${encoding}' locale 'C' template template0`;
    const { databaseUrl } = await newDatabase(postgresUrl ?? '', how);
    await expect(openStore({ databaseUrl })).rejects.toThrow(`has the encoding ${encoding}, and only UTF8`);
    await expect(readSchemaState(databaseUrl)).rejects.toThrow(DatabaseNotUtf8);
    const config = { databaseUrl, databasePoolSize: 1, rejectedEventsDays: 90, keys: undefined };
    await expect(storeOf(config, undefined, pino({ level: 'silent' }))).rejects.toThrow(StartFailed);
  });

  /** An empty database and its store, both closed when the test has ended. */
  async function opened(options: { poolSize?: number } = {}) {
    const place = await newDatabase(postgresUrl ?? '');
    const store = await openStore({ ...place, ...options });
    onTestFinished(() => store.close());
    return { place, store };
  }

  /** A client of a database, which ends with the test. */
  async function clientOf(connectionString: string): Promise<Client> {
    const client = new Client({ connectionString });
    await client.connect();
    onTestFinished(() => client.end());
    return client;
  }

  test('that only reads for a while gets new connections once it writes again', async () => {
    const { place, store } = await opened({ poolSize: 2 });
    const admin = await clientOf(place.databaseUrl);
    const name = place.databaseUrl.split('/').at(-1);
    const writes = [
      () => receive(store, activity('failed-over', randomUUID())),
      () => store.setAside({ reason: 'not_handled' }, { id: randomUUID(), body: '{}' }),
      () => store.rememberMessage(randomUUID()),
    ];
    const codes = () =>
      Promise.all(
        [...writes, ...writes].map((write) =>
          write().then(
            () => 'written',
            (error: StoreFailed) => error.databaseCode,
          ),
        ),
      );
    expect(new Set(await codes())).toEqual(new Set(['written']));
    // Sessions that begin now read only, as those of a server that has become a standby.
    await admin.query(`alter database ${name} set default_transaction_read_only = on`);
    await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()
      and datname = current_database()`);
    await expect.poll(async () => [...new Set(await codes())]).toEqual(['25006']);
    await admin.query('set default_transaction_read_only = off');
    await admin.query(`alter database ${name} set default_transaction_read_only = off`);
    await expect.poll(async () => [...new Set(await codes())]).toEqual(['written']);
  });

  test('that drops every connection is used again as soon as it takes new ones', async () => {
    const { place, store } = await opened();
    const batch = () => glucose('dropped', [sample('2026-01-05T10:00:00Z', 1)]);
    await Promise.all(Array.from({ length: 4 }, () => receive(store, batch())));
    const client = await clientOf(postgresUrl ?? '');
    await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lab-operations'
      and datname = '${place.databaseUrl.split('/').at(-1)}'`);
    await expect.poll(() => receive(store, batch()).catch(() => 'failed')).toBe('stored');
  });

  test('forgets all messages that are too old, while it accepts others', async () => {
    const { place, store } = await opened();
    const client = await clientOf(place.databaseUrl);
    await client.query(`insert into health_data.received_messages (message_id, received_at)
      select 'old-' || number, now() - interval '31 days' from generate_series(1, 25000) as number
      union all select 'young', now() - interval '29 days'`);
    await store.setAside({ reason: 'not_handled' }, { id: 'new', body: '{}' });
    const remembered = async () =>
      (await client.query<{ message_id: string }>('select message_id from health_data.received_messages')).rows;
    await expect.poll(remembered).toEqual([{ message_id: 'young' }, { message_id: 'new' }]);
  });

  test('stays available to others while the events of one user wait for each other', async () => {
    const { place, store } = await opened();
    const elsewhere = await heldUsers(place.databaseUrl, ['backfilling']);
    const waiting = Array.from({ length: 30 }, (_, n) => receive(store, activity('backfilling', String(n))));
    expect(await receive(store, activity('other', '1'))).toBe('stored');
    expect(await store.summaries({ userId: 'backfilling' })).toEqual([]);
    await elsewhere.end();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['stored']));
  });

  test('is read while every connection for writing waits', async () => {
    const { place, store } = await opened({ poolSize: 2 });
    // Its connection for reading is there.
    await store.rejected.count();
    const users = ['one', 'two', 'three'];
    const elsewhere = await heldUsers(place.databaseUrl, users);
    const waiting = users.map((userId) => receive(store, activity(userId, '1')));
    expect(await store.rejected.count()).toBe(0);
    await elsewhere.end();
    expect(await Promise.all(waiting)).toEqual(['stored', 'stored', 'stored']);
  });

  test('writes together what comes while it writes; each event has an answer of its own, and waits for no other', async () => {
    const { place, store } = await opened();
    const elsewhere = await heldUsers(place.databaseUrl, ['held']);
    const repeated = { id: randomUUID() };
    await receive(store, activity('repeating', '1'), repeated);
    await store.deleteUserData('deleted');
    const held = receive(store, activity('held', '1'));
    const events = ['first', 'second', 'third', 'deleted'].map((userId) => receive(store, activity(userId, '1')));
    events.push(receive(store, activity('repeating', '2'), repeated));
    expect(await Promise.all(events)).toEqual(['stored', 'stored', 'stored', 'user_deleted', 'repeated']);
    const transactions = await elsewhere.query(
      `select count(*)::int as events from health_data.summaries where user_id in ('second', 'third') group by received_at`,
    );
    expect(transactions.rows, 'the first two had begun before').toEqual([{ events: 2 }]);
    await elsewhere.end();
    expect(await held).toBe('stored');
  });

  test('that refuses a value of one event writes those that came with it', async () => {
    const { store } = await opened();
    const summary = { kind: 'summary', eventType: 'e', resource: 'r', source: {}, id: '1', data: {} } as const;
    const days = ['2026-01-05', '2026-01-05', '2026-13-45', '2026-01-05'];
    const events = days.map((day, index) =>
      store.accept({ ...summary, userId: `user-${index}`, day }, { id: randomUUID(), body: '{}' }),
    );
    expect(await Promise.all(events)).toEqual(['stored', 'stored', 'set_aside', 'stored']);
  });

  test('that is away is reported by a StoreFailed that can be logged, without the password', async () => {
    const databaseUrl = `postgres://lab:Testpassword@127.0.0.1:${await closedPort()}/x`;
    const failed = await openStore({ databaseUrl }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(StoreFailed);
    expect(failed).toMatchObject({ databaseCode: 'ECONNREFUSED' });
    expect(String((failed as Error).stack)).not.toContain('Testpassword');
  });

  test('that accepts connections and does not answer is given up after some seconds', async () => {
    const mute = createServer();
    mute.listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const databaseUrl = `postgres://lab@127.0.0.1:${(mute.address() as AddressInfo).port}/x`;
    await expect(openStore({ databaseUrl })).rejects.toThrow(StoreFailed);
    mute.close();
  });
});

/** Another process that writes of these users, until its connection ends. */
async function heldUsers(databaseUrl: string, userIds: readonly string[]): Promise<Client> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  for (const userId of userIds) await client.query('select pg_advisory_lock(540239104, hashtext($1))', [userId]);
  return client;
}
