import { Pool, type PoolClient } from 'pg';
import { type Database, isServerAnswer, type Parameter, storeFailure, type Transaction } from './database.js';

/** Beyond this a webhook's sender has nearly given up (15 s) and the webhook handler has answered (10 s). */
const connectTimeoutMs = 5_000;

/** A server that has gone without a word must not hold a connection for ever; no statement of ours takes this long. */
const queryTimeoutMs = 60_000;

/** As many writers as a database of a few cores serves well; each of them is a process of the server. */
const usualPoolSize = 10;

/**
 * PostgreSQL by a connection string. Connects when something is asked of it, and again after an outage.
 * @param poolSize the most connections for transactions, and as many again for statements on their own: whoever reads, or
 * asks whether the database is there, does not wait for writers
 */
export function postgres(databaseUrl: string, poolSize: number = usualPoolSize): Database {
  const [writing, reading] = [newPool(databaseUrl, poolSize), newPool(databaseUrl, poolSize)];
  return {
    query: (sql, parameters) => guarded(() => rowsOf(reading, sql, parameters)),
    transaction: (work) => guarded(() => transact(writing, work)),
    // Autovacuum does it in time, and the operator's WAL archive and backups are beyond us (docs/health-data.md).
    scrub: () => Promise.resolve(),
    close: async () => {
      await Promise.all([writing.end(), reading.end()]);
    },
  };
}

function newPool(databaseUrl: string, max: number): Pool {
  const pool = new Pool({
    connectionString: databaseUrl,
    max,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
    application_name: 'lab-operations',
  });
  // The pool lets go of an idle connection that broke; whoever needs one next learns whether the server is there.
  pool.on('error', () => undefined);
  return pool;
}

async function transact<Result>(pool: Pool, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  let broken = false;
  // A connection that breaks while it is out emits it; what was asked of it rejects as well.
  const lost = () => {
    broken = true;
  };
  client.on('error', lost);
  try {
    await client.query('begin');
    const result = await work({
      query: (sql, parameters) => rowsOf(client, sql, parameters),
      script: async (sql) => void (await client.query(sql)),
    });
    await client.query('commit');
    return result;
  } catch (error) {
    broken ||= !(await undone(client, error));
    throw error;
  } finally {
    client.off('error', lost);
    client.release(broken);
  }
}

/**
 * Undoes the transaction, and tells whether the connection is fit for others. Where the server did not answer it would
 * not answer this either: closing the connection undoes the work.
 */
async function undone(client: PoolClient, failure: unknown): Promise<boolean> {
  if (!isServerAnswer(failure)) return false;
  try {
    await client.query('rollback');
    return true;
  } catch {
    return false;
  }
}

async function rowsOf<Row extends object>(
  client: Pool | PoolClient,
  sql: string,
  parameters: readonly Parameter[] = [],
): Promise<Row[]> {
  return (await client.query<Row>(sql, [...parameters])).rows;
}

async function guarded<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw storeFailure(error);
  }
}
