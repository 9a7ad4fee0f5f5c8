import { randomBytes } from 'node:crypto';
import { createServer, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, Connection } from '@temporalio/client';
import {
  createWebhookHandler,
  type WebhookHandler,
  type WebhookHandlerOptions,
} from '../../../client/webhooks/handler.js';
import { signWebhook } from '../../../client/testing.js';
import { freePort } from '../../../sandbox/temporal/ports.js';

/** Made for these tests; no service has them. */
export const secret = `whsec_${Buffer.from('an-invented-key-with-32-bytes-01').toString('base64')}`;

/** A port of this machine that nothing listens on. */
export const closedPort = freePort;

/** A handler whose Temporal cannot be reached: every answer but 503 was decided before Temporal. */
export async function handlerWithoutTemporal(options: Partial<WebhookHandlerOptions> = {}): Promise<WebhookHandler> {
  const connection = Connection.lazy({ address: `127.0.0.1:${await closedPort()}` });
  const temporal = new Client({ connection });
  return createWebhookHandler({ temporal, secrets: [secret], deadlineMs: 500, logger: false, ...options });
}

/** What the service would send for the body. */
export function signed(body: string | Uint8Array | Record<string, unknown>) {
  return { method: 'POST', ...signWebhook({ body, secret }) };
}

/** An order as the service sends it, with an invented patient. */
export function orderBody(id: string, changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id,
    user_id: '6f0c0a49-2f0a-4b5e-8d6f-000000000001',
    patient_details: { first_name: 'Testperson', last_name: 'Invented', email: 'testperson@example.com' },
    status: 'received',
    created_at: '2026-01-05T10:00:00Z',
    updated_at: '2026-01-05T10:00:00Z',
    events: [{ id: 1, created_at: '2026-01-05T10:00:00Z', status: 'received.testkit.ordered' }],
    ...changes,
  };
}

export function orderEvent(id: string, changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { event_type: 'labtest.order.updated', data: orderBody(id, changes) };
}

/** A logger that remembers. */
export function remembering() {
  const lines: { level: 'info' | 'warn' | 'error'; fields: Record<string, unknown>; message: string }[] = [];
  const at = (level: (typeof lines)[0]['level']) => (fields: Record<string, unknown>, message: string) => {
    lines.push({ level, fields, message });
  };
  return { lines, logger: { info: at('info'), warn: at('warn'), error: at('error') } };
}

/** The same handler, with the lines that it logs. */
export async function loggingHandler(options: Partial<WebhookHandlerOptions> = {}) {
  const { lines, logger } = remembering();
  return { lines, handler: await handlerWithoutTemporal({ logger, ...options }) };
}

/** The answers that a handler has given. */
export function countedBy(handler: WebhookHandler): string[] {
  return Object.entries(handler.counts().answers).flatMap(([name, times]) => (times > 0 ? [name] : []));
}

/** What becomes of one message: its answer, the names under which it is counted, and what is logged. */
export async function outcomeOf(
  request: Parameters<WebhookHandler['handle']>[0],
  options: Partial<WebhookHandlerOptions> = {},
) {
  const { lines, handler } = await loggingHandler(options);
  const { status, headers, body } = await handler.handle(request);
  const { error } = JSON.parse(body ?? '{"error":null}') as { error: string | null };
  return { status, headers, error, counted: countedBy(handler), passedOver: handler.counts().passedOver, lines };
}

/** A sink that keeps what it gets. */
export function keeping() {
  const taken: unknown[][] = [];
  return { taken, sink: (...given: unknown[]) => Promise.resolve(void taken.push(given)) };
}

/** The handler behind a plain node:http server. */
export async function serve(handler: Pick<WebhookHandler, 'node'>, options: ServerOptions = {}) {
  const server = createServer(options, (request, response) => void handler.node(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { port: (server.address() as AddressInfo).port, close };
}

export const noise = (bytes: number) => randomBytes(bytes);
