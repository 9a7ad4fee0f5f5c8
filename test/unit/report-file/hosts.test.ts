import { expect, test } from 'vitest';
import { allowedUrl } from '../../../activities/report-file/remote-file.js';
import { headersFor, isPublicAddress, namesHost, publicLookup } from '../../../activities/report-file/hosts.js';
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

test.each(['8.8.8.8', '93.184.216.34', '::ffff:8.8.8.8', '2606:4700::1111'])('%s is a public address', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

const notPublic = {
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  'link-local, where clouds tell secrets': ['169.254.169.254'],
  'the host of a machine in Azure': ['168.63.129.16', '::ffff:168.63.129.16'],
  'link-local, also with a zone': ['fe80::1', 'fe80::1%eth0'],
  'unique local': ['fd00:ec2::254'],
  'site-local': ['fec0::1'],
  'carrier-grade NAT': ['100.64.0.1'],
  unspecified: ['0.0.0.0', '::'],
  'this network': ['0.1.2.3'],
  broadcast: ['255.255.255.255'],
  multicast: ['224.0.0.1', 'ff02::1'],
  benchmarks: ['198.18.0.1'],
  documentation: ['192.0.2.1', '2001:db8::1'],
  reserved: ['240.0.0.1'],
  'protocol assignments': ['192.0.0.1'],
  'IPv4 in IPv6 clothes': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:a9fe:a9fe'],
  'IPv4 inside, compatible or translated': ['::7f00:1', '64:ff9b::7f00:1'],
  'IPv4 inside, 6to4 or Teredo': ['2002:7f00:1::', '2001:0:7f00:1::'],
  discarded: ['100::1'],
  'outside of what is assigned': ['4000::1'],
  'no address': ['localhost', ''],
};

test.each(Object.entries(notPublic))('a private or reserved address is refused: %s: %j', (_what, addresses) => {
  for (const address of addresses) expect(isPublicAddress(address), address).toBe(false);
});

const lookUp = async (answers: string[], all: boolean): Promise<unknown> =>
  new Promise((resolve) => {
    publicLookup(() => Promise.resolve(answers))('files.example.com', { all }, (error, found, family) =>
      resolve(error ?? (all ? found : [found, family])),
    );
  });

test('the DNS look-up of a connection gives the addresses that it has checked, so that the connection goes to one of them', async () => {
  const answers = ['93.184.216.34', '2606:4700::1111'];
  expect(await lookUp(answers, true)).toEqual([
    { address: '93.184.216.34', family: 4 },
    { address: '2606:4700::1111', family: 6 },
  ]);
  expect(await lookUp(answers, false)).toEqual(['93.184.216.34', 4]);
});

test('the DNS look-up of a connection gives none if one is not public', async () => {
  for (const all of [true, false]) {
    expect(await lookUp(['93.184.216.34', '10.0.0.1'], all)).toMatchObject({ reason: 'private_address' });
  }
});
