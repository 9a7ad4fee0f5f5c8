import { expect, test } from 'vitest';
import { allowedUrl } from '../../../activities/report-file/remote-file.js';
import { headersFor, namesHost } from '../../../activities/report-file/hosts.js';
import { createReportFiles } from '../../../activities/report-file/report-files.js';

test('a URL that leads from https down to http is refused', () => {
  expect(() => allowedUrl('http://example.com/', new URL('https://example.com/'))).toThrow('from https to http');
  expect(allowedUrl('https://example.com/', new URL('http://example.com/')).protocol).toBe('https:');
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

const set = { hosts: ['files.example.com'], headers: { authorization: 'Bearer invented' } };

test('headers of a set go to their hosts, in the clear only to allowed ones', () => {
  expect(headersFor(set, new URL('https://files.example.com/a'), [])).toEqual(set.headers);
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
])('headers of a set headers that could never be sent are a fault of the configuration: %j', (wrong, problem) => {
  const creation = () => createReportFiles({ headerSets: { invented: wrong } });
  expect(creation).toThrow(TypeError);
  expect(creation).toThrow(`header set invented: ${problem}`);
  expect(creation).not.toThrow('secret');
});
