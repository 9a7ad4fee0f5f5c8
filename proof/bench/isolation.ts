import { createLabService, type LabService } from '../../client/index.js';
import { sideQueueName } from '../../protocol/task-queues.js';
import { serveHttp } from '../../sandbox/temporal/ports.js';
import { defaultInstallation } from '../../service/installation.js';
import { snapshotOf } from '../../service/order/projection.js';
import { registration, visitFor } from '../../test/rig/cast.js';
import { backlogName, type Backlog } from './backlog.js';
import { handOver } from './lives.js';
import { inParallel, type Measure, type MeasureOptions, type Measured, percentile } from './rounds.js';
import { bundle, type Side, type Stage } from './stage.js';

/* Commands, which a person waits for, beside a backlog that nobody waits for. */

const queuedReads = 10_000;
/** Temporal allows a workflow 2,000 pending activities. */
const readsOfWorkflow = 1_000;
const commandsOfKind = 150;
/** Callers at the same time. */
const callers = 3;
const readDelayMs = 20_000;
const patienceMs = 300_000;
const provider = 'invented_watch';
/** By the stand-in's conventions (docs/sandbox.md). */
const rightCode = '123456';

type Kind = 'register' | 'slots' | 'submitMfaCode';
/** A command that can be sent once. */
type Commands = Record<Kind, (() => Promise<unknown>)[]>;

export const isolation: Measure = {
  name: 'isolation',
  onlyIfNamed: true,
  title: `Isolation: ms until a command is answered, ${callers} callers at once, with ${queuedReads.toLocaleString('en')} reads in the background's queue and a receiver of notifications that hangs, against an idle worker`,
  async run(stage, options) {
    const service = createLabService(stage.service);
    try {
      const idle = await whileIdle(stage, service);
      return [...idle, ...(await besideBacklog(stage, service, options))];
    } finally {
      await service.close();
    }
  },
};

async function whileIdle(stage: Stage, service: LabService): Promise<Measured[]> {
  const side = await stage.startProject({ notifies: true });
  const latencies = await latenciesOf(await prepare(stage, side, service));
  await side.process.stop();
  return rowsOf(latencies, (kind) => ({ name: `${kind}, idle` }));
}

async function besideBacklog(stage: Stage, service: LabService, options: MeasureOptions): Promise<Measured[]> {
  const receiver = await startHangingReceiver();
  const side = await stage.startProject({ notifies: true, receiverUrl: receiver.url });
  const commands = await prepare(stage, side, service);
  const left = await queueReads(stage, side);
  const before = await left();
  const latencies = await latenciesOf(commands);
  options.say(`Reads in the queue: ${before} before the commands, ${await left()} after them`);
  options.say(`Deliveries that the receiver has left without an answer: ${receiver.received()}`);
  await receiver.close();
  await side.process.stop();
  return rowsOf(latencies, (kind) => ({ name: `${kind}, backlog`, against: `${kind}, idle` }));
}

/** Everything that comes before the commands. */
async function prepare(stage: Stage, side: Side, service: LabService): Promise<Commands> {
  const each = <T>(work: () => Promise<T>) => inParallel(commandsOfKind, callers, work);
  return {
    register: await each(() => readyToRegister(stage, side)),
    slots: await each(() => readyForSlots(stage, side, service)),
    submitMfaCode: await each(() => readyForCode(stage, side, service)),
  };
}

/** An order whose kit has arrived, and whose workflow has taken that in. */
async function readyToRegister({ sandbox }: Stage, side: Side): Promise<() => Promise<unknown>> {
  const { order: placed } = await sandbox.createOrder({ webhook: false });
  const moved = await sandbox.move(placed.id, { status: 'with_customer', webhook: false });
  const { order, kit_sample_id: sampleId } = moved;
  await handOver(side, snapshotOf(order, defaultInstallation), { notifies: true });
  const handle = await side.labs.orders.getHandle({ orderId: order.id });
  await handle.state();
  return () => handle.register({ registration: registration(sampleId ?? '') });
}

async function readyForSlots(stage: Stage, { labs }: Side, service: LabService): Promise<() => Promise<unknown>> {
  const { order } = await service.orders.create(visitFor(await stage.newUser()));
  const handle = await labs.appointments.start({ orderId: order.id });
  await handle.state();
  return () => handle.slots();
}

async function readyForCode(stage: Stage, { labs }: Side, service: LabService): Promise<() => Promise<unknown>> {
  const handle = await labs.links.start({ userId: await stage.newUser(), provider });
  const { linkToken } = await handle.url();
  const entered = { username: 'mfa-sms', password: 'invented-password' };
  await handle.reportLinkResult(await service.links.submitPassword(provider, linkToken, entered));
  return () => handle.submitMfaCode({ code: rightCode });
}

/** The kinds take turns, so whatever else the machine does affects them alike. */
async function latenciesOf(commands: Commands): Promise<Record<Kind, number[]>> {
  const latencies: Record<Kind, number[]> = { register: [], slots: [], submitMfaCode: [] };
  const kinds = Object.keys(latencies) as Kind[];
  const turns = Array.from({ length: commandsOfKind }, (_, index) => kinds.map((kind) => ({ kind, index }))).flat();
  await inParallel(turns.length, callers, async (turn) => {
    const { kind = 'register', index = 0 } = turns[turn] ?? {};
    const before = performance.now();
    await commands[kind][index]?.();
    latencies[kind].push(performance.now() - before);
  });
  return latencies;
}

function rowsOf(
  latencies: Record<Kind, number[]>,
  named: (kind: string) => Pick<Measured, 'name' | 'against'>,
): Measured[] {
  return Object.entries(latencies).map(([kind, values]) => ({
    ...named(kind),
    samples: { 'p50 ms': [percentile(values, 0.5)], 'p99 ms': [percentile(values, 0.99)] },
  }));
}

/**
 * Queues the reads, which the stand-in answers late, on the background's queue of a worker.
 * @returns how many of them have not been answered
 */
async function queueReads(stage: Stage, { taskQueue }: Side): Promise<() => Promise<number>> {
  const { order } = await stage.sandbox.createOrder({ webhook: false });
  const slow = { kind: 'delay', delayMs: readDelayMs, phase: 'before_work' } as const;
  await stage.sandbox.addFault({ method: 'GET', path: `/v3/order/${order.id}`, action: slow });
  const bare = await stage.startBare({ env: { BARE_BUNDLE: await bundle(stage.folder, 'backlog.ts') } });
  const workflowIds = Array.from({ length: queuedReads / readsOfWorkflow }, (_, index) => `backlog-${index}`);
  const readsFrom = sideQueueName(taskQueue, 'background');
  const input: Backlog = { readsFrom, orderId: order.id, reads: readsOfWorkflow };
  const { workflow } = bare.temporal;
  for (const workflowId of workflowIds)
    await workflow.start(backlogName, { workflowId, taskQueue: bare.taskQueue, args: [input] });
  const left = async () => {
    const all = await Promise.all(workflowIds.map((id) => workflow.getHandle(id).describe()));
    return all.reduce((sum, { raw }) => sum + (raw.pendingActivities ?? []).length, 0);
  };
  await untilQueued(left);
  await bare.process.stop();
  return left;
}

async function untilQueued(left: () => Promise<number>): Promise<void> {
  const deadline = Date.now() + patienceMs;
  // Some are answered while the rest is queued.
  const atLeast = queuedReads * 0.98;
  for (let queued = await left(); queued < atLeast; queued = await left()) {
    if (Date.now() > deadline) throw new Error(`${queued} reads were queued in ${patienceMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** A product's endpoint that takes every notification and answers none. */
async function startHangingReceiver(): Promise<{ url: string; received(): number; close(): Promise<void> }> {
  let received = 0;
  const { url, close } = await serveHttp(() => (received += 1));
  return { url: `${url}/notifications`, received: () => received, close };
}
