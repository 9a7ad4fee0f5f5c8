import { PGlite } from '@electric-sql/pglite';
import { type Database, guarded, type Parameter, storeFailure } from './database.js';
import { type DirectoryLock, lockDirectory } from './directory-lock.js';

/** The common part of PGlite itself and its transactions. */
type Queries = Pick<PGlite, 'query'>;

/**
 * PostgreSQL in this process, stored in a directory, for the demo and for tests. It has one connection: transactions
 * run one after the other, and one that waits for another from inside waits forever.
 *
 * @throws DirectoryInUse while another process (or another part of this one) has the directory open
 */
export async function pglite(directory: string): Promise<Database> {
  const lock = await lockDirectory(directory);
  const database = await opened(lock);
  return {
    query: (sql, parameters) => guarded(() => rowsOf(database, sql, parameters)),
    transaction: (work) =>
      guarded(() =>
        database.transaction((transaction) =>
          work({
            query: (sql, parameters) => rowsOf(transaction, sql, parameters),
            script: async (sql) => void (await transaction.exec(sql)),
          }),
        ),
      ),
    write: (sql, parameters) => guarded(() => rowsOf(database, sql, parameters)),
    scrub: (tables) =>
      guarded(async () => {
        // Nothing vacuums here by itself. A full one writes each table to a new file; the log ends with the old segment.
        for (const table of tables) await database.exec(`vacuum full ${table}`);
        await database.exec('select pg_switch_wal(); checkpoint');
      }),
    close: async () => {
      if (database.closed) return;
      await database.close();
      lock.release();
    },
  };
}

async function opened(lock: DirectoryLock): Promise<PGlite> {
  try {
    const database = await PGlite.create(lock.directory);
    // A log segment that is reused would still contain its old content, deleted rows too.
    await database.exec('set wal_recycle = off');
    return database;
  } catch (error) {
    lock.release();
    throw storeFailure(error);
  }
}

async function rowsOf<Row extends object>(
  queries: Queries,
  sql: string,
  parameters: readonly Parameter[] = [],
): Promise<Row[]> {
  return (await queries.query<Row>(sql, [...parameters])).rows;
}
