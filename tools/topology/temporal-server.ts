import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Connection, isGrpcServiceError } from '@temporalio/client';
import pg from 'pg';
import { throughProxy } from '../../client/temporal-connection.js';
import { freePort, loopback, PortInUse, requireFree, requireListening } from '../../sandbox/temporal/ports.js';
import { run, startServer, type Program } from '../../sandbox/temporal/programs.js';
import type { TemporalPrograms } from './programs.js';

/** Temporal's server on PostgreSQL, as an operator sets it up: its tables made by its SQL tool, its four services in one process. */

/** Databases with Temporal's tables and nothing else: each server's are copies of them. */
const templates = { temporal: 'temporal_template', visibility: 'visibility_template' } as const;

/** @param database `postgres://user@host:port/postgres` */
export async function createTemplates({ sqlTool }: TemporalPrograms, database: string): Promise<void> {
  const { hostname, port, username } = new URL(database);
  for (const [schema, name] of Object.entries(templates)) {
    const server = ['--plugin', 'postgres12', '--ep', hostname, '--port', port, '--user', username, '--db', name];
    const tables = ['--schema-name', `postgresql/v12/${schema}`];
    for (const step of [['create'], ['setup-schema', '--version', '0.0'], ['update-schema', ...tables]])
      await run(sqlTool, [...server, ...step], { environment: process.env });
  }
}

export interface ServerOptions {
  programs: Pick<TemporalPrograms, 'server'>;
  /** `postgres://user@host:port/postgres`, with the templates. */
  database: string;
  /** For its configuration files. */
  folder: string;
  /** Of its gRPC service. */
  port: number;
  namespace: string;
  /** Type of each, as `temporal server start-dev` writes it: `Keyword`, `KeywordList`, `Text`, `Int`, `Double`, `Bool`, `Datetime`. */
  searchAttributes: Readonly<Record<string, string>>;
  /** Values of its dynamic configuration, as JSON. */
  settings: Readonly<Record<string, string>>;
  log: (text: string) => void;
}

/** Returns when the server answers with its namespace and its search attributes. It does not outlive this process. */
export async function startTemporalServer(options: ServerOptions): Promise<Program> {
  const { programs, database, folder, port, settings, log } = options;
  const names = await copyTemplates(database, port);
  await mkdir(folder, { recursive: true });
  const dynamic = join(folder, 'dynamic.yaml');
  await writeFile(
    dynamic,
    Object.entries(settings)
      .map(([key, value]) => `${key}:\n  - value: ${value}\n`)
      .join(''),
  );
  // JSON is YAML too.
  const file = join(folder, 'server.yaml');
  await writeFile(file, JSON.stringify(await configuration(database, names, port, dynamic)));
  const server = await startServer({
    name: "Temporal's server",
    program: programs.server,
    args: ['--config-file', file, '--allow-no-auth', 'start'],
    ready: () => requireListening(port),
    orderlyEnd: false,
    log,
  });
  try {
    await prepareNamespace(options);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

type Names = Record<keyof typeof templates, string>;

async function copyTemplates(database: string, port: number): Promise<Names> {
  const names = { temporal: `temporal_${port}`, visibility: `visibility_${port}` };
  for (const key of ['temporal', 'visibility'] as const) {
    const [name, template] = [names[key], templates[key]];
    await query(database, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await query(database, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
    const copy = new URL(database);
    copy.pathname = `/${name}`;
    // The version of the tables is noted under the database's name.
    await query(copy.href, `UPDATE schema_version SET db_name = '${name}'`);
  }
  return names;
}

export async function query(database: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

async function configuration(database: string, names: Names, port: number, dynamic: string): Promise<object> {
  const { hostname, port: databasePort, username } = new URL(database);
  const store = (databaseName: string) => ({
    sql: {
      ...{ pluginName: 'postgres12', databaseName, user: username, password: '' },
      ...{ connectAddr: `${hostname}:${databasePort}`, connectProtocol: 'tcp' },
      // Each of the four services opens so many, in each of the two databases.
      ...{ maxConns: 8, maxIdleConns: 8, maxConnLifetime: '1h' },
    },
  });
  const rpc = async (grpcPort?: number) => ({
    rpc: { grpcPort: grpcPort ?? (await freePort()), membershipPort: await membershipPort(), bindOnIP: loopback },
  });
  const address = `${loopback}:${port}`;
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      ...{ defaultStore: 'default', visibilityStore: 'visibility', numHistoryShards: 4 },
      datastores: { default: store(names.temporal), visibility: store(names.visibility) },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: loopback } },
    services: { frontend: await rpc(port), matching: await rpc(), history: await rpc(), worker: await rpc() },
    clusterMetadata: {
      ...{ enableGlobalNamespace: false, failoverVersionIncrement: 10 },
      ...{ masterClusterName: 'active', currentClusterName: 'active' },
      clusterInformation: {
        active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress: address },
      },
    },
    publicClient: { hostPort: address },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: dynamic, pollInterval: '10s' },
  };
}

/** On PostgreSQL the column of this port takes no number above 32767, and the system gives free ones above it. */
async function membershipPort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    try {
      await requireFree(port, 'Temporal');
      return port;
    } catch (error) {
      if (!(error instanceof PortInUse)) throw error;
    }
  }
}

/** As Temporal's API numbers them. */
const attributeTypes: Readonly<Record<string, number>> = {
  Text: 1,
  Keyword: 2,
  Int: 3,
  Double: 4,
  Bool: 5,
  Datetime: 6,
  KeywordList: 7,
};

const answersWithinMs = 60_000;
const alreadyExists = 6;

async function prepareNamespace({ port, namespace, searchAttributes: given }: ServerOptions): Promise<void> {
  const searchAttributes = Object.fromEntries(
    Object.entries(given).map(([name, type]) => [name, attributeTypes[type] ?? 0]),
  );
  const connection = await Connection.connect(throughProxy({ address: `${loopback}:${port}` }));
  const retention = { seconds: 30 * 86_400 };
  try {
    await untilItWorks(async () => {
      try {
        const asked = { namespace, workflowExecutionRetentionPeriod: retention };
        await connection.workflowService.registerNamespace(asked as never);
      } catch (error) {
        if (!isGrpcServiceError(error) || Number(error.code) !== alreadyExists) throw error;
      }
    });
    if (Object.keys(given).length === 0) return;
    await untilItWorks(async () => connection.operatorService.addSearchAttributes({ namespace, searchAttributes }));
  } finally {
    await connection.close();
  }
}

/** A server that listens does not know its cluster, or a namespace that was just created, at once. */
async function untilItWorks(work: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + answersWithinMs;
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
