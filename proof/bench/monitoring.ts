import { monitoringUrl } from '../../test/rig/monitoring.js';
import { playMany } from './lifecycles.js';
import { playProject } from './lives.js';
import type { Measure } from './measure.js';
import { interleaved, type Case } from './rounds.js';
import type { Side } from './stage.js';

/** Shorter than Prometheus' usual pause (docs/monitoring.md has 30 s), because a shot takes some ten seconds. */
const scrapeEveryMs = 5_000;

/** Many, because a difference of two in a hundred is smaller than what a few orders differ from each other. */
const livesPerShot = 40;

export const monitoring: Measure = {
  name: 'monitoring',
  title: 'Monitoring: CPU of the worker process in ms per order, without metrics and with metrics that are scraped',
  onlyIfNamed: true,
  async run(stage, { rounds }) {
    const plain = await stage.startProject();
    const watched = await stage.startProject({ env: { METRICS_PORT: '0' } });
    const shotOf = (side: Side) => () => playMany(stage, side, playProject, livesPerShot);
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
