import { chmod, mkdir, readdir, realpath, stat } from 'node:fs/promises';
import { lock } from 'proper-lockfile';
import { StoreFailed } from './database.js';

/**
 * PGlite lets two processes open one directory, and they corrupt it. So its owner holds a lock beside it, which it renews
 * all the time; one that has not been renewed for this long belongs to a process that has died, and is taken over. Long
 * enough for statements that keep this process from renewing it.
 */
const staleMs = 20_000;
const renewMs = 2_000;

/** Another process has the directory open, or died with it open less than 20 seconds ago. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse';

  constructor(directory: string) {
    super(
      `The health-data directory ${directory} is open in another process (or in one that crashed within the last ` +
        `${staleMs / 1000} seconds). Only one process can have it open: end that one, or use PostgreSQL (DATABASE_URL).`,
    );
  }
}

/** Other users of the machine may enter the directory, and could read or change its files. */
export class DirectoryOpenToOthers extends Error {
  override readonly name = 'DirectoryOpenToOthers';

  constructor(directory: string) {
    super(
      `Other users of this machine can enter the health-data directory ${directory}, and its files are open to anyone who ` +
        `enters: give it to the user of this process alone (chmod 700), or choose an empty directory.`,
    );
  }
}

export interface DirectoryLock {
  /** The directory, without symbolic links: one directory has one lock, whatever it is called. */
  directory: string;
  /** @throws StoreFailed once another process may have taken over */
  ensureHeld(): void;
  release(): Promise<void>;
}

/**
 * Makes the directory if it is missing, closes it to other users, and locks it.
 * @throws DirectoryInUse, DirectoryOpenToOthers
 */
export async function lockDirectory(path: string): Promise<DirectoryLock> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const directory = await realpath(path);
  await closeToOthers(directory);
  let lost = false;
  const onCompromised = () => {
    lost = true;
  };
  const options = { realpath: false, stale: staleMs, update: renewMs, onCompromised };
  const release = await lock(directory, options).catch((error: unknown) => {
    throw isLocked(error) ? new DirectoryInUse(path) : error;
  });
  return {
    directory,
    ensureHeld: () => {
      if (lost)
        throw new StoreFailed(`The lock on the health-data directory ${path} was lost: start the process again.`);
    },
    release: async () => {
      if (!lost) await release();
    },
  };
}

/** PGlite makes files that everybody may write, whatever the umask: only the directory keeps others out. */
async function closeToOthers(directory: string): Promise<void> {
  if (!(await isOpen(directory))) return;
  // A directory that was made for something else keeps its permissions.
  const files = await readdir(directory);
  if (files.length === 0 || files.includes('PG_VERSION')) await chmod(directory, 0o700).catch(() => undefined);
  if (await isOpen(directory)) throw new DirectoryOpenToOthers(directory);
}

async function isOpen(directory: string): Promise<boolean> {
  // Windows has no such rights, and shows everything as open.
  return process.platform !== 'win32' && ((await stat(directory)).mode & 0o077) !== 0;
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ELOCKED';
}
