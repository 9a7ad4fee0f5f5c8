import type { Database, Transaction } from './database.js';
import { rights, tables } from './tables.js';

/**
 * All changes of the database, in order. Never change or remove one that was released: add another. A release must work
 * with the tables of the one before it and of the one after it, while processes are replaced one by one.
 */
const migrations = [{ name: '0001-tables', sql: tables }];

export const migrationNames: readonly string[] = migrations.map(({ name }) => name);

/** Any number that no other program uses on this database; processes that start together wait for each other here. */
const migrationLock = 5_402_391_044;

/** The result of `migrate`: the migrations that it applied, and the roles whose rights are up to date. */
export interface Migrated {
  applied: string[];
  roles: string[];
}

/** Brings tables and rights up to date, in one transaction: all of it, or nothing. */
export async function migrate(database: Database): Promise<Migrated> {
  return database.transaction(async (transaction) => {
    await transaction.query(`select pg_advisory_xact_lock(${migrationLock})`);
    await makeMissing(transaction);
    const rows = await transaction.query<{ name: string }>('select name from health_data.migrations');
    const present = new Set(rows.map(({ name }) => name));
    const missing = migrations.filter(({ name }) => !present.has(name));
    for (const { name, sql } of missing) {
      await transaction.script(sql);
      await transaction.query('insert into health_data.migrations (name) values ($1)', [name]);
    }
    return { applied: missing.map(({ name }) => name), roles: await giveRights(transaction) };
  });
}

/**
 * Checks before it creates, because `if not exists` needs the right to create even if there is nothing to do. The lock
 * keeps others from creating them in the meantime.
 */
async function makeMissing(transaction: Transaction): Promise<void> {
  const [found] = await transaction.query<{ schema: boolean; table: boolean }>(
    `select exists (select 1 from pg_catalog.pg_namespace where nspname = 'health_data') as schema,
       to_regclass('health_data.migrations') is not null as table`,
  );
  if (found?.schema !== true) await transaction.script('create schema health_data');
  if (found?.table === true) return;
  await transaction.script(`
    create table health_data.migrations (
      name text primary key,
      applied_at timestamptz not null default now()
    )
  `);
}

/** Gives those of the roles that exist their rights, and returns their names. Rights that they have already stay. */
async function giveRights(transaction: Transaction): Promise<string[]> {
  const found = await transaction.query<{ role: keyof typeof rights }>(
    `select rolname as role from pg_catalog.pg_roles
     where rolname in (select jsonb_array_elements_text($1::jsonb)) order by rolname`,
    [JSON.stringify(Object.keys(rights))],
  );
  for (const { role } of found) {
    const onTables = Object.entries(rights[role]).map(
      ([table, some]) => `grant ${some} on health_data.${table} to ${role};`,
    );
    await transaction.script(`grant usage on schema health_data to ${role}; ${onTables.join(' ')}`);
  }
  return found.map(({ role }) => role);
}
