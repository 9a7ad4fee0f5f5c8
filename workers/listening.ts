import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { fastify, type FastifyInstance, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { StartFailed } from './process.js';

/** A server's bounds for connections. */
export interface HttpLimits {
  /** How long a connection may take for the headers of a request; the silence before the first one counts. */
  headersTimeoutMs: number;
  /** How long a whole request may take to arrive. Above `headersTimeoutMs`: Node would swap the two. */
  requestTimeoutMs: number;
  /** How often slow connections are searched for: they end by this much later than the timeouts. */
  checkEveryMs: number;
  /** How long a connection may wait for its next request. */
  keepAliveMs: number;
  maxConnections: number;
}

export const httpLimits: HttpLimits = {
  // Headers come in one packet; this is a lost packet or two.
  headersTimeoutMs: 10_000,
  // The sender of webhooks gives up after 15 s: a request that takes longer to arrive is of no use to anybody.
  requestTimeoutMs: 15_000,
  checkEveryMs: 1_000,
  // A connection costs a sender's proxy less than a millisecond to open again; fastify's own default is 72 s.
  keepAliveMs: 5_000,
  // Below the 1,024 files that a process may usually have open, with room for its own connections.
  maxConnections: 800,
};

/**
 * A server that ends slow requests at its limits. Node gets all three timeouts together, when it creates the server:
 * otherwise its defaults for the others would decide.
 *
 * @param options `onStray` is called for a request that no route takes
 */
export function boundedServer(
  limits: HttpLimits,
  { onStray, ...options }: { bodyLimit?: number; onStray?: (request: FastifyRequest) => void } = {},
): FastifyInstance {
  const { headersTimeoutMs, requestTimeoutMs, checkEveryMs, keepAliveMs, maxConnections } = limits;
  const app = fastify({
    ...options,
    requestTimeout: requestTimeoutMs, // fastify's own default, 0, would replace the one below
    keepAliveTimeout: keepAliveMs,
    http: {
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: checkEveryMs,
    },
  });
  app.server.maxConnections = maxConnections;
  closeWaitingNear(maxConnections, app.server);
  // A stranger who is refused must come again for the next refusal.
  app.addHook('onSend', async (_request, reply) => {
    if (reply.statusCode >= 400) reply.header('connection', 'close');
  });
  // Before its body arrives: fastify would read and parse it although no route takes it, a megabyte from each stranger.
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    onStray?.(request);
    return reply.code(404).send({ message: 'There is nothing here' });
  });
  return app;
}

/**
 * Near the limit, a new connection ends the one that has waited longest for a request to arrive: a client that holds many
 * connections and asks nothing must not keep those out who ask.
 */
function closeWaitingNear(most: number, server: Server): void {
  const near = Math.floor(most * 0.9);
  const waiting = new Set<Socket>();
  let open = 0;
  server.on('connection', (socket: Socket) => {
    open += 1;
    if (open > near) waiting.values().next().value?.destroy();
    waiting.add(socket);
    socket.once('close', () => {
      open -= 1;
      waiting.delete(socket);
    });
  });
  server.on('request', ({ socket }, response) => {
    waiting.delete(socket);
    response.once('close', () => {
      if (!socket.destroyed) waiting.add(socket);
    });
  });
}

/** An unexpected error is logged, and not shown: fastify's own answer quotes it, and anybody may ask. */
export function hideErrors(
  app: FastifyInstance,
  log: Logger,
  { logged, message }: { logged: string; message: string },
): void {
  app.setErrorHandler(async (error, _request, reply) => {
    log.error({ err: error }, logged);
    return reply.code(500).send({ message });
  });
}

/** The address of one of our servers, and the settings that define it. */
interface ListeningPlace {
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
  // A connection that was busy when the close started is kept alive after its answer, and would delay the close.
  const sweep = setInterval(() => app.server.closeIdleConnections(), 50);
  const timer = setTimeout(() => app.server.closeAllConnections(), graceMs);
  await app.close();
  clearTimeout(timer);
  clearInterval(sweep);
}
