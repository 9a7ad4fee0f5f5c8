import { createHash } from 'node:crypto';
import { Pool, type PoolClient } from 'pg';
import { type Database, serverAnswer, type Parameter, guarded, type Transaction } from './database.js';

/** Beyond this a webhook's sender has nearly given up (15 s) and the webhook handler has answered (10 s). */
const connectTimeoutMs = 5_000;

/**
 * A server that has disappeared silently must not block a connection forever; none of our statements takes this long.
 */
const queryTimeoutMs = 60_000;

/** As many writers as a database of a few cores serves well; each of them is a process of the server. */
const defaultPoolSize = 10;

/**
 * PostgreSQL by a connection string. Connects on first use, and again after an outage.
 *
 * @param poolSize the most connections for transactions and `write`, and as many again for `query`: reads and health
 * checks do not wait for writers
 */
export function postgres(databaseUrl: string, poolSize: number = defaultPoolSize): Database {
  const [writing, reading] = [newPool(databaseUrl, poolSize), newPool(databaseUrl, poolSize)];
  return {
    query: (sql, parameters) => guarded(() => rowsOf(reading, sql, parameters)),
    transaction: (work) => guarded(() => transact(writing, work)),
    write: (sql, parameters) => guarded(() => preparedRowsOf(writing, sql, parameters)),
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

/** The session is read-only, or its server shuts down or starts. After a fail-over such a session never recovers. */
const sessionFailures = ['25006', '57P01', '57P02', '57P03'];

/**
 * Rolls the transaction back, and returns true if the connection can be reused. If the server did not answer, it would
 * not answer this either: closing the connection rolls the work back.
 */
async function undone(client: PoolClient, failure: unknown): Promise<boolean> {
  const answer = serverAnswer(failure);
  if (answer === undefined || sessionFailures.includes(answer)) return false;
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

/** The same, prepared once for each connection: the server does not plan the statement again for every event. */
async function preparedRowsOf<Row extends object>(
  pool: Pool,
  sql: string,
  parameters: readonly Parameter[],
): Promise<Row[]> {
  const name = createHash('sha256').update(sql).digest('hex').slice(0, 32);
  return (await pool.query<Row>({ name, text: sql, values: [...parameters] })).rows;
}
