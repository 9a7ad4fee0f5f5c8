import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { StartFailed } from './process.js';

/** Where a server of ours listens, and the settings that say so. */
export interface ListeningPlace {
  host: string;
  port: number;
  settings: { host: string; port: string };
}

/**
 * Listens, and answers with the address, without a trailing slash.
 * @throws StartFailed in one line that names the setting to change
 */
export async function listen(app: FastifyInstance, place: ListeningPlace): Promise<string> {
  const { host, port } = place;
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw new StartFailed(whyNotListening(error, place), { cause: error });
  }
  return urlOf(app);
}

function whyNotListening(error: unknown, { host, port, settings }: ListeningPlace): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return `Port ${port} on ${host} is taken: set ${settings.port} to a free one.`;
  if (code === 'EACCES')
    return `Port ${port} needs more rights than this process has: set ${settings.port} above 1023.`;
  const reason = error instanceof Error ? error.message : String(error);
  return `Cannot listen on ${host}, port ${port} (${reason}): correct ${settings.host} and ${settings.port}.`;
}

function urlOf(app: FastifyInstance): string {
  const { address, family, port } = app.server.address() as AddressInfo;
  const host = ['0.0.0.0', '::'].includes(address) ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}

/** Takes no new connections, lets requests under way finish within the grace, and closes the rest. */
export async function closeWithin(app: FastifyInstance, graceMs: number): Promise<void> {
  // A connection that was busy when the close began is kept alive after its answer, and would hold the close up.
  const sweep = setInterval(() => app.server.closeIdleConnections(), 50);
  const timer = setTimeout(() => app.server.closeAllConnections(), graceMs);
  await app.close();
  clearTimeout(timer);
  clearInterval(sweep);
}
