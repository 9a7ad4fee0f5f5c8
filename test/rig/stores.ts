import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { beforeAll, describe, inject } from 'vitest';
import { parseKeyRing } from '../../client/encryption/key-ring.js';
import { openStore, type HealthDataStore, type StorePlace } from '../../store/health-data-store.js';
import { openHealthData } from '../../store/health-data-reader.js';
import { migrateDatabase } from '../../store/schema-state.js';
import { emptyDatabase } from './empty-database.js';
import { installCommand } from './postgres.js';

/** Invented keys for the hashes in tombstones. */
export const referenceKeys = parseKeyRing(`test:${Buffer.from('invented-key-for-tombstones-0001').toString('base64')}`);

/** An empty database, gone after the file. */
export interface StoreRig {
  readonly place: StorePlace;
  readonly store: HealthDataStore;
  /** A new user's at each call. */
  readonly userId: string;
}

interface Started {
  place: StorePlace;
  store: HealthDataStore;
  end: () => Promise<void>;
}

/** Runs the tests of a store on PGlite and on a PostgreSQL server. Inside, call `rig()` in tests only. */
export function describeStores(what: string, tests: (rig: () => StoreRig) => void): void {
  const postgresUrl = inject('postgresUrl');
  describe(`${what}, on PGlite`, () => {
    tests(started(onPglite));
  });
  const note = postgresUrl === undefined ? ` (skipped, because it is not installed: ${installCommand})` : '';
  describe.skipIf(postgresUrl === undefined)(`${what}, on PostgreSQL${note}`, () => {
    tests(started(() => onPostgres(postgresUrl ?? '')));
  });
}

function started(start: () => Promise<Started>): () => StoreRig {
  let rig: Started | undefined;
  beforeAll(async () => {
    rig = await start();
    return rig.end;
  });
  return () => {
    if (!rig) throw new Error('The store of this file is opened before its tests: use it inside them.');
    return { ...rig, userId: randomUUID() };
  };
}

async function onPglite(): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), 'lab-operations-pglite-'));
  const place = { directory: await emptyDatabase(join(folder, 'data')) };
  const store = await openStore(place, { referenceKeys });
  const end = async () => {
    await store.close();
    await rm(folder, { recursive: true });
  };
  return { place, store, end };
}

/** Made by its owner; then each call has the role of the process that makes it, and that role's rights only. */
async function onPostgres(url: string): Promise<Started> {
  const place = await newDatabase(url);
  await migrateDatabase(place.databaseUrl);
  const ingress = await openStore(as('lab_ingress', place), { referenceKeys });
  const worker = await openStore(as('lab_worker', place), { referenceKeys });
  const reader = openHealthData(as('lab_reader', place));
  const auditor = await openStore(as('lab_auditor', place));
  const callers = [
    // Reads and writes.
    { caller: auditor, calls: ['audit'] },
    { caller: ingress, calls: ['accept', 'setAside', 'wasTaken', 'rememberMessage', 'standing', 'streamStanding'] },
    { caller: reader, calls: ['summaries', 'samples', 'workoutStream', 'connections', 'historyNotices'] },
  ];
  const store = new Proxy(worker, {
    get: (_, call) => {
      const { caller } = callers.find(({ calls }) => calls.includes(String(call))) ?? { caller: worker };
      const value: unknown = Reflect.get(caller, call, caller);
      return typeof value === 'function' ? (value.bind(caller) as unknown) : value;
    },
  });
  const end = async () => {
    await Promise.all([ingress, worker, reader, auditor].map((each) => each.close()));
  };
  return { place, store, end };
}

/** The database for another user. */
export function as(role: string, { databaseUrl }: { databaseUrl: string }): { databaseUrl: string } {
  return { databaseUrl: databaseUrl.replace(/\/\/[^@/]*@/, `//${role}@`) };
}

/** A database of its own on the server, which forgets everything at its end. */
export async function newDatabase(url: string, options = ''): Promise<{ databaseUrl: string }> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`create database ${name} ${options}`);
  await client.end();
  return { databaseUrl: url.replace(/[^/]*$/, name) };
}
