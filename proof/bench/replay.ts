import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { prebuiltFile } from './stage.js';
import { playBare, playProject, type Life } from './lives.js';
import { type Measure, interleaved, type Case } from './rounds.js';
import type { Side } from './stage.js';

const replaysPerShot = 10;

/** A worker that takes an order over from another, or has dropped it from its cache, replays its history first. */
export const replay: Measure = {
  name: 'replay',
  title: 'Replay: CPU in ms per order, and events per second of CPU',
  async run(stage, { rounds }) {
    Runtime.install({ logger: new DefaultLogger('ERROR') });
    const [bare, project] = [await stage.startBare(), await stage.startProject()];
    const bareBundle = join(stage.folder, 'bare-bundle.js');
    return interleaved(rounds, [
      { name: 'bare', shot: await shotOf(bare, await playBare(stage, bare), bareBundle) },
      {
        name: 'project',
        against: 'bare',
        shot: await shotOf(project, await playProject(stage, project), prebuiltFile),
      },
    ]);
  },
};

async function shotOf(side: Side, life: Life, bundle: string): Promise<Case['shot']> {
  const code = await readFile(bundle, 'utf8');
  const ids = Object.values(life);
  const histories = await Promise.all(
    ids.map(async (workflowId) => ({
      workflowId,
      history: await side.temporal.workflow.getHandle(workflowId).fetchHistory(),
    })),
  );
  const events = histories.reduce((sum, { history }) => sum + (history.events?.length ?? 0), 0);
  return async () => {
    const before = process.cpuUsage();
    const repeated = Array.from({ length: replaysPerShot }, () => histories).flat();
    for await (const { error } of Worker.runReplayHistories({ workflowBundle: { code } }, repeated)) {
      if (error) throw error;
    }
    const { user, system } = process.cpuUsage(before);
    const perOrder = (user + system) / 1000 / replaysPerShot;
    return { 'CPU ms': perOrder, 'events/CPU s': (events / perOrder) * 1000 };
  };
}
