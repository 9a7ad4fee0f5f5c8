import { once } from 'node:events';
import { connect } from 'node:net';
import { type Logger, pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { HealthDataStore } from '../../store/health-data-store.js';
import { readCodecServerConfig, readIngressConfig } from '../../workers/settings/config.js';
import { startCodecServer } from '../../workers/codec-server.js';
import { startHealthDataReading } from '../../workers/health-data-reading.js';
import { startIngress } from '../../workers/ingress.js';
import { type HttpLimits, httpLimits } from '../../workers/listening.js';
import { closedPort, secret, signed } from './webhooks/sending.js';

/** Shorter than the real limits; the order of the two timeouts is theirs. */
const short: HttpLimits = {
  ...{ headersTimeoutMs: 4_000, requestTimeoutMs: 5_000, checkEveryMs: 50, keepAliveMs: 300, maxConnections: 100 },
};
const long = { headersTimeoutMs: 50_000, requestTimeoutMs: 55_000, keepAliveMs: 60_000 };
const silent = pino({ level: 'silent' });

async function ingressOn(limits: HttpLimits, log: Logger = silent) {
  const config = readIngressConfig({
    ...{ TEMPORAL_ADDRESS: `127.0.0.1:${await closedPort()}`, WEBHOOK_SECRETS: secret, INGRESS_HOST: '127.0.0.1' },
    ...{ INGRESS_DRAIN_SECONDS: '0', INGRESS_PORT: '0', SHUTDOWN_GRACE_SECONDS: '0' },
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
    start: (limits: HttpLimits, log: Logger = silent) => {
      const keys = `test:${Buffer.from('invented-key-for-http-limits-001').toString('base64')}`;
      const env = { LABOPS_ENCRYPTION_KEYS: keys, CODEC_PORT: '0', SHUTDOWN_GRACE_SECONDS: '0' };
      return startCodecServer(readCodecServerConfig(env), log, { limits });
    },
    head: () => 'POST /decode HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n',
  },
  'reading of health data': {
    start: (limits: HttpLimits) => startHealthDataReading({} as HealthDataStore, 0, limits),
    head: undefined, // it reads no body
  },
};

async function serving(name: keyof typeof servers, limits = short): Promise<{ host: string; port: number }> {
  const running = await servers[name].start(limits);
  onTestFinished(() => running.close());
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
    const limits = { ...short, headersTimeoutMs: 300, requestTimeoutMs: 50_000 };
    const where = await serving(name, limits);
    for (const begin of ['POST / HTTP/1.1\r\nHost: test\r\n', '']) {
      const after = await endedAfter(where, begin);
      expect(after).toBeGreaterThanOrEqual(limits.headersTimeoutMs - 50);
      expect(after).toBeLessThan(limits.requestTimeoutMs);
    }
  });

  const { head } = servers[name];
  test.skipIf(head === undefined)('a body that stalls, or drips, when the request’s time is over', async () => {
    const where = await serving(name);
    const ended = (drip?: string) => endedAfter(where, `${head?.()}Content-Length: 1000\r\n\r\n{`, drip);
    for (const after of await Promise.all([ended(), ended('x')])) {
      expect(after).toBeGreaterThanOrEqual(short.requestTimeoutMs - 50);
      // Node's own defaults are 60 s and 300 s, and its look at connections comes every 30 s.
      expect(after).toBeLessThan(short.requestTimeoutMs + 25_000);
    }
  });

  test('connections beyond its limit', async () => {
    const where = await serving(name, { ...short, ...long, maxConnections: 1 });
    const first = connect(where.port, where.host);
    await new Promise((resolve) => first.once('connect', resolve));
    expect(await endedAfter(where, '')).toBeLessThan(40_000);
    first.destroy();
  });

  const refused = ['GET /nothing', 'DELETE /health', 'POST /webhooks', 'POST /decode', 'GET /users/u/summaries?from=x'];
  test.each(refused)('the connection of a request that it refuses: %s', async (line) => {
    const where = await serving(name, { ...short, ...long });
    const headers = 'Host: 127.0.0.1\r\nOrigin: https://stranger.example\r\nContent-Length: 0';
    const socket = connect(where.port, where.host);
    let answer = '';
    socket.on('data', (bytes: Buffer) => (answer += bytes.toString()));
    socket.write(`${line} HTTP/1.1\r\n${headers}\r\n\r\n`);
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1.1 4\d\d [^]*\r\nconnection: close\r\n/i);
  });

  // 800 strangers with a megabyte each would be more memory than the process has.
  test.each([
    ['POST /nothing', 404],
    ['POST /health', 404],
    ['OPTIONS /decode', name === 'codec server' ? 403 : 404],
  ])('no request before it has answered: the body need not arrive if the request is %s', async (line, status) => {
    const where = await serving(name, { ...short, ...long });
    const headers = ['Host: 127.0.0.1', 'Origin: https://stranger.example', 'Content-Type: application/json'];
    const socket = connect(where.port, where.host);
    socket.write(`${[`${line} HTTP/1.1`, ...headers, 'Content-Length: 1000000'].join('\r\n')}\r\n\r\n[`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(answer.toString()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });
});

const probe = 'GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';

test('an answered connection may wait for its next request for five seconds', () => {
  expect(httpLimits.keepAliveMs).toBe(5_000);
});

describe.each(['ingress', 'codec server'] as const)('the %s', (name) => {
  test('ends a connection that sends no further request', async () => {
    const where = await serving(name, { ...long, checkEveryMs: 50, keepAliveMs: 300, maxConnections: 100 });
    // Node 24 waits another second.
    expect(await endedAfter(where, probe)).toBeLessThan(20_000);
  });

  test.each([
    ['say nothing', ''],
    ['stop within their headers', 'POST /webhooks HTTP/1.1\r\nHost: test\r\nsvix-'],
    ['have been answered', probe],
  ])('answers everybody who asks while connections that %s wait, as many as it takes', async (_how, begin) => {
    const where = await serving(name, { ...short, ...long, maxConnections: 20 });
    for (let n = 0; n < 40; n++) {
      const socket = connect(where.port, where.host);
      socket.on('error', () => undefined);
      onTestFinished(() => void socket.destroy());
      socket.write(begin);
      await once(socket, begin === probe ? 'data' : 'connect');
      const asking = connect(where.port, where.host);
      asking.write(probe.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
      const [answer] = (await once(asking, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1.1 200 /);
    }
  });
});

test('the lines that strangers cause become rarer: a stray webhook, and a refusal of the codec server', async () => {
  const lines: string[] = [];
  const listening = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const ingress = await ingressOn(short, listening);
  const codec = await servers['codec server'].start(short, listening);
  onTestFinished(async () => void (await Promise.all([ingress.close(), codec.close()])));
  const times = () => lines.map((line) => (JSON.parse(line) as { times?: number }).times).filter(Boolean);
  for (const [url, options] of [
    [`${ingress.url}/elsewhere`, signed('{}')],
    [`${codec.url}/decode`, { method: 'POST', headers: { origin: 'https://stranger.example' } }],
  ] as const) {
    lines.length = 0;
    for (let n = 0; n < 25; n++) await fetch(url, options);
    expect(times()).toEqual([1, 10]);
  }
});
