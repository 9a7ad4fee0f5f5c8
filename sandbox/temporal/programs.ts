import { execFile, spawn } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Runs a program that does not outlive this process. */
export const watchdog = fileURLToPath(new URL('watchdog.sh', import.meta.url));

export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** The first program of that name in the folders of PATH. */
export async function findProgram(name: string, searchPath: readonly string[]): Promise<string | undefined> {
  for (const folder of searchPath) {
    const path = join(folder, name);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

export interface RunOptions {
  environment: NodeJS.ProcessEnv;
  cwd?: string;
  /** Ends the program. */
  signal?: AbortSignal;
}

/** How many lines of what a program wrote an error repeats. */
const errorLines = 5;

/** Runs a program to its end; its output is shown only when it fails, and then its last lines. */
export async function run(program: string, args: readonly string[], options: RunOptions): Promise<void> {
  const child = spawn(watchdog, [program, ...args], {
    cwd: options.cwd,
    env: options.environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    killSignal: 'SIGKILL',
    ...(options.signal && { signal: options.signal }),
  });
  const tail = lastLines(errorLines);
  child.stdout.setEncoding('utf8').on('data', tail.add);
  child.stderr.setEncoding('utf8').on('data', tail.add);
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`it ended with ${signal ?? `status ${code}`}${tail.text() && `: ${tail.text()}`}`));
    });
  });
}

/** Keeps the end of what a program writes. */
export function lastLines(count: number): { add: (text: string) => void; text: () => string } {
  let kept = '';
  return {
    add: (text) => {
      kept = (kept + text)
        .split('\n')
        .slice(-(count + 1))
        .join('\n');
    },
    text: () => kept.trim(),
  };
}

const versionTimeoutMs = 20_000;

/** The version of the server inside a `temporal` program, as `1.29.1`: its own version says nothing (`0.0.0-DEV`). */
export async function serverVersion(cli: string): Promise<string> {
  const { stdout } = await promisify(execFile)(cli, ['--version'], { timeout: versionTimeoutMs });
  const version = /\bServer (\d+\.\d+\.\d+)/.exec(stdout)?.[1];
  if (version === undefined) throw new Error(`its --version names no server: ${stdout.trim().slice(0, 200)}`);
  return version;
}

export interface ServerOptions {
  /** For messages. */
  name: string;
  program: string;
  args: readonly string[];
  /** Fails until the server is ready. */
  ready: () => Promise<void>;
  /** True if the server is to end in its own way; otherwise it is killed. */
  orderlyEnd: boolean;
  /** Gets what the server writes. */
  log?: (text: string) => void;
}

export interface RunningServer {
  pid: number;
  /** Settles when the server has ended, by `stop` or by itself. */
  ended: Promise<void>;
  stop(): Promise<void>;
}

/** It takes a second or two on an idle machine. */
const readyWithinMs = 60_000;
const askEveryMs = 50;
const stopWithinMs = 5_000;

/** Starts a server that does not outlive this process, and returns once it is ready. Ctrl-C does not reach it. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { name, program, args, orderlyEnd, log } = options;
  const child = spawn(watchdog, [program, ...args], {
    // A process group of its own: Ctrl-C in a terminal goes to the whole group of this process.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const tail = lastLines(errorLines);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      tail.add(text);
      log?.(text);
    });
  }
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', (error) => {
      tail.add(error.message);
      resolve();
    });
  });
  const stop = async (): Promise<void> => {
    child.kill(orderlyEnd ? 'SIGTERM' : 'SIGKILL');
    const force = setTimeout(() => child.kill('SIGKILL'), stopWithinMs);
    await ended.finally(() => clearTimeout(force));
  };
  const waiting = new AbortController();
  try {
    await Promise.race([
      untilReady(options, waiting.signal),
      ended.then(() => {
        throw new Error(`${name} (${program}) ended before it was ready: ${tail.text()}`);
      }),
    ]);
  } catch (error) {
    waiting.abort();
    await stop();
    throw error;
  }
  return { pid: child.pid ?? 0, ended, stop };
}

async function untilReady({ name, ready }: ServerOptions, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + readyWithinMs;
  while (!signal.aborted) {
    try {
      await ready();
      return;
    } catch (error) {
      if (Date.now() >= deadline) {
        throw new Error(`${name} was not ready in ${readyWithinMs / 1000} s: ${String(error)}`, { cause: error });
      }
      await sleep(askEveryMs);
    }
  }
}
