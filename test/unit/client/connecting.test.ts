import { inspect } from 'node:util';
import { Connection } from '@temporalio/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { once } from 'node:events';
import { createServer as createPlain, createSecureServer, type Http2SecureServer, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { NamespaceNotFoundError } from '@temporalio/common';
import { errors, LabOperations, reconnection } from '../../../client/index.js';
import { rejection } from '../service/recording-server.js';
import { connectionFault, isFinalFault } from '../../../client/reachability.js';
import { otherPair, serverPair } from '../../rig/certificates.js';
import { temporalErrorOf } from '../../../client/temporal-errors.js';
import { grpcError } from '../../rig/grpc-answers.js';

/** Takes the place of a connection to Temporal, and gives the test's settings back after it. */
function connecting() {
  const connect = vi.spyOn(Connection, 'connect').mockResolvedValue(Connection.lazy());
  onTestFinished(() => {
    connect.mockRestore();
    vi.unstubAllEnvs();
  });
  return connect;
}

test('a client that connects by itself bounds the pauses of gRPC between attempts to reconnect', async () => {
  const connect = connecting();
  const lab = await LabOperations.connect();
  await lab.close();
  const channelArgs = expect.objectContaining(reconnection.channelArgs) as object;
  expect(connect).toHaveBeenCalledWith(expect.objectContaining({ channelArgs }));
  const bound = Connection.lazy(reconnection).options.channelArgs['grpc.max_reconnect_backoff_ms'];
  expect(bound).toBeLessThanOrEqual(10_000);
});

test.each([
  [undefined, 10_000],
  ['none', 10_000],
  ['2s', 2_000],
  ['5m', 10_000],
] as const)('a client that connects with the deadline %s waits %i ms', async (deadline, connectTimeout) => {
  const connect = connecting();
  await (await LabOperations.connect(deadline && { deadline })).close();
  expect(connect).toHaveBeenCalledWith(expect.objectContaining({ connectTimeout }));
});

test('what a backend gives in code takes the place of the settings', async () => {
  const connect = connecting();
  vi.stubEnv('TEMPORAL_ADDRESS', 'temporal.invalid:7233');
  vi.stubEnv('TEMPORAL_NAMESPACE', 'of-the-settings');
  vi.stubEnv('TEMPORAL_API_KEY', 'invented-key-of-the-settings');
  const given = { address: '127.0.0.1:9', namespace: 'labs', apiKey: 'invented-key', identity: 'orders-service' };
  const lab = await LabOperations.connect(given);
  const { address, apiKey } = given;
  expect(connect).toHaveBeenLastCalledWith(expect.objectContaining({ address, apiKey, tls: true }));
  expect(lab.temporal.options).toMatchObject({ namespace: 'labs', identity: 'orders-service' });
  await lab.close();
  await (await LabOperations.connect({ tls: false })).close();
  const ofSettings = { address: 'temporal.invalid:7233', apiKey: 'invented-key-of-the-settings', tls: false };
  expect(connect).toHaveBeenLastCalledWith(expect.objectContaining(ofSettings));
});

test('a profile that a backend names takes the place of that of the settings', async () => {
  connecting();
  vi.stubEnv('TEMPORAL_PROFILE', undefined);
  const refused = await rejection(LabOperations.connect({ profile: 'night' }));
  expect(refused).toBeInstanceOf(errors.TemporalSettingInvalid);
  expect(inspect(refused)).toContain("Profile 'night' not found");
});

test('a client that connects by itself reads from the settings whether it must encrypt, and which installation it belongs to', async () => {
  connecting();
  const service = { baseUrl: 'http://127.0.0.1:1', apiKey: 'sk_invented' };
  vi.stubEnv('LABOPS_ENCRYPTION_KEYS', undefined);
  vi.stubEnv('LABOPS_ENCRYPTION', 'required');
  await expect(LabOperations.connect()).rejects.toThrow(errors.EncryptionKeysMissing);
  vi.stubEnv('NODE_ENV', 'production');
  vi.stubEnv('LABOPS_ENCRYPTION', 'optional');
  await expect(LabOperations.connect({ service })).rejects.toThrow(errors.InstallationInvalid);
  vi.stubEnv('LABOPS_INSTALLATION', 'eu-1');
  await (await LabOperations.connect({ service })).close();
});

test('an API key that no header can hold is refused without being quoted, also one that a function gives', async () => {
  connecting().mockImplementation(async ({ apiKey } = {}) => {
    if (typeof apiKey === 'function') apiKey();
    return Connection.lazy();
  });
  for (const apiKey of ['invented\nkey', () => 'invented\nkey', ' ', () => '']) {
    const refused = await rejection(LabOperations.connect({ apiKey }));
    expect(refused).toBeInstanceOf(errors.TemporalSettingInvalid);
    expect(inspect(refused)).toMatch(/apiKey (must be printable ASCII, on one line|is empty)/);
    expect(inspect(refused)).not.toContain('invented');
  }
});

test('an API key in code keeps the certificates of the settings, and loses the line break of its file', async () => {
  const connect = connecting();
  vi.stubEnv('TEMPORAL_TLS_SERVER_NAME', 'temporal.invalid');
  await (await LabOperations.connect({ apiKey: 'invented-key\n' })).close();
  const tls = expect.objectContaining({ serverNameOverride: 'temporal.invalid' }) as object;
  expect(connect).toHaveBeenLastCalledWith(expect.objectContaining({ apiKey: 'invented-key', tls }));
});

test.each(['my host', 'http://temporal.invalid:7233', ''])('the address %j is refused by its name', async (address) => {
  const refused = LabOperations.connect({ address });
  await expect(refused).rejects.toThrow(new errors.TemporalSettingInvalid('is not host:port', 'address'));
});

test.each(['127.0.0.1:1', 'nowhere..invalid:7233'])('if a refusal is final, %s is not tried again', async (address) => {
  connecting().mockReturnValue(new Promise(() => undefined));
  const refused = LabOperations.connect({ address, refusalIsFinal: true });
  await expect(refused).rejects.toThrow(errors.TemporalUnreachable);
  await expect(refused).rejects.toThrow(/ECONNREFUSED|ENOTFOUND/);
});

test('a connection that succeeds after a final refusal is closed', async () => {
  const late = Connection.lazy();
  const close = vi.spyOn(late, 'close');
  let succeed: (connection: Connection) => void = () => undefined;
  connecting().mockReturnValue(new Promise((resolve) => (succeed = resolve)));
  const refused = LabOperations.connect({ address: '127.0.0.1:1', refusalIsFinal: true });
  await expect(refused).rejects.toThrow(errors.TemporalUnreachable);
  succeed(late);
  await vi.waitFor(() => expect(close).toHaveBeenCalledOnce());
});

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

const endpoint = { address: 'temporal.example:7233', namespace: 'labs' };

const notReached = /^Temporal cannot be reached at temporal\.example:7233 .+TEMPORAL_ADDRESS/;
const unsafe = /check TEMPORAL_TLS and the certificates/;

test.each<[string, number, RegExp, string?]>([
  ['connect ECONNREFUSED', 14, notReached],
  ['Last error: SSL routines:wrong version number', 14, unsafe],
  ['self-signed certificate', 14, unsafe],
  ['Request unauthorized.', 7, /refuses the credentials .+TEMPORAL_API_KEY .+namespace labs/, 'TemporalRefused'],
  ['no token', 16, /refuses the credentials .+TEMPORAL_API_KEY/, 'TemporalRefused'],
  ['namespace rate limit exceeded', 8, /is too busy .+call again later/],
  ['Namespace labs is not found.', 5, /has no namespace labs: .+TEMPORAL_NAMESPACE/, 'TemporalRefused'],
  [
    'search attribute A is not defined',
    3,
    /not registered in the namespace labs .+start the worker/,
    'TemporalRefused',
  ],
  ['Workflow task in failed state', 9, /read its log/, 'WorkerFailing'],
  ['BlobSizeLimit exceeded', 3, /^Temporal refuses the call \(BlobSizeLimit exceeded\)/, 'TemporalRefused'],
])('%s (gRPC %i): %s', (details, code, message, name = 'TemporalUnreachable') => {
  const rejection = grpcError(code, details);
  const error = temporalErrorOf(rejection, endpoint);
  expect(error).toMatchObject({ name, cause: rejection });
  expect(error?.message).toMatch(message);
});

test('a namespace that the SDK itself does not find is named', () => {
  const error = temporalErrorOf(new NamespaceNotFoundError('labs'), endpoint);
  expect(error?.message).toMatch(/^Temporal at temporal\.example:7233 has no namespace labs: /);
});

test.each([new TypeError('a fault of ours'), 'text', undefined])('%s is not about Temporal', (error) => {
  expect(temporalErrorOf(error, endpoint)).toBeUndefined();
});
