import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { requirePostgres, startPostgres } from '../../test/rig/postgres.js';
import { costOf } from './histories.js';
import { playBare, playProject, type Play } from './lives.js';
import { cpuMsOf, inParallel, type Measure, type Measured, interleaved, type Case } from './rounds.js';
import type { Side, Stage, WorkerOptions } from './stage.js';
import { monitoringUrl } from '../../test/rig/monitoring.js';

interface Variant extends WorkerOptions {
  name: string;
  against?: string;
  isBare?: true;
  /** Done during each shot. */
  meanwhile?: (side: Side) => Promise<void>;
}

const variants: readonly Variant[] = [
  { name: 'bare', isBare: true },
  { name: 'project', against: 'bare' },
  { name: 'project, notifies', against: 'bare', notifies: true },
  { name: 'bare, encrypted', isBare: true, encrypted: true },
  { name: 'project, encrypted', against: 'bare, encrypted', encrypted: true },
];

const livesPerShot = 16;
const atOnce = 6;

export const lifecycles: Measure = {
  name: 'lifecycles',
  title: 'Lifecycles: CPU of the worker process in ms per order, and orders per second on one worker',
  run: (stage, { rounds }) => compare(stage, rounds, variants),
};

export const monitoring: Measure = {
  name: 'monitoring',
  title: 'Monitoring: CPU of the worker process in ms per order, without metrics and with metrics that are scraped',
  onlyIfNamed: true,
  run: (stage, { rounds }) =>
    compare(stage, rounds, [
      { name: 'without metrics' },
      { name: 'with metrics', against: 'without metrics', env: { METRICS_PORT: '0' }, meanwhile: scrape },
    ]),
};

export const audit: Measure = {
  name: 'audit',
  title: 'Audit trail: CPU of the worker process in ms per order, with a database alone and with the trail',
  onlyIfNamed: true,
  async run(stage, { rounds }) {
    const server = await startPostgres(await requirePostgres('audit'));
    const env = { DATABASE_URL: server.url, HEALTH_DATA: undefined };
    const keys = `bench:${randomBytes(32).toString('base64')}`;
    const measured = await compare(stage, rounds, [
      { name: 'without the trail', env },
      { name: 'with the trail', against: 'without the trail', env: { ...env, AUDIT_KEYS: keys } },
    ]);
    await stage.stopWorkers();
    await requireRows(server.url);
    await server.stop();
    return measured;
  },
};

async function compare(stage: Stage, rounds: number, compared: readonly Variant[]): Promise<Measured[]> {
  const cases: Case[] = [];
  for (const variant of compared) {
    const [side, play] = await startSide(stage, variant);
    cases.push({ ...variant, shot: () => playMany(stage, side, play, variant) });
  }
  return interleaved(rounds, cases);
}

/** One life of each kind: nothing here depends on the machine. */
export const histories: Measure = {
  name: 'histories',
  title: 'Histories: events, billable actions and bytes per order, all workflows together',
  async run(stage) {
    const cases = [];
    for (const variant of variants) {
      const [side, play] = await startSide(stage, variant);
      const { events, actions, bytes } = await costOf(side.temporal, await play(stage, side));
      cases.push({ ...variant, shot: async () => ({ events, actions, bytes }) });
    }
    return interleaved(1, cases);
  },
};

async function startSide(stage: Stage, variant: Variant): Promise<[Side, Play]> {
  return variant.isBare ? [await stage.startBare(variant), playBare] : [await stage.startProject(variant), playProject];
}

async function playMany(stage: Stage, side: Side, play: Play, { meanwhile }: Variant): Promise<Record<string, number>> {
  const { pid } = side.process;
  const cpuBefore = await cpuMsOf(pid);
  const before = performance.now();
  await Promise.all([inParallel(livesPerShot, atOnce, () => play(stage, side)), meanwhile?.(side)]);
  const seconds = (performance.now() - before) / 1000;
  const cpu = (await cpuMsOf(pid)) - cpuBefore;
  return { 'worker ms': cpu / livesPerShot, 'orders/s': livesPerShot / seconds };
}

/** Without any row the two would be the same. */
async function requireRows(databaseUrl: string): Promise<void> {
  const database = new Client(databaseUrl);
  await database.connect();
  const { rows } = await database.query<{ count: number }>(
    'select count(*)::int as count from health_data.audit_trail',
  );
  await database.end();
  if (rows[0]?.count === 0) throw new Error('The audit trail has no rows');
}

async function scrape({ process }: Side): Promise<void> {
  const answer = await fetch(`${monitoringUrl(process)}/metrics`);
  if (!(await answer.text()).includes('labops_')) throw new Error('A scrape showed no metrics of ours');
}
