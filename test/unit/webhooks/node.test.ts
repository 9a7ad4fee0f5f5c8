import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createNotificationHandler } from '../../../client/notifications/handler.js';
import type { WebhookHandler } from '../../../client/webhooks/handler.js';
import { signWebhook } from '../../../client/testing.js';
import { handlerWithoutTemporal, noise, secret, serve, signed } from './sending.js';

const mebibyte = 1024 * 1024;

/** The port of the handler behind node:http, until the test has ended. */
async function portOf(handler: Pick<WebhookHandler, 'node'>, options: ServerOptions = {}): Promise<number> {
  const { port, close } = await serve(handler, options);
  onTestFinished(close);
  return port;
}

const unhandled = { event_type: 'labtest.appointment.updated' };

test('a web request whose body somebody else reads or has read is a fault of ours, not a body that broke off', async () => {
  const handler = await handlerWithoutTemporal();
  const request = () => new Request('http://127.0.0.1/', signed(unhandled));
  expect((await handler.fetch(request())).status).toBe(204);
  const read = request();
  await read.text();
  const locked = request();
  locked.body?.getReader();
  for (const each of [read, locked]) {
    const answer = await handler.fetch(each);
    expect([answer.status, await answer.json()]).toMatchObject([500, { error: 'body_already_read' }]);
  }
});

/** The headers that the handler requires before it reads any of a body. */
const signedHead = Object.entries(signed('').headers)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');

const post = 'POST / HTTP/1.1\r\nHost: test\r\n';

/** A connection on which a request has begun; `closed` is the answer, once it has ended. */
function beginning(port: number, head: string) {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('latin1').on('data', (text: string) => (answer += text));
  socket.on('error', () => undefined); // to be cut off in mid-sentence is what the tests are about
  socket.write(head);
  return { socket, closed: new Promise<string>((resolve) => socket.once('close', () => resolve(answer))) };
}

/**
 * Sends the head, then chunks as fast as they are accepted. `written`: how much the kernel took before the connection
 * ended.
 */
async function pour(port: number, head: string, most: number): Promise<{ written: number; answer: string }> {
  const { socket, closed } = beginning(port, head);
  const bytes = noise(64 * 1024);
  const chunk = Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
  for (let sent = 0; sent < most && !socket.destroyed; sent += chunk.length) {
    if (socket.write(chunk)) continue;
    await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
  }
  const answer = await closed;
  return { written: socket.bytesWritten - socket.writableLength, answer };
}

test('a body above the limit is cut off: the sender cannot write it to the end, and the connection is closed', async () => {
  const handler = await handlerWithoutTemporal({ maxBytes: 64 * 1024 });
  const port = await portOf(handler);
  const head = `${post}${signedHead}Transfer-Encoding: chunked\r\n\r\n`;
  const { written } = await pour(port, head, 512 * mebibyte);
  // What the kernel buffers on both sides of a loopback connection, and no more.
  expect(written).toBeLessThan(16 * mebibyte);
  expect(handler.counts().answers.body_too_large).toBe(1);
});

test('a declared length above the limit is answered 413 before any of the body is sent', async () => {
  const port = await portOf(await handlerWithoutTemporal({ maxBytes: 1000 }));
  const { answer } = await pour(port, `${post}${signedHead}Content-Length: 1001\r\n\r\n`, 0);
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(answer).toMatch(/\r\nconnection: close\r\n/i);
});

test('a sender without the three headers cannot make the handler read a body: it is cut off as soon as it has its 401', async () => {
  const handler = await handlerWithoutTemporal();
  const port = await portOf(handler);
  const head = `${post}Transfer-Encoding: chunked\r\n\r\n`;
  const { written } = await pour(port, head, 512 * mebibyte);
  expect(written).toBeLessThan(16 * mebibyte);
  expect(handler.counts().answers).toMatchObject({ headers_missing: 1, body_too_large: 0 });
});

test('a sender that goes away in mid-body leaves the handler working', async () => {
  const handler = await handlerWithoutTemporal();
  const port = await portOf(handler);
  const socket = connect(port, '127.0.0.1');
  socket.write(`${post}${signedHead}Content-Length: 1000\r\n\r\nhalf`, () => socket.destroy());
  await expect.poll(() => handler.counts().answers.body_broke_off).toBe(1);
  expect((await fetch(`http://127.0.0.1:${port}/`, signed(unhandled))).status).toBe(204);
});

test.each(['webhooks', 'notifications'])(
  'large bodies that stall keep no small one from the handler of %s, nor, after some seconds, a large one, even if its server has no timeouts',
  async (kind) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const limits = { maxBytes: 33 * mebibyte, bodyDeadlineMs: 10_000 };
    const notifications = () => createNotificationHandler({ secrets: [secret], on: {}, ...limits });
    const handler = kind === 'webhooks' ? await handlerWithoutTemporal(limits) : notifications();
    const connections = new Set<Socket>();
    const node: typeof handler.node = (request, response) => {
      connections.add(request.socket);
      return handler.node(request, response);
    };
    const port = await portOf({ node }, { requestTimeout: 0, headersTimeout: 0 });
    // Together one byte below what large ones may hold. Nobody has to know the secret for that.
    const stalled = [32 * mebibyte, 16 * mebibyte - 1].map((bytes) => stall(port, bytes));
    const notice = (filler: string) => ({ body: { ...notification, data: { filler } }, secret, id: notification.id });
    const genuine = (filler: string) =>
      kind === 'webhooks' ? signed({ ...unhandled, filler }) : { method: 'POST', ...signWebhook(notice(filler)) };
    const send = async (filler = '') => (await fetch(`http://127.0.0.1:${port}/`, genuine(filler))).status;
    const large = 'x'.repeat(100_000);
    // A large one that is sent before all of them are held may be taken, and one of them refused in its place.
    const received = () => [...connections].reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    await expect.poll(received).toBe(48 * mebibyte - 1 + 2 * stalledHead.length);
    expect(await send(large)).toBe(503);
    expect(await send()).toBe(204);
    await vi.advanceTimersByTimeAsync(limits.bodyDeadlineMs);
    await expect.poll(() => send(large)).toBe(204);
    for (const answer of await Promise.all(stalled)) {
      expect(answer).toMatch(/^HTTP\/1\.1 503 /);
      expect(answer).toMatch(/body_broke_off/);
    }
    expect(handler.counts().answers).toMatchObject({ body_broke_off: 2 });
  },
);

const notification = {
  ...{ specversion: '1.0', id: 'order-1/7/phase_changed', source: 'kit-order/order-1', subject: 'order-1' },
  ...{ type: 'labops.unknown', time: '2026-03-10T12:00:00.000Z', datacontenttype: 'application/json', data: {} },
};

const stalledHead = `${post}${signedHead}Content-Length: ${33 * mebibyte}\r\n\r\n`;

/** Sends so much of a body that is never completed. Returns the answer once the connection has ended. */
async function stall(port: number, bytes: number): Promise<string> {
  const { socket, closed } = beginning(port, stalledHead);
  socket.write(Buffer.alloc(bytes));
  return closed;
}

/** A server that reads the body before the handler, as body parsers do. */
async function behindParser(handler: WebhookHandler, left: (raw: Buffer) => unknown): Promise<string> {
  const node = async (request: IncomingMessage & { body?: unknown }, response: ServerResponse) => {
    request.body = left(Buffer.concat(await request.toArray()));
    await handler.node(request, response);
  };
  return `http://127.0.0.1:${await portOf({ node })}/`;
}

test('the handler works behind a parser that leaves the raw bytes in request.body', async () => {
  const url = await behindParser(await handlerWithoutTemporal(), (raw) => raw);
  expect((await fetch(url, signed(unhandled))).status).toBe(204);
});

test('the handler answers 500 and says what to do behind a parser that leaves an object', async () => {
  const url = await behindParser(await handlerWithoutTemporal(), (raw) => JSON.parse(raw.toString()) as unknown);
  const response = await fetch(url, signed(unhandled));
  expect(response.status).toBe(500);
  expect(await response.text()).toMatch(/before the body parser/);
});
