import { once } from 'node:events';
import { connect } from 'node:net';
import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import type { HealthDataStore } from '../../store/health-data-store.js';
import { readCodecServerConfig, readIngressConfig } from '../../workers/config.js';
import { startCodecServer } from '../../workers/codec-server.js';
import { startHealthDataReading } from '../../workers/health-data-reading.js';
import { startIngress } from '../../workers/ingress.js';
import { type HttpLimits, httpLimits } from '../../workers/listening.js';
import { closedPort, secret, signed } from './webhooks/sending.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A tenth of a second in place of seconds; the order of the two timeouts is that of the real limits. */
const short: HttpLimits = { headersTimeoutMs: 300, requestTimeoutMs: 1_500, checkEveryMs: 50, maxConnections: 100 };
const log = pino({ level: 'silent' });

async function ingressOn(limits: HttpLimits) {
  const config = readIngressConfig({
    TEMPORAL_ADDRESS: `127.0.0.1:${await closedPort()}`,
    WEBHOOK_SECRETS: secret,
    INGRESS_HOST: '127.0.0.1',
    INGRESS_DRAIN_SECONDS: '0',
    INGRESS_PORT: '0',
    SHUTDOWN_GRACE_SECONDS: '0',
  });
  return startIngress(config, log, { limits });
}

/** Each server of the product, and the beginning of a request whose body it reads. */
const servers = {
  ingress: {
    start: ingressOn,
    head: () =>
      `POST /webhooks HTTP/1.1\r\nHost: test\r\n${Object.entries(signed('{}').headers)
        .map((line) => line.join(': '))
        .join('\r\n')}\r\n`,
  },
  'codec server': {
    start: (limits: HttpLimits) =>
      startCodecServer(
        readCodecServerConfig({
          LABOPS_ENCRYPTION_KEYS: `test:${Buffer.from('invented-key-for-http-limits-001').toString('base64')}`,
          CODEC_PORT: '0',
          SHUTDOWN_GRACE_SECONDS: '0',
        }),
        log,
        { limits },
      ),
    head: () => 'POST /decode HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n',
  },
  'reading of health data': {
    start: (limits: HttpLimits) => startHealthDataReading({} as HealthDataStore, 0, limits),
    head: undefined, // it reads no body
  },
};

async function serving(name: keyof typeof servers, limits = short): Promise<{ host: string; port: number }> {
  const running = await servers[name].start(limits);
  closing.push(() => running.close());
  const { hostname: host, port } = new URL(running.url);
  return { host, port: Number(port) };
}

/** Sends the beginning, then a byte now and then, and says after how many milliseconds the server ended the connection. */
async function endedAfter(where: { host: string; port: number }, begin: string, drip?: string): Promise<number> {
  const started = performance.now();
  const socket = connect(where.port, where.host);
  socket.on('error', () => undefined).resume(); // a write after the end is what happens to a slow sender
  socket.write(begin);
  const dripping = drip === undefined ? undefined : setInterval(() => socket.writable && socket.write(drip), 50);
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(dripping);
  return performance.now() - started;
}

test('headers get less time than the whole request: Node swaps the two if they get more', () => {
  expect(httpLimits.headersTimeoutMs).toBeLessThan(httpLimits.requestTimeoutMs);
  expect(httpLimits.requestTimeoutMs + httpLimits.checkEveryMs).toBeLessThan(20_000);
});

describe.each(Object.keys(servers) as (keyof typeof servers)[])('the %s ends', (name) => {
  test('headers that stall, and a silent connection, when the headers’ time is over', async () => {
    const limits = { ...short, requestTimeoutMs: 50_000 };
    const where = await serving(name, limits);
    for (const begin of ['POST / HTTP/1.1\r\nHost: test\r\n', '']) {
      const after = await endedAfter(where, begin);
      expect(after).toBeGreaterThanOrEqual(limits.headersTimeoutMs - 50);
      expect(after).toBeLessThan(limits.requestTimeoutMs);
    }
  });

  const { head } = servers[name];
  test.skipIf(head === undefined).each([
    ['stalls', undefined],
    ['drips', 'x'],
  ])('a body that %s when the request’s time is over', async (_how, drip) => {
    const where = await serving(name);
    const after = await endedAfter(where, `${head?.()}Content-Length: 1000\r\n\r\n{`, drip);
    expect(after).toBeGreaterThanOrEqual(short.requestTimeoutMs - 50);
    // Node's own defaults are 60 s and 300 s, and its look at connections comes every 30 s.
    expect(after).toBeLessThan(short.requestTimeoutMs + 25_000);
  });

  test('connections beyond its limit', async () => {
    const where = await serving(name, {
      ...short,
      headersTimeoutMs: 50_000,
      requestTimeoutMs: 55_000,
      maxConnections: 1,
    });
    const first = connect(where.port, where.host);
    await new Promise((resolve) => first.once('connect', resolve));
    expect(await endedAfter(where, '')).toBeLessThan(40_000);
    first.destroy();
  });
});

describe.each(Object.keys(servers) as (keyof typeof servers)[])('the %s answers before the body arrives', (name) => {
  // 800 strangers with a megabyte each would be more memory than the process has.
  test.each([
    ['POST /nothing', 404],
    ['POST /health', 404],
    ['OPTIONS /decode', name === 'codec server' ? 403 : 404],
  ])('if the request is %s', async (line, status) => {
    const where = await serving(name, { ...short, requestTimeoutMs: 50_000 });
    const headers = ['Host: 127.0.0.1', 'Origin: https://stranger.example', 'Content-Type: application/json'];
    const socket = connect(where.port, where.host);
    socket.write(`${[`${line} HTTP/1.1`, ...headers, 'Content-Length: 1000000'].join('\r\n')}\r\n\r\n[`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(answer.toString()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });
});
