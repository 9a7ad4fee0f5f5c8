import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { AnswerLost, NotFound, ServiceUnreachable } from '../../../../service/errors.js';
import type { AddressedConfig, ServiceConfig, Transport } from '../../../../service/http/http.js';
import { createTransport } from '../../../../service/http/http.js';
import { createLabService } from '../../../../service/lab-service.js';
import { answering, errorNamed, rejection, serving, speakingTcp } from '../recording-server.js';
import { eventually } from '../../../rig/eventually.js';

const anything = z.unknown();

function transportTo(baseUrl: string, config: Partial<AddressedConfig> = {}): Transport {
  const transport = createTransport({ baseUrl, apiKey: 'sk_invented', ...config });
  onTestFinished(() => transport.close());
  return transport;
}

function ping(transport: Transport, options?: { timeoutMs?: number; signal?: AbortSignal }): Promise<unknown> {
  return transport.request({ method: 'POST', path: '/ping', body: { n: 1 }, answer: anything, options });
}

describe('addressing', () => {
  // proves 11
  test('a base path is kept, with or without a slash at its end', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: {} }));
    await ping(transportTo(`${baseUrl}/lab/v9`));
    await ping(transportTo(`${baseUrl}/lab/v9/`));
    expect(requests.map(({ url }) => url)).toEqual(['/lab/v9/ping', '/lab/v9/ping']);
  });

  const user = (id: string) => ({ path: '/user/{id}', params: { id } });
  test.each<[call: object, url: string]>([
    [user('a/b?c#d'), '/user/a%2Fb%3Fc%23d'],
    [user('3Zru4O8cBEiwGTsXgUQGaQ=='), '/user/3Zru4O8cBEiwGTsXgUQGaQ%3D%3D'],
    [user('../admin'), '/user/..%2Fadmin'],
    [user('ü 漢'), '/user/%C3%BC%20%E6%BC%A2'],
    [user('{id}'), '/user/%7Bid%7D'],
    [
      { query: { a: 'x&y', b: undefined, c: null, d: ['1', '2'], e: 0, f: false } },
      '/ping?a=x%26y&d=1&d=2&e=0&f=false',
    ],
  ])('the values of %j are encoded, lists repeated, and what is absent is left out: %s', async (call, url) => {
    const { baseUrl, requests } = await answering(() => ({ body: {} }));
    await transportTo(baseUrl).request({ method: 'GET', path: '/ping', answer: anything, ...call });
    expect(requests[0]?.url).toBe(url);
  });
});

test.each<[field: string, call: object]>([
  ['managementKey', { auth: 'management' }],
  ...['', '.', '..', '\ud800'].map((id): [string, object] => ['id', { path: '/user/{id}', params: { id } }]),
  ['x-idempotency-key', { headers: { 'x-idempotency-key': 'line\r\nbreak' } }],
])('a request whose %s cannot be sent is refused by that name, and names its call: %j', async (field, more) => {
  const { baseUrl, requests } = await answering(() => ({ body: {} }));
  const call = { method: 'GET' as const, path: '/ping', answer: anything, ...more };
  const error = await rejection(transportTo(baseUrl).request(call));
  expect(error).toMatchObject({ name: 'RequestInvalid', fields: [{ field }] });
  expect(String(error)).toContain(`GET ${call.path} was not sent: ${field} `);
  expect(requests).toEqual([]);
});

test('compression is not asked for', async () => {
  const { baseUrl, requests } = await answering(() => ({ body: {} }));
  await ping(transportTo(baseUrl));
  expect(requests[0]?.headers).toMatchObject({ 'accept-encoding': 'identity' });
});

describe('connections', () => {
  test('a connection is kept and serves one call after another', async () => {
    const { baseUrl, requests, connections } = await answering(() => ({ body: {} }));
    const transport = transportTo(baseUrl, { connections: 1 });
    for (let n = 0; n < 5; n += 1) await ping(transport);
    expect(requests).toHaveLength(5);
    expect(connections()).toBe(1);
  });

  test('no more connections are opened than configured, and other calls wait', async () => {
    const { baseUrl, requests, connections } = await answering(() => ({ body: {} }));
    const transport = transportTo(baseUrl, { connections: 2 });
    await Promise.all(Array.from({ length: 10 }, () => ping(transport)));
    expect(requests).toHaveLength(10);
    expect(connections()).toBe(2);
  });

  test('close waits for the call under way, and a call after it was never sent', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: { done: true } }));
    const transport = transportTo(baseUrl);
    const call = ping(transport);
    await Promise.all([transport.close(), transport.close()]);
    expect(await call).toEqual({ done: true });
    expect(await rejection(ping(transport))).toBeInstanceOf(ServiceUnreachable);
    expect(requests).toHaveLength(1);
  });
});

describe('a call that was not sent', () => {
  test('is unreachable after a refused connection, with its code', async () => {
    const { baseUrl, server } = await serving(() => undefined);
    server.close();
    await once(server, 'close');
    const facts = { method: 'POST', path: '/ping', status: undefined };
    const refused = errorNamed('ServiceUnreachable', 'ECONNREFUSED', facts);
    expect(await rejection(ping(transportTo(baseUrl)))).toMatchObject(refused);
  });

  test('is unreachable after the connect timeout if a TLS handshake never ends', async () => {
    const baseUrl = (await speakingTcp(() => undefined)).replace('http', 'https');
    const error = await rejection(ping(transportTo(baseUrl, { connectTimeoutMs: 100 })));
    expect(error).toMatchObject(errorNamed('ServiceUnreachable', 'UND_ERR_CONNECT_TIMEOUT'));
  });

  test('a call that found no free connection is not sent later either', async () => {
    const answers: (() => void)[] = [];
    const paths: (string | undefined)[] = [];
    const { baseUrl } = await serving((request, response) => {
      paths.push(request.url);
      answers.push(() => response.end('{}'));
    });
    const transport = transportTo(baseUrl, { connections: 1 });
    const first = ping(transport);
    await eventually(() => expect(answers).toHaveLength(1));
    const late = { method: 'POST', path: '/late', answer: anything, options: { timeoutMs: 30 } } as const;
    expect(await rejection(transport.request(late))).toBeInstanceOf(ServiceUnreachable);
    answers[0]?.();
    await first;
    const third = ping(transport);
    await eventually(() => expect(answers).toHaveLength(2));
    answers[1]?.();
    await third;
    expect(paths).toEqual(['/ping', '/ping']);
  });

  test('a call whose signal was aborted before is not sent, and rejects with the signal’s reason', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: {} }));
    const reason = new Error('stopped by the caller');
    expect(await rejection(ping(transportTo(baseUrl), { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(requests).toEqual([]);
  });
});

/** The error of a call that a server answers so, which is tried once; it quotes nobody. */
async function errorOf(listener: RequestListener, config: Partial<AddressedConfig> = {}): Promise<unknown> {
  let requests = 0;
  const { baseUrl } = await serving((request, response) => {
    requests += 1;
    listener(request, response);
  });
  const error = await rejection(ping(transportTo(baseUrl, config)));
  await eventually(() => expect(requests).toBe(1));
  expect(inspect(error, { depth: null })).not.toContain('Testperson');
  return error;
}

const breakingOff =
  (status: number): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { 'content-length': '1000' });
    response.write('{"detail":', () => response.socket?.resetAndDestroy());
  };

describe('a call whose answer was lost ends', () => {
  const silence = () => undefined;
  const pausing: RequestListener = (_request, response) => response.writeHead(200).write('{"order":');
  const informed: RequestListener = (request, response) => {
    response.writeProcessing();
    setImmediate(() => request.socket.resetAndDestroy());
  };
  test.each<[string, RequestListener, Partial<AddressedConfig>, status: number | undefined, said: string]>([
    ['never comes, in the headers timeout', silence, { headersTimeoutMs: 50 }, undefined, 'UND_ERR_HEADERS_TIMEOUT'],
    ['pauses longer than the body timeout', pausing, { bodyTimeoutMs: 50 }, 200, 'UND_ERR_BODY_TIMEOUT'],
    ['never comes, with the configured whole timeout', silence, { timeoutMs: 5_000 }, undefined, '5000 ms'],
    ['is cut off', ({ socket }) => socket.resetAndDestroy(), {}, undefined, 'ECONNRESET'],
    ['is a success that breaks off', breakingOff(200), {}, 200, ''],
    ['is cut off after an informational one', informed, {}, undefined, ''],
  ])('a call ends if its answer %s', async (_how, listener, config, status, said) => {
    expect(await errorOf(listener, config)).toMatchObject(errorNamed('AnswerLost', said, { status }));
  });

  test('a call ends with the whole timeout if its answer drips forever, and its connection with it', async () => {
    const closed = vi.fn<() => void>();
    const { baseUrl } = await serving((_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(drip)).on('close', closed);
    });
    const call = ping(transportTo(baseUrl), { timeoutMs: 5_000 });
    expect(await rejection(call)).toMatchObject(errorNamed('AnswerLost', '5000 ms'));
    await eventually(() => expect(closed).toHaveBeenCalled());
  });

  test('a call ends if its answer is not HTTP, and quotes nothing of it', async () => {
    const baseUrl = await speakingTcp((socket) => void socket.write('Testperson is not HTTP\r\n\r\n'));
    const error = await rejection(ping(transportTo(baseUrl)));
    expect(error).toBeInstanceOf(AnswerLost);
    expect(inspect(error, { depth: null })).not.toContain('Testperson');
  });

  test('a call ends with the signal’s reason if that is aborted under way, and closes the connection', async () => {
    const closed = vi.fn<() => void>();
    const controller = new AbortController();
    const reason = new Error('stopped by the caller');
    const { baseUrl } = await serving((_request, response) => {
      response.on('close', closed);
      controller.abort(reason);
    });
    expect(await rejection(ping(transportTo(baseUrl), { signal: controller.signal }))).toBe(reason);
    await eventually(() => expect(closed).toHaveBeenCalled());
  });

  test('a call that ended leaves no listener on its signal', async () => {
    const { baseUrl } = await answering(() => ({ body: {} }));
    const { signal } = new AbortController();
    const add = vi.spyOn(signal, 'addEventListener');
    const remove = vi.spyOn(signal, 'removeEventListener');
    await ping(transportTo(baseUrl), { signal });
    expect(remove.mock.calls.map(([, listener]) => listener)).toEqual(add.mock.calls.map(([, listener]) => listener));
  });
});

describe('answers', () => {
  const compressed: RequestListener = (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"answer":42}'));
  const redirect: RequestListener = (_, response) => response.writeHead(307, { location: '/elsewhere' }).end();
  const tooLarge = 'x'.repeat(5_000);

  // proves 1, 311
  test.each<[string, Error['name'], status: number, RequestListener, said?: string]>([
    ['success that is not JSON', 'AnswerUnreadable', 200, (_request, response) => response.end('Testperson')],
    ['success that is compressed nevertheless', 'AnswerUnreadable', 200, compressed],
    ['failure larger than the cap', 'ServiceUnavailable', 503, (_, answer) => answer.writeHead(503).end(tooLarge)],
    ['refusal whose explanation breaks off', 'ServiceRefused', 422, breakingOff(422)],
    ['redirect, which is not followed,', 'AnswerUnreadable', 307, redirect, 'base URL'],
  ])('a %s is %s', async (_what, name, status, listener, said = '') => {
    const error = await errorOf(listener, { maxResponseBytes: 1000 });
    expect(error).toMatchObject(errorNamed(name, said, { status }));
  });

  test('a success of another shape is unreadable: the place is named, the value is not', async () => {
    const { baseUrl } = await answering(() => ({ body: { person: { name: ['Testperson'] } } }));
    const answer = z.object({ person: z.object({ name: z.string() }) });
    const error = await rejection(transportTo(baseUrl).request({ method: 'GET', path: '/ping', answer }));
    const place = 'person.name: Invalid input: expected string, received array';
    expect(error).toMatchObject(errorNamed('AnswerUnreadable', place));
    expect(String(error)).not.toContain('Testperson');
  });

  test('a byte order mark is not part of the JSON', async () => {
    const { baseUrl } = await answering(() => ({ body: '\ufeff{"a":1}' }));
    expect(await ping(transportTo(baseUrl))).toEqual({ a: 1 });
  });

  test('a success larger than the cap is unreadable, and its connection ends', async () => {
    const closed = vi.fn<() => void>();
    const large: RequestListener = (_request, response) =>
      response.on('close', closed).writeHead(200).write('x'.repeat(2000));
    const error = await errorOf(large, { maxResponseBytes: 1000 });
    expect(error).toMatchObject(errorNamed('AnswerUnreadable', '1000 bytes'));
    await eventually(() => expect(closed).toHaveBeenCalled());
  });

  test('a success exactly as large as the cap is read', async () => {
    const { baseUrl } = await answering(() => ({ body: '"12345678"' }));
    expect(await ping(transportTo(baseUrl, { maxResponseBytes: 10 }))).toBe('12345678');
  });

  test('an informational answer before the real one is skipped', async () => {
    const { baseUrl } = await serving((_request, response) => {
      response.writeProcessing();
      response.end('{"a":1}');
    });
    expect(await ping(transportTo(baseUrl))).toEqual({ a: 1 });
  });

  test('send needs no JSON, and its refusals are refusals too', async () => {
    const { baseUrl } = await answering((_request, index) => (index === 0 ? { body: 'Success' } : { status: 404 }));
    const transport = transportTo(baseUrl);
    await transport.send({ method: 'POST', path: '/ping' });
    expect(await rejection(transport.send({ method: 'POST', path: '/ping' }))).toBeInstanceOf(NotFound);
  });
});

describe('configuration', () => {
  test.each<[string, Partial<AddressedConfig>]>([
    ['baseUrl', { baseUrl: 'lab.example.com' }],
    ['baseUrl', { baseUrl: 'ftp://lab.example.com' }],
    ['baseUrl', { baseUrl: 'https://name@lab.example.com' }],
    ['baseUrl', { baseUrl: 'https://lab.example.com/?x=1' }],
    ['brand', { brand: 'two words' }],
    ['apiKey', { apiKey: '' }],
    ['apiKey', { apiKey: 'sk_invented\n' }],
    ['managementKey', { managementKey: '' }],
    ['ordersPath', { ordersPath: 'v3/orders' }],
    ['usersPath', { usersPath: '/v2/user?x=1' }],
    ['timeoutMs', { timeoutMs: 0 }],
    ['connections', { connections: 1.5 }],
  ])('%s: %j is refused by name', (name, config) => {
    const create = () => createTransport({ baseUrl: 'http://127.0.0.1:1', apiKey: 'sk_invented', ...config });
    expect(create).toThrow(TypeError);
    expect(create).toThrow(name);
  });

  test('a description says what the other fields do not', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: { users: [] } }));
    const description = { brand: 'acme', usersPath: '/v2/user', addresses: { sandbox: `${baseUrl}/lab` } };
    const given = { apiKey: 'sk_invented', managementKey: 'mk_invented', description, environment: 'sandbox' };
    for (const config of [given, { ...given, brand: 'other', usersPath: '/users', baseUrl }]) {
      const service = createLabService(config);
      onTestFinished(() => service.close());
      await service.users.list().next();
    }
    expect(requests.map(({ url }) => url?.split('?')[0])).toEqual(['/lab/v2/user', '/users']);
    const keys = requests.map(({ headers }) => Object.keys(headers).filter((name) => /key|token/.test(name)));
    expect(keys).toEqual([['x-acme-api-key'], ['x-other-api-key']]);
  });

  test.each<[ServiceConfig, string]>([
    [{ apiKey: 'sk_invented' }, 'baseUrl is missing'],
    [{ apiKey: 'sk_invented', description: { addresses: {} }, environment: 'mars' }, 'baseUrl is missing'],
    [
      { apiKey: 'sk_invented', description: { brand: 'two words', brnad: 'x' } as object },
      'description: brand is not one word of letters, digits and hyphens; brnad is not a field of a description',
    ],
  ])('%j is refused', (config, problem) => {
    expect(() => createLabService(config)).toThrow(problem);
  });
});
