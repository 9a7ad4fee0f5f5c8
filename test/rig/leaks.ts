import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const mark = 'LAB_TEST_RUN';

/**
 * A watchdog notices within a second that its server has gone; a worker drains for a few. On a machine under load both
 * take longer. Vitest ends itself after its `teardownTimeout`, which must be longer, or nothing would be reported.
 */
const patienceMs = 60_000;

interface Process {
  pid: number;
  command: string;
}

/**
 * Fails the run when a process that a test started, or that such a process started, is still there at its end. They are
 * known by a mark in the environment that children inherit. Where there is no /proc to read it from (macOS) this check
 * does nothing, and what a test file starts is still ended after it.
 */
export async function setup(): Promise<() => Promise<void>> {
  const run = randomUUID();
  process.env[mark] = run;
  return async () => {
    const left = await waitUntilGone(run);
    if (left.length === 0) return;
    // Vitest prints what a teardown throws, and still calls the run a success.
    process.exitCode = 1;
    const list = left.map(({ pid, command }) => `  ${pid} ${command}`).join('\n');
    for (const { pid } of left) process.kill(pid, 'SIGKILL');
    throw new Error(`Processes that the tests started outlived them (now killed):\n${list}`);
  };
}

async function waitUntilGone(run: string): Promise<Process[]> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const left = await marked(run);
    if (left.length === 0 || Date.now() > deadline) return left;
    await sleep(100);
  }
}

/** The runner's own forks carry the mark too: they are its children and run its code, and are not counted. */
async function marked(run: string): Promise<Process[]> {
  if (!existsSync('/proc/self/environ')) return [];
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const processes = await Promise.all(pids.map(async (pid) => describe(pid, run)));
  return processes.filter((found) => found !== undefined);
}

async function describe(pid: number, run: string): Promise<Process | undefined> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1');
    if (!environment.split('\0').includes(`${mark}=${run}`)) return undefined;
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ').trim();
    const status = await readFile(`/proc/${pid}/stat`, 'latin1');
    const [state, parent] = status.slice(status.lastIndexOf(')') + 2).split(' ');
    const ownFork = Number(parent) === process.pid && /vitest/.test(command);
    return state === 'Z' || ownFork ? undefined : { pid, command };
  } catch (error) {
    // It ended while it was being read, or it belongs to another user and so cannot be ours.
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM') return undefined;
    throw error;
  }
}
