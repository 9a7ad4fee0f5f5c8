import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A product's file store: the path determines what it serves and how it misbehaves. */
export interface FileHost {
  /** `127.0.0.1:port`: as a deployment would allow it. */
  readonly host: string;
  readonly url: string;
  readonly port: number;
  /** What was asked for, with the header `authorization` if there was one. */
  readonly asked: { path: string; authorization?: string }[];
  /** Bytes of `/slow` that have gone out. */
  slowBytes(): number;
  close(): Promise<void>;
}

export async function startFileHost(file: Buffer): Promise<FileHost> {
  const asked: FileHost['asked'] = [];
  let slowBytes = 0;
  const routes: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
    '/report.pdf': (_request, response) => response.writeHead(200, { 'content-length': file.length }).end(file),
    '/moved': (_request, response) => response.writeHead(302, { location: '/report.pdf' }).end(),
    '/slow': (_request, response) => {
      response.writeHead(200, { 'content-length': file.length });
      void drip(response, file, (count) => (slowBytes += count));
    },
    '/private': ({ headers }, response) => {
      const mayRead = headers.authorization === 'Bearer invented-token';
      response.writeHead(mayRead ? 200 : 401).end(mayRead ? file : '');
    },
  };
  const server = createServer((request, response) => {
    const { url: path = '', headers } = request;
    const { authorization } = headers;
    asked.push({ path, ...(authorization !== undefined && { authorization }) });
    const serve = routes[path] ?? ((_request, missing: ServerResponse) => missing.writeHead(404).end());
    serve(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}`,
    port,
    asked,
    slowBytes: () => slowBytes,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** About two seconds for a file, in twenty pieces; a closed connection gets no more. */
async function drip(response: ServerResponse, file: Buffer, sent: (count: number) => void): Promise<void> {
  const size = Math.ceil(file.length / 20);
  for (let start = 0; start < file.length && !response.destroyed; start += size) {
    const piece = file.subarray(start, start + size);
    response.write(piece);
    sent(piece.length);
    await pause(100);
  }
  response.end();
}
