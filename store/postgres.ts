import { Pool, type PoolClient } from 'pg';
import {
  type Database,
  isServerAnswer,
  type Parameter,
  type Statement,
  storeFailure,
  type Transaction,
} from './database.js';

/** Beyond this a webhook's sender has nearly given up (15 s) and the webhook handler has answered (10 s). */
const connectTimeoutMs = 5_000;

/**
 * A server that has disappeared silently must not block a connection forever; none of our statements takes this long.
 */
const queryTimeoutMs = 60_000;

/** How long the server waits for a user's lock in a transaction that is sent at once. */
const lockTimeoutMs = 50_000;

/** As many writers as a database of a few cores serves well; each of them is a process of the server. */
const usualPoolSize = 10;

/**
 * PostgreSQL by a connection string. Connects on first use, and again after an outage.
 *
 * @param poolSize the most connections for transactions, and as many again for single statements: reads and health
 * checks do not wait for writers
 */
export function postgres(databaseUrl: string, poolSize: number = usualPoolSize): Database {
  const [writing, reading] = [newPool(databaseUrl, poolSize), newPool(databaseUrl, poolSize)];
  return {
    query: (sql, parameters) => guarded(() => rowsOf(reading, sql, parameters)),
    transaction: (work) => guarded(() => transact(writing, work)),
    atOnce: <Row extends object>(statements: readonly Statement[]) =>
      guarded(() => sendAtOnce<Row>(writing, statements)),
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
    // Statements are sent without waiting for the answers to those before them; those of `transact` wait all the same.
    pipeline: true,
    application_name: 'lab-operations',
  });
  // The pool drops a broken idle connection; the next caller sees if the server is back.
  pool.on('error', () => undefined);
  return pool;
}

async function transact<Result>(pool: Pool, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
  return withConnection(pool, async (client) => {
    await client.query('begin');
    const result = await work({
      query: (sql, parameters) => rowsOf(client, sql, parameters),
      script: async (sql) => void (await client.query(sql)),
    });
    await client.query('commit');
    return result;
  });
}

/** After a statement that fails, the server refuses those behind it, and makes the commit a rollback. */
async function sendAtOnce<Row extends object>(pool: Pool, statements: readonly Statement[]): Promise<Row[]> {
  return withConnection(pool, async (client) => {
    // The commit is on its way before the lock is there: the server must give up before we do, or it would commit after a failure.
    const begun = client.query(`begin; set local lock_timeout = ${lockTimeoutMs}`);
    const answers = statements.map(({ sql, parameters }) => rowsOf<Row>(client, sql, parameters));
    const sent = await Promise.allSettled([begun, ...answers, client.query('commit')]);
    const failed = sent.find((each) => each.status === 'rejected');
    if (failed) throw failed.reason;
    return (await answers.at(-1)) ?? [];
  });
}

/** A connection is given back only if it can be used again. */
async function withConnection<Result>(pool: Pool, work: (client: PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  let broken = false;
  // A connection that breaks while in use emits it; its query rejects as well.
  const lost = () => {
    broken = true;
  };
  client.on('error', lost);
  try {
    return await work(client);
  } catch (error) {
    broken ||= !(await undone(client, error));
    throw error;
  } finally {
    client.off('error', lost);
    client.release(broken);
  }
}

/**
 * Rolls the transaction back, and returns true if the connection can be reused. If the server did not answer, it would
 * not answer this either: closing the connection rolls the work back.
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
