import type { RequestListener } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { createReportFiles } from '../../../activities/report-file/report-files.js';
import { sampleReport } from '../../../sandbox/sample-report.js';
import { speakingTcp } from '../service/recording-server.js';
import { hosting, outcomeOf, read } from './reading.js';
import { eventually } from '../../rig/eventually.js';

const pdf = sampleReport('pdf');
const limit = 10_485_760;

/** A host that answers so, and the files of a deployment that allows it. */
async function allowing(listener: RequestListener, options: Parameters<typeof createReportFiles>[0] = {}) {
  const at = await hosting(listener);
  return { ...at, files: createReportFiles({ allowedHosts: [at.host], ...options }) };
}

/** What comes of a file at this path of such a host. */
async function fetched(listener: RequestListener, path = '', options: Parameters<typeof allowing>[1] = {}) {
  const { files, url } = await allowing(listener, options);
  return outcomeOf(files.open({ url: url + path }));
}

/** A host that notes whether it was asked. */
async function hostAsked() {
  const asked = vi.fn<() => void>();
  const at = await hosting((_request, response) => {
    asked();
    response.end(pdf);
  });
  return { asked, ...at };
}

/** Files of no bytes, one after the other. */
async function* nothings(): AsyncGenerator<Buffer> {
  const many = Buffer.concat(Array.from({ length: 4_000 }, () => gzipSync('')));
  for (;;) yield await Promise.resolve(many);
}

/** The system's own message, name included. */
function unknownName(hostname: string): Promise<never> {
  return Promise.reject(Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' }));
}

describe('a file at a URL', () => {
  test('is opened with its type and size, and read as it is', async () => {
    const { files, url } = await allowing(({ method, url: path, headers }, response) => {
      expect([method, path, headers['accept-encoding']]).toEqual(['GET', '/a%20b?c=d', 'identity']);
      response.writeHead(200, { 'content-length': pdf.length, 'content-type': 'text/html' });
      response.end(pdf);
    });
    const file = await files.open({ url: `${url}/a b?c=d#e` });
    expect(file).toMatchObject({ contentType: 'application/pdf', size: pdf.length });
    expect((await read(file)).equals(pdf)).toBe(true);
  });

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ['gzip', gzipSync],
    ['X-GZIP', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['identity', (bytes) => bytes],
    ['gzip, br', (bytes) => brotliCompressSync(gzipSync(bytes))],
  ])('is read as it was before it was stored as %s', async (coding, encode) => {
    const image = sampleReport('png', { size: 300_000 });
    const { files, url } = await allowing((_request, response) => {
      const body = encode(image);
      response.writeHead(200, { 'content-encoding': coding, 'content-length': body.length }).end(body);
    });
    const file = await files.open({ url });
    expect(file).toMatchObject({ contentType: 'image/png' });
    expect((await read(file)).equals(image)).toBe(true);
  });

  test.each<[string, string, string, Buffer | (() => AsyncIterable<Buffer>)]>([
    ['that becomes too large', 'refused: too_large', 'gzip', gzipSync(sampleReport('pdf', { size: limit + 1 }))],
    ['that endlessly becomes nothing', 'refused: too_large', 'gzip', nothings],
    ['that is cut off', 'refused: unexpected_answer', 'br', brotliCompressSync(pdf).subarray(0, -20)],
    ['that was not encoded', 'refused: unexpected_answer', 'deflate', pdf],
    ['in a coding that is not known', 'refused: unexpected_answer', 'compress', pdf],
    ['encoded three times', 'refused: unexpected_answer', 'gzip,gzip,gzip', gzipSync(gzipSync(gzipSync(pdf)))],
    ['that is empty', 'refused: empty', 'gzip', gzipSync('')],
  ])('%s is %s', async (_what, outcome, coding, body) => {
    const answer: RequestListener = (_request, response) => {
      response.writeHead(200, { 'content-encoding': coding });
      if (typeof body === 'function') void pipeline(body(), response).catch(() => undefined);
      else response.end(body);
    };
    expect(await fetched(answer)).toBe(outcome);
  });

  test('need not say how large it is', async () => {
    const { files, url } = await allowing((_request, response) => {
      response.write(pdf);
      response.end();
    });
    const file = await files.open({ url });
    expect(file).not.toHaveProperty('size');
    expect((await read(file)).equals(pdf)).toBe(true);
  });

  test('its connection ends with the reading, or when it is closed', async () => {
    const closed: string[] = [];
    const { files, url } = await allowing((request, response) => {
      request.socket.on('close', () => closed.push(request.url ?? ''));
      response.end(sampleReport('pdf', { size: 3_000_000 }));
    });
    await read(await files.open({ url: `${url}/read` }));
    await (await files.open({ url: `${url}/closed` })).close();
    for await (const chunk of (await files.open({ url: `${url}/left` })).bytes) if (chunk.length > 0) break;
    await eventually(() => expect(closed.toSorted()).toEqual(['/closed', '/left', '/read']));
  });

  test('is taken only as fast as it is read', async () => {
    let sent = 0;
    const answer: RequestListener = (_request, response) => {
      const pump = (): void => {
        while (sent < 100_000_000) {
          sent += 65_536;
          if (!response.write(sent === 65_536 ? sampleReport('pdf', { size: 65_536 }) : Buffer.alloc(65_536))) break;
        }
      };
      response.on('drain', pump);
      pump();
    };
    const { files, url } = await allowing(answer, { maxBytes: 200_000_000 });
    const file = await files.open({ url });
    // What lies between the two programs is the system's: it stops growing while nobody reads.
    let [before, same] = [0, 0];
    await eventually(() => {
      [before, same] = [sent, sent === before ? same + 1 : 0];
      expect(same).toBeGreaterThan(10);
    });
    expect(sent).toBeLessThan(50_000_000);
    await file.close();
  });
});

describe('a host that does not have the file', () => {
  test.each([
    [404, 'refused: not_found'],
    [410, 'refused: not_found'],
    [401, 'refused: access_denied'],
    [403, 'refused: access_denied'],
    [400, 'refused: unexpected_answer'],
    [204, 'refused: unexpected_answer'],
    [206, 'refused: unexpected_answer'],
    [304, 'refused: unexpected_answer'],
    [408, 'unavailable: host_failed'],
    [429, 'unavailable: host_failed'],
    [500, 'unavailable: host_failed'],
    [503, 'unavailable: host_failed'],
  ])('%i', async (status, outcome) => {
    expect(await fetched((_request, response) => response.writeHead(status).end())).toBe(outcome);
  });

  test('may say how long to wait', async () => {
    const { files, url } = await allowing((_request, response) =>
      response.writeHead(503, { 'retry-after': '7' }).end(),
    );
    const opening = files.open({ url });
    await expect(opening).rejects.toMatchObject({ reason: 'host_failed', retryAfterMs: 7_000 });
  });

  test('may not be there at all', async () => {
    const { host, url } = await hosting(() => undefined);
    const gone = url.replace(/\d+$/, '1');
    const files = createReportFiles({ allowedHosts: [host, '127.0.0.1:1'], resolve: unknownName });
    expect(await outcomeOf(files.open({ url: gone }))).toBe('unavailable: unreachable');
    expect(await outcomeOf(files.open({ url: 'http://nowhere.invalid/' }))).toBe('unavailable: unreachable');
  });
});

const announcing = (bytes: number) => `HTTP/1.1 200 OK\r\ncontent-length: ${bytes}\r\n\r\n${pdf.toString('latin1')}`;

test.each([
  ['fewer bytes than announced are a broken transfer', announcing(pdf.length + 1), 'unavailable: broken_off'],
  ['more bytes than announced are refused', `${announcing(pdf.length)}and more`, 'refused: unexpected_answer'],
  ['an answer that is not HTTP is a broken transfer', 'SSH-2.0-invented\r\n', 'unavailable: broken_off'],
])('%s', async (_what, bytes, outcome) => {
  const url = await speakingTcp((socket) => socket.once('data', () => socket.end(bytes, 'latin1')));
  const files = createReportFiles({ allowedHosts: [new URL(url).host] });
  expect(await outcomeOf(files.open({ url }))).toBe(outcome);
});

test('an answer that breaks off between two chunks is a broken transfer', async () => {
  const answer: RequestListener = (request, response) => {
    response.write(sampleReport('pdf', { size: 100_000 }), () => request.socket.destroy());
  };
  expect(await fetched(answer)).toBe('unavailable: broken_off');
});

test('a host that stands still before its answer, or in the middle of the file, is given up', async () => {
  const answer: RequestListener = (request, response) => {
    if (request.url === '/middle') response.write(pdf);
  };
  for (const path of ['/answer', '/middle']) {
    expect(await fetched(answer, path, { idleTimeoutMs: 300 })).toBe('unavailable: timeout');
  }
});

test('a host that stands still ends with the signal, with its reason', async () => {
  const controller = new AbortController();
  const { files, url } = await allowing((request, response) => {
    if (request.url === '/middle') response.write(sampleReport('pdf', { size: 100_000 }));
    setTimeout(() => controller.abort(new Error('enough')), 50);
  });
  await expect(files.open({ url }, { signal: controller.signal })).rejects.toThrow('enough');

  const second = new AbortController();
  const file = await files.open({ url: `${url}/middle` }, { signal: second.signal });
  setTimeout(() => second.abort(new Error('enough')), 50);
  await expect(read(file)).rejects.toThrow('enough');
});

describe('a host that drips', () => {
  /** Sends so many bytes so often, the first ones as a PDF's, so many times. */
  const dripping =
    (bytes: number, everyMs: number, times: number): RequestListener =>
    async (_request, response) => {
      response.write(pdf);
      for (let n = 0; n < times && !response.destroyed; n += 1) {
        await pause(everyMs);
        response.write(Buffer.alloc(bytes));
      }
      response.end();
    };

  // On a machine that stands still for a second, so does the host.
  const givenUp = /^unavailable: (too_slow|timeout)$/;

  test.each([
    ['a byte at a time', 1],
    ['less than 10 MiB in two minutes', 4_000],
  ])('%s, is given up though it never stands still', async (_what, bytes) => {
    const begun = performance.now();
    const outcome = await fetched(dripping(bytes, 100, 200), '', { idleTimeoutMs: 1_500 });
    expect(outcome).toMatch(givenUp);
    expect(performance.now() - begun).toBeLessThan(15_000);
  });

  test('is given up before the file, too, if each of its redirects takes its time', async () => {
    const slowly: RequestListener = (request, response) => {
      const left = Number(request.url?.slice(1));
      const answer = () =>
        left === 0 ? response.end(pdf) : response.writeHead(302, { location: `/${left - 1}` }).end();
      setTimeout(answer, 2_000);
    };
    expect(await fetched(slowly, '/5', { idleTimeoutMs: 3_000 })).toMatch(givenUp);
  });

  test('fast enough, is waited for', async () => {
    // Eight seconds: with no more than its idle time it would be given up after seven.
    const outcome = await fetched(dripping(40_000, 100, 80), '', { idleTimeoutMs: 3_000 });
    expect(outcome).toBe(pdf.length + 3_200_000);
  });

  test('is not blamed for a reader that takes its time', async () => {
    const answer: RequestListener = (_request, response) => response.end(sampleReport('pdf', { size: 150_000 }));
    const { files, url } = await allowing(answer, { idleTimeoutMs: 2_000 });
    const file = await files.open({ url });
    let seen = 0;
    for await (const { length } of file.bytes) {
      // Longer than the host itself might take until here, and than it keeps the connection behind the file.
      if (seen === 0) await pause(8_000);
      seen += length;
    }
    expect(seen).toBe(150_000);
  });
});

test('redirects are followed, relative ones too, at most five', async () => {
  const { files, url } = await allowing((request, response) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) return void response.end(pdf);
    const location = left % 2 === 0 ? `/${left - 1}` : `${url}/${left - 1}`;
    response.writeHead(left % 2 === 0 ? 302 : 307, { location }).end('over there');
  });
  expect(await outcomeOf(files.open({ url: `${url}/5` }))).toBe(pdf.length);
  expect(await outcomeOf(files.open({ url: `${url}/6` }))).toBe('refused: too_many_redirects');
});

const notAllowed = [
  ...['', 'http://', 'ftp://example.com/a', 'file:///etc/passwd', 'data:,a'],
  ...['https://user@example.com/', 'https://user:secret@example.com/', 'https://:secret@example.com/'],
];

const noUrls = ['report.pdf', '/report.pdf', ...notAllowed];
test.each(noUrls)('a URL must be http or https and without a user name or password, unlike %j', async (url) => {
  expect(await outcomeOf(createReportFiles({}).open({ url }))).toBe('refused: url_not_allowed');
});

test.each([...notAllowed, undefined])('a redirect to %j is refused', async (location) => {
  const headers = location === undefined ? {} : { location };
  const outcome = await fetched((_request, response) => response.writeHead(302, headers).end());
  expect(outcome).toBe('refused: url_not_allowed');
});

describe('a host that is not public', () => {
  test.each([
    ...['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '0', '[::1]', '[::ffff:127.0.0.1]'].map((at) => `${at}:PORT`),
    ...['169.254.169.254/latest/meta-data', '10.0.0.1'],
  ])('%s is refused, and nothing is asked of it', async (pattern) => {
    const { asked, port } = await hostAsked();
    const url = `http://${pattern.replace('PORT', String(port))}/`;
    expect(await outcomeOf(createReportFiles({}).open({ url }))).toBe('refused: private_address');
    expect(asked).not.toHaveBeenCalled();
  });

  test('is refused after a redirect too', async () => {
    const inner = await hosting((_request, response) => response.end(pdf));
    const outer = await hosting((request, response) => {
      response
        .writeHead(302, { location: request.url === '/name' ? `http://localhost:${inner.port}/` : inner.url })
        .end();
    });
    const files = createReportFiles({ allowedHosts: [outer.host] });
    for (const path of ['/name', '/address']) {
      expect(await outcomeOf(files.open({ url: outer.url + path }))).toBe('refused: private_address');
    }
    const both = createReportFiles({ allowedHosts: [outer.host, inner.host] });
    expect(await outcomeOf(both.open({ url: `${outer.url}/address` }))).toBe(pdf.length);
  });

  test('is looked up once, by the connection itself', async () => {
    const { asked, port } = await hostAsked();
    const resolve = vi.fn<(hostname: string) => Promise<string[]>>(() => Promise.resolve(['127.0.0.1']));
    const opening = createReportFiles({ resolve }).open({ url: `http://rebinding.example.com:${port}/` });
    expect(await outcomeOf(opening)).toBe('refused: private_address');
    expect(resolve.mock.calls).toEqual([['rebinding.example.com']]);
    expect(asked).not.toHaveBeenCalled();
  });

  test('a name without addresses is unreachable', async () => {
    const files = createReportFiles({ resolve: () => Promise.resolve([]) });
    expect(await outcomeOf(files.open({ url: 'http://files.example.com/' }))).toBe('unavailable: unreachable');
  });
});

const headers = { 'x-invented-key': 'secret-of-the-set' };

test('a set of headers goes to its hosts and to no other, even after redirects', async () => {
  const seen: [string, string | string[] | undefined][] = [];
  const other = await hosting((request, response) => {
    seen.push(['other', request.headers['x-invented-key']]);
    response.writeHead(302, { location: `${own.url}/end` }).end();
  });
  const own = await hosting((request, response) => {
    seen.push(['own', request.headers['x-invented-key']]);
    if (request.url === '/end') return void response.end(pdf);
    response.writeHead(302, { location: other.url }).end();
  });
  const files = createReportFiles({
    allowedHosts: [own.host, other.host],
    headerSets: { store: { hosts: [own.host], headers } },
  });
  expect(await outcomeOf(files.open({ url: own.url, headersFrom: 'store' }))).toBe(pdf.length);
  expect(seen).toEqual([
    ['own', 'secret-of-the-set'],
    ['other', undefined],
    ['own', 'secret-of-the-set'],
  ]);
});

test.each([
  ...['another', 'constructor', ''].map((headersFrom) => [headersFrom, 'header_set_unknown']),
  ['elsewhere', 'url_not_allowed'],
])('a set of headers that is not configured, or is for another host, is refused: %j: %s', async (headersFrom, why) => {
  const { asked, host, url } = await hostAsked();
  const headerSets = { store: { hosts: [host], headers }, elsewhere: { hosts: ['a.example.com'], headers } };
  const files = createReportFiles({ allowedHosts: [host], headerSets });
  expect(await outcomeOf(files.open({ url, headersFrom: headersFrom ?? '' }))).toBe(`refused: ${why}`);
  expect(asked).not.toHaveBeenCalled();
});

test('no message names the URL, the host or a header', async () => {
  const { host, url } = await hosting((request, response) => {
    if (request.url?.startsWith('/redirect') === true)
      response.writeHead(302, { location: 'gopher://secret.example.com' });
    else if (request.url?.startsWith('/fail') === true) response.writeHead(500, { 'x-secret': 'secret' });
    response.end('secret text');
  });
  const files = createReportFiles({
    allowedHosts: [host, '127.0.0.1:1'],
    resolve: unknownName,
    headerSets: { store: { hosts: [host], headers: { 'x-key': 'secret-header' } } },
  });
  const query = '?token=secret-of-the-query';
  for (const address of [
    `${url}/redirect${query}`,
    `${url}/fail${query}`,
    `${url}/text${query}`,
    `http://127.0.0.1:1/${query}`,
    `http://secret.invalid/${query}`,
    `http://10.0.0.1/${query}`,
    `ftp://secret.example.com/${query}`,
    'https://user:secret@example.com/',
  ]) {
    const headersFrom = address.startsWith(url) ? { headersFrom: 'store' } : {};
    const error: unknown = await files.open({ url: address, ...headersFrom }).catch((thrown: unknown) => thrown);
    expect((error as Error).message).not.toMatch(/secret|127\.0\.0\.1|10\.0\.0\.1|token/);
    expect(error).not.toHaveProperty('cause');
  }
});
