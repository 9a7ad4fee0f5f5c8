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
    const lives = [await playBare(stage, bare), await playProject(stage, project)] as const;
    const bundles = [join(stage.folder, 'bare-bundle.js'), prebuiltFile];
    const cases: Case[] = [
      await caseOf('bare', undefined, bare, lives[0], bundles[0] ?? ''),
      await caseOf('project', 'bare', project, lives[1], bundles[1] ?? ''),
    ];
    await Promise.all([bare, project].map(({ process }) => process.stop()));
    for (const { shot } of cases) await shot();
    return interleaved(rounds, cases);
  },
};

async function caseOf(
  name: string,
  against: string | undefined,
  side: Side,
  life: Life,
  bundle: string,
): Promise<Case> {
  const code = await readFile(bundle, 'utf8');
  const ids = Object.values(life);
  const histories = await Promise.all(
    ids.map(async (workflowId) => ({
      workflowId,
      history: await side.temporal.workflow.getHandle(workflowId).fetchHistory(),
    })),
  );
  const events = histories.reduce((sum, { history }) => sum + (history.events?.length ?? 0), 0);
  const shot = async () => {
    const before = process.cpuUsage();
    const repeated = Array.from({ length: replaysPerShot }, () => histories).flat();
    for await (const { error } of Worker.runReplayHistories({ workflowBundle: { code } }, repeated)) {
      if (error) throw error;
    }
    const { user, system } = process.cpuUsage(before);
    const perOrder = (user + system) / 1000 / replaysPerShot;
    return { 'CPU ms': perOrder, 'events/CPU s': (events / perOrder) * 1000 };
  };
  return { name, ...(against !== undefined && { against }), shot };
}
