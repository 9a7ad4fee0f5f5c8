import { createWriteStream, existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Program } from '../../sandbox/temporal/programs.js';

/** A process that is started again whenever it has ended, as a supervisor would. */
export interface Part {
  readonly name: string;
  /** Resolves when it is up. */
  start(): Promise<void>;
  /** SIGKILL, then a start after so many milliseconds. Resolves when it is up again. Does nothing while it is down. */
  kill(downMs: number): Promise<void>;
  /** SIGSTOP, and SIGCONT after so many milliseconds. Does nothing while it is down. */
  freeze(forMs: number): Promise<void>;
  /** Every end that nobody asked for, once it was up. */
  readonly deaths: string[];
  /** The most memory that it ever used, in bytes; 0 where there is no /proc to read it from. */
  peakBytes(): number;
  stop(): Promise<void>;
}

/** How long a part may need to come up, with all starts that were refused. */
const upWithinMs = 120_000;
const pauseMs = 300;

/** @param launch starts the program; fails if it does not get ready, for instance because Temporal is away */
export function partOf(name: string, launch: () => Promise<Program>): Part {
  const deaths: string[] = [];
  let program: Program | undefined;
  let peak = 0;
  const start = async (): Promise<void> => {
    const deadline = Date.now() + upWithinMs;
    for (;;) {
      try {
        const started = await launch();
        program = started;
        void started.ended.then((end) => {
          if (program !== started) return;
          program = undefined;
          deaths.push(end.message);
          void start().catch((error: unknown) => deaths.push(String(error)));
        });
        return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await pause(pauseMs);
      }
    }
  };
  const measure = (): void => {
    if (program) peak = Math.max(peak, peakOf(program.pid));
  };
  return {
    name,
    deaths,
    start,
    kill: async (downMs) => {
      if (!program) return;
      measure();
      const { pid, ended } = program;
      program = undefined;
      process.kill(pid, 'SIGKILL');
      await ended;
      await pause(downMs);
      await start();
    },
    freeze: async (forMs) => {
      if (!program) return;
      const { pid } = program;
      process.kill(pid, 'SIGSTOP');
      await pause(forMs);
      if (program?.pid === pid) process.kill(pid, 'SIGCONT');
    },
    peakBytes: () => {
      measure();
      return peak;
    },
    stop: async () => {
      const last = program;
      program = undefined;
      await last?.stop();
    },
  };
}

function peakOf(pid: number): number {
  const path = `/proc/${pid}/status`;
  if (!existsSync(path)) return 0;
  const [, kilobytes = '0'] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(path, 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}

/** Keeps what a program writes in a file, and recognises when it is ready. */
export function logOf(path: string, ready: RegExp) {
  const file = createWriteStream(path, { flags: 'a' });
  let written = '';
  let isReady = false;
  return {
    write: (text: string): void => {
      file.write(text);
      if (isReady) return;
      written += text;
      isReady = ready.test(written);
    },
    requireReady: async (): Promise<void> => {
      if (!isReady) throw new Error(`it has not written ${ready}`);
    },
    close: (): void => {
      file.end();
    },
  };
}
