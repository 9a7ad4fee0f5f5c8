import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { RequestInvalid } from '../../../service/errors.js';
import type { ServiceConfig } from '../../../service/http/http.js';
import { createLabService, type LabService } from '../../../service/lab-service.js';

export interface RecordedRequest {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage['headers'];
  body: unknown;
}

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  /** Sent as JSON; a string as plain text. */
  body?: unknown;
}

export interface RecordingServer {
  baseUrl: string;
  server: Server;
  requests: RecordedRequest[];
  connections: () => number;
}

/** A real HTTP server on loopback that answers as the test says and remembers its requests; ends with the test. */
export async function answering(answer: (request: RecordedRequest, index: number) => Answer): Promise<RecordingServer> {
  const requests: RecordedRequest[] = [];
  const recording = await serving((request, response) => {
    void record(request).then((recorded) => {
      requests.push(recorded);
      send(response, answer(recorded, requests.length - 1));
    });
  });
  return { ...recording, requests };
}

/** A real HTTP server on loopback with a listener of the test's own. */
export async function serving(listener: RequestListener): Promise<Omit<RecordingServer, 'requests'>> {
  const server = createServer(listener);
  let connections = 0;
  server.on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}`, server, connections: () => connections };
}

/** A TCP server that does with each connection what the test says; its address. */
export async function speakingTcp(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A service that gets this answer to each call, and the requests that reached it. */
export async function serviceWith(answer: Answer, config: Partial<ServiceConfig> = {}) {
  const { baseUrl, requests } = await answering(() => answer);
  return { ...serviceAt(baseUrl, config), requests };
}

/** What a call reads from an answer with this body. */
export async function readFrom<T>(body: unknown, call: (service: LabService) => Promise<T>): Promise<T> {
  return call(await serviceWith({ body }, { managementKey: 'mk_invented' }));
}

/** The rules that a request breaks. Nothing listens at its address: a request that was sent would be `ServiceUnreachable`. */
export async function brokenRules(
  call: (service: LabService) => Promise<unknown>,
  config: Partial<ServiceConfig> = {},
): Promise<string[]> {
  const error = await rejection(call(serviceAt('http://127.0.0.1:1', { managementKey: 'mk_invented', ...config })));
  if (!(error instanceof RequestInvalid)) throw error;
  return error.fields.map(({ field, message }) => `${field} ${message}`);
}

/** A service at that address, closed with the test. */
export function serviceAt(baseUrl: string, config: Partial<ServiceConfig> = {}): LabService {
  const service = createLabService({ baseUrl, apiKey: 'sk_invented', ...config });
  onTestFinished(() => service.close());
  return service;
}

/** The error of a rejected promise; fails if it is not rejected. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.unreachable('it was not rejected'),
    (error: unknown) => error,
  );
}

/** To be matched with an error of this name whose message has these words, and with these facts about it. */
export function errorNamed(name: string, words: string | RegExp = '', facts: object = {}): object {
  return { name, message: expect.stringMatching(words) as string, ...facts };
}

async function record(request: IncomingMessage): Promise<RecordedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  return { method: request.method, url: request.url, headers: request.headers, body };
}

function send(response: ServerResponse, { status = 200, headers = {}, body }: Answer): void {
  const plain = typeof body === 'string';
  response.writeHead(status, { 'content-type': plain ? 'text/plain' : 'application/json', ...headers });
  response.end(plain ? body : JSON.stringify(body));
}
