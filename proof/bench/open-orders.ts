import { randomUUID } from 'node:crypto';
import { kitOrderId } from '../../protocol/ids.js';
import type { OrderSnapshot } from '../../service/order/snapshot.js';
import { bareOrderName } from './bare-order.js';
import { handOver, untilQuiet } from './lives.js';
import { inParallel, type Measure, type Measured, residentMbOf } from './rounds.js';
import type { Side, Stage } from './stage.js';

/** Orders are opened in these steps, all of which the default cache of 1,000 holds. */
const steps = [100, 500];
const width = 20;

/** Opened by the hand-over, without a placing, and left alone. One reading: it is the process that grows, not the noise. */
export const openOrders: Measure = {
  name: 'open-orders',
  title: 'Open orders: resident memory of the worker in MB, with the default cache of 1,000',
  async run(stage) {
    const sides = [
      { name: 'bare', side: await stage.startBare(), open: openBare },
      { name: 'project', side: await stage.startProject(), open: openProject },
    ];
    const measured: Measured[] = [];
    for (const { name, side, open } of sides) {
      const samples: Record<string, number[]> = { 'MB at 0': [await residentMbOf(side.process.pid)] };
      let opened = 0;
      for (const step of steps) {
        await inParallel(step - opened, width, () => open(stage, side));
        opened = step;
        samples[`MB at ${step.toLocaleString('en')}`] = [await residentMbOf(side.process.pid)];
      }
      measured.push({ name, ...(name === 'project' && { against: 'bare' }), samples });
      await side.process.stop();
    }
    return measured;
  },
};

async function openProject(_stage: Stage, side: Side): Promise<void> {
  const orderId = randomUUID();
  const snapshot: OrderSnapshot = {
    orderId,
    userId: randomUUID(),
    status: 'received',
    events: [{ id: 1, at: new Date().toISOString(), status: 'received.testkit.ordered' }],
    createdAt: new Date().toISOString(),
  };
  await handOver(side, snapshot, { notifies: false });
  await untilQuiet(side.temporal.workflow.getHandle(kitOrderId(orderId)));
}

async function openBare(stage: Stage, { temporal, taskQueue }: Side): Promise<void> {
  const reference = `open-${randomUUID()}`;
  const input = { reference, userId: await stage.newUser(), labTestId: '7e570000-0000-4000-8000-000000000001' };
  const workflowId = `bare-order/${reference}`;
  await untilQuiet(await temporal.workflow.start(bareOrderName, { workflowId, taskQueue, args: [input] }));
}
