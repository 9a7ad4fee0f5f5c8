import { Client } from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { openStore } from '../../store/health-data-store.js';
import { migrationNames, readSchemaState } from '../../store/schema-state.js';
import { installCommand } from '../rig/postgres.js';
import { newDatabase } from '../rig/stores.js';

const postgresUrl = inject('postgresUrl');
const note = postgresUrl === undefined ? ` (skipped, because it is not installed: ${installCommand})` : '';

async function run(databaseUrl: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(sql);
  await client.end();
}

describe.skipIf(postgresUrl === undefined)(`the state of the tables, on PostgreSQL${note}`, () => {
  test('shows what is missing, without making it, and what a later release has made', async () => {
    const { databaseUrl } = await newDatabase(postgresUrl ?? '');
    const empty = { missing: migrationNames, unknown: [], mayMigrate: true };
    expect(await readSchemaState(databaseUrl)).toEqual(empty);
    expect(await readSchemaState(databaseUrl)).toEqual(empty);
    await (await openStore({ databaseUrl })).close();
    expect(await readSchemaState(databaseUrl)).toEqual({ missing: [], unknown: [], mayMigrate: true });
    await run(databaseUrl, `insert into health_data.migrations (name) values ('9999-invented')`);
    expect(await readSchemaState(databaseUrl)).toMatchObject({ missing: [], unknown: ['9999-invented'] });
  });

  test('shows that a user without rights may not make what is missing', async () => {
    const { databaseUrl } = await newDatabase(postgresUrl ?? '');
    await run(databaseUrl, `drop role if exists invented_reader; create role invented_reader login`);
    const asReader = databaseUrl.replace(/\/\/[^@]*@/, '//invented_reader@');
    expect(await readSchemaState(asReader)).toMatchObject({ missing: migrationNames, mayMigrate: false });
  });
});
