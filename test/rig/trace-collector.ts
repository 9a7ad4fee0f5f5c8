import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json, text } from 'node:stream/consumers';

/** A span as OTLP's JSON writes it; ids are in hexadecimal. */
export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes?: { key: string; value: unknown }[];
  status?: { code?: number; message?: string };
  events?: unknown[];
}

interface Exported {
  resourceSpans: { scopeSpans: { spans: CollectedSpan[] }[] }[];
}

export interface TraceCollector {
  url: string;
  spans: readonly CollectedSpan[];
  close(): Promise<void>;
}

/** Takes traces by OTLP over HTTP and keeps them. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: CollectedSpan[] = [];
  const server = createServer((request, response) => {
    const take = async (): Promise<void> => {
      if (request.url !== '/v1/traces') throw new Error(`Unexpected export: ${request.url} ${await text(request)}`);
      const { resourceSpans } = (await json(request)) as Exported;
      spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    };
    take().catch((error: unknown) => response.writeHead(400).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, close };
}
