import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startWay, type Way } from '../../../proof/faults/way.js';

const whole = 'a'.repeat(10_000);
const spoiled = /hang up|aborted|ECONNRESET|Parse Error/;
let server: Server;
let way: Way;
let served: number;

beforeEach(async () => {
  served = 0;
  server = createServer((_, response) => {
    served += 1;
    response.end(whole);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  way = await startWay([1, (server.address() as AddressInfo).port]);
});
afterEach(async () => {
  await way.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function get(timeoutMs = 30_000): Promise<string> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const sent = request({ port: way.port, host: '127.0.0.1', agent: false, signal }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve(text));
      response.on('error', reject);
    });
    sent.on('error', reject).end();
  });
}

test('a way passes everything on, to the first target that accepts a connection', async () => {
  expect(await get()).toBe(whole);
  expect(way.met).toBe(0);
});

test('a way that refuses lets nothing through, and everything again once it is set back', async () => {
  way.set('refuse');
  await expect(get()).rejects.toThrow(spoiled);
  expect(served).toBe(0);
  way.set(undefined);
  expect(await get()).toBe(whole);
});

test.each(['garble', 'cut'] as const)('a way with "%s" delivers the request and spoils the answer', async (fault) => {
  way.set(fault);
  await expect(get()).rejects.toThrow(spoiled);
  expect(served).toBe(1);
});

test('what a way was given while it hung is never delivered', async () => {
  way.set('hang');
  const answer = get(30_000);
  await expect.poll(() => way.met).toBe(1);
  way.set(undefined);
  await expect(answer).rejects.toThrow(spoiled);
  expect(served).toBe(0);
});

test('a way that delays delivers late, and all of it', async () => {
  way.set('delay');
  expect(await get()).toBe(whole);
  expect(way.met).toBeGreaterThan(0);
});

test('a way that resets breaks the connections that it has, and takes new ones', async () => {
  way.set('delay');
  const answer = get();
  await expect.poll(() => way.met).toBeGreaterThan(0);
  way.set('reset');
  await expect(answer).rejects.toThrow(spoiled);
  expect(await get()).toBe(whole);
});
