import { once } from 'node:events';
import { readdir, rename, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { proxyFor, throughWhich } from '../../service/http/proxy.config.js';
import { run } from './programs.js';

/** Which of the SDK's two servers. */
export type ServerKind = 'dev-server' | 'test-server';

/** A download that stands still this long is given up; a slow line is not cut off. */
const patienceMs = 20_000;
const lookMs = 500;

/** The host from which the SDK downloads. */
const host = 'temporal.download';
/** The time to find its name and to connect: twice what a satellite needs. */
const connectMs = 1_500;

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
  await requireReachable(environment);
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

/** Checked first, because the SDK takes seconds to fail, and says so at length. */
async function requireReachable(environment: NodeJS.ProcessEnv): Promise<void> {
  const proxy = proxyFor(`https://${host}`, environment);
  const { hostname, protocol, port } = proxy?.url ?? new URL(`https://${host}`);
  const address = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'http:' ? 80 : 443) };
  // Node itself gives up each address after a quarter of a second.
  const socket = connect({ ...address, autoSelectFamilyAttemptTimeout: connectMs });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(connectMs) });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const reason = code === 'ABORT_ERR' ? `no answer in ${connectMs / 1000} s` : String(code ?? error);
    throw new Error(`${host} cannot be reached${throughWhich(proxy)} (${reason})`, { cause: error });
  } finally {
    socket.destroy();
  }
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
