import { expect, onTestFinished, test } from 'vitest';
import { startWay } from '../../../proof/faults/way.js';
import { serving } from '../service/recording-server.js';

const whole = 'a'.repeat(10_000);
const spoiled = /fetch failed|terminated/;

/** A way to a server, which counts what it has served. */
async function wayToServer() {
  const counts = { served: 0 };
  const { baseUrl } = await serving((_, response) => {
    counts.served += 1;
    response.end(whole);
  });
  const way = await startWay([1, Number(new URL(baseUrl).port)]);
  onTestFinished(() => way.close());
  // Longer is not "spoiled": the way has kept what it should have broken.
  const get = async () => (await fetch(`http://127.0.0.1:${way.port}`, { signal: AbortSignal.timeout(30_000) })).text();
  return { way, get, counts };
}

test('a way passes everything on, to the first target that accepts a connection', async () => {
  const { way, get } = await wayToServer();
  expect(await get()).toBe(whole);
  expect(way.met).toBe(0);
});

test('a way that refuses lets nothing through, and everything again once it is set back', async () => {
  const { way, get, counts } = await wayToServer();
  way.set('refuse');
  await expect(get()).rejects.toThrow(spoiled);
  expect(counts.served).toBe(0);
  way.set(undefined);
  expect(await get()).toBe(whole);
});

test.each(['garble', 'cut'] as const)('a way with "%s" delivers the request and spoils the answer', async (fault) => {
  const { way, get, counts } = await wayToServer();
  way.set(fault);
  await expect(get()).rejects.toThrow(spoiled);
  expect(counts.served).toBe(1);
});

test('what a way was given while it hung is never delivered', async () => {
  const { way, get, counts } = await wayToServer();
  way.set('hang');
  const answer = get();
  await expect.poll(() => way.met).toBe(1);
  way.set(undefined);
  await expect(answer).rejects.toThrow(spoiled);
  expect(counts.served).toBe(0);
});

test('a way that delays delivers late, and all of it', async () => {
  const { way, get } = await wayToServer();
  way.set('delay');
  expect(await get()).toBe(whole);
  expect(way.met).toBeGreaterThan(0);
});

test('a way that resets breaks the connections that it has, and takes new ones', async () => {
  const { way, get } = await wayToServer();
  way.set('delay');
  const answer = get();
  await expect.poll(() => way.met).toBeGreaterThan(0);
  way.set('reset');
  await expect(answer).rejects.toThrow(spoiled);
  expect(await get()).toBe(whole);
});
