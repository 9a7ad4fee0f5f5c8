import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServiceDescription } from '../../service/description.js';
import { createLabService } from '../../service/lab-service.js';
import type { SampleCall } from './calls.js';

/** A request of the client as it came over the wire. */
export interface SentRequest {
  method: string;
  /** Decoded, without the query. */
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** Parsed if it is JSON, else its text. */
  body: unknown;
  contentType: string | undefined;
}

/** An answer to send: a PDF, or JSON. */
export type Answer = { pdf: true } | { json: unknown };

/** What a call came to. */
export type Outcome = { result: unknown } | { error: unknown };

/** The client with a service on loopback that gives the answers it is set to give. */
export interface Exchanges {
  /** Makes a call. Its requests are answered one after the other as `answer` says. */
  make(
    call: SampleCall,
    answer: (request: SentRequest) => Answer,
  ): Promise<{ requests: SentRequest[]; outcome: Outcome }>;
  close(): Promise<void>;
}

/** More than any call of the client needs for an answer with a single page. */
const mostRequests = 5;

export async function startExchanges(description: ServiceDescription): Promise<Exchanges> {
  let present: { answer: (request: SentRequest) => Answer; requests: SentRequest[] } | undefined;
  const server = createServer((request, response) => {
    void readRequest(request).then((sent) => {
      if (!present || present.requests.length >= mostRequests) response.destroy();
      else {
        present.requests.push(sent);
        send(response, present.answer(sent));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const keys = { apiKey: 'sk_invented', managementKey: 'mk_invented', warn: () => undefined };
  // The management API may have an address of its own.
  const service = createLabService({ baseUrl, managementBaseUrl: baseUrl, ...keys, description });
  return {
    make: async (call, answer) => {
      const requests: SentRequest[] = [];
      present = { answer, requests };
      const outcome = await call.run(service).then(
        (result): Outcome => ({ result }),
        (error: unknown): Outcome => ({ error }),
      );
      return { requests, outcome };
    },
    close: async () => {
      await service.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readRequest(request: IncomingMessage): Promise<SentRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
  const contentType = request.headers['content-type']?.split(';')[0];
  return {
    method: request.method ?? 'GET',
    path: pathname,
    query: searchParams,
    headers: request.headers,
    body: text === '' ? undefined : contentType === 'application/json' ? (JSON.parse(text) as unknown) : text,
    contentType,
  };
}

function send(response: ServerResponse, answer: Answer): void {
  if ('pdf' in answer) response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-1.7\n%invented');
  else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer.json ?? null));
}
