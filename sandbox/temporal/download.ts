import { readdir, rename, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { run } from './programs.js';

/** Which of the SDK's two servers. */
export type ServerKind = 'dev-server' | 'test-server';

/** A machine without internet goes on after this long without a byte; a slow line is not cut off. */
const patienceMs = 20_000;
const lookMs = 500;

/**
 * The SDK's own download, put at `target`. Nothing can make the SDK stop, or download without starting: so it runs
 * in a process of its own, which is ended when nothing arrives.
 */
export async function downloadWithSdk(
  kind: ServerKind,
  target: string,
  environment: NodeJS.ProcessEnv,
  stalledMs = patienceMs,
): Promise<void> {
  const folder = join(target, '..');
  const stalled = new AbortController();
  const watching = setInterval(watchGrowth(folder, stalled, stalledMs), lookMs);
  try {
    const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
    const program = fileURLToPath(new URL('download-process.ts', import.meta.url));
    await run(process.execPath, ['--import', loader, program, kind, folder], { environment, signal: stalled.signal });
  } catch (error) {
    if (stalled.signal.aborted) throw new Error(`nothing arrived for ${stalledMs / 1000} s`, { cause: error });
    throw error;
  } finally {
    clearInterval(watching);
  }
  const [name] = await readdir(folder);
  if (name === undefined) throw new Error('the SDK downloaded nothing');
  await rename(join(folder, name), target);
}

/** Aborts when the folder has not grown for `stalledMs`. */
function watchGrowth(folder: string, stalled: AbortController, stalledMs: number): () => void {
  let size = 0;
  let grown = Date.now();
  const look = async (): Promise<void> => {
    const names = await readdir(folder);
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
    const now = sizes.reduce((sum, bytes) => sum + bytes, 0);
    if (now > size) grown = Date.now();
    size = now;
    if (Date.now() - grown > stalledMs) stalled.abort();
  };
  return () => {
    // A file that is renamed while it is looked at: the next look sees it.
    look().catch(() => undefined);
  };
}
