import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A port that was asked for is in use by another program. */
export class PortInUse extends Error {
  override readonly name = 'PortInUse';
  readonly port: number;

  constructor(port: number, purpose: string) {
    super(`Port ${port} for ${purpose} is in use by another program: end that program, or choose another port.`);
    this.port = port;
  }
}

/** Everything here listens on the loopback interface only. */
export const loopback = '127.0.0.1';

/** Says at once, and by name, what the server itself would say late. */
export async function requireFree(port: number, purpose: string): Promise<void> {
  if (!(await isFree(port))) throw new PortInUse(port, purpose);
}

export async function isFree(port: number): Promise<boolean> {
  try {
    await close(await listen(port));
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false;
    throw error;
  }
}

/**
 * A port that nobody uses. One connection is made to it and closed by the listening side: Linux then keeps the port out
 * of what it hands out for a minute, and the server can still bind it.
 */
export async function freePort(): Promise<number> {
  const server = await listen(0);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has no port');
  const accepted = once(server, 'connection');
  const client = connect(address.port, loopback).resume();
  const [socket] = (await accepted) as [Socket];
  const closed = once(client, 'close');
  socket.end();
  await closed;
  await close(server);
  return address.port;
}

/** True if a program listens on the port. */
export async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, loopback);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** @throws if no program listens on the port */
export async function requireListening(port: number): Promise<void> {
  if (!(await isListening(port))) throw new Error(`nobody listens on port ${port}`);
}

/** A server of HTTP on a free port. */
export async function serveHttp(
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<HttpEndpoint> {
  const server = createHttpServer((request, response) => void handle(request, response)).listen(0, loopback);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://${loopback}:${port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export interface HttpEndpoint {
  readonly port: number;
  readonly url: string;
  /** Cuts what is still under way. */
  readonly close: () => Promise<void>;
}

async function listen(port: number): Promise<Server> {
  const server = createServer();
  server.listen(port, loopback);
  await once(server, 'listening');
  return server;
}

async function close(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}
