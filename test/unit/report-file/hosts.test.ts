import { describe, expect, test } from 'vitest';
import { allowedUrl } from '../../../activities/report-file/remote-file.js';
import { headersFor, namesHost } from '../../../activities/report-file/hosts.js';
import { createReportFiles } from '../../../activities/report-file/report-files.js';

describe('a URL is refused', () => {
  test.each(['', 'report.pdf', '/report.pdf', 'http://', 'ftp://example.com/a', 'file:///etc/passwd', 'data:,a'])(
    '%j: neither http nor https',
    (text) => {
      expect(() => allowedUrl(text)).toThrow(expect.objectContaining({ reason: 'url_not_allowed' }));
    },
  );

  test.each(['https://user@example.com/', 'https://user:secret@example.com/', 'https://:secret@example.com/'])(
    '%s: credentials in it, which the message does not repeat',
    (text) => {
      expect(() => allowedUrl(text)).toThrow(/^(?!.*(secret|example)).*user name or password/);
    },
  );

  test('a URL that leads from https down to http is refused', () => {
    expect(() => allowedUrl('http://example.com/', new URL('https://example.com/'))).toThrow('from https to http');
    expect(allowedUrl('https://example.com/', new URL('http://example.com/')).protocol).toBe('https:');
  });
});

test('a relative address is read against the one that named it', () => {
  expect(allowedUrl('../b?c', new URL('https://example.com/x/y/z')).href).toBe('https://example.com/x/b?c');
});

test('a host is named for all its ports or for one, in any case, with the dot of its root or without', () => {
  const url = new URL('https://Files.Example.com./a');
  for (const host of ['files.example.com', 'FILES.example.com', 'files.example.com:443']) {
    expect(namesHost([host], url), host).toBe(true);
  }
  for (const host of ['example.com', 'files.example.com:80', '*.example.com', '']) {
    expect(namesHost([host], url), host).toBe(false);
  }
  expect(namesHost(['127.0.0.1:8080'], new URL('http://127.0.0.1:8080/'))).toBe(true);
});

describe('headers of a set', () => {
  const set = { hosts: ['files.example.com'], headers: { authorization: 'Bearer invented' } };

  test('go to its hosts only', () => {
    expect(headersFor(set, new URL('https://files.example.com/a'), [])).toEqual(set.headers);
    expect(headersFor(set, new URL('https://files.example.com.evil.example/a'), [])).toEqual({});
    expect(headersFor(set, new URL('https://example.com/a'), [])).toEqual({});
  });

  test('go in the clear only to allowed hosts', () => {
    const url = new URL('http://files.example.com/a');
    expect(headersFor(set, url, [])).toEqual({});
    expect(headersFor(set, url, ['files.example.com'])).toEqual(set.headers);
  });

  test.each([
    [{ hosts: [], headers: {} }, 'hosts'],
    [{ hosts: ['a'], headers: { host: 'b' } }, 'host is not a header'],
    [{ hosts: ['a'], headers: { 'Keep-Alive': 'b' } }, 'Keep-Alive is not a header'],
    [{ hosts: ['a'], headers: { te: 'b' } }, 'te is not a header'],
    [{ hosts: ['a'], headers: { 'x y': 'b' } }, 'x y is not a header'],
    [{ hosts: ['a'], headers: { 'x-key': 'secret\r\nx: y' } }, 'x-key must be'],
  ])('headers that could never be sent are a fault of the configuration: %j', (wrong, problem) => {
    const creation = () => createReportFiles({ headerSets: { invented: wrong } });
    expect(creation).toThrow(TypeError);
    expect(creation).toThrow(`header set invented: ${problem}`);
    expect(creation).not.toThrow('secret');
  });
});
