import { type Database, requireUtf8, StoreFailed } from './database.js';
import { migrate, type Migrated, migrationNames } from './migrations.js';
import { postgres } from './postgres.js';

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
