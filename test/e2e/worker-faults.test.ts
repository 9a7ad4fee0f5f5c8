import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createLabService } from '../../client/index.js';
import { samplePdf } from '../../sandbox/sample-report.js';
import { kitOrderId, placeKitOrderId } from '../../protocol/ids.js';
import { startProxy, type Proxy } from '../rig/temporal-proxy.js';
import { isIdle } from '../rig/idle.js';
import { startProgram } from '../rig/processes.js';
import { kitFor, registration, visitFor } from '../rig/cast.js';
import { startFileHost } from './file-host.js';
import { codesSent, completeMfaPath, rightCode, startLink, wrongCode } from './linked-user.js';
import { patience, stack, type Placed } from './stack.js';

let way: Proxy;
const proxied: Record<string, string> = { SERVICE_ECHOES_PASSTHROUGH: 'false' };
beforeAll(async () => {
  way = await startProxy(() => lab.rig.address);
  proxied['TEMPORAL_ADDRESS'] = way.address;
});
// A refusal within a workflow must be understood by the client although failures are encrypted.
const lab = stack({ worker: proxied });
afterAll(() => way.close());

const usual = { SERVICE_ECHOES_PASSTHROUGH: 'true' };
/** The worker that the last test has left, if it is the one. */
let small: unknown;

/** A worker that keeps hardly any workflow in memory, and reaches Temporal through the proxy only. */
async function startSmallWorker(): Promise<void> {
  if (small === lab.worker) return;
  await lab.worker.stop();
  await lab.startWorker({ ...usual, MAX_CACHED_WORKFLOWS: '2' });
  small = lab.worker;
}

/** A signal whose answer was cut off is repeated after 30 seconds, a read after two minutes: then its attempt counts as lost. */
const followsMs = 180_000;

async function follows({ handle }: Pick<Placed, 'handle'>, orderId: string, phase: string): Promise<void> {
  const shown = async () => {
    const state = await handle.state();
    return { orderId: state.orderId, phase: state.phase };
  };
  await expect.poll(shown, { ...patience, timeout: followsMs }).toEqual({ orderId, phase });
}

/** An order whose first kit got lost, and its replacement. */
async function lose({ orderId, userId }: Placed): Promise<string> {
  for (const status of ['transit_customer', 'lost']) await lab.sandbox.move(orderId, status);
  const replacement = async () => (await lab.ordersOf(userId)).find(({ order }) => order.id !== orderId)?.order.id;
  await expect.poll(replacement, patience).toBeDefined();
  return (await replacement()) ?? '';
}

/** The worker's client repeats a call itself for 10 seconds; after that it is up to the activity. */
const outageMs = 15_000;

test(
  'a worker that loses Temporal while it signals other workflows loses no signal, and goes on by itself',
  { timeout: 600_000 },
  async () => {
    // Without passthrough nothing but those signals leads from a replacement to its chain.
    await lab.sandbox.changeSettings({ echoPassthrough: false });
    onTestFinished(async () => void (await lab.sandbox.changeSettings({ echoPassthrough: true })));
    const [moving, losing] = await Promise.all([lab.place({ onLost: 'replace' }), lab.place({ onLost: 'replace' })]);
    const moved = await lose(moving);
    await follows(moving, moved, 'awaiting_registration');
    // Until the replacement's own workflow knows whose it is, it passes nothing on.
    await lab.untilIdle(moving.orderId);
    const [placingUser, reportingUser] = await Promise.all([lab.newUser(), lab.newUser()]);
    await writeFile(join(lab.reportRoot, 'cut.pdf'), samplePdf(['invented']));

    way.hold('SignalWorkflowExecution', 'SignalWithStartWorkflowExecution');
    const placed = await lab.labs.orders.place(kitFor(placingUser, `cut-${placingUser}`));
    const report = await lab.labs.reports.submit({
      reference: `cut-${reportingUser}`,
      userId: reportingUser,
      file: { path: 'cut.pdf' },
    });
    await lab.sandbox.move(moved, 'transit_customer');
    const replacement = await lose(losing);
    const signals = ['orderPlaced', 'orderChanged', 'replacementPlaced', 'reportSubmitted'];
    const isHeld = (signal: string) => way.held().some((message) => message.includes(signal));
    await expect.poll(() => signals.filter(isHeld), patience).toEqual(signals);
    way.cut();
    await pause(outageMs);
    way.open();

    await follows(moving, moved, 'in_transit_to_customer');
    await follows(losing, replacement, 'awaiting_registration');
    await lab.sandbox.move(replacement, 'transit_customer');
    await follows(losing, replacement, 'in_transit_to_customer');
    const orderId = await placed.orderId();
    await expect.poll(async () => (await placed.state()).reference, patience).toBe(placed.reference);
    expect((await lab.ordersOf(placingUser)).map(({ order }) => order.id)).toEqual([orderId]);
    await lab.sandbox.moveJob(await report.jobId(), { status: 'completed', results: 'sample' });
    expect(await report.result()).toMatchObject({ outcome: 'completed', reference: report.reference });
  },
);

test('what a worker that is killed has begun, another finishes once: a creation, a registration, a booking, codes and an upload', async () => {
  const head = samplePdf(['labops-sandbox: stuck']);
  const host = await startFileHost(Buffer.concat([head, Buffer.alloc(2_000_000 - head.length, '%')]));
  const service = createLabService({ baseUrl: lab.service.url, apiKey: lab.service.apiKey });
  // Nobody but the service can then say that a code was right.
  await lab.sandbox.changeSettings({ connectionWebhooks: false });
  onTestFinished(async () => {
    await lab.sandbox.changeSettings({ connectionWebhooks: true });
    await Promise.all([host.close(), service.close()]);
  });
  await lab.worker.stop();
  await lab.startWorker({ ...usual, REPORT_URL_ALLOWED_HOSTS: host.host });
  const killed = lab.worker;
  const [registered, right, wrong] = [await lab.place(), await startLink(lab), await startLink(lab)];
  const { order: visited } = await service.orders.create(visitFor(await lab.newUser()));
  const visit = await lab.labs.appointments.start({ orderId: visited.id, policy: { bookingTimeout: '59s' } });
  const { slots } = await visit.slots();
  await Promise.all([right.logIn('mfa-sms'), wrong.logIn('mfa-sms')]);

  // It is killed long before the service is done, also on a busy machine.
  const slow = { kind: 'delay', delayMs: 60_000, phase: 'before_work' } as const;
  const paths = ['/v3/order/testkit', '/v3/order/testkit/register'];
  for (const path of paths) await lab.sandbox.addFault({ method: 'POST', path, times: 1, action: slow });
  await lab.sandbox.addFault({ method: 'POST', path: completeMfaPath, times: 2, action: slow });
  const book = `/v3/order/${visited.id}/phlebotomy/appointment/book`;
  const booked = { method: 'POST', path: book, times: 1, action: { ...slow, phase: 'after_work' } } as const;
  await lab.sandbox.addFault(booked);
  await lab.sandbox.clearRequests();
  const calls = async () => (await lab.sandbox.requests({ method: 'POST' })).map(({ path }) => path);
  const timesOf = async (path: string) => (await calls()).filter((each) => each === path).length;
  const { kit_sample_id: sampleId } = await lab.sandbox.order(registered.orderId);
  const registering = registered.handle.register({ registration: registration(sampleId ?? '') });
  const booking = visit.choose({ slotId: slots.at(-1)?.id ?? '' });
  const answers = [right.submit(rightCode), wrong.submit(wrongCode)] as const;
  const [userId, uploader] = await Promise.all([lab.newUser(), lab.newUser()]);
  const handle = await lab.labs.orders.place(kitFor(userId, `two-workers-${userId}`, { creationTimeout: '59s' }));
  for (const path of [...paths, book]) await expect.poll(() => timesOf(path), patience).toBe(1);
  await expect.poll(() => codesSent(lab), patience).toBe(2);
  const upload = { reference: `killed-${uploader}`, userId: uploader, file: { url: `${host.url}/slow` } };
  const quick = { uploadTimeout: '25s', creationTimeout: '6s', lostAnswerWait: '9s' } as const;
  const report = await lab.labs.reports.submit({ ...upload, policy: quick });
  await expect.poll(() => host.slowBytes(), patience).toBeGreaterThan(300_000);
  expect(await killed.stop('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
  const jobs = async () => (await lab.sandbox.jobs()).filter((job) => job.user_id === uploader);
  const open = async () =>
    (await lab.sandbox.linkTokens()).filter(({ state }) => state === 'open').map((token) => token.user_id);
  expect([await lab.ordersOf(userId), await jobs()], 'killed before the service was done').toEqual([[], []]);
  expect(await open(), 'killed before the service was done').toContain(right.userId);
  await expect.poll(open, patience).not.toContain(right.userId);
  await lab.startWorker({ ...usual, REPORT_URL_ALLOWED_HOSTS: host.host });

  const orderId = await handle.orderId();
  expect((await lab.ordersOf(userId)).map(({ order }) => order.id)).toEqual([orderId]);
  const placing = lab.rig.client.workflow.getHandle(placeKitOrderId(handle.reference ?? ''));
  expect(await placing.result()).toEqual({ orderId, adopted: true });
  await lab.sandbox.move(orderId, 'transit_customer');
  await follows({ handle }, orderId, 'in_transit_to_customer');
  expect(await registering).toMatchObject({ registered: true });
  // 40 seconds after the last heartbeat the worker is known to be gone; without heartbeats it would be after two minutes.
  expect(await timeOutsOf(registered.orderId)).toEqual([heartbeatTimeOut]);
  expect(await booking).toMatchObject({ phase: 'confirmed', appointment: { startAt: slots.at(-1)?.start } });
  for (const path of [...paths, book]) expect(await timesOf(path), path).toBe(1);

  const [connected, unknown] = await Promise.all(answers);
  expect(connected).toMatchObject({ outcome: 'connected' });
  expect(await right.handle.result()).toMatchObject({ outcome: 'connected' });
  expect(unknown).toMatchObject({ outcome: 'unknown', attemptsLeft: 3, state: { phase: 'awaiting_code' } });
  expect(await codesSent(lab)).toBe(2);
  expect(await wrong.submit(rightCode)).toMatchObject({ outcome: 'connected' });

  const jobId = await report.jobId();
  expect((await jobs()).map(({ id }) => id)).toEqual([jobId]);
  expect((await lab.sandbox.job(jobId)).files).toMatchObject([{ size: 2_000_000 }]);
  await lab.sandbox.moveJob(jobId, { status: 'completed', results: 'sample' });
  expect(await report.result()).toMatchObject({ outcome: 'completed' });
});

/** `TIMEOUT_TYPE_HEARTBEAT`. */
const heartbeatTimeOut = 4;

/** How the attempts of the order's activities timed out. */
async function timeOutsOf(orderId: string) {
  const { events } = await lab.rig.client.workflow.getHandle(kitOrderId(orderId)).fetchHistory();
  return (events ?? []).flatMap(
    ({ activityTaskTimedOutEventAttributes: ended, activityTaskStartedEventAttributes: started }) =>
      (ended?.failure ?? started?.lastFailure)?.timeoutFailureInfo?.timeoutType ?? [],
  );
}

test('a worker that keeps hardly any workflow in memory replays them step by step, and finishes them all', async () => {
  await startSmallWorker();
  const orders = await Promise.all(['1st', '2nd', '3rd', '4th', '5th'].map(() => lab.place()));
  let steps = 0;
  const before = way.count('GetWorkflowExecutionHistory');
  const allMove = async (status: string, phase: string) => {
    for (const placed of orders) {
      await lab.sandbox.move(placed.orderId, status);
      await follows(placed, placed.orderId, phase);
      steps += 1;
    }
  };
  await allMove('transit_customer', 'in_transit_to_customer');
  await allMove('with_customer', 'awaiting_registration');
  for (const { handle, orderId } of orders) {
    const { kit_sample_id: sampleId } = await lab.sandbox.order(orderId);
    expect(await handle.register({ registration: registration(sampleId ?? '') })).toMatchObject({ registered: true });
    steps += 1;
  }
  await allMove('transit_lab', 'in_transit_to_lab');
  await allMove('delivered_to_lab', 'at_lab');
  expect(way.count('GetWorkflowExecutionHistory') - before).toBeGreaterThanOrEqual(steps);
  for (const { orderId } of orders) await lab.sandbox.move(orderId, 'completed');
  for (const { handle, orderId, reference } of orders) {
    expect(await handle.result()).toMatchObject({ outcome: 'completed', orderId, reference });
    const notified = lab.receiver.about(orderId).map(({ id }) => id);
    expect(new Set(notified).size).toBe(notified.length);
  }
  expect(lab.worker.output()).not.toMatch(/nondeterminism/i);
});

test('a query that is answered between a signal and its workflow task leaves no workflow stuck', async () => {
  await startSmallWorker();
  const [queried, ...others] = await Promise.all([lab.place(), lab.place(), lab.place()]);
  const workflowId = kitOrderId(queried.orderId);
  const history = async () => (await lab.rig.client.workflow.getHandle(workflowId).fetchHistory()).events ?? [];
  await lab.sandbox.settleWebhooks();
  for (const { orderId } of [queried, ...others]) await lab.untilIdle(orderId);

  // A worker with so little room takes no workflow task while it reads a history.
  const [answer, answered] = await queryWhileForgotten();
  way.hold('PollWorkflowTaskQueue');
  await lab.sandbox.move(queried.orderId, 'transit_customer');
  await expect.poll(signalsSinceLastTask, patience).toBe(1);
  way.release('GetWorkflowExecutionHistory');
  await expect.poll(() => way.count('RespondQueryTaskCompleted'), patience).toBeGreaterThan(answered);
  await lab.sandbox.move(queried.orderId, 'with_customer');
  await expect.poll(signalsSinceLastTask, patience).toBe(2);
  way.release('PollWorkflowTaskQueue');

  expect(await answer()).toMatchObject({ orderId: queried.orderId });
  await follows(queried, queried.orderId, 'awaiting_registration');
  // A worker that has forgotten it has to replay the history.
  const read = way.count('GetWorkflowExecutionHistory');
  for (const { handle } of others) await handle.state();
  await lab.sandbox.move(queried.orderId, 'problem_in_transit_customer');
  await follows(queried, queried.orderId, 'in_transit_to_customer');
  expect(way.count('GetWorkflowExecutionHistory')).toBeGreaterThan(read);
  expect((await history()).filter(({ workflowTaskFailedEventAttributes: failed }) => failed)).toEqual([]);

  /** Asks for the state when the worker has forgotten the workflow; holds the history that the worker then asks for. */
  async function queryWhileForgotten(rounds = 5): Promise<[answer: () => Promise<unknown>, answered: number]> {
    if (rounds === 0) throw new Error('The worker never forgot the workflow');
    for (const { handle } of others) await handle.state();
    const before = way.count('RespondQueryTaskCompleted');
    way.hold('GetWorkflowExecutionHistory');
    let isAnswered = false;
    const answer = queried.handle.state().finally(() => (isAnswered = true));
    // A story that fails before it awaits the answer has one failure, its own.
    answer.catch(() => undefined);
    const isRead = () => way.held().some((message) => message.includes(workflowId));
    await expect.poll(() => isRead() || isAnswered, patience).toBe(true);
    if (isRead() && (await isIdle(lab.rig.client, workflowId))) return [() => answer, before];
    // Something, such as a late webhook, brought the workflow back into memory, or the history is read for its workflow task.
    way.release('GetWorkflowExecutionHistory');
    return queryWhileForgotten(rounds - 1);
  }

  async function signalsSinceLastTask(): Promise<number> {
    const events = await history();
    const isTask = events.map(({ workflowTaskCompletedEventAttributes: completed }) => Boolean(completed));
    const since = events.slice(isTask.lastIndexOf(true) + 1);
    return since.filter(({ workflowExecutionSignaledEventAttributes: signal }) => signal).length;
  }
});

test('a worker that stands still for longer than 5 seconds in mid-step goes on, and finishes it', async () => {
  const env = { TEMPORAL_ADDRESS: lab.rig.address };
  const worker = await startProgram('test/e2e/suspension/worker.ts', { env, ready: /polls/ });
  const workflow = await lab.rig.client.workflow.start('busy', {
    ...{ workflowId: 'busy', taskQueue: 'suspension' },
    // Temporal's own limit for a step, 10 seconds, is less than the pause and the step take on a slow machine.
    workflowTaskTimeout: '2 minutes',
  });
  await worker.waitFor(/a step has begun/);
  process.kill(worker.pid, 'SIGSTOP');
  // The SDK's own limit for a step is 5 seconds.
  await pause(6_000);
  const { status } = await workflow.describe();
  expect(status.name, 'stopped before the step has ended').toBe('RUNNING');
  process.kill(worker.pid, 'SIGCONT');
  await expect(workflow.result()).resolves.toEqual(expect.any(Number));
  expect(worker.output()).not.toMatch(/timed out|corrupted/);
  await worker.stop('SIGKILL');
});
