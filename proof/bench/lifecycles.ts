import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { requirePostgres, startPostgres } from '../../test/rig/postgres.js';
import { costOf } from './histories.js';
import { playBare, playProject, type Play } from './lives.js';
import { cpuMsOf, inParallel, type Measure, interleaved, type Case } from './rounds.js';
import type { Side, Stage, WorkerOptions } from './stage.js';
import { monitoringUrl } from '../../test/rig/monitoring.js';

interface Variant {
  name: string;
  against?: string;
  isBare: boolean;
  options: WorkerOptions;
}

const variants: readonly Variant[] = [
  { name: 'bare', isBare: true, options: {} },
  { name: 'project', against: 'bare', isBare: false, options: {} },
  { name: 'project, notifies', against: 'bare', isBare: false, options: { notifies: true } },
  { name: 'bare, encrypted', isBare: true, options: { encrypted: true } },
  { name: 'project, encrypted', against: 'bare, encrypted', isBare: false, options: { encrypted: true } },
];

const livesPerShot = 12;
const atOnce = 6;

export const lifecycles: Measure = {
  name: 'lifecycles',
  title: 'Lifecycles: CPU of the worker process in ms per order, and orders per second on one worker',
  async run(stage, { rounds }) {
    const sides: Side[] = [];
    const cases: Case[] = [];
    for (const { name, against, isBare, options } of variants) {
      const side = await startSide(stage, isBare, options);
      sides.push(side);
      const play = isBare ? playBare : playProject;
      const shot = () => playMany(stage, side, play, livesPerShot);
      await shot(); // The first lives compile the code.
      cases.push({ name, ...(against !== undefined && { against }), shot });
    }
    const measured = await interleaved(rounds, cases);
    for (const { process } of sides) await process.stop();
    return measured;
  },
};

/** One life of each kind: nothing here depends on the machine. */
export const histories: Measure = {
  name: 'histories',
  title: 'Histories: events, billable actions and bytes per order, all workflows together',
  async run(stage) {
    const cases = [];
    for (const { name, against, isBare, options } of variants) {
      const side = await startSide(stage, isBare, options);
      const life = await (isBare ? playBare : playProject)(stage, side);
      const { events, actions, bytes } = await costOf(side.temporal, life);
      await side.process.stop();
      cases.push({ name, ...(against !== undefined && { against }), shot: async () => ({ events, actions, bytes }) });
    }
    return interleaved(1, cases);
  },
};

function startSide(stage: Stage, isBare: boolean, options: WorkerOptions): Promise<Side> {
  return isBare ? stage.startBare(options) : stage.startProject(options);
}

async function playMany(stage: Stage, side: Side, play: Play, count: number): Promise<Record<string, number>> {
  const { pid } = side.process;
  const cpuBefore = await cpuMsOf(pid);
  const before = performance.now();
  await inParallel(count, atOnce, () => play(stage, side));
  const seconds = (performance.now() - before) / 1000;
  const cpu = (await cpuMsOf(pid)) - cpuBefore;
  return { 'worker ms': cpu / count, 'orders/s': count / seconds };
}

/** Shorter than Prometheus' usual pause (docs/monitoring.md has 30 s), because a shot takes some ten seconds. */
const scrapeEveryMs = 5_000;

/** Many, because a difference of two in a hundred is smaller than what a few orders differ from each other. */
const manyLivesPerShot = 40;

export const monitoring: Measure = {
  name: 'monitoring',
  title: 'Monitoring: CPU of the worker process in ms per order, without metrics and with metrics that are scraped',
  onlyIfNamed: true,
  async run(stage, { rounds }) {
    const plain = await stage.startProject();
    const watched = await stage.startProject({ env: { METRICS_PORT: '0' } });
    const shotOf = (side: Side) => () => playMany(stage, side, playProject, manyLivesPerShot);
    const cases: Case[] = [
      { name: 'without metrics', shot: shotOf(plain) },
      { name: 'with metrics', against: 'without metrics', shot: () => scraping(watched, shotOf(watched)) },
    ];
    for (const { shot } of cases) await shot(); // The first lives compile the code.
    const measured = await interleaved(rounds, cases);
    for (const { process } of [plain, watched]) await process.stop();
    return measured;
  },
};

export const audit: Measure = {
  name: 'audit',
  title: 'Audit trail: CPU of the worker process in ms per order, with a database alone and with the trail',
  onlyIfNamed: true,
  async run(stage, { rounds }) {
    const server = await startPostgres(await requirePostgres('audit'));
    const database = { DATABASE_URL: server.url, HEALTH_DATA: undefined };
    const keys = `bench:${randomBytes(32).toString('base64')}`;
    const without = await stage.startProject({ env: database });
    const within = await stage.startProject({ env: { ...database, AUDIT_KEYS: keys } });
    const cases: Case[] = [
      { name: 'without the trail', shot: () => playMany(stage, without, playProject, manyLivesPerShot) },
      {
        ...{ name: 'with the trail', against: 'without the trail' },
        shot: () => playMany(stage, within, playProject, manyLivesPerShot),
      },
    ];
    for (const { shot } of cases) await shot(); // The first lives compile the code.
    const measured = await interleaved(rounds, cases);
    for (const { process } of [without, within]) await process.stop();
    await requireRows(server.url);
    await server.stop();
    return measured;
  },
};

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

/** Scrapes a worker while something else is done. */
async function scraping<Result>({ process }: Side, work: () => Promise<Result>): Promise<Result> {
  const url = `${monitoringUrl(process)}/metrics`;
  const scrapes: Promise<string>[] = [];
  const scrape = () => scrapes.push(fetch(url).then((answer) => answer.text()));
  scrape();
  const timer = setInterval(scrape, scrapeEveryMs);
  const result = await work().finally(() => clearInterval(timer));
  const pages = await Promise.all(scrapes);
  if (!pages.every((page) => page.includes('labops_'))) throw new Error('A scrape showed no metrics of ours');
  return result;
}
