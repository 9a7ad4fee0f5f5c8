import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { findDevServer } from './find.js';
import { freePort, isListening, loopback, requireFree } from './ports.js';
import { lastLines, watchdog } from './programs.js';
import { asArgument, type SearchAttribute } from './search-attribute.js';

export interface DevServerOptions {
  /** The `temporal` program; `findDevServer` when not given. */
  program?: string;
  /** Created at start. Default: `default`. */
  namespace?: string;
  /** Of the gRPC service. Default: a free one. */
  port?: number;
  /** Whether to serve the Web UI. Default: only when `uiPort` is given. */
  ui?: boolean;
  /** Of the Web UI. Default: a free one. */
  uiPort?: number;
  /** Keeps the state in this file; without it everything is forgotten when the server stops. */
  dbFilename?: string;
  /** Registered before the server answers: a workflow that sets an unregistered one is retried for ever. */
  searchAttributes?: readonly SearchAttribute[];
  /** More arguments for `temporal server start-dev`. */
  extraArgs?: readonly string[];
  /** Gets what the server writes (warnings and errors). */
  log?: (text: string) => void;
}

export interface DevServer {
  /** `host:port` for TEMPORAL_ADDRESS. */
  address: string;
  namespace: string;
  uiUrl?: string;
  pid: number;
  /** Settles when the server has ended, by `stop` or by itself. */
  ended: Promise<void>;
  stop(): Promise<void>;
}

/** As it comes the server waits up to 50 ms between two steps of a workflow: one shard, asked 20 times a second. */
const quickSteps = ['history.transferProcessorMaxPollRPS=1000', 'history.timerProcessorMaxPollRPS=1000'];

/** Ready in half a second on an idle machine. */
const readyWithinMs = 60_000;
const askEveryMs = 50;

/** With a file it is given time to close it; it takes a second. */
const stopWithinMs = 5_000;

const errorLines = 5;

/** Another program may take a free port before the server does. */
const attempts = 3;

/**
 * Starts a dev server on the loopback interface and returns when it answers with its namespace and search attributes.
 * It does not outlive this process, and Ctrl-C does not reach it, so that a worker can drain first. Throws `PortInUse`.
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
  const address = `${loopback}:${port}`;
  const child = spawn(watchdog, [program, ...serverArguments(options, namespace, port, uiPort)], {
    // A process group of its own: Ctrl-C in a terminal goes to the whole group of this process.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const tail = lastLines(errorLines);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      tail.add(text);
      options.log?.(text);
    });
  }
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', (error) => {
      tail.add(error.message);
      resolve();
    });
  });
  const stop = (): Promise<void> => end(child, ended, options.dbFilename !== undefined);
  const waiting = new AbortController();
  try {
    await Promise.race([
      ready(port, namespace, options.searchAttributes ?? [], waiting.signal),
      ended.then(() => {
        throw new Error(`The Temporal dev server (${program}) ended before it was ready: ${tail.text()}`);
      }),
    ]);
  } catch (error) {
    waiting.abort();
    await stop();
    throw error;
  }
  const uiUrl = uiPort === undefined ? {} : { uiUrl: `http://${loopback}:${uiPort}` };
  return { address, namespace, ...uiUrl, pid: child.pid ?? 0, ended, stop };
}

function serverArguments(options: DevServerOptions, namespace: string, port: number, uiPort?: number): string[] {
  return [
    'server',
    'start-dev',
    ...['--ip', loopback, '--port', String(port), '--namespace', namespace, '--log-level', 'warn'],
    ...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...(options.dbFilename === undefined ? [] : ['--db-filename', options.dbFilename]),
    ...quickSteps.flatMap((setting) => ['--dynamic-config-value', setting]),
    ...(options.searchAttributes ?? []).map(asArgument),
    ...(options.extraArgs ?? []),
  ];
}

async function ready(
  port: number,
  namespace: string,
  attributes: readonly SearchAttribute[],
  signal: AbortSignal,
): Promise<void> {
  const deadline = Date.now() + readyWithinMs;
  while (!signal.aborted) {
    try {
      // Asked first, because a gRPC channel that finds nobody waits a second before it tries again.
      if (!(await isListening(port))) throw new Error(`nobody listens on port ${port}`);
      await requireAnswer(`${loopback}:${port}`, namespace, attributes);
      return;
    } catch (error) {
      if (Date.now() < deadline) await sleep(askEveryMs);
      else
        throw new Error(`The Temporal dev server was not ready in ${readyWithinMs / 1000} s: ${String(error)}`, {
          cause: error,
        });
    }
  }
}

/** Throws until the server answers, knows the namespace and knows each search attribute. */
async function requireAnswer(
  address: string,
  namespace: string,
  attributes: readonly SearchAttribute[],
): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: '1 second' });
  try {
    await connection.workflowService.describeNamespace({ namespace });
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const missing = attributes.filter(({ name }) => customAttributes?.[name] === undefined);
    if (missing.length > 0) throw new Error(`not registered: ${missing.map(({ name }) => name).join(', ')}`);
  } finally {
    await connection.close();
  }
}

/** Without a file there is nothing that an orderly end could save. */
async function end(child: ChildProcess, ended: Promise<void>, graceful: boolean): Promise<void> {
  child.kill(graceful ? 'SIGTERM' : 'SIGKILL');
  const force = setTimeout(() => child.kill('SIGKILL'), stopWithinMs);
  await ended.finally(() => clearTimeout(force));
}
