import { type Database, requireUtf8 } from './database.js';
import { migrationNames } from './migrations.js';
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

/**
 * Reads the state of the tables, and changes nothing.
 * @throws StoreFailed when the database cannot be reached or refuses; DatabaseNotUtf8
 */
export async function readSchemaState(databaseUrl: string): Promise<SchemaState> {
  const database = postgres(databaseUrl, 1);
  try {
    await requireUtf8(database);
    return await schemaState(database);
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
