import { randomUUID } from 'node:crypto';
import { stateQuery } from '../../protocol/order/messages.js';
import type { OrderPhase } from '../../protocol/order/state.js';
import { inParallel, type Measure, short, type Measured, cpuMsOf } from './rounds.js';
import type { Side, Stage } from './stage.js';
import { startIngress, type Endpoint, atOnce, secret } from './ingress.js';
import { signWebhook } from '../../client/testing.js';
import { kitOrderId } from '../../protocol/ids.js';
import { handOver, untilQuiet } from './lives.js';

/*
 * All workers of a fleet are restarted, as by a release, and every open order is taken over at its next event. A sample predicts
 * beforehand what that takes.
 */

const workers = 2;
const pauseMs = 100;

/** Workflows that each worker keeps in memory: the default. */
const maxCachedByDefault = 1_000;

/**
 * A sample of seconds would not know the minutes after it: a tenth of a large fleet. Its workers' caches are as much smaller: an
 * order that has left the cache before its work is done is replayed once more.
 */
function sampleOf(orders: number): Sample {
  const size = Math.max(100, Math.round(orders / 10));
  return {
    size,
    maxCached: Math.round(maxCachedByDefault * Math.min(1, size / orders)),
    warmingUp: Math.round(size * 0.4),
  };
}

interface Sample {
  size: number;
  maxCached: number;
  /** Its first orders compile the workers' code, which costs the same for every fleet. */
  warmingUp: number;
}

interface Reading {
  timeS: number;
  /** Of both workers. */
  cpuS: number;
}

interface Restart {
  /** Until both workers have ended. */
  stopS: number;
  /** Until both poll again. */
  start: Reading;
  /** Until every order of a wave shows its event. */
  waves: Reading[];
}

export const fleet: Measure = {
  name: 'fleet',
  onlyIfNamed: true,
  title: `Fleet: seconds until ${workers} workers have been stopped and started and every open order has taken one further event, and the workers' CPU`,
  async run(stage, { orders, say }) {
    const plan = sampleOf(orders);
    const { size, maxCached, warmingUp } = plan;
    const [sampled, many] = [size, orders].map((number) => `${number.toLocaleString('en')} orders`);
    const sample = await restartFleet(stage, [warmingUp, size - warmingUp], maxCached);
    const predicted = predictedFor(orders, sample, plan);
    say(`${sampled}: ${describe(sample)}`);
    say(`Predicted for ${many}: ${short(predicted.timeS)} s, ${short(predicted.cpuS)} s of CPU`);
    const restart = await restartFleet(stage, [orders], maxCachedByDefault);
    const measured = totalOf(restart);
    say(`${many}: ${describe(restart)}; each shows its event exactly once`);
    return [
      rowOf(`${sampled}, measured`, size, totalOf(sample)),
      rowOf(`${many}, predicted`, orders, predicted),
      rowOf(`${many}, measured`, orders, measured, predicted),
    ];
  },
};

/** The start and the first orders cost the same for every fleet, and each order after them as much as in the sample. */
function predictedFor(orders: number, sample: Restart, { size, warmingUp }: Sample): Reading {
  const { timeS, cpuS } = totalOf(sample);
  const { timeS: waveS, cpuS: waveCpuS } = sample.waves.at(-1) ?? { timeS: NaN, cpuS: NaN };
  const times = (orders - size) / (size - warmingUp);
  return { timeS: timeS + times * waveS, cpuS: cpuS + times * waveCpuS };
}

function totalOf({ stopS, start, waves }: Restart): Reading {
  const sum = (of: keyof Reading) => [start, ...waves].reduce((total, reading) => total + reading[of], 0);
  return { timeS: stopS + sum('timeS'), cpuS: sum('cpuS') };
}

function rowOf(name: string, orders: number, { timeS, cpuS }: Reading, predicted?: Reading): Measured {
  const percent = (is: number, was: number) => [Math.round((is / was - 1) * 100)];
  const samples = { 'time s': [timeS], 'CPU s': [cpuS], 'CPU ms per order': [(cpuS * 1000) / orders] };
  if (!predicted) return { name, samples };
  const off = { 'time, % off': percent(timeS, predicted.timeS), 'CPU, % off': percent(cpuS, predicted.cpuS) };
  return { name, samples: { ...samples, ...off } };
}

function describe({ stopS, start, waves }: Restart): string {
  const text = ({ timeS, cpuS }: Reading) => `${short(timeS)} s with ${short(cpuS)} s of CPU`;
  return `stopped in ${short(stopS)} s, started in ${text(start)}, events in ${waves.map(text).join(', then ')}`;
}

/**
 * @param waves the orders that get their event at once
 * @throws Error if an order does not show its event exactly once
 */
async function restartFleet(stage: Stage, waves: readonly number[], maxCached: number): Promise<Restart> {
  const taskQueue = `fleet-${randomUUID()}`;
  const startWorkers = () =>
    Promise.all(
      Array.from({ length: workers }, () =>
        stage.startProject({ taskQueue, env: { MAX_CACHED_WORKFLOWS: String(maxCached) } }),
      ),
    );
  const ingress = await startIngress(stage, taskQueue);
  const before = await startWorkers();
  const orders = await openFleet(
    firstOf(before),
    ingress,
    waves.reduce((sum, wave) => sum + wave),
  );

  const stopped = performance.now();
  await stopWorkers(before);
  const stopS = (performance.now() - stopped) / 1000;
  const started = performance.now();
  const after = await startWorkers();
  const start = { timeS: (performance.now() - started) / 1000, cpuS: await cpuOf(after) };

  const readings: Reading[] = [];
  let reported = 0;
  for (const wave of waves) {
    const due = orders.slice(reported, reported + wave);
    reported += wave;
    readings.push(await untilTaken(after, ingress, due, reported));
  }
  await requireEachOnce(after, orders);
  await Promise.all([stopWorkers(after), ingress.stop()]);
  return { stopS, start, waves: readings };
}

/** @param reported how many orders of the fleet have got their event then */
async function untilTaken(
  sides: readonly Side[],
  ingress: Endpoint,
  due: readonly OpenOrder[],
  reported: number,
): Promise<Reading> {
  const [before, cpuBefore] = [performance.now(), await cpuOf(sides)];
  await reportLast(ingress, due);
  await untilAllAre(sides, last.phase, reported);
  return { timeS: (performance.now() - before) / 1000, cpuS: (await cpuOf(sides)) - cpuBefore };
}

async function stopWorkers(sides: readonly Side[]): Promise<void> {
  await Promise.all(sides.map(({ process }) => process.stop()));
}

async function cpuOf(sides: readonly Side[]): Promise<number> {
  const each = await Promise.all(sides.map(({ process }) => cpuMsOf(process.pid)));
  return each.reduce((sum, ms) => sum + ms, 0) / 1000;
}

/** One count for all orders, asked of Temporal: it costs no worker anything. */
async function untilAllAre(sides: readonly Side[], phase: OrderPhase, orders: number): Promise<void> {
  const { temporal, taskQueue } = firstOf(sides);
  const patienceMs = 120_000 + orders * 1_000;
  const deadline = Date.now() + patienceMs;
  const query = `TaskQueue = '${taskQueue}' AND LabPhase = '${phase}'`;
  for (;;) {
    const { count: arrived } = await temporal.workflow.count(query);
    if (arrived === orders) return;
    if (Date.now() > deadline) throw new Error(`${arrived} of ${orders} orders have taken their event`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** By a query of each order: a worker answers it. */
async function requireEachOnce(sides: readonly Side[], orders: readonly OpenOrder[]): Promise<void> {
  const side = firstOf(sides);
  const times = await inParallel(orders.length, width, async (index) => {
    const { timeline } = await workflowOf(side, orders[index]).query(stateQuery);
    return timeline.filter(({ status }) => status === last.status).length;
  });
  const wrong = times.filter((each) => each !== 1).length;
  if (wrong > 0) throw new Error(`${wrong} of ${orders.length} orders do not show their event exactly once`);
}

function firstOf(sides: readonly Side[]): Side {
  const [side] = sides;
  if (!side) throw new Error('No worker was started');
  return side;
}

/* The open orders of a fleet, and the webhooks about them. */

const width = 20;

/** The status that every order has at last, and the phase that it brings, which no order has before. */
const last = { status: 'collecting_sample.testkit.with_customer', phase: 'with_customer' } as const;
const path = [
  'received.testkit.ordered',
  'collecting_sample.testkit.transit_customer',
  'collecting_sample.testkit.out_for_delivery',
  last.status,
];

/** Every third order has had two webhooks before the restart. */
const earlierStepsOf = (index: number): readonly number[] => (index % 3 === 0 ? [1, 2] : []);

interface OpenOrder {
  orderId: string;
  userId: string;
  /** When it was placed. */
  at: string;
}

/** Opened by the hand-over, and quiet. Each waits for the one before it: a fleet of thousands would be too long a backlog. */
async function openFleet(side: Side, ingress: Endpoint, orders: number): Promise<OpenOrder[]> {
  return inParallel(orders, width, async (index) => {
    const order = { orderId: randomUUID(), userId: randomUUID(), at: new Date().toISOString() };
    const { orderId, userId, at } = order;
    const events = [{ id: 0, at, status: path[0] ?? '' }];
    const snapshot = { orderId, userId, status: 'received', events, createdAt: at };
    await handOver(side, snapshot, { notifies: false });
    await untilQuiet(workflowOf(side, order));
    for (const step of earlierStepsOf(index)) {
      await report(ingress, [order], step);
      await untilQuiet(workflowOf(side, order));
    }
    return order;
  });
}

/** Sends the webhook of the last step to each order. */
function reportLast(ingress: Endpoint, orders: readonly OpenOrder[]): Promise<void> {
  return report(ingress, orders, path.length - 1);
}

/** As the service does: the whole order, with all its events so far. */
async function report(ingress: Endpoint, orders: readonly OpenOrder[], step: number): Promise<void> {
  await inParallel(orders.length, atOnce, async (index) => {
    const order = orders[index];
    if (order) await ingress.send(signWebhook({ body: bodyOf(order, step), secret }));
  });
}

function bodyOf({ orderId, userId, at }: OpenOrder, step: number): Record<string, unknown> {
  const events = path.slice(0, step + 1).map((status, id) => ({ id, created_at: at, status }));
  const [status = ''] = (path[step] ?? '').split('.', 1);
  const data = { id: orderId, user_id: userId, status, created_at: at, updated_at: new Date().toISOString(), events };
  return { event_type: 'labtest.order.updated', data };
}

function workflowOf({ temporal }: Side, order: OpenOrder | undefined) {
  return temporal.workflow.getHandle(kitOrderId(order?.orderId ?? ''));
}
