import { once } from 'node:events';
import { createServer as createPlain, createSecureServer, type Http2SecureServer, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { connectionFault, isFinalFault } from '../../../client/reachability.js';
import { otherPair, serverPair } from '../../rig/certificates.js';

/* The reason why no connection to Temporal comes about. */

async function listening(server: Http2Server | Http2SecureServer): Promise<number> {
  server.on('sessionError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const identity = { cert: serverPair.certificate, key: serverPair.key };
const kinds = {
  'by TLS': () => createSecureServer(identity),
  'by TLS and asks for a certificate': () =>
    createSecureServer({ ...identity, requestCert: true, rejectUnauthorized: true, ca: serverPair.certificate }),
  'in the clear': () => createPlain(),
};

const trusting = { serverRootCACertificate: Buffer.from(serverPair.certificate) };
const showing = ({ certificate, key }: typeof serverPair) => ({
  ...trusting,
  clientCertPair: { crt: Buffer.from(certificate), key: Buffer.from(key) },
});

test.each<[keyof typeof kinds, string, Parameters<typeof connectionFault>[0]['tls'], RegExp | undefined]>([
  ['in the clear', 'TLS is off', false, undefined],
  ['in the clear', 'TLS is on', true, /wrong version number/],
  ['by TLS', 'its authority is trusted', trusting, undefined],
  ['by TLS', 'its authority is unknown', true, /self-signed certificate/],
  ['by TLS', 'the name is another', { ...trusting, serverNameOverride: 'temporal.example' }, /altnames/],
  ['by TLS', 'TLS is off', undefined, /^the server uses TLS$/],
  ['by TLS and asks for a certificate', 'it is trusted', showing(serverPair), undefined],
  ['by TLS and asks for a certificate', 'there is none', trusting, /certificate required/],
  ['by TLS and asks for a certificate', 'it is not trusted', showing(otherPair), /certificate/],
])('a server that answers %s, and %s: the reason is in its own words', async (kind, _case, tls, reason) => {
  const port = await listening(kinds[kind]());
  const found = await connectionFault({ address: `localhost:${port}`, tls });
  expect(found ?? '').toMatch(reason ?? /^$/);
});

test('nobody listens: the reason says so', async () => {
  expect(await connectionFault({ address: '127.0.0.1:1', tls: true })).toContain('ECONNREFUSED');
});

test('a name that does not exist is a final fault, and a name server that does not answer is not', () => {
  expect(isFinalFault('getaddrinfo ENOTFOUND temporal.invalid')).toBe(true);
  expect(isFinalFault('getaddrinfo EAI_AGAIN temporal.invalid')).toBe(false);
});
