import { Connection } from '@temporalio/client';
import type { Duration } from '@temporalio/common';
import { throughProxy } from '../../client/temporal-connection.js';
import { loopback, requireListening } from './ports.js';

/** Connects to the Temporal server on a port, asks it, and closes the connection, also if the server does not answer. */
export async function askServer(
  port: number,
  connectTimeout: Duration,
  ask: (connection: Connection) => Promise<void> = async () => undefined,
): Promise<void> {
  // Asked first, because a gRPC channel that finds nobody waits a second before it tries again.
  await requireListening(port);
  const connection = Connection.lazy(throughProxy({ address: `${loopback}:${port}`, connectTimeout }));
  try {
    await connection.ensureConnected();
    await ask(connection);
  } finally {
    await connection.close();
  }
}
