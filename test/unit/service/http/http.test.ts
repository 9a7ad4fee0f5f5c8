import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import {
  AnswerLost,
  AnswerUnreadable,
  NotFound,
  RequestInvalid,
  ServiceRefused,
  ServiceUnavailable,
  ServiceUnreachable,
} from '../../../../service/errors.js';
import {
  type AddressedConfig,
  type ServiceConfig,
  type Transport,
  createTransport,
} from '../../../../service/http/http.js';
import { createLabService } from '../../../../service/lab-service.js';
import { answering, rejection, serving, speakingTcp } from '../recording-server.js';
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

describe('authentication', () => {
  // proves 171, 244-246
  test.each<[what: string, sent: string, value: string, call: object, config: object]>([
    ['a team call', 'x-service-api-key', 'sk_invented', {}, {}],
    ['a call with a link token', 'x-service-link-token', 'lt_invented', { auth: { linkToken: 'lt_invented' } }, {}],
    ['a management call', 'x-management-key', 'mk_invented', { auth: 'management' }, {}],
    ['a team call of another brand', 'x-acme-api-key', 'sk_invented', {}, { brand: 'Acme' }],
    ['a step of another brand', 'x-acme-link-token', 'lt', { auth: { linkToken: 'lt' } }, { brand: 'Acme' }],
  ])('%s carries its key as %s and no other', async (_what, sent, value, call, config) => {
    const { baseUrl, requests } = await answering(() => ({ body: {} }));
    const transport = transportTo(baseUrl, { managementKey: 'mk_invented', ...config });
    await transport.request({ method: 'GET', path: '/ping', answer: anything, ...call });
    const [{ headers } = { headers: {} }] = requests;
    expect(headers).toHaveProperty(sent, value);
    expect(Object.keys(headers).filter((name) => /key|token/.test(name))).toEqual([sent]);
  });

  test('a management call without a management key is refused before it is sent', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: {} }));
    const call = transportTo(baseUrl).request({ method: 'GET', path: '/ping', auth: 'management', answer: anything });
    expect(await rejection(call)).toMatchObject({ name: 'RequestInvalid', fields: [{ field: 'managementKey' }] });
    expect(requests).toEqual([]);
  });
});

describe('addressing', () => {
  // proves 11
  test('a base path is kept, with or without a slash at its end', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: {} }));
    await ping(transportTo(`${baseUrl}/lab/v9`));
    await ping(transportTo(`${baseUrl}/lab/v9/`));
    expect(requests.map(({ url }) => url)).toEqual(['/lab/v9/ping', '/lab/v9/ping']);
  });

  test.each([
    ['a/b?c#d', '/user/a%2Fb%3Fc%23d'],
    ['3Zru4O8cBEiwGTsXgUQGaQ==', '/user/3Zru4O8cBEiwGTsXgUQGaQ%3D%3D'],
    ['../admin', '/user/..%2Fadmin'],
    ['ü 漢', '/user/%C3%BC%20%E6%BC%A2'],
    ['{id}', '/user/%7Bid%7D'],
  ])('the value %j cannot change the path', async (id, url) => {
    const { baseUrl, requests } = await answering(() => ({ body: {} }));
    await transportTo(baseUrl).request({ method: 'GET', path: '/user/{id}', params: { id }, answer: anything });
    expect(requests[0]?.url).toBe(url);
  });

  test.each(['', '.', '..', '\ud800'])(
    'the value %j, which no path can carry, is refused before it is sent',
    async (id) => {
      const { baseUrl, requests } = await answering(() => ({ body: {} }));
      const call = { method: 'GET', path: '/user/{id}', params: { id }, answer: anything } as const;
      const error = await rejection(transportTo(baseUrl).request(call));
      expect(error).toMatchObject({ name: 'RequestInvalid', fields: [{ field: 'id' }] });
      expect(requests).toEqual([]);
    },
  );

  test('a query leaves out what is absent, repeats lists and encodes values', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: {} }));
    const query = { a: 'x&y', b: undefined, c: null, d: ['1', '2'], e: 0, f: false };
    await transportTo(baseUrl).request({ method: 'GET', path: '/ping', query, answer: anything });
    expect(requests[0]?.url).toBe('/ping?a=x%26y&d=1&d=2&e=0&f=false');
  });

  test('a header value that cannot be sent is refused by name before it is sent', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: {} }));
    const headers = { 'x-idempotency-key': 'line\r\nbreak' };
    const call = transportTo(baseUrl).request({ method: 'POST', path: '/ping', headers, answer: anything });
    expect(await rejection(call)).toMatchObject({ name: 'RequestInvalid', fields: [{ field: 'x-idempotency-key' }] });
    expect(requests).toEqual([]);
  });
});

describe('compression', () => {
  test('is not asked for', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: {} }));
    await ping(transportTo(baseUrl));
    expect(requests[0]?.headers).toMatchObject({ 'accept-encoding': 'identity' });
  });

  test('of an answer that comes with one nevertheless is not undone: the answer is unreadable', async () => {
    const { baseUrl } = await serving((_request, reply) => {
      reply.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      reply.end(gzipSync('{"answer":42}'));
    });
    expect(await rejection(ping(transportTo(baseUrl)))).toBeInstanceOf(AnswerUnreadable);
  });
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
    const error = await rejection(ping(transportTo(baseUrl)));
    expect(error).toBeInstanceOf(ServiceUnreachable);
    expect(error).toMatchObject({ method: 'POST', path: '/ping', status: undefined });
    expect(String(error)).toContain('ECONNREFUSED');
  });

  test('is unreachable after the connect timeout if a TLS handshake never ends', async () => {
    const transport = transportTo((await speakingTcp(() => undefined)).replace('http', 'https'), {
      connectTimeoutMs: 100,
    });
    const error = await rejection(ping(transport));
    expect(error).toBeInstanceOf(ServiceUnreachable);
    expect(String(error)).toContain('UND_ERR_CONNECT_TIMEOUT');
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
    const error = await rejection(
      transport.request({ method: 'POST', path: '/late', answer: anything, options: { timeoutMs: 30 } }),
    );
    expect(error).toBeInstanceOf(ServiceUnreachable);
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

describe('a call whose answer was lost ends', () => {
  test.each<[string, RequestListener, Partial<AddressedConfig>, status: number | undefined, said: string]>([
    [
      'if no answer comes within the headers timeout',
      () => undefined,
      { headersTimeoutMs: 50 },
      undefined,
      'UND_ERR_HEADERS_TIMEOUT',
    ],
    [
      'if its answer pauses longer than the body timeout, with its status',
      (_request, response) => response.writeHead(200).write('{"order":'),
      { bodyTimeoutMs: 50 },
      200,
      'UND_ERR_BODY_TIMEOUT',
    ],
    ['with the configured whole timeout if it names none', () => undefined, { timeoutMs: 5_000 }, undefined, '5000 ms'],
    [
      'if its connection breaks after the request was sent',
      (request) => request.socket.resetAndDestroy(),
      {},
      undefined,
      'ECONNRESET',
    ],
    [
      'if its connection breaks in the middle of a success',
      (_request, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{', () => response.socket?.resetAndDestroy());
      },
      {},
      200,
      '',
    ],
    [
      'without a status if its connection breaks after an informational answer',
      (request, response) => {
        response.writeProcessing();
        setImmediate(() => request.socket.resetAndDestroy());
      },
      {},
      undefined,
      '',
    ],
  ])('a call ends %s', async (_how, listener, config, status, said) => {
    const { baseUrl } = await serving(listener);
    const error = await rejection(ping(transportTo(baseUrl, config)));
    expect(error).toBeInstanceOf(AnswerLost);
    expect(error).toMatchObject({ status });
    expect(String(error)).toContain(said);
  });

  test('a call ends with the whole timeout if its answer drips forever, and its connection with it', async () => {
    const closed = vi.fn<() => void>();
    const { baseUrl } = await serving((_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(drip)).on('close', closed);
    });
    const error = await rejection(ping(transportTo(baseUrl), { timeoutMs: 5_000 }));
    expect(error).toBeInstanceOf(AnswerLost);
    expect(String(error)).toContain('5000 ms');
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
  // proves 1
  test('a success that is not JSON is unreadable and not quoted', async () => {
    const { baseUrl } = await answering(() => ({ body: 'Testperson is not JSON' }));
    const error = await rejection(ping(transportTo(baseUrl)));
    expect(error).toBeInstanceOf(AnswerUnreadable);
    expect(error).toMatchObject({ status: 200 });
    expect(String(error)).not.toContain('Testperson');
  });

  test('a success of another shape is unreadable: the place is named, the value is not', async () => {
    const { baseUrl } = await answering(() => ({ body: { person: { name: ['Testperson'] } } }));
    const answer = z.object({ person: z.object({ name: z.string() }) });
    const error = await rejection(transportTo(baseUrl).request({ method: 'GET', path: '/ping', answer }));
    expect(error).toBeInstanceOf(AnswerUnreadable);
    expect(String(error)).toContain('person.name: Invalid input: expected string, received array');
    expect(String(error)).not.toContain('Testperson');
  });

  test('a byte order mark is not part of the JSON', async () => {
    const { baseUrl } = await answering(() => ({ body: '\ufeff{"a":1}' }));
    expect(await ping(transportTo(baseUrl))).toEqual({ a: 1 });
  });

  test('a success larger than the cap is unreadable, and its connection ends', async () => {
    const closed = vi.fn<() => void>();
    const { baseUrl } = await serving((_request, response) => {
      response.on('close', closed);
      response.writeHead(200).write('x'.repeat(2000));
    });
    const error = await rejection(ping(transportTo(baseUrl, { maxResponseBytes: 1000 })));
    expect(error).toBeInstanceOf(AnswerUnreadable);
    expect(String(error)).toContain('1000 bytes');
    await eventually(() => expect(closed).toHaveBeenCalled());
  });

  test('a success exactly as large as the cap is read', async () => {
    const { baseUrl } = await answering(() => ({ body: '"12345678"' }));
    expect(await ping(transportTo(baseUrl, { maxResponseBytes: 10 }))).toBe('12345678');
  });

  test('a failure larger than the cap is still that failure', async () => {
    const { baseUrl } = await answering(() => ({ status: 503, body: 'x'.repeat(5000) }));
    expect(await rejection(ping(transportTo(baseUrl, { maxResponseBytes: 1000 })))).toBeInstanceOf(ServiceUnavailable);
  });

  // proves 311
  test('a refusal whose explanation breaks off is still a refusal', async () => {
    const { baseUrl } = await serving((_request, response) => {
      response.writeHead(422, { 'content-length': '1000' });
      response.write('{"detail":', () => response.socket?.resetAndDestroy());
    });
    expect(await rejection(ping(transportTo(baseUrl)))).toBeInstanceOf(ServiceRefused);
  });

  test('a redirect is not followed and points to the base URL', async () => {
    const { baseUrl, requests } = await answering(() => ({ status: 307, headers: { location: '/elsewhere' } }));
    const error = await rejection(ping(transportTo(baseUrl)));
    expect(error).toBeInstanceOf(AnswerUnreadable);
    expect(String(error)).toContain('base URL');
    expect(requests).toHaveLength(1);
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
    ['apiKey', { apiKey: 'same', managementKey: 'same' }],
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
    const given = { apiKey: 'sk_invented', description, environment: 'sandbox' };
    for (const config of [given, { ...given, brand: 'other', usersPath: '/users', baseUrl }]) {
      const service = createLabService(config);
      onTestFinished(() => service.close());
      await service.users.list().next();
    }
    const [described, single] = requests;
    expect(described).toMatchObject({ url: expect.stringMatching(/^\/lab\/v2\/user\?/) as string });
    expect(described?.headers).toHaveProperty('x-acme-api-key');
    expect(single).toMatchObject({ url: expect.stringMatching(/^\/users\?/) as string });
    expect(single?.headers).toHaveProperty('x-other-api-key');
  });

  test.each<[ServiceConfig, string]>([
    [{ apiKey: 'sk_invented' }, 'baseUrl is missing'],
    [{ apiKey: 'sk_invented', description: { addresses: {} }, environment: 'mars' }, 'baseUrl is missing'],
    [
      {
        apiKey: 'sk_invented',
        baseUrl: 'http://127.0.0.1:1',
        description: { brand: 'two words', brnad: 'x' } as object,
      },
      'description: brand is not one word of letters, digits and hyphens; brnad is not a field of a description',
    ],
  ])('%j is refused', (config, problem) => {
    expect(() => createLabService(config)).toThrow(problem);
  });
});

test('an invalid request names its call', async () => {
  const error = await rejection(transportTo('http://127.0.0.1:1').send({ method: 'GET', path: '/user/{id}' }));
  expect(error).toBeInstanceOf(RequestInvalid);
  expect(String(error)).toContain('GET /user/{id} was not sent: id must be');
});
