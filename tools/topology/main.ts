import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { openStore } from '../../store/health-data-store.js';
import { findPostgres, installCommand, startPostgres } from '../../test/rig/postgres.js';
import { startHealthDataReading } from '../../workers/health-data-reading.js';
import { findTemporalPrograms } from './programs.js';
import { createTemplates, query } from './temporal-server.js';

/*
 * Runs a command on Temporal's released server with PostgreSQL, in place of the development server: `npm run topology -- npm run demo -- --once`.
 * PostgreSQL is Debian's, Temporal's programs are built with Go (docs/internals/proof.md, "Tried on a released server"). The demo and the stories
 * then have two workers, and the demo's ingress is a process of its own, as in production.
 */

const temporal = fileURLToPath(new URL('temporal', import.meta.url));

/** For four servers at once, each with four services, two databases and eight connections. */
const connections = { max_connections: 300 };

async function main([command, ...args]: readonly string[]): Promise<number> {
  if (command === undefined) throw new Error('Give the command to run: npm run topology -- npm run demo -- --once');
  const postgres = await findPostgres();
  if (postgres === undefined) throw new Error(`PostgreSQL is not installed: run \`${installCommand}\`.`);
  const programs = await findTemporalPrograms();
  const database = await startPostgres(postgres, connections);
  try {
    await createTemplates(programs, database.url);
    const topology = {
      TOPOLOGY_SERVER: programs.server,
      TOPOLOGY_WEB_UI: programs.webUi,
      TOPOLOGY_DATABASE: database.url,
    };
    const health = await healthData(database.url);
    try {
      return await run(command, args, { ...topology, ...health.environment, TEMPORAL_CLI: temporal });
    } finally {
      await health.close();
    }
  } finally {
    await database.stop();
  }
}

/** @returns the exit code of the command */
async function run(command: string, args: readonly string[], environment: Record<string, string>): Promise<number> {
  const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...environment } });
  // A terminal sends Ctrl-C to the child as well; who ends this process alone does not.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

/** The database of the demo's workers and ingress, and the reading of it, which is the product's part. */
async function healthData(server: string): Promise<{ environment: Record<string, string>; close(): Promise<void> }> {
  await query(server, 'CREATE DATABASE health_data');
  const databaseUrl = new URL('health_data', server).href;
  const store = await openStore({ databaseUrl });
  const reading = await startHealthDataReading(store, 0);
  return {
    environment: { DEMO_DATABASE_URL: databaseUrl, DEMO_HEALTH_DATA_URL: reading.url },
    close: async () => {
      await reading.close();
      await store.close();
    },
  };
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
