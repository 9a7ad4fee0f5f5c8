import { connect } from 'node:net';
import { serveHttp } from '../../sandbox/temporal/ports.js';
import { signWebhook, type SignedWebhook } from '../../client/testing.js';
import { readSeeds, spoiltBytes } from './mutate.js';
import type { Random } from './random.js';
import type { Tally } from './tally.js';
import { catchingHandler, secret } from './webhooks.js';

const atOnce = 16;

/** A body that ends early cannot be known to be complete: the sender has to try again, so 503 is right. */
const brokenOff: ReadonlySet<Framing> = new Set(['too long']);

/** Sends mutated webhooks over HTTP on loopback, in good and in broken frames, to the handler in a server of Node. */
export async function fuzzWebhooksOverHttp(random: Random, count: number, tally: Tally): Promise<void> {
  const { handler, caught, logged } = catchingHandler(true);
  const { port, close } = await serveHttp((request, response) => void handler.node(request, response));
  for (let sent = 0; sent < count; sent += atOnce) {
    await sendSome(random, { port, count: Math.min(atOnce, count - sent) }, tally);
    caught();
    logged();
  }
  await close();
}

/** Sends some webhooks at once to a port of this machine. */
async function sendSome(random: Random, to: { port: number; count: number }, tally: Tally): Promise<void> {
  const seeds = readSeeds<object>('webhooks.json');
  const requests = Array.from({ length: to.count }, () => {
    const body = spoiltBytes(random, random.pick(seeds));
    return framedBy(random, signWebhook({ body, secret }));
  });
  await Promise.all(
    requests.map(async ({ framing, bytes }) => {
      const status = await exchanged(to.port, framing, bytes);
      tally.count(`${status} (${framing})`);
      const isExpected = /^[24]/.test(status) || (brokenOff.has(framing) && (status === '503' || status === 'none'));
      if (!isExpected) tally.found(`answered ${status} to a request framed ${framing}`, bytes.toString('latin1'));
    }),
  );
}

/** How long an answer may take. A request whose length is wrong is ended by its sender long before. */
const patienceMs = 10_000;

/** The ways in which a request is framed: right, or as a broken or hostile sender does it. */
const framings = [
  'plain',
  'plain',
  'chunked',
  'chunked in single bytes',
  'too short',
  'too long',
  'no length',
  'two lengths',
  'many headers',
  'long header',
  'headers twice',
  'encoding named',
  'expect',
] as const;

type Framing = (typeof framings)[number];

function framedBy(random: Random, { headers, body }: SignedWebhook): { framing: Framing; bytes: Buffer } {
  const framing = random.pick(framings);
  const given = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const lines = [
    'POST /webhooks HTTP/1.1',
    'host: 127.0.0.1',
    'connection: close',
    ...given,
    ...more(random, framing, body),
  ];
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  if (!framing.startsWith('chunked')) return { framing, bytes: Buffer.concat([head, body]) };
  const size = framing === 'chunked' ? 1_000 : 1;
  return {
    framing,
    bytes: Buffer.concat([head, ...chunks(body.subarray(0, 20 * size), size), ...rest(body, 20 * size)]),
  };
}

function more(random: Random, framing: Framing, body: Buffer): string[] {
  const length = `content-length: ${body.length}`;
  switch (framing) {
    case 'chunked':
    case 'chunked in single bytes':
      return ['transfer-encoding: chunked'];
    case 'too short':
      return [`content-length: ${random.below(body.length + 1)}`];
    case 'too long':
      return [`content-length: ${body.length + 1 + random.below(1_000)}`];
    case 'no length':
      return [];
    case 'two lengths':
      return [length, `content-length: ${body.length + 1}`];
    case 'many headers':
      return [length, ...Array.from({ length: random.pick([100, 900, 3_000]) }, (_, n) => `x-invented-${n}: ${n}`)];
    case 'long header':
      return [length, `x-invented: ${'a'.repeat(random.pick([7_000, 20_000]))}`];
    case 'headers twice':
      return [length, 'webhook-id: msg_other', 'webhook-signature: v1,AAAA', 'svix-id: msg_half'];
    case 'encoding named':
      return [length, `content-encoding: ${random.pick(['gzip', 'br', 'deflate', 'identity', 'invented'])}`];
    case 'expect':
      return [length, 'expect: 100-continue'];
    case 'plain':
      return [length];
  }
}

function chunks(body: Buffer, size: number): Buffer[] {
  const count = Math.ceil(body.length / size);
  return Array.from({ length: count }, (_, n) => chunk(body.subarray(n * size, (n + 1) * size)));
}

function rest(body: Buffer, from: number): Buffer[] {
  return [...(body.length > from ? [chunk(body.subarray(from))] : []), Buffer.from('0\r\n\r\n')];
}

function chunk(piece: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]);
}

/**
 * The status of the answer to a request; `none` if the server closed without one. A sender whose body is too short ends the connection:
 * it has nothing more to send.
 */
async function exchanged(port: number, framing: Framing, bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const received: Buffer[] = [];
    const socket = connect(port, '127.0.0.1');
    const end = (otherwise: string): void => {
      clearTimeout(timer);
      socket.destroy();
      const heads = Buffer.concat(received)
        .toString('latin1')
        .matchAll(/HTTP\/1\.1 (\d{3})/g);
      resolve([...heads].map(([, status]) => status).find((status) => status !== '100') ?? otherwise);
    };
    const timer = setTimeout(() => end('timed out'), patienceMs);
    socket.on('data', (piece) => received.push(piece));
    socket.on('error', () => end('none'));
    socket.on('close', () => end('none'));
    if (framing === 'too long') socket.end(bytes);
    else socket.write(bytes);
  });
}
