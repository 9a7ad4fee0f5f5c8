import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { spawnWatched } from '../../sandbox/temporal/programs.js';
import { patienceMs } from './patience.js';

/** How a process ended: by itself with a code, or by a signal. */
interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface StartedProcess {
  pid: number;
  /** What it has written so far, standard output and standard error as they came. */
  output(): string;
  /** From now on `output` leaves out what it has written until now. */
  forget(): void;
  /** Waits until what it has written matches; fails with its last lines when it ends first or takes too long. */
  waitFor(pattern: RegExp, withinMs?: number): Promise<RegExpMatchArray>;
  /** Settles when the process has ended. */
  exit: Promise<Exit>;
  /** Sends the signal (SIGTERM), and SIGKILL when it has not ended after two minutes. */
  stop(signal?: NodeJS.Signals): Promise<Exit>;
}

export interface ProcessOptions {
  /** Added to the test's own environment; `undefined` takes a variable out of it. */
  env?: Record<string, string | undefined>;
  /** The project's folder when not given. */
  cwd?: string;
  /** `startProcess` returns once the output matches; at once when not given. */
  ready?: RegExp;
  /** How long to wait for `ready`, in milliseconds. Default: four minutes; one that ends first is noticed at once. */
  readyWithinMs?: number;
  /** True: it runs on after the test file, until this process ends. */
  stands?: boolean;
}

export const projectFolder = fileURLToPath(new URL('../..', import.meta.url));

/** Longer than any program here takes to start on a machine under load: one that runs from the sources compiles them first. */
const startedWithinMs = 240_000;
/** Longer than any program here takes to shut down. */
const stoppedWithinMs = 120_000;
const flushMs = 10_000;
const running = new Set<StartedProcess>();

// Ends this fork with an interrupted run: otherwise its tests would go on, and the watchdogs of what they started would wait for them.
process.once('disconnect', () => process.exit(1));

/**
 * Starts a program that cannot outlive the test file, unless it `stands`: `stopProcesses` runs after it, whether its tests pass or not.
 * It does not outlive this process either.
 */
export async function startProcess(
  command: string,
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<StartedProcess> {
  const child = spawnWatched(command, args, {
    cwd: options.cwd ?? projectFolder,
    env: { ...process.env, ...options.env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      output += text;
      child.emit('wrote');
    });
  }
  // 'exit' rather than 'close': a child of its own that it left behind would hold its output open.
  const exit = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => {
      const flushed = setTimeout(() => resolve({ code, signal }), flushMs);
      child.once('close', () => {
        clearTimeout(flushed);
        resolve({ code, signal });
      });
    });
  });
  await once(child, 'spawn');
  const started: StartedProcess = {
    pid: child.pid ?? 0,
    output: () => output,
    forget: () => void (output = ''),
    exit,
    waitFor: async (pattern, withinMs = patienceMs) => {
      const deadline = AbortSignal.timeout(withinMs);
      const ended = new AbortController();
      void exit.then(() => ended.abort());
      for (;;) {
        const match = output.match(pattern);
        if (match) return match;
        const wrote = once(child, 'wrote', { signal: AbortSignal.any([deadline, ended.signal]) });
        await wrote.catch(() => undefined);
        if (output.match(pattern)) continue;
        const failed = deadline.aborted ? `nothing in ${withinMs} ms` : ended.signal.aborted && 'it ended first';
        if (failed) throw new Error(`${command} ${args.join(' ')}: waited for ${pattern}, ${failed}:\n${output}`);
      }
    },
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      const force = setTimeout(() => child.kill('SIGKILL'), stoppedWithinMs);
      return exit.finally(() => clearTimeout(force));
    },
  };
  if (!options.stands) running.add(started);
  void exit.then(() => running.delete(started));
  if (options.ready) await started.waitFor(options.ready, options.readyWithinMs ?? startedWithinMs);
  return started;
}

/** A TypeScript file of this project as its own process. */
export async function startProgram(file: string, options?: ProcessOptions & { args?: readonly string[] }) {
  return startProcess(process.execPath, ['--import', 'tsx', file, ...(options?.args ?? [])], options);
}

/** Ends what `startProcess` started and nothing else has ended: after each test file, see setup.ts. */
export async function stopProcesses(): Promise<void> {
  await Promise.all([...running].map((started) => started.stop()));
}

/** True if a process still runs. One that has ended but was not waited for yet does not. */
export async function isRunning(pid: number): Promise<boolean> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'stat=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.trim() !== '' && !stdout.startsWith('Z');
}
