import { closeSync, openSync } from 'node:fs';
import { chmod, mkdir, readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Inside the directory, so processes that see it under different paths, as containers do, meet at one file. */
const lockFile = 'labops.lock';

/** Another process, or another part of this one, has the directory open. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse';

  constructor(directory: string) {
    super(
      `The health-data directory ${directory} is open in another process, which may be suspended. Only one process ` +
        `can have it open: end that one, or use PostgreSQL (DATABASE_URL).`,
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
  directory: string;
  release(): void;
}

/**
 * Makes the directory if it is missing, closes it to other users, and locks it: PGlite lets two processes open one
 * directory, and they corrupt it. The operating system holds the lock for as long as this process lives, suspended or
 * not. A lock that has to be renewed is lost by a process that is suspended, which later writes over what others wrote.
 * @throws DirectoryInUse, DirectoryOpenToOthers
 */
export async function lockDirectory(path: string): Promise<DirectoryLock> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const directory = await realpath(path);
  await closeToOthers(directory);
  // Native code is loaded only where a directory is locked.
  const { tryLock } = await import('fs-native-extensions');
  const fd = openSync(join(directory, lockFile), 'a', 0o600);
  const release = () => closeSync(fd);
  try {
    if (!tryLock(fd)) throw new DirectoryInUse(path);
  } catch (error) {
    release();
    throw error;
  }
  return { directory, release };
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
