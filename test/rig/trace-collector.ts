import { json, text } from 'node:stream/consumers';
import { type HttpEndpoint, serveHttp } from '../../sandbox/temporal/ports.js';

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

/** Takes traces by OTLP over HTTP and keeps them. */
export async function startTraceCollector(): Promise<HttpEndpoint & { spans: readonly CollectedSpan[] }> {
  const spans: CollectedSpan[] = [];
  const endpoint = await serveHttp((request, response) => {
    const take = async (): Promise<void> => {
      if (request.url !== '/v1/traces') throw new Error(`Unexpected export: ${request.url} ${await text(request)}`);
      const { resourceSpans } = (await json(request)) as Exported;
      spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    };
    take().catch((error: unknown) => response.writeHead(400).end(String(error)));
  });
  return { ...endpoint, spans };
}
