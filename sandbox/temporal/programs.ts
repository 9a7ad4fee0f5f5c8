import { execFile, spawn, type ChildProcessByStdio, type SpawnOptions } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const watchdog = fileURLToPath(new URL('watchdog.sh', import.meta.url));

/** Starts a program that does not outlive this process, however that ends. */
export function spawnWatched(
  program: string,
  args: readonly string[],
  options: Omit<SpawnOptions, 'stdio'>,
): ChildProcessByStdio<null, Readable, Readable> {
  const stdio = ['ignore', 'pipe', 'pipe', 'pipe'] satisfies SpawnOptions['stdio'];
  const child = spawn(watchdog, [program, ...args], { ...options, stdio });
  const lifeline = child.stdio[3] as Socket;
  lifeline.unref();
  child.once('exit', () => lifeline.destroy());
  return child as ChildProcessByStdio<null, Readable, Readable>;
}

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
const shownLines = 8;

/** Runs a program to its end; its output is shown only when it fails, and then its last lines. */
export async function run(program: string, args: readonly string[], options: RunOptions): Promise<void> {
  const child = spawnWatched(program, args, {
    cwd: options.cwd,
    env: options.environment,
    killSignal: 'SIGKILL',
    ...(options.signal && { signal: options.signal }),
  });
  const tail = lastLines(shownLines);
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

/** The version of the server inside a `temporal` program, as `1.32.0`: its own version may say nothing (`0.0.0-DEV`). */
export async function serverVersion(cli: string): Promise<string> {
  const { stdout } = await promisify(execFile)(cli, ['--version'], { timeout: versionTimeoutMs });
  const version = /\bServer (\d+\.\d+\.\d+)/.exec(stdout)?.[1];
  if (version === undefined) throw new Error(`its --version names no server: ${stdout.trim().slice(0, 200)}`);
  return version;
}

export interface ProgramOptions {
  /** For messages: `The worker`. */
  name: string;
  program: string;
  args: readonly string[];
  cwd?: string;
  environment?: Readonly<Record<string, string>>;
  /** Fails until the program is ready. */
  ready: () => Promise<void>;
  /** True if the program must end in its own way; otherwise it is killed. */
  orderlyEnd: boolean;
  /** Gets what the program writes. */
  log?: (text: string) => void;
  /** A hint on where to look when it has failed. */
  advice?: string;
}

export interface Program {
  pid: number;
  /** Rejects with ProgramFailed when it ends first or takes too long. */
  ready: Promise<void>;
  /** Settles when it has ended, also when it was asked to. */
  ended: Promise<ProgramFailed>;
  /** Lets it finish what it is doing, for a few seconds. */
  stop(): Promise<void>;
}

/** A program ended, or was not ready in time. Shows its last lines. */
export class ProgramFailed extends Error {
  override readonly name = 'ProgramFailed';

  constructor(what: string, lines: string, advice: string | undefined) {
    super(`${what}${lines && `; its last lines:\n${lines.replaceAll(/^/gm, '  ')}`}${advice ? `\n${advice}` : ''}`);
  }
}

/**
 * Only a program that hangs takes so long; one that ends is noticed at once. On a cold and busy machine, minutes pass
 * before the loader has compiled all sources and the worker has bundled its workflows.
 */
const readyWithinMs = 300_000;
const askEveryMs = 50;
/** Longer than the grace that the demo gives its worker. */
const stopWithinMs = 6_000;

/**
 * Starts a program that does not outlive this process, however that ends. It gets a process group of its own: Ctrl-C in
 * a terminal goes to the whole group of this process, and programs must be stopped in order.
 */
export function startProgram(options: ProgramOptions): Program {
  const { name, program, args, cwd, environment, orderlyEnd, log, advice } = options;
  const child = spawnWatched(program, args, { cwd, ...(environment && { env: environment }), detached: true });
  const tail = lastLines(shownLines);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      tail.add(text);
      log?.(text);
    });
  }
  const failed = (what: string): ProgramFailed => new ProgramFailed(`${name} ${what}`, tail.text(), advice);
  const ended = new Promise<ProgramFailed>((resolve) => {
    child.once('error', (error) => resolve(failed(`could not be started (${error.message})`)));
    child.once('close', (code, signal) => resolve(failed(`ended by itself (${signal ?? `status ${code}`})`)));
  });
  const over = new AbortController();
  const failure = ended.then((reason) => {
    over.abort();
    throw reason;
  });
  const ready = Promise.race([failure, untilReady(options.ready, over.signal, failed)]);
  const stop = async (): Promise<void> => {
    child.kill(orderlyEnd ? 'SIGTERM' : 'SIGKILL');
    const force = setTimeout(() => child.kill('SIGKILL'), stopWithinMs);
    await ended.finally(() => clearTimeout(force));
  };
  return { pid: child.pid ?? 0, ready, ended, stop };
}

/** The same for a program that is stopped if it does not get ready. */
export async function startServer(options: ProgramOptions): Promise<Program> {
  const server = startProgram(options);
  try {
    await server.ready;
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

async function untilReady(
  ready: () => Promise<void>,
  signal: AbortSignal,
  failed: (what: string) => ProgramFailed,
): Promise<void> {
  const deadline = Date.now() + readyWithinMs;
  while (!signal.aborted) {
    try {
      await ready();
      return;
    } catch (error) {
      if (Date.now() >= deadline) throw failed(`was not ready in ${readyWithinMs / 1000} s (${String(error)})`);
      await sleep(askEveryMs);
    }
  }
}
