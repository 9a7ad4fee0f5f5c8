import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { expect, onTestFinished, test } from 'vitest';
import { createWebhookHandler } from '../../client/webhooks/handler.js';
import { BackgroundConnection } from '../../workers/native-connection.js';
import { readIngressConfig } from '../../workers/settings/config.js';
import { otherPair, serverPair } from '../rig/certificates.js';
import { serverAnsweringWith } from '../rig/grpc-answers.js';
import { orderEvent, secret, signed } from './webhooks/sending.js';

/* The ingress's way to Temporal: the native client, with the settings and the answers of gRPC for JavaScript. */

function connectionWith(env: Record<string, string>): BackgroundConnection {
  const connection = new BackgroundConnection(readIngressConfig({ WEBHOOK_SECRETS: secret, ...env }).temporal);
  onTestFinished(() => connection.close());
  return connection;
}

/** The answer to an order's event. */
async function answerThrough(connection: BackgroundConnection): Promise<string | undefined> {
  const handler = createWebhookHandler({
    temporal: new Client({ connection }),
    secrets: [secret],
    encryption: 'optional',
    logger: false,
  });
  await handler.handle(signed(orderEvent(randomUUID())));
  return Object.entries(handler.counts().answers).find(([, times]) => times === 1)?.[0];
}

const identity = { cert: serverPair.certificate, key: serverPair.key };
const askingClients = { ...identity, requestCert: true, rejectUnauthorized: true, ca: otherPair.certificate };

const node = { NODE_EXTRA_CA_CERTS: serverPair };
const another = { TEMPORAL_TLS_SERVER_CA_CERT_PATH: otherPair };
const ofClient = { ...node, TEMPORAL_TLS_CLIENT_CERT_PATH: otherPair };

test.each([
  ['NODE_EXTRA_CA_CERTS', identity, node, 'delivered'],
  ['nothing', identity, {}, 'temporal_unavailable'],
  ['TEMPORAL_TLS_SERVER_CA_CERT_PATH', identity, { TEMPORAL_TLS_SERVER_CA_CERT_PATH: serverPair }, 'delivered'],
  ['another authority', identity, another, 'temporal_unavailable'],
  ['another authority, although Node trusts the right one', identity, { ...node, ...another }, 'temporal_unavailable'],
  ['NODE_EXTRA_CA_CERTS and a certificate of the client', askingClients, ofClient, 'delivered'],
  ['NODE_EXTRA_CA_CERTS alone', askingClients, node, 'temporal_unavailable'],
])('a server with TLS is trusted by the settings: %s', async (_name, tls, files, answer) => {
  const port = await serverAnsweringWith(() => undefined, tls);
  const folder = await mkdtemp(join(tmpdir(), 'lab-certificates-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const env: Record<string, string> = { TEMPORAL_ADDRESS: `localhost:${port}`, TEMPORAL_TLS: 'true' };
  for (const [name, { certificate, key }] of Object.entries(files)) {
    env[name] = join(folder, name);
    await writeFile(env[name], certificate);
    if (!name.includes('CLIENT')) continue;
    env['TEMPORAL_TLS_CLIENT_KEY_PATH'] = join(folder, 'key');
    await writeFile(env['TEMPORAL_TLS_CLIENT_KEY_PATH'], key);
  }
  expect(await answerThrough(connectionWith(env))).toBe(answer);
});

test('a NODE_EXTRA_CA_CERTS that cannot be read ends no start: Node warns of it', () => {
  const env = { WEBHOOK_SECRETS: secret, TEMPORAL_TLS: 'true', NODE_EXTRA_CA_CERTS: tmpdir() };
  expect(() => readIngressConfig(env)).not.toThrow();
});

test.each([
  ['too many signals', 3, 'exceeded workflow execution limit for signal events', 'temporal_unavailable'],
  ['no attribute', 3, 'Namespace default has no mapping defined for search attribute A', 'temporal_refused'],
  ['an event that is not valid', 3, 'WorkflowId exceeds length limit', 'event_refused'],
  ['a message that is too large', 8, 'grpc: received message larger than max (5 vs. 4)', 'event_refused'],
  ['credentials that do not suffice', 7, 'no', 'temporal_refused'],
])('the server’s words decide: %s', async (_name, code, details, answer) => {
  const refusing = (method: string) => (method === 'SignalWorkflowExecution' ? { code, details } : undefined);
  const port = await serverAnsweringWith(refusing);
  expect(await answerThrough(connectionWith({ TEMPORAL_ADDRESS: `127.0.0.1:${port}` }))).toBe(answer);
});

test.each<[number, string]>([
  [16, 'temporal_refused'],
  [7, 'temporal_refused'],
  [14, 'temporal_unavailable'],
])('an answer %i to the connection itself is that of each event: %s', async (code, answer) => {
  const port = await serverAnsweringWith(() => ({ code, details: 'no' }));
  expect(await answerThrough(connectionWith({ TEMPORAL_ADDRESS: `127.0.0.1:${port}` }))).toBe(answer);
});
