import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { afterEach, describe, expect, test } from 'vitest';
import { parseKeyRing } from '../../client/encryption/key-ring.js';
import { createPayloadCodec } from '../../client/encryption/payload-codec.js';
import { startCodecServer, type RunningCodecServer } from '../../workers/codec-server.js';
import { readCodecServerConfig } from '../../workers/settings/config.js';
import { createLog } from '../../workers/log.js';
import { startBuilt } from '../rig/built.js';

const newKey = () => `${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}`;
const keys = newKey();
const codec = createPayloadCodec(parseKeyRing(keys));
const webUi = 'http://localhost:8233';
const [token, writing] = [randomBytes(24).toString('base64url'), randomBytes(24).toString('base64url')];
const writer = { authorization: `Bearer ${writing}` };

const started: RunningCodecServer[] = [];
const lines: string[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.close()));
  lines.length = 0;
});

async function serve(env: Record<string, string> = {}): Promise<string> {
  const config = readCodecServerConfig({ LABOPS_ENCRYPTION_KEYS: keys, CODEC_PORT: '0', LOG_LEVEL: 'trace', ...env });
  const server = await startCodecServer(
    config,
    createLog({ logLevel: 'trace', logFormat: 'names' }, 'test', { write: (line) => lines.push(line) }),
  );
  started.push(server);
  return server.url;
}

const base64 = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString('base64');
const json = ({ metadata, data }: Payload) => ({
  metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)])),
  data: base64(data),
});

const secrets = [{ receiver_name: 'Testperson Imaginary' }, 'Nowhereville'].map((value) =>
  defaultPayloadConverter.toPayload(value),
);
const encrypted = async (place?: Parameters<typeof codec.encode>[1]) => (await codec.encode(secrets, place)).map(json);

async function post(url: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const answer = (await response.json()) as { payloads?: unknown[]; message?: string };
  return { status: response.status, headers: response.headers, ...answer };
}

describe('the remote codec protocol', () => {
  test('decodes what was encrypted, in its order, and passes the rest through', async () => {
    const url = await serve();
    const readable = json(defaultPayloadConverter.toPayload(1));
    const answer = await post(`${url}/decode`, { payloads: [...(await encrypted()), readable] });
    expect(answer).toMatchObject({ status: 200, payloads: [...secrets.map(json), readable] });
  });

  test('encodes what the command line sends, for the workflows of its namespace', async () => {
    const url = await serve({ CODEC_ENCODE_TOKEN: writing });
    const body = { payloads: secrets.map(json) };
    const { payloads } = await post(`${url}/encode`, body, { ...writer, 'x-namespace': 'labs' });
    expect(JSON.stringify(payloads)).not.toContain(base64(secrets[1]?.data));
    expect(await post(`${url}/decode`, { payloads })).toMatchObject({ payloads: secrets.map(json) });
    const given = (payloads as { metadata: Record<string, string>; data: string }[]).map(({ metadata, data }) => ({
      metadata: Object.fromEntries(Object.entries(metadata).map(([name, text]) => [name, Buffer.from(text, 'base64')])),
      data: Buffer.from(data, 'base64'),
    }));
    const workflow = { type: 'workflow', workflowId: 'kit-order/invented' } as const;
    expect((await codec.decode(given, { ...workflow, namespace: 'labs' })).map(json)).toEqual(secrets.map(json));
    await expect(codec.decode(given, { ...workflow, namespace: 'other' })).rejects.toThrow(
      'any workflow of the namespace',
    );
    expect(await post(`${url}/encode`, body, writer)).toMatchObject({
      status: 400,
      message: expect.stringContaining('X-Namespace') as string,
    });
  });

  test('accepts a history event of many megabytes', async () => {
    const url = await serve();
    const large = defaultPayloadConverter.toPayload(randomBytes(3_000_000));
    const payloads = (await codec.encode([large, large])).map(json);
    const answer = await post(`${url}/decode`, { payloads });
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.payloads) === JSON.stringify([json(large), json(large)])).toBe(true);
  });

  test.each([
    ['no JSON', '{'],
    ['no object', '[]'],
    ['no list', { payloads: {} }],
    ['no payload', { payloads: ['text'] }],
    ['metadata of another type', { payloads: [{ metadata: 7 }] }],
    ['no base64', { payloads: [{ metadata: { encoding: '!' } }] }],
    ['data that only states its length', { payloads: [{ data: { length: 50_000_000 } }] }],
    ['metadata that only states its length', { payloads: [{ metadata: { encoding: { length: 50_000_000 } } }] }],
    ['data as a list of numbers', { payloads: [{ data: [1, 2, 3] }] }],
    ['metadata as a list', { payloads: [{ metadata: ['anNvbg=='] }] }],
    ['more than 1,000 payloads', { payloads: Array.from({ length: 1_001 }, () => ({})) }],
    [
      'more metadata than a payload has',
      { payloads: [{ metadata: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [n, ''])) }] },
    ],
  ])('refuses %s', async (_what, body) => {
    const url = await serve({ CODEC_ENCODE_TOKEN: writing });
    const before = process.memoryUsage();
    const answer = await post(`${url}/decode`, body);
    expect(answer.status).toBe(400);
    expect(process.memoryUsage().arrayBuffers - before.arrayBuffers).toBeLessThan(10_000_000);
    expect((await post(`${url}/encode`, body, writer)).status).toBe(400);
    expect(answer.payloads).toBeUndefined();
  });

  test('shows what a key that is gone has encrypted as no longer readable, beside what can be read', async () => {
    const other = newKey();
    const url = await serve({ LABOPS_ENCRYPTION_KEYS: other });
    const readable = (await createPayloadCodec(parseKeyRing(other)).encode(secrets)).map(json);
    const { status, payloads } = await post(`${url}/decode`, { payloads: [...(await encrypted()), ...readable] });
    expect(status).toBe(200);
    const gone = base64(Buffer.from(`"no longer readable: key ${keys.split(':', 1).join()}"`));
    expect(payloads).toMatchObject([{ data: gone }, { data: gone }, ...secrets.map(json)]);
  });
});

test('one payload that somebody has forged hides nothing else', async () => {
  const [forged, ...others] = await encrypted();
  const url = await serve();
  const changed = { ...forged, data: base64(randomBytes(40)) };
  const { status, payloads } = await post(`${url}/decode`, { payloads: [changed, ...others] });
  expect(status).toBe(200);
  const [shown, ...rest] = payloads as { data: string }[];
  expect(Buffer.from(shown?.data ?? '', 'base64').toString()).toMatch(/^"not authentic: .+ key [0-9a-f]{8}"$/);
  expect(rest).toMatchObject(secrets.slice(1).map(json));
});

describe('access to the codec server', () => {
  test("is open to the Web UI's page, even before it asks, with cookies and with the namespace in a header", async () => {
    const url = await serve();
    const preflight = await fetch(`${url}/decode`, {
      method: 'OPTIONS',
      headers: {
        origin: webUi,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,x-namespace',
      },
    });
    expect(preflight.status).toBe(204);
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-origin': webUi,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization,content-type,x-namespace',
      'access-control-allow-credentials': 'true',
    });
    const answer = await post(`${url}/decode`, { payloads: await encrypted() }, { origin: webUi });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBe(webUi);
  });

  test.each(['https://elsewhere.example', 'null', 'http://localhost:8234', `${webUi}.elsewhere.example`])(
    'is refused to a page of %s',
    async (origin) => {
      const url = await serve();
      const answer = await post(`${url}/decode`, { payloads: await encrypted() }, { origin });
      expect(answer).toMatchObject({
        status: 403,
        message: expect.stringContaining('CODEC_ALLOWED_ORIGINS') as string,
      });
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      const preflight = await fetch(`${url}/decode`, { method: 'OPTIONS', headers: { origin } });
      expect(preflight.status).toBe(403);
    },
  );

  test('access to the codec server needs the token if there is one', async () => {
    const url = await serve({ CODEC_TOKEN: token, CODEC_ENCODE_TOKEN: writing });
    const body = { payloads: await encrypted() };
    for (const authorization of ['', 'Bearer', `Bearer ${token}x`, token, `Basic ${token}`]) {
      for (const direction of ['encode', 'decode']) {
        expect(await post(`${url}/${direction}`, body, { authorization }), authorization).toMatchObject({
          status: 401,
        });
      }
    }
    expect(await post(`${url}/decode`, body, { authorization: `Bearer ${token}` })).toMatchObject({ status: 200 });
    expect(await post(`${url}/decode`, body, { origin: webUi })).toMatchObject({ status: 401 });
    expect(await post(`${url}/decode`, body, writer)).toMatchObject({ status: 200 });
    expect(lines.join('')).not.toContain(token);
    expect(lines.join('')).not.toContain(writing);
  });

  test('to encode takes a token of its own, and without one on the server nobody may', async () => {
    const body = { payloads: secrets.map(json) };
    const closed = await serve({ CODEC_TOKEN: token });
    for (const headers of [{}, { authorization: `Bearer ${token}` }, writer]) {
      expect(await post(`${closed}/encode`, body, { ...headers, 'x-namespace': 'labs' })).toMatchObject({
        status: 403,
        message: 'This server only decodes: to encode, set CODEC_ENCODE_TOKEN',
      });
    }
    const open = await serve({ CODEC_ENCODE_TOKEN: writing });
    expect(await post(`${open}/encode`, body, { 'x-namespace': 'labs' })).toMatchObject({ status: 401 });
  });

  test('to encode nothing, as the command line asks before a query, takes the right to read', async () => {
    const nothing = { 'x-namespace': 'labs' };
    expect(await post(`${await serve()}/encode`, {}, nothing)).toMatchObject({ status: 200, payloads: [] });
    const url = await serve({ CODEC_TOKEN: token });
    expect(await post(`${url}/encode`, {}, nothing)).toMatchObject({ status: 401 });
    const reader = { ...nothing, authorization: `Bearer ${token}` };
    expect(await post(`${url}/encode`, {}, reader)).toMatchObject({ status: 200, payloads: [] });
  });
});

test('each request that is converted is a line of the log: who asked, what, how many, of which workflow and with which keys, and nothing of what is converted or refused', async () => {
  const url = await serve({ CODEC_USER_HEADER: 'X-Forwarded-User' });
  const place = { type: 'workflow', namespace: 'default', workflowId: 'kit-order/invented' } as const;
  const forged = { ...defaultPayloadConverter.toPayload(1).metadata, 'workflow-id': Buffer.from('Invented Person') };
  const plain = json({ ...defaultPayloadConverter.toPayload(1), metadata: forged });
  const payloads = [...(await encrypted(place)), plain];
  await post(`${url}/decode`, { payloads }, { 'x-forwarded-user': 'nurse-7' });
  await post(`${url}/decode`, { payloads: [] });
  // A key that is not here may have any name, which is not for the log.
  const named = payloads.slice(0, 1).map((payload) => ({
    ...payload,
    metadata: { ...payload.metadata, 'encryption-key-id': base64(Buffer.from('Invented Person')) },
  }));
  await post(`${url}/decode`, { payloads: named });
  for (const refused of [{ payloads: ['Nowhereville'] }, '{"Nowhereville"']) await post(`${url}/decode`, refused);
  const converted = lines.map((line) => JSON.parse(line) as { msg: string }).filter(({ msg }) => msg === 'converted');
  const keyIds = [keys.split(':', 1)[0]];
  expect(converted).toMatchObject([
    { direction: 'decode', payloads: 3, keyIds, subjects: ['kit-order/invented'], user: 'nurse-7' },
    { payloads: 0, keyIds: [] },
    { payloads: 1, keyIds: [] },
  ]);
  expect(converted[1]).not.toHaveProperty('user');
  expect(lines.join('')).not.toMatch(/Testperson|Nowhereville/);
});

test('as a process it says where it listens, takes a key that is added to its file without a restart, keeps the last ones when the file breaks, and exits with status 0 on SIGTERM', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'keys-')), 'keys');
  const other = newKey();
  await writeFile(file, other);
  const env = { LABOPS_ENCRYPTION_KEYS: undefined, LABOPS_ENCRYPTION_KEYS_FILE: file, CODEC_PORT: '0' };
  const server = await startBuilt('workers/codec-server.ts', { env, ready: /codec server started/ });
  const [, url = ''] = await server.waitFor(/"url":"([^"]+)"/);
  expect((await fetch(`${url}/health`)).status).toBe(200);
  await writeFile(file, `${other},${keys}`);
  const read = async () => (await post(`${url}/decode`, { payloads: await encrypted() })).payloads;
  await expect.poll(read, { timeout: 40_000, interval: 1_000 }).toEqual(secrets.map(json));
  await server.waitFor(/the encryption keys have changed/);
  await rm(file);
  await server.waitFor(
    /LABOPS_ENCRYPTION_KEYS_FILE names a file that cannot be read \(ENOENT\): the last keys are used/,
  );
  expect(await read()).toEqual(secrets.map(json));
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  expect(server.output()).not.toContain(keys.split(':')[1]);
});

test('a port that is taken ends the start, which names the setting to change', async () => {
  const { port } = new URL(await serve());
  await expect(serve({ CODEC_PORT: port })).rejects.toThrow(
    `Port ${port} on 127.0.0.1 is taken: set CODEC_PORT to a free one.`,
  );
});
