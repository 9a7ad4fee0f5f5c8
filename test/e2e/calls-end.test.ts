import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { expect, onTestFinished, test } from 'vitest';
import { errors, createLabService, labDataConverter, LabOperations, parseKeyRing } from '../../client/index.js';
import { kitOrderId, linkProviderId, placeKitOrderId } from '../../protocol/ids.js';
import { kitOrderName } from '../../protocol/order/messages.js';
import { forwardedPhase, labPhaseKey } from '../../protocol/search-attributes.js';
import { serveHttp } from '../../sandbox/temporal/ports.js';
import { rejection } from '../unit/service/recording-server.js';
import { kitFor, registration, visitFor } from '../rig/cast.js';
import { startProxy } from '../rig/temporal-proxy.js';
import { provider, rightCode } from './linked-user.js';
import { patience, stack } from './stack.js';

const lab = stack();

const down = { kind: 'answer', status: 503, body: { detail: 'Down for maintenance' } } as const;

/** The public client as a product has it, with the defaults of every method. */
const product = (taskQueue = lab.rig.taskQueue, client = lab.rig.client) => new LabOperations(client, { taskQueue });

/**
 * The error that a call rejects with. The client asks Temporal for two seconds why there is no answer. If Temporal does not
 * answer that either, as on a busy machine, the call is repeated.
 */
async function end(call: () => Promise<unknown>): Promise<{ error: unknown }> {
  const repeatable = 5;
  for (let attempt = 1; ; attempt += 1) {
    const error = await rejection(call());
    if (!(error instanceof errors.TemporalUnreachable) || attempt > repeatable) return { error };
  }
}

test('while the lab service is away, calls that need the order end by their deadline and say that it is being placed', async () => {
  const userId = await lab.newUser();
  await lab.sandbox.addFault({ path: '/**', action: down });
  const reference = `away-${randomUUID()}`;
  const { orders } = product();
  await orders.place(kitFor(userId, reference));
  const order = await orders.getHandle({ reference });
  const deadline = '1s';
  const orderId = randomUUID();
  const calls = [
    () => order.orderId({ deadline }),
    () => order.register({ registration: registration('invented') }, { deadline }),
    () => order.replaceKit({ orderId }, { deadline }),
    () => order.resolveProblem({ orderId, decision: 'wait' }, { deadline }),
    () => order.result({ deadline }),
  ];
  const ends = await Promise.all(calls.map(end));
  for (const { error } of ends) {
    expect(error).toBeInstanceOf(errors.TimedOut);
    expect((error as Error).message).toMatch(/^No answer within 1 s\. The order is still being placed/);
  }
});

test('a call that is aborted rejects with the reason, and what was started goes on', async () => {
  const userId = await lab.newUser();
  await lab.sandbox.addFault({ path: '/**', action: down });
  const order = await product().orders.place(kitFor(userId, `aborted-${randomUUID()}`));
  const stopped = new AbortController();
  const waiting = end(() => order.orderId({ deadline: 'none', signal: stopped.signal }));
  stopped.abort();
  const { error } = await waiting;
  expect(error).toMatchObject({ name: 'AbortError' });
  await expect(order.state({ signal: stopped.signal })).rejects.toBe(error);
  const given = new AbortController();
  const another = order.result({ signal: given.signal });
  given.abort(new Error('the person has left'));
  await expect(another).rejects.toThrow('the person has left');
  await lab.sandbox.removeFaults();
  expect(await order.orderId({ deadline: 'none' })).toMatch(/./);
});

test('a wait that is longer than its deadline says what goes on', async () => {
  const { orderId } = await lab.place();
  const order = await product().orders.getHandle({ orderId });
  const { error } = await end(() => order.result({ deadline: '500ms' }));
  expect(error).toBeInstanceOf(errors.TimedOut);
  expect((error as Error).message).toMatch(/^No answer within 500 ms\. The order has not ended yet and continues/);
  const { error: watched } = await end(async () => {
    for await (const state of order.watch({ deadline: '1s' })) expect(state.phase).toBe('awaiting_registration');
  });
  expect(watched).toBeInstanceOf(errors.TimedOut);
});

test('without a worker every call ends, and names the task queue that nobody polls', async () => {
  const taskQueue = `nobody-${randomUUID()}`;
  const { orders, links, users, rejectedEvents, webhooks } = product(taskQueue);
  const userId = await lab.newUser();
  // Two of the calls ask Temporal twice before their workflow is there.
  const deadline = '10s';
  const order = await orders.place(kitFor(userId, `alone-${randomUUID()}`));
  const link = await links.start({ userId, provider: 'invented' });
  const calls = [
    () => order.orderId({ deadline }),
    () => link.url({ deadline }),
    () => link.state({ deadline: '40s' }),
    () => users.requestDeletion({ userId: randomUUID() }, { deadline }),
    () => rejectedEvents.count({ deadline }),
    () => webhooks.readAll({ orgId: 'org', teamId: 'alone', environment: 'sandbox' }, { deadline }),
  ];
  for (const { error } of await Promise.all(calls.map(end))) {
    expect(error).toBeInstanceOf(errors.NoWorker);
    expect(error).toMatchObject({ taskQueue });
    expect((error as Error).message).toContain(`No worker polls the task queue ${taskQueue}`);
  }
});

test('an order id that only a worker can resolve to its chain names the task queue that nobody polls', async () => {
  const taskQueue = `nobody-${randomUUID()}`;
  const orderId = randomUUID();
  const typedSearchAttributes = [{ key: labPhaseKey, value: forwardedPhase }];
  const forwarder = { workflowId: kitOrderId(orderId), taskQueue, args: [], typedSearchAttributes };
  await lab.rig.client.workflow.start(kitOrderName, forwarder);
  // The client's own task queue has a worker, the order's has none.
  const { error } = await end(() => product().orders.getHandle({ orderId }, { deadline: '10s' }));
  expect(error).toBeInstanceOf(errors.NoWorker);
  expect(error).toMatchObject({ taskQueue });
});

/** How often the workflow's present task has been tried. */
async function attemptsOf(workflowId: string): Promise<number> {
  const { client, namespace } = lab.rig;
  const execution = { workflowId };
  const { pendingWorkflowTask } = await client.workflowService.describeWorkflowExecution({ namespace, execution });
  return pendingWorkflowTask?.attempt ?? 0;
}

test('a worker without keys fails on the messages of a client that encrypts, and the client says so', async () => {
  const replace = async (env = {}) => {
    await lab.worker.stop();
    await lab.startWorker(env);
  };
  onTestFinished(() => replace());
  await replace({ LABOPS_ENCRYPTION_KEYS: '' });
  const ring = parseKeyRing(`other:${Buffer.from('another-invented-key-32-bytes-01').toString('base64')}`);
  const client = new Client({ connection: lab.rig.client.connection, dataConverter: labDataConverter(ring) });
  const { orders, links } = product(lab.rig.taskQueue, client);
  const userId = await lab.newUser();
  const order = await orders.place(kitFor(userId, `other-key-${randomUUID()}`));
  const link = await links.start({ userId, provider: 'invented' });
  // Only from its third attempt on is a worker known to be failing.
  for (const workflowId of [placeKitOrderId(order.reference ?? ''), linkProviderId(userId, 'invented')]) {
    await expect.poll(() => attemptsOf(workflowId), patience).toBeGreaterThanOrEqual(3);
  }
  const deadline = '5s';
  const ends = await Promise.all([
    end(() => order.orderId({ deadline })),
    end(() => link.url({ deadline })),
    end(() => link.state({ deadline })),
  ]);
  for (const { error } of ends) {
    expect(error, String(error)).toBeInstanceOf(errors.WorkerFailing);
    expect(error).toBeInstanceOf(errors.LabOperationsError);
  }
});

/** The calls of Temporal that a worker answers. */
const ofWorkers = ['QueryWorkflow', 'UpdateWorkflowExecution', 'ExecuteMultiOperation', 'StartWorkflowExecution'];

test('the lab values of an order that has ended are read without a worker', async () => {
  const { handle, orderId } = await lab.place();
  for (const status of ['transit_customer', 'transit_lab']) await lab.sandbox.move(orderId, status);
  // One that comes after the end starts another run, which needs a worker.
  await lab.sandbox.settleWebhooks();
  await lab.sandbox.move(orderId, 'completed');
  await handle.result();
  await lab.untilListedAsEnded(orderId);
  const way = await startProxy(lab.rig.address);
  const { dataConverter } = lab;
  const client = new Client({ connection: await Connection.connect({ address: way.address }), dataConverter });
  onTestFinished(async () => {
    await client.connection.close();
    await way.close();
  });
  const { url: baseUrl, apiKey } = lab.service;
  const labs = new LabOperations(client, { taskQueue: lab.rig.taskQueue, service: { baseUrl, apiKey } });
  const order = await labs.orders.getHandle({ orderId }, { deadline: '60s' });
  expect(await order.results({ deadline: '60s' })).toMatchObject({ results: expect.any(Array) as unknown });
  await labs.close();
  expect(ofWorkers.filter((method) => way.count(method) > 0)).toEqual([]);
});

/** More than the main queue has slots (100). */
const backlog = 120;

test('registration, slots and codes do not wait for a backlog of reads, nor for a receiver that hangs', async () => {
  // It takes every notification and answers none.
  const hanging = await serveHttp(() => undefined);
  await lab.worker.stop();
  await lab.startWorker({ NOTIFY_URL: hanging.url, NOTIFICATION_SLOTS: '2', BACKGROUND_SLOTS: '4' });
  const { handle, orderId } = await lab.place();
  await lab.sandbox.move(orderId, 'with_customer');
  const { kit_sample_id: sampleId } = await lab.sandbox.order(orderId);

  const jobs = new Set<string>();
  const reads = async () =>
    (await lab.sandbox.requests({ method: 'GET' })).filter(({ path }) => jobs.has(path.split('/').at(-1) ?? '')).length;
  const slow = { kind: 'delay', delayMs: 50_000, phase: 'before_work' } as const;
  const userId = await lab.newUser();
  await lab.sandbox.addWebhookFault({ action: { kind: 'hold' } });
  for (let count = 0; count < backlog; count += 1) {
    const { id } = await lab.sandbox.createJob({ user_id: userId, outcome: 'stuck' });
    jobs.add(id);
    await lab.sandbox.addFault({ method: 'GET', path: `/**/${id}`, action: slow });
  }
  await lab.sandbox.removeWebhookFaults();
  await lab.sandbox.releaseWebhooks();
  await expect.poll(reads, patience).toBeGreaterThanOrEqual(4);

  const service = createLabService({ baseUrl: lab.service.url, apiKey: lab.service.apiKey });
  try {
    expect(await handle.register({ registration: registration(sampleId ?? '') })).toMatchObject({ registered: true });
    const { order } = await service.orders.create(visitFor(await lab.newUser()));
    const visit = await lab.labs.appointments.start({ orderId: order.id });
    expect((await visit.slots()).slots.length).toBeGreaterThan(0);
    const link = await lab.labs.links.start({ userId: await lab.newUser(), provider });
    const { linkToken } = await link.url();
    const asked = { username: 'mfa-sms', password: 'invented-password' };
    await link.reportLinkResult(await service.links.submitPassword(provider, linkToken, asked));
    expect(await link.submitMfaCode({ code: rightCode })).toMatchObject({ outcome: 'connected' });
    expect(await reads(), 'the backlog is still there').toBeLessThan(backlog);
  } finally {
    await service.close();
    await hanging.close();
  }
});
