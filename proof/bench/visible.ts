import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { kitOrderId } from '../../protocol/ids.js';
import { orderChangedSignal, stateQuery } from '../../protocol/order/messages.js';
import { labTestIds } from '../../sandbox/lab-service/seed.js';
import type { OrderSnapshot } from '../../service/order/snapshot.js';
import { bareOrderName, bareStateQuery, eventSignal } from './bare-order.js';
import { handOver, untilQuiet } from './lives.js';
import { type Measure, interleaved, type Case, cpuMsOf, percentile } from './rounds.js';
import type { Side, Stage } from './stage.js';

const ordersPerShot = 20;

/** The least that the project's worker takes: each of the orders has left the cache when its next event comes. */
const notCached = { MAX_CACHED_WORKFLOWS: '2' };

/** An open order: what sends it an event, and what it shows at last. */
export interface Open {
  workflow: WorkflowHandle;
  report(step: number): Promise<void>;
  shown(): Promise<string | undefined>;
}

/** In the order of a kit's life; the first is the order's own. */
export const statuses = [
  'received.testkit.ordered',
  'collecting_sample.testkit.transit_customer',
  'collecting_sample.testkit.out_for_delivery',
  'collecting_sample.testkit.with_customer',
];

export const visible: Measure = {
  name: 'visible',
  title: `Event to visible state: ms from the signal of an event to the answer of a query that shows it, and ms of the worker's CPU`,
  async run(stage, { rounds }) {
    const cases: Case[] = [];
    for (const { suffix, env } of [
      { suffix: '', env: {} },
      { suffix: ', not cached', env: notCached },
    ]) {
      const bare = await stage.startBare({ env });
      const project = await stage.startProject({ env });
      cases.push(
        { name: `bare${suffix}`, shot: () => latenciesOf(bare, () => openBare(stage, bare)) },
        {
          ...{ name: `project${suffix}`, against: `bare${suffix}` },
          shot: () => latenciesOf(project, () => openProject(project)),
        },
      );
    }
    return interleaved(rounds, cases);
  },
};

/** One event after the other. */
async function latenciesOf(side: Side, open: () => Promise<Open>): Promise<Record<string, number>> {
  const orders: Open[] = [];
  while (orders.length < ordersPerShot) orders.push(await open());
  const latencies: number[] = [];
  const cpuBefore = await cpuMsOf(side.process.pid);
  for (let step = 1; step < statuses.length; step += 1) {
    for (const order of orders) {
      const before = performance.now();
      await order.report(step);
      if ((await order.shown()) !== statuses[step]) throw new Error(`A query does not show ${statuses[step]}`);
      latencies.push(performance.now() - before);
    }
  }
  const cpu = (await cpuMsOf(side.process.pid)) - cpuBefore;
  return {
    'p50 ms': percentile(latencies, 0.5),
    'p99 ms': percentile(latencies, 0.99),
    'CPU ms': cpu / latencies.length,
  };
}

export async function openProject(side: Side): Promise<Open> {
  const [orderId, userId, createdAt] = [randomUUID(), randomUUID(), new Date().toISOString()];
  const snapshotAt = (step: number): OrderSnapshot => ({
    ...{ orderId, userId, createdAt },
    status: (statuses[step] ?? '').split('.')[0] ?? '',
    events: statuses.slice(0, step + 1).map((status, id) => ({ id, at: createdAt, status })),
  });
  await handOver(side, snapshotAt(0), { notifies: false });
  const workflow = await quiet(side.temporal.workflow.getHandle(kitOrderId(orderId)));
  return {
    workflow,
    report: (step) => workflow.signal(orderChangedSignal, snapshotAt(step)),
    shown: async () => (await workflow.query(stateQuery)).timeline.at(-1)?.status,
  };
}

export async function openBare(stage: Stage, { temporal, taskQueue }: Side): Promise<Open> {
  const reference = `visible-${randomUUID()}`;
  const input = { reference, userId: await stage.newUser(), labTestId: labTestIds.kit };
  const workflowId = `bare-order/${reference}`;
  const workflow = await quiet(await temporal.workflow.start(bareOrderName, { workflowId, taskQueue, args: [input] }));
  return {
    workflow,
    report: (step) => workflow.signal(eventSignal, { status: statuses[step] ?? '', at: new Date().toISOString() }),
    shown: async () => (await workflow.query(bareStateQuery)).status,
  };
}

async function quiet(workflow: WorkflowHandle): Promise<WorkflowHandle> {
  await untilQuiet(workflow);
  return workflow;
}
