import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type HttpEndpoint, serveHttp } from '../../sandbox/temporal/ports.js';

/** A product's file store: the path determines what it serves and how it misbehaves. */
interface FileHost extends HttpEndpoint {
  /** `127.0.0.1:port`: as a deployment would allow it. */
  readonly host: string;
  /** Bytes of `/slow` that have gone out. */
  slowBytes(): number;
}

export async function startFileHost(file: Buffer): Promise<FileHost> {
  let slowBytes = 0;
  const endpoint = await serveHttp(({ url }, response) => {
    if (url !== '/slow') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-length': file.length });
    void drip(response, file, (count) => (slowBytes += count));
  });
  return { ...endpoint, host: `127.0.0.1:${endpoint.port}`, slowBytes: () => slowBytes };
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
