import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { pglite } from '../../store/pglite.js';

/**
 * Puts an empty database, without the product's tables, into a directory that does not exist yet. PGlite needs four to
 * seven seconds of a core to make one, and half a second to open a copy: so a run of the suite makes one, and copies it.
 * A test of how a directory begins gives `openStore` a new one instead.
 *
 * @returns the directory
 */
export async function emptyDatabase(directory: string): Promise<string> {
  const original = join(inject('runFolder'), 'empty-database');
  if (!existsSync(original)) await make(original);
  await promisify(execFile)('cp', ['-pR', original, directory]);
  return directory;
}

/** The first test that needs it makes it. Two that begin at once both do, and the second keeps what is there. */
async function make(original: string): Promise<void> {
  const own = await mkdtemp(`${original}-`);
  await (await pglite(own)).close();
  await rename(own, original).catch(async (error: unknown) => {
    if (!existsSync(original)) throw error;
    await rm(own, { recursive: true });
  });
}
