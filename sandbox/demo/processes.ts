import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lastLines, watchdog } from '../temporal/programs.js';

const projectFolder = fileURLToPath(new URL('../..', import.meta.url));

/** On a cold machine the loader compiles everything first, and the worker bundles its workflows. */
const readyWithinMs = 60_000;

/** Longer than the grace that the worker is given (servers.ts). */
const stopWithinMs = 6_000;

const shownLines = 8;

export interface ProgramOptions {
  /** A word for people: `worker`. */
  name: string;
  /** From the project's folder: `workers/worker.ts`. */
  file: string;
  environment: Readonly<Record<string, string>>;
  /** The folder of its log, `<name>.log`. */
  logFolder: string;
  /** It is ready once it has written this. */
  ready: RegExp;
}

/** A program of the demo ended, or was not ready in time. Shows its last lines and where the others are. */
export class ProgramFailed extends Error {
  override readonly name = 'ProgramFailed';

  constructor(what: string, lines: string, logFile: string) {
    super(`${what}${lines && `; its last lines:\n${lines.replaceAll(/^/gm, '  ')}`}\nAll it wrote: ${logFile}`);
  }
}

/** One of the project's programs as a process of its own, run from the sources as a user would. */
export interface Program {
  /** Rejects with ProgramFailed when it ends first or takes too long. */
  ready: Promise<void>;
  /** Settles when it has ended, also when it was asked to. */
  ended: Promise<ProgramFailed>;
  /** Lets it finish what it is doing, for a few seconds. */
  stop(): Promise<void>;
}

/**
 * Starts a program that does not outlive this process, however that ends. It gets a process group of its own: Ctrl-C in
 * a terminal goes to the whole group of this process, and the programs are to be stopped in order.
 */
export function startProgram({ name, file, environment, logFolder, ready: pattern }: ProgramOptions): Program {
  const child = spawn(watchdog, [process.execPath, '--import', 'tsx', file], {
    cwd: projectFolder,
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const logFile = join(logFolder, `${name}.log`);
  const log = createWriteStream(logFile);
  const tail = lastLines(shownLines);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      log.write(text);
      tail.add(text);
      child.emit('wrote');
    });
  }
  const failed = (what: string): ProgramFailed => new ProgramFailed(`The ${name} ${what}`, tail.text(), logFile);
  const ended = new Promise<ProgramFailed>((resolve) => {
    child.once('error', (error) => resolve(failed(`could not be started (${error.message})`)));
    child.once('close', (code, signal) => {
      log.end();
      resolve(failed(`ended by itself (${signal ?? `status ${code}`})`));
    });
  });
  const ready = new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(failed(`was not ready in ${readyWithinMs / 1000} s`)), readyWithinMs);
    const look = (): void => {
      if (!pattern.test(tail.text())) return;
      clearTimeout(late);
      child.off('wrote', look);
      resolve();
    };
    child.on('wrote', look);
    void ended.then((failure) => {
      clearTimeout(late);
      reject(failure);
    });
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const force = setTimeout(() => child.kill('SIGKILL'), stopWithinMs);
    await ended.finally(() => clearTimeout(force));
  };
  return { ready, ended, stop };
}
