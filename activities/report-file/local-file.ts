import { constants, type Stats } from 'node:fs';
import { lstat, open, readlink, realpath, type FileHandle } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { ByteSource } from './content.js';
import { ReportFileRefused, ReportFileUnavailable, codeOf } from './errors.js';

const chunkBytes = 64 * 1024;

/**
 * Opens a file below a root. `path` is relative to the root, or absolute and below it; after every symbolic link in it
 * is followed, the file still has to lie below the root. Opening never waits, not even for a pipe.
 */
export async function openLocalFile(root: string | undefined, path: string, signal?: AbortSignal): Promise<ByteSource> {
  if (root === undefined)
    throw new ReportFileRefused('outside_root', 'the worker has no REPORT_ROOT, so it takes files from URLs only');
  const { handle, size } = await onDisk(() => openBelow(resolve(root), path));
  return { size, bytes: chunksOf(handle, signal), close: () => handle.close() };
}

async function openBelow(root: string, path: string): Promise<{ handle: FileHandle; size: number }> {
  const realRoot = await realpath(root).catch((error: unknown) => {
    // A root that is not mounted yet is not the file's fault.
    throw new ReportFileUnavailable('not_readable', `REPORT_ROOT cannot be read (${codeOf(error)})`);
  });
  const named = resolve(root, path);
  // Thrown before the disk is read: the answer must not reveal what exists outside.
  if (!isBelow(root, named) && !isBelow(realRoot, named)) throw outsideRoot();
  const real = await realpath(named);
  if (!isBelow(realRoot, real)) throw outsideRoot();
  // Opening a device can do something by itself.
  requireFile(await lstat(real));
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = requireFile(await handle.stat());
    await requireBelow(realRoot, real, handle);
    return { handle, size };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Throws unless an open file lies below the root: somebody may have inserted a link since its path was resolved. Linux
 * reports the open file's path. On other systems the open file must still be the one at the path, a check that fast
 * folder swaps can bypass.
 *
 * @param openFiles the folder in which the system shows this process's open files as links
 */
export async function requireBelow(
  realRoot: string,
  real: string,
  handle: FileHandle,
  openFiles = '/proc/self/fd',
): Promise<void> {
  const place = await readlink(join(openFiles, String(handle.fd))).catch(() => undefined);
  const isInside = place === undefined ? await isStillAt(real, handle) : isAbsolute(place) && isBelow(realRoot, place);
  if (!isInside) throw outsideRoot();
}

async function isStillAt(real: string, handle: FileHandle): Promise<boolean> {
  if ((await realpath(real)) !== real) return false;
  const [opened, there] = [await handle.stat(), await lstat(real)];
  return there.ino === opened.ino && there.dev === opened.dev;
}

/** The root itself is not a file, so it need not be below. */
function isBelow(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function requireFile(stats: Stats): Stats {
  if (stats.isFile()) return stats;
  throw new ReportFileRefused('not_a_file', 'the path is that of a directory, pipe, device or socket');
}

function outsideRoot(): ReportFileRefused {
  return new ReportFileRefused(
    'outside_root',
    'the path, or the target of its symbolic links, is not below REPORT_ROOT',
  );
}

async function* chunksOf(
  handle: FileHandle,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead, buffer } = await onDisk(() => handle.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes));
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Node's errors contain the path: the errors thrown here do not. */
async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ReportFileRefused || error instanceof ReportFileUnavailable) throw error;
    throw diskFailure(codeOf(error));
  }
}

function diskFailure(code: string): Error {
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ENAMETOOLONG':
    // A path with a NUL in it.
    case 'ERR_INVALID_ARG_VALUE':
      return new ReportFileRefused('not_found', 'there is no file at the path');
    // A loop of links, or a link that replaced the file a moment ago.
    case 'ELOOP':
      return new ReportFileRefused('outside_root', 'the symbolic links in the path cannot be followed');
    case 'EACCES':
    case 'EPERM':
      return new ReportFileRefused('access_denied', 'the worker has no permission to read it');
    default:
      return new ReportFileUnavailable('not_readable', `the file system failed (${code})`);
  }
}
