import { connect } from 'node:net';
import type { SignedWebhook } from '../../client/webhooks/sign.js';
import type { Random } from './random.js';

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

export type Framing = (typeof framings)[number];

export function framedBy(random: Random, { headers, body }: SignedWebhook): { framing: Framing; bytes: Buffer } {
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
export async function exchanged(port: number, framing: Framing, bytes: Buffer): Promise<string> {
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
