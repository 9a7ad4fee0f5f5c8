import { join } from 'node:path';
import { untilQuiet } from './lives.js';
import { inParallel, interleaved, type Measure, residentMbOf } from './rounds.js';
import { builtFileOf, type Side } from './stage.js';
import { projectFolder } from '../../test/rig/processes.js';
import { openBare, openProject, statuses, type Open } from './visible.js';

const ordersPerShot = 100;
const width = 20;
const perThousand = 1_000 / ordersPerShot;

/** Each shot opens some more orders, which stay in the cache. */
export const openOrders: Measure = {
  name: 'open-orders',
  title: `Open orders: MB of the worker's memory per 1,000 cached orders with three events each, after a forced collection`,
  async run(stage, { rounds }) {
    const collector = join(projectFolder, 'dist', builtFileOf('collector'));
    const env = { NODE_OPTIONS: `--import ${collector}`, MAX_CACHED_WORKFLOWS: '100000' };
    const [bare, project] = [await stage.startBare({ env }), await stage.startProject({ env })];
    return interleaved(rounds, [
      { name: 'bare', shot: () => growthOf(bare, () => openBare(stage, bare)) },
      { name: 'project', against: 'bare', shot: () => growthOf(project, () => openProject(project)) },
    ]);
  },
};

async function growthOf(side: Side, open: () => Promise<Open>): Promise<Record<string, number>> {
  const before = await memoryOf(side);
  await inParallel(ordersPerShot, width, async () => {
    const order = await open();
    for (let step = 1; step < statuses.length; step += 1) {
      await order.report(step);
      await untilQuiet(order.workflow);
    }
  });
  const after = await memoryOf(side);
  return {
    'heap MB': (after.heapMb - before.heapMb) * perThousand,
    'resident MB': (after.residentMb - before.residentMb) * perThousand,
  };
}

/** The heaps of the main thread and of the one that runs workflows, and all that the process holds. */
async function memoryOf({ process: worker }: Side): Promise<{ heapMb: number; residentMb: number }> {
  worker.forget();
  process.kill(worker.pid, 'SIGHUP');
  const collected = [0, 1].map((thread) => worker.waitFor(new RegExp(`collected in thread ${thread}: (\\d+)\\n`)));
  const heaps = await Promise.all(collected);
  const bytes = heaps.reduce((sum, [, used]) => sum + Number(used), 0);
  return { heapMb: bytes / 2 ** 20, residentMb: await residentMbOf(worker.pid) };
}
