import { type Duration, type SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
import { Connection } from '@temporalio/client';
import { findDevServer } from './find.js';
import { freePort, loopback, requireFree, requireListening } from './ports.js';
import { type Program, startServer } from './programs.js';
import { throughProxy } from '../../client/temporal-connection.js';

/** The result of `defineSearchAttributeKey`. */
export interface SearchAttribute {
  name: string;
  type: SearchAttributeType;
}

export interface DevServerOptions {
  /** The `temporal` program; `findDevServer` when not given. */
  program?: string;
  /** Created at start. Default: `default`. */
  namespace?: string;
  /** Of the gRPC service. Default: a free one. */
  port?: number;
  /** True: the Web UI is served. Default: only if `uiPort` is given. */
  ui?: boolean;
  /** Of the Web UI. Default: a free one. */
  uiPort?: number;
  /** Keeps the state in this file; without it everything is forgotten when the server stops. */
  dbFilename?: string;
  /** Registered before the server answers: a workflow that sets an unregistered one is retried forever. */
  searchAttributes?: readonly SearchAttribute[];
  /** More arguments for `temporal server start-dev`. */
  extraArgs?: readonly string[];
  /** Gets what the server writes (warnings and errors). */
  log?: (text: string) => void;
  /** A hint on where to look when it has failed. */
  advice?: string;
}

export interface DevServer extends Program {
  /** `host:port` for TEMPORAL_ADDRESS. */
  address: string;
  namespace: string;
  uiUrl?: string;
}

/** As it comes the server waits up to 50 ms between two steps of a workflow: one shard, asked 20 times a second. */
const quickSteps = ['history.transferProcessorMaxPollRPS=1000', 'history.timerProcessorMaxPollRPS=1000'];

/** Another program may take a free port before the server does. */
const attempts = 3;

/**
 * Starts a dev server on the loopback interface and returns when it answers with its namespace and search attributes.
 * It does not outlive this process, and Ctrl-C does not reach it, so a worker can drain first. Throws `PortInUse`.
 */
export async function startDevServer(options: DevServerOptions = {}): Promise<DevServer> {
  const program = options.program ?? (await findDevServer());
  if (options.port !== undefined) await requireFree(options.port, 'the Temporal dev server');
  if (options.uiPort !== undefined) await requireFree(options.uiPort, "Temporal's Web UI");
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(program, options);
    } catch (error) {
      const portTaken = error instanceof Error && /address already in use/.test(error.message);
      if (!portTaken || attempt === attempts) throw error;
    }
  }
}

async function startOnce(program: string, options: DevServerOptions): Promise<DevServer> {
  const namespace = options.namespace ?? 'default';
  const port = options.port ?? (await freePort());
  const withUi = options.ui ?? options.uiPort !== undefined;
  const uiPort = withUi ? (options.uiPort ?? (await freePort())) : undefined;
  const server = await startServer({
    name: 'The Temporal dev server',
    program,
    args: serverArguments(options, namespace, port, uiPort),
    ready: () => requireAnswer(port, namespace, options.searchAttributes ?? []),
    // With a file it is given time to close it; without one there is nothing that an orderly end could save.
    orderlyEnd: options.dbFilename !== undefined,
    ...(options.log && { log: options.log }),
    ...(options.advice && { advice: options.advice }),
  });
  const uiUrl = uiPort === undefined ? {} : { uiUrl: `http://${loopback}:${uiPort}` };
  return { address: `${loopback}:${port}`, namespace, ...uiUrl, ...server };
}

function serverArguments(options: DevServerOptions, namespace: string, port: number, uiPort?: number): string[] {
  return [
    'server',
    'start-dev',
    ...['--ip', loopback, '--port', String(port), '--namespace', namespace, '--log-level', 'warn'],
    ...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...(options.dbFilename === undefined ? [] : ['--db-filename', options.dbFilename]),
    ...quickSteps.flatMap((setting) => ['--dynamic-config-value', setting]),
    ...(options.searchAttributes ?? []).map(
      ({ name, type }) => `--search-attribute=${name}=${TypedSearchAttributes.toMetadataType(type)}`,
    ),
    ...(options.extraArgs ?? []),
  ];
}

/** Throws until the server answers, knows the namespace and knows each search attribute. */
async function requireAnswer(port: number, namespace: string, attributes: readonly SearchAttribute[]): Promise<void> {
  await askServer(port, '1 second', async ({ workflowService, operatorService }) => {
    await workflowService.describeNamespace({ namespace });
    const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
    const missing = attributes.filter(({ name }) => customAttributes?.[name] === undefined);
    if (missing.length > 0) throw new Error(`not registered: ${missing.map(({ name }) => name).join(', ')}`);
  });
}

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
