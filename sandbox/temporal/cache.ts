import { closeSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { tryLock } from 'fs-native-extensions';

/** Something that takes long to get and is kept in one folder of the cache. */
interface CacheEntry {
  /** Its name in a sentence: `the Temporal dev server`. */
  what: string;
  folder: string;
  /** The path of the program inside the folder, if it is there and fit for use. */
  usable(folder: string): Promise<string | undefined>;
  /** Puts it into an empty folder. */
  get(folder: string): Promise<void>;
}

/** Longer than the slowest build on a small machine. */
const waitMs = 20 * 60_000;
const retryMs = 500;

/**
 * Gets it into the cache unless it is there. A process that comes second waits for the first. What is being fetched or
 * built has a folder of its own until it is complete, so a lock that fails costs time and never corrupts the cache.
 */
export async function cached(entry: CacheEntry, report: Report): Promise<string> {
  const found = await entry.usable(entry.folder);
  if (found !== undefined) return found;
  await mkdir(dirname(entry.folder), { recursive: true });
  const release = await acquire(entry, report);
  try {
    return (await entry.usable(entry.folder)) ?? (await fill(entry));
  } finally {
    release();
  }
}

/** The operating system frees the lock of a process that has died. (Process ids mean nothing across containers.) */
async function acquire(entry: CacheEntry, report: Report): Promise<() => void> {
  const fd = openSync(`${entry.folder}.locked`, 'a');
  const release = () => closeSync(fd);
  try {
    if (tryLock(fd)) return release;
    const waiting = `waiting for another process that is downloading or building ${entry.what}`;
    await report.during(waiting, async () => {
      const until = Date.now() + waitMs;
      while (!tryLock(fd)) {
        if (Date.now() > until) throw new Error(`${entry.what}: the other process still has ${entry.folder} locked`);
        await pause(retryMs);
      }
    });
    return release;
  } catch (error) {
    release();
    throw error;
  }
}

async function fill(entry: CacheEntry): Promise<string> {
  await removeLeftovers(entry.folder);
  const staging = await mkdtemp(`${entry.folder}${stagingMark}`);
  try {
    await entry.get(staging);
    if ((await entry.usable(staging)) === undefined) throw new Error(`${entry.what} that was built cannot be used`);
    // One that is there now was found unfit.
    await rm(entry.folder, { recursive: true, force: true });
    await rename(staging, entry.folder);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  const program = await entry.usable(entry.folder);
  if (program === undefined) throw new Error(`${entry.folder} was changed by another process`);
  return program;
}

const stagingMark = '.getting-';

/** Of a process that was killed while it fetched or built; the lock says that nobody does so now. */
async function removeLeftovers(folder: string): Promise<void> {
  const parent = dirname(folder);
  const left = (await readdir(parent))
    .map((name) => join(parent, name))
    .filter((path) => path.startsWith(folder + stagingMark));
  await Promise.all(left.map((path) => rm(path, { recursive: true, force: true })));
}

/** Reports progress to the person who waits. */
export interface Report {
  /** One finished sentence. */
  say(text: string): void;
  /** Shows that the work goes on, with the seconds it has taken, until it has ended. */
  during<T>(text: string, work: () => Promise<T>): Promise<T>;
}

/** In place where a person watches; elsewhere (a log) a line now and then. */
const terminalTickMs = 1_000;
const logTickMs = 5_000;

export function progressReport(stream: NodeJS.WriteStream = process.stderr): Report {
  const say = (text: string): void => {
    stream.write(`temporal: ${text}\n`);
  };
  return {
    say,
    during: async (text, work) => {
      const started = Date.now();
      const show = (): void => {
        const line = `temporal: ${text} … ${Math.round((Date.now() - started) / 1000)} s`;
        stream.write(stream.isTTY ? `\r\u001b[K${line}` : `${line}\n`);
      };
      show();
      const timer = setInterval(show, stream.isTTY ? terminalTickMs : logTickMs);
      try {
        return await work();
      } finally {
        clearInterval(timer);
        if (stream.isTTY) stream.write('\n');
      }
    },
  };
}
