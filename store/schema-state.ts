import { type Database, requireUtf8, StoreFailed, type Transaction } from './database.js';
import { postgres } from './postgres.js';
import { rights, tables } from './tables.js';

/**
 * All changes of the database, in order. Never change or remove one that was released: add another. A release must work
 * with the tables of the one before it and of the one after it, while processes are replaced one by one.
 */
const migrations = [{ name: '0001-tables', sql: tables }];

export const migrationNames: readonly string[] = migrations.map(({ name }) => name);

/** How the tables compare with those of this release. */
export interface SchemaState {
  /** Migrations of this release that the database does not have yet. */
  missing: string[];
  /** Migrations of the database that this release does not know: a later release made them. */
  unknown: string[];
  /** True if this user may make what is missing. */
  mayMigrate: boolean;
}

/** The tables are older than this release, or not there, and this user must not make them. */
export class TablesOutdated extends StoreFailed {
  static override readonly kind = 'misconfigured';
  static override readonly remedy = 'Run `labops migrate` with the DATABASE_URL of the user who owns them.';
  readonly problem: string;

  constructor(missing: readonly string[]) {
    const problem = `The database lacks ${missing.join(', ')}, and its user is not allowed to migrate it.`;
    super(`${problem} ${TablesOutdated.remedy}`);
    this.problem = problem;
  }
}

/**
 * Brings the tables up to date before a process uses them, if its user may.
 * @throws TablesOutdated, DatabaseNotUtf8
 */
export async function requireTables(database: Database): Promise<void> {
  if (await lacksTables(database)) await migrate(database);
}

/** The result of `migrate`: the migrations that it applied, and the roles whose rights are up to date. */
interface Migrated {
  applied: string[];
  roles: string[];
}

/**
 * Brings tables and rights up to date: `labops migrate`.
 * @throws StoreFailed when the database cannot be reached or refuses; TablesOutdated, DatabaseNotUtf8
 */
export async function migrateDatabase(databaseUrl: string): Promise<Migrated> {
  return briefly(databaseUrl, async (database) => {
    await lacksTables(database);
    return migrate(database);
  });
}

/** True if something is missing that this user may make. @throws TablesOutdated, DatabaseNotUtf8 */
async function lacksTables(database: Database): Promise<boolean> {
  await requireUtf8(database);
  const { missing, mayMigrate } = await schemaState(database);
  if (missing.length > 0 && !mayMigrate) throw new TablesOutdated(missing);
  return missing.length > 0;
}

/**
 * Reads the state of the tables, and changes nothing.
 * @throws StoreFailed when the database cannot be reached or refuses; DatabaseNotUtf8
 */
export async function readSchemaState(databaseUrl: string): Promise<SchemaState> {
  return briefly(databaseUrl, async (database) => {
    await requireUtf8(database);
    return schemaState(database);
  });
}

/** Opens the database for this work alone. */
async function briefly<Result>(databaseUrl: string, work: (database: Database) => Promise<Result>): Promise<Result> {
  const database = postgres(databaseUrl, 1);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

async function schemaState(database: Database): Promise<SchemaState> {
  const [found] = await database.query<{ schema: boolean; table: boolean; creates: boolean }>(
    `select exists (select 1 from pg_catalog.pg_namespace where nspname = 'health_data') as schema,
       to_regclass('health_data.migrations') is not null as table,
       has_database_privilege(current_database(), 'create') as creates`,
  );
  const mayMigrate =
    found?.schema === true
      ? await truth(database, `select has_schema_privilege('health_data', 'create') as is`)
      : found?.creates === true;
  const rows =
    found?.table === true ? await database.query<{ name: string }>('select name from health_data.migrations') : [];
  const present = rows.map(({ name }) => name);
  return {
    missing: migrationNames.filter((name) => !present.includes(name)),
    unknown: present.filter((name) => !migrationNames.includes(name)),
    mayMigrate,
  };
}

async function truth(database: Database, sql: string): Promise<boolean> {
  const [row] = await database.query<{ is: boolean }>(sql);
  return row?.is === true;
}

/** Any number that no other program uses on this database; processes that start together wait for each other here. */
const migrationLock = 5_402_391_044;

/** Brings tables and rights up to date, in one transaction: all of it, or nothing. */
async function migrate(database: Database): Promise<Migrated> {
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
