import { randomUUID, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Client, Connection, type WorkflowClientInterceptor } from '@temporalio/client';
import { defaultDataConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { errors, labDataConverter, LabOperations, parseKeyRing } from '../../../client/index.js';
import { linkErrorMap } from '../../../client/link/errors.js';
import { LinkHandle } from '../../../client/link/link-handle.js';
import { DeletionHandle } from '../../../client/user/deletion-handle.js';
import { TemporalCalls } from '../../../client/workflow-calls.js';
import { clientAnsweredWith, type GrpcStatus } from '../../rig/grpc-answers.js';
import { kitFor, shippingDetails } from '../../rig/cast.js';
import { eventually } from '../../rig/eventually.js';
import { rejection } from '../service/recording-server.js';
import { createWebhookHandler } from '../../../client/webhooks/handler.js';
import type { RejectedEventReceived } from '../../../client/webhooks/sinks.js';
import { orderEvent, secret, signed } from '../webhooks/sending.js';

/* The error of a call that got no answer. */

const { ExecuteMultiOperationResponse, QueryWorkflowResponse, UpdateWorkflowExecutionResponse } =
  proto.temporal.api.workflowservice.v1;

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

type Call = (lab: LabOperations) => Promise<unknown>;

async function unanswered(call: Call): Promise<Error> {
  const lab = silent();
  const error = await rejection(call(lab));
  await lab.close();
  return error as Error;
}

test.each<[string, Call, string]>([
  ['place', ({ orders }) => orders.place(kitFor(userId, 'silent')), 'It may have been started nevertheless: '],
  ['get', ({ orders }) => orders.getHandle({ reference: 'silent' }), 'Nothing was changed: ask again.'],
  ['delete', ({ webhooks }) => webhooks.delete(place, 'endpoint'), withinTenMinutes],
  ['requestDeletion', ({ users }) => users.requestDeletion({ userId }), 'The deletion may have been requested '],
])('a Temporal that never answers may have carried out what was sent, which %s says', async (_name, call, sentence) => {
  const error = await unanswered(call);
  expect(error).toBeInstanceOf(errors.TemporalUnreachable);
  expect(error.message).toContain(`Temporal cannot be reached at ${address} (`);
  expect(error.message).toContain(`). ${sentence}`);
});

test.each<[string, Call, string]>([
  ['createOrGet', ({ users }) => users.createOrGet({ client_user_id: 'invented' }), 'The lab service may still '],
  ['get', ({ users }) => users.read(userId), 'Nothing was changed: ask again.'],
  ['list', ({ users }) => users.readAll().next(), 'Nothing was changed: ask again.'],
  ['cancellationReasons', ({ appointments }) => appointments.cancellationReasons(), 'Nothing was changed: ask again.'],
])('a lab service that never answers is not mistaken for Temporal: %s', async (_name, call, sentence) => {
  const error = await unanswered(call);
  expect(error).toBeInstanceOf(errors.TimedOut);
  expect(error.message).toContain(`No answer within 300 ms. ${sentence}`);
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

/* How Temporal's server ends an update that its workflow has not answered (service/history/workflow/update in its source). */

const undone = { phase: 'undone' };
const completed = UpdateWorkflowExecutionResponse.create({
  stage: 3,
  updateRef: { updateId: 'any', workflowExecution: { workflowId: 'any', runId: 'any' } },
  outcome: { success: { payloads: [defaultDataConverter.payloadConverter.toPayload(undone)] } },
});
const answers: Record<string, Uint8Array> = {
  UpdateWorkflowExecution: UpdateWorkflowExecutionResponse.encode(completed).finish(),
  ExecuteMultiOperation: ExecuteMultiOperationResponse.encode({
    responses: [{ startWorkflow: { runId: 'any' } }, { updateWorkflow: completed }],
  }).finish(),
};

/** A server that ends every update so, or only the first `times`; with the IDs of the updates that came. */
async function endingUpdates(end: GrpcStatus, times = Infinity) {
  const ids: (string | undefined)[] = [];
  const workflow: WorkflowClientInterceptor[] = [
    {
      startUpdate: (input, next) => (ids.push(input.options.updateId), next(input)),
      startUpdateWithStart: (input, next) => (ids.push(input.updateOptions.updateId), next(input)),
    },
  ];
  const answered = (method: string) => (answers[method] && ids.length <= times ? end : answers[method]);
  const client = await clientAnsweredWith(answered, { interceptors: { workflow } });
  return { lab: new LabOperations(client, { encryption: 'optional' }), ids };
}

const taskFailure = 'Unable to perform workflow execution update due to unexpected workflow task failure.';
const failedTask: GrpcStatus = { code: 9, details: taskFailure };
const unaccepted: GrpcStatus[] = [
  failedTask,
  { code: 14, details: 'workflow update was aborted' },
  { code: 8, details: 'workflow operation can not be applied because workflow is closing' },
];

type CallWith = (lab: LabOperations, text: string) => Promise<unknown>;

const commands: [string, CallWith][] = [
  ['an update', ({ notifications }, text) => notifications.discard('kit-order/invented', { ids: [text] })],
  ['an update that may start its workflow', ({ users }, text) => users.requestDeletion({ userId, clientUserId: text })],
];

describe.each(unaccepted)('$details:', (end) => {
  test.each(commands)('%s is sent again under the same ID', async (name, command) => {
    const { lab, ids } = await endingUpdates(end, 2);
    const answer = await command(lab, 'invented');
    expect(answer).toMatchObject(name === 'an update' ? undone : { requested: undone });
    expect(ids).toHaveLength(3);
    expect(ids[0]).toBeTypeOf('string');
    expect(new Set(ids).size).toBe(1);
  });
});

test.each<[string, GrpcStatus, string, RegExp]>([
  [
    'of a worker whose tasks the server keeps failing is its failure',
    failedTask,
    'WorkerFailing',
    /^The worker keeps failing at this workflow/,
  ],
  [
    'of a paused workflow says how to continue it',
    { code: 9, details: 'Workflow is paused. Cannot update the workflow.' },
    'TemporalRefused',
    /paused.+`temporal workflow unpause`/,
  ],
  [
    'whose run is gone before its answer was read may have been carried out',
    { code: 5, details: 'update "invented" not found' },
    'TimedOut',
    /^No answer within .+s\. The command was sent and may still be carried out: /,
  ],
])('an update %s', async (_name, end, name, message) => {
  const { lab } = await endingUpdates(end);
  const error = await rejection(
    lab.notifications.discard('kit-order/invented', { ids: ['invented'] }, { deadline: '5s' }),
  );
  expect(error).toMatchObject({ name });
  expect((error as Error).message).toMatch(message);
});

const dataConverter = labDataConverter(parseKeyRing(`k:${randomBytes(32).toString('base64')}`));

/** A client of a Temporal that refuses every call, with the calls that reached it. */
async function refusing(options = {}): Promise<{ client: Client; sent: string[] }> {
  const sent: string[] = [];
  const client = await clientAnsweredWith((method) => {
    if (method !== 'DescribeTaskQueue') sent.push(method);
    return { code: 7, details: 'refused' };
  }, options);
  return { client, sent };
}

const mebibyte = 1024 * 1024;

const start: CallWith = ({ orders }, text) => {
  const input = kitFor(userId, 'too-large');
  const address = { ...shippingDetails, receiver_name: text };
  return orders.place({ ...input, order: { ...input.order, shipping_details: address } });
};

describe.each([['a start', start] as const, ...commands])('%s', (_name, call) => {
  test.each([
    ['above Temporal’s limit', 2 * mebibyte],
    ['above that of gRPC', 5 * mebibyte],
  ])('%s is refused with its size before it is sent', async (_which, length) => {
    for (const options of [{}, { dataConverter }]) {
      const { client, sent } = await refusing(options);
      const error = (await rejection(call(new LabOperations(client), 'x'.repeat(length)))) as errors.CallTooLarge;
      expect(error).toBeInstanceOf(errors.CallTooLarge);
      expect(error.bytes).toBeGreaterThan(length);
      expect(error.message).toContain(String(error.bytes));
      expect(sent).toEqual([]);
    }
  });

  test('below the limit is sent', async () => {
    const { client, sent } = await refusing({ dataConverter });
    const error = await rejection(call(new LabOperations(client), 'x'.repeat(2 * mebibyte - 16_384)));
    expect(error).toMatchObject({ name: 'TemporalRefused' });
    expect(sent).toHaveLength(1);
  });
});

test('the size is that of the bytes, not of the letters', async () => {
  const { client, sent } = await refusing();
  const ids = ['é'.repeat(mebibyte)];
  const discarding = new LabOperations(client).notifications.discard('kit-order/invented', { ids });
  expect(await rejection(discarding)).toBeInstanceOf(errors.CallTooLarge);
  expect(sent).toEqual([]);
});

test('an event that becomes too large a signal is set aside, and not sent', async () => {
  const { client, sent } = await refusing({ dataConverter });
  const set: RejectedEventReceived[] = [];
  const rejected = async (event: RejectedEventReceived) => void set.push(event);
  const usual = { temporal: client, secrets: [secret], logger: false } as const;
  const handler = createWebhookHandler({ ...usual, maxBytes: 8 * mebibyte, rejected });
  const shipment = { outbound_tracking_number: 'x'.repeat(2 * mebibyte) };
  const event = orderEvent(randomUUID(), { details: { type: 'testkit', data: { shipment } } });
  expect((await handler.handle(signed(event))).status).toBe(204);
  expect(handler.counts().answers).toMatchObject({ event_set_aside: 1 });
  expect(set).toHaveLength(1);
  expect(sent).toEqual([]);
});
