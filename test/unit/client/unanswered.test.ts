import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { defaultDataConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { errors, labDataConverter, LabOperations, parseKeyRing } from '../../../client/index.js';
import { linkErrorMap } from '../../../client/link/errors.js';
import { LinkHandle } from '../../../client/link/link-handle.js';
import { DeletionHandle } from '../../../client/user/deletion-handle.js';
import { TemporalCalls } from '../../../client/workflow-calls.js';
import { clientAnsweredWith, type GrpcStatus } from '../../rig/grpc-answers.js';
import { kitFor } from '../../rig/cast.js';
import { eventually } from '../../rig/eventually.js';
import { rejection } from '../service/recording-server.js';

/* The error of a call that got no answer. */

const { QueryWorkflowResponse } = proto.temporal.api.workflowservice.v1;

const deadline = '300ms';

/** A peer that accepts connections and never answers. */
const peer = createServer();
const sockets = new Set<Socket>();
let address: string;

beforeAll(async () => {
  peer.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)));
  peer.listen(0, '127.0.0.1');
  await once(peer, 'listening');
  address = `127.0.0.1:${(peer.address() as AddressInfo).port}`;
});

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => peer.close(resolve));
});

/** The client of a product, with both Temporal and the lab service at the silent peer. */
function silent(): LabOperations {
  const client = new Client({ connection: Connection.lazy({ address }) });
  const service = { baseUrl: `http://${address}`, apiKey: 'invented', timeoutMs: 2_000 };
  return new LabOperations(client, { service, deadline, encryption: 'optional' }, () => client.connection.close());
}

/** From now on timers end as the test says. */
function skippingTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
}

const userId = randomUUID();
const place = { orgId: 'org', teamId: 'team', environment: 'sandbox' } as const;
const withinTenMinutes = 'The command is carried out within ten minutes, or not at all: ';

test.each<[string, (lab: LabOperations) => Promise<unknown>, string]>([
  ['place', ({ orders }) => orders.place(kitFor(userId, 'silent')), 'It may have been started nevertheless: '],
  ['get', ({ orders }) => orders.getHandle({ reference: 'silent' }), 'Nothing was changed: ask again.'],
  ['delete', ({ webhooks }) => webhooks.delete(place, 'endpoint'), withinTenMinutes],
  ['requestDeletion', ({ users }) => users.requestDeletion({ userId }), 'The deletion may have been requested '],
])('a Temporal that never answers may have carried out what was sent, which %s says', async (_name, call, sentence) => {
  const lab = silent();
  const error = await rejection(call(lab));
  await lab.close();
  expect(error).toBeInstanceOf(errors.TemporalUnreachable);
  expect((error as Error).message).toContain(`Temporal cannot be reached at ${address} (`);
  expect((error as Error).message).toContain(`). ${sentence}`);
});

test.each<[string, (lab: LabOperations) => Promise<unknown>, string]>([
  ['createOrGet', ({ users }) => users.createOrGet({ client_user_id: 'invented' }), 'The lab service may still '],
  ['get', ({ users }) => users.read(userId), 'Nothing was changed: ask again.'],
  ['list', ({ users }) => users.readAll().next(), 'Nothing was changed: ask again.'],
  ['cancellationReasons', ({ appointments }) => appointments.cancellationReasons(), 'Nothing was changed: ask again.'],
])('a lab service that never answers is not mistaken for Temporal: %s', async (_name, call, sentence) => {
  const lab = silent();
  const error = await rejection(call(lab));
  await lab.close();
  expect(error).toBeInstanceOf(errors.TimedOut);
  expect((error as Error).message).toContain(`No answer within 300 ms. ${sentence}`);
});

test('credentials that may not ask why there was no answer do not hide what may go on', async () => {
  const denied = { code: 7, details: 'Request unauthorized.' };
  const client = await clientAnsweredWith((method) => {
    if (method === 'StartWorkflowExecution') return 'silence';
    return method === 'GetSystemInfo' ? undefined : denied;
  });
  const { orders } = new LabOperations(client, { deadline, encryption: 'optional' });
  // The client asks why for two seconds, which a busy machine may miss.
  await eventually(async () => {
    const error = await rejection(orders.place(kitFor(userId, 'denied')));
    expect(error).toBeInstanceOf(errors.TimedOut);
    expect((error as Error).message).toMatch(/^No answer within 300 ms\. It may have been started nevertheless: /);
  });
});

test.each<[what: string, GrpcStatus, kind: new (...parts: never[]) => Error, message: RegExp]>([
  [
    'that Temporal ends before the deadline names the time that was waited',
    { code: 4, details: 'the query took too long' },
    errors.TimedOut,
    /^No answer within (\d{1,3} ms|\d{1,2} s)\. Ask again\./,
  ],
  [
    'that finds no poller fails for lack of a worker, whichever workflow it asked',
    { code: 9, details: 'no poller seen for task queue recently' },
    errors.NoWorker,
    /./,
  ],
])('a query %s', async (_what, status, kind, message) => {
  const client = await clientAnsweredWith((method) => (method === 'QueryWorkflow' ? status : undefined));
  const calls = new TemporalCalls(client, { taskQueue: 'lab-operations', deadline: '5m' });
  const asking = { errors: linkErrorMap, underWay: 'Ask again.' };
  const error = await rejection(calls.call(asking, {}, () => client.workflow.getHandle('any').query('state')));
  expect(error).toBeInstanceOf(kind);
  expect((error as Error).message).toMatch(message);
});

test('a query that a worker took along is asked again, also by a call without a deadline', async () => {
  const state = defaultDataConverter.payloadConverter.toPayload({ phase: 'awaiting_password' });
  const answer = QueryWorkflowResponse.encode({ queryResult: { payloads: [state] } }).finish();
  let queries = 0;
  const client = await clientAnsweredWith((method) => {
    if (method !== 'QueryWorkflow') return undefined;
    queries += 1;
    return queries === 1 ? 'silence' : answer;
  });
  const calls = new TemporalCalls(client, { taskQueue: 'lab-operations', deadline: 'none' });
  await client.connection.ensureConnected();
  skippingTime();
  const answered = new LinkHandle(calls, userId, 'invented').state();
  const givenUpAt = performance.now() + 60_000;
  while (queries === 0 && performance.now() < givenUpAt) await turn();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(await answered).toEqual({ phase: 'awaiting_password' });
  expect(queries).toBe(2);
});

test('a watch outlasts a Temporal that does not answer, but not one that refuses the credentials', async () => {
  const denied = { code: 7, details: 'Request unauthorized.' };
  let queries = 0;
  const client = await clientAnsweredWith((method) => {
    if (method !== 'QueryWorkflow') return method === 'GetSystemInfo' ? undefined : 'silence';
    queries += 1;
    return queries < 3 ? 'silence' : denied;
  });
  const calls = new TemporalCalls(client, { taskQueue: 'lab-operations', deadline });
  const link = new LinkHandle(calls, userId, 'invented');
  const error = await rejection(link.watch({ minInterval: '100ms', maxInterval: '100ms' }).next());
  expect((error as Error).message).toContain('refuses the credentials');
  expect(error).toBeInstanceOf(errors.TemporalRefused);
  // An answer that comes after its deadline is not seen.
  expect(queries).toBeGreaterThanOrEqual(3);
});

describe('a command that returns a secret', () => {
  const keys = `key:${Buffer.from('an-invented-key-with-32-bytes-01').toString('base64')}`;
  const encrypting = { dataConverter: labDataConverter(parseKeyRing(keys)) };
  const withoutEnd = (method: string) => (method === 'GetSystemInfo' ? undefined : 'silence');

  test('says after its deadline where the secret is', async () => {
    const client = await clientAnsweredWith(withoutEnd, encrypting);
    const error = await rejection(new LabOperations(client).webhooks.rotate(place, 'endpoint', {}, { deadline }));
    expect((error as Error).message).toContain("take it from the service's dashboard, or rotate again");
  });

  test.each<[string, (lab: LabOperations) => Promise<unknown>]>([
    ['rotate', ({ webhooks }) => webhooks.rotate(place, 'endpoint')],
    ['register', ({ webhooks }) => webhooks.register(place, { url: 'https://product.example/webhooks' })],
  ])('is awaited as long as it may take: %s', async (_name, command) => {
    const client = await clientAnsweredWith(withoutEnd, encrypting);
    await client.connection.ensureConnected();
    skippingTime();
    let hasEnded = false;
    const ended = rejection(command(new LabOperations(client))).finally(() => (hasEnded = true));
    await vi.advanceTimersByTimeAsync(9 * 60_000);
    expect(hasEnded).toBe(false);
    await vi.advanceTimersByTimeAsync(2 * 60_000);
    expect(await ended).toBeInstanceOf(errors.TemporalUnreachable);
  });
});

test('a wait of many requests does not warn of a leak', async () => {
  const warnings: string[] = [];
  const keep = ({ message }: Error): void => void warnings.push(message);
  process.on('warning', keep);
  const enough = new AbortController();
  let requests = 0;
  // An empty answer to a long poll: the client asks again at once.
  const client = await clientAnsweredWith(() => {
    requests += 1;
    if (requests === 30) enough.abort();
    return undefined;
  });
  const deletion = new DeletionHandle(new TemporalCalls(client, { taskQueue: 'invented', deadline: 'none' }), userId);
  await rejection(deletion.result({ signal: enough.signal }));
  process.off('warning', keep);
  expect(requests).toBeGreaterThanOrEqual(30);
  expect(warnings).toEqual([]);
});

const { google, temporal } = proto;
const notFound = {
  ...{ code: 5, details: 'Namespace default is not found.' },
  failure: google.rpc.Status.encode({
    details: [
      {
        type_url: 'type.googleapis.com/temporal.api.errordetails.v1.NamespaceNotFoundFailure',
        value: temporal.api.errordetails.v1.NamespaceNotFoundFailure.encode({ namespace: 'default' }).finish(),
      },
    ],
  }).finish(),
};

test.each<[string, ReturnType<Parameters<typeof clientAnsweredWith>[0]>, string, RegExp]>([
  ['does not exist', notFound, 'TemporalRefused', /has no namespace default: create it/],
  ['exists, and its look-up failed', undefined, 'TemporalUnreachable', /could not look up its namespace default: call/],
  ['cannot be asked for', { code: 7, details: 'no claims' }, 'TemporalRefused', /has no namespace default/],
  ['still cannot be looked up', { code: 14, details: 'it is locked' }, 'TemporalUnreachable', /cannot be reached/],
])('a namespace that is not found %s', async (_case, described, name, message) => {
  const answered = (method: string) => (method === 'DescribeNamespace' ? described : notFound);
  const client = await clientAnsweredWith(answered);
  const { orders } = new LabOperations(client, { encryption: 'optional' });
  const error = await rejection(orders.list({ all: true }).next());
  expect(error).toMatchObject({ name, message: expect.stringMatching(message) as string });
});
