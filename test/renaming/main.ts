import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { projectFolder } from '../rig/processes.js';
import { areasOf, isOurs, type Area } from './areas.js';
import { Lane } from './lane.js';
import { knownSurvivors } from './survivors.js';
import { renamedSource, wireNamesOf, type Renaming } from './wire-names.js';

/*
 * `npm run renamings`: renames each name of the wire in service/ once, in a copy of the tree, and expects the tests of
 * its area to turn red. A survivor is a name that no test holds: it could be wrong and nobody would notice.
 *
 *   --file orders.ts      only this file of service/ (may be given again)
 *   --only user_id        only this name (may be given again)
 *   --parallel 2          copies that work at the same time; each keeps one processor core busy
 *   --verbose             also tells which test noticed
 *
 * Ends with exit code 1 where a name survived that `survivors.ts` does not explain, where one that it explains was
 * noticed after all, or where a suite is red before anything was renamed.
 */
const { values } = parseArgs({
  options: {
    file: { type: 'string', multiple: true },
    only: { type: 'string', multiple: true },
    parallel: { type: 'string', default: '2' },
    verbose: { type: 'boolean', default: false },
  },
});

interface Job {
  area: Area;
  text: string;
  renaming: Renaming;
}

interface Report {
  noticed: Job[];
  survivors: Job[];
  /** Of a file whose suite is red without any renaming. */
  unchecked: Job[];
}

const namesIn = async (file: string) => wireNamesOf(await source(file));

async function source(file: string): Promise<string> {
  return readFile(join(projectFolder, 'service', file), 'utf8');
}

async function jobs(): Promise<Job[]> {
  const wanted = values.file?.map((file) => file.replace(/^service\//, ''));
  const areas = (await areasOf(projectFolder, namesIn)).filter(({ file }) => wanted?.includes(file) ?? true);
  const all = await Promise.all(
    areas.map(async (area) => {
      const text = await source(area.file);
      return wireNamesOf(text).map((renaming) => ({ area, text, renaming }));
    }),
  );
  return all.flat().filter(({ area, renaming: { name } }) => {
    return !isOurs(area.file, name) && (values.only?.includes(name) ?? true);
  });
}

/** Takes jobs from the common queue until it is empty. */
async function work(queue: Job[], suites: Map<string, Promise<boolean>>): Promise<void> {
  const lane = await Lane.open(projectFolder);
  const isGreen = async ({ file, suite }: Area): Promise<boolean> => {
    const { green, by } = await lane.run(suite);
    if (!green) console.log(`service/${file}: its suite is red before anything was renamed: ${by ?? ''}`);
    return green;
  };
  try {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      const { area, text, renaming } = job;
      const suite = suites.get(area.file) ?? isGreen(area);
      suites.set(area.file, suite);
      if (!(await suite)) {
        report.unchecked.push(job);
        continue;
      }
      const { green, by } = await lane.runWith(`service/${area.file}`, renamedSource(text, renaming), area.suite);
      (green ? report.survivors : report.noticed).push(job);
      const done = report.survivors.length + report.noticed.length;
      if (done % 50 === 0) console.log(`${done} renamed, ${queue.length} to go`);
      if (green || values.verbose) console.log(`${lineOf(job)}  ${green ? 'SURVIVED' : by}`);
    }
  } finally {
    await lane.close();
  }
}

function lineOf({ area, renaming: { line, kind, name } }: Job): string {
  return `service/${area.file}:${line}  ${kind} ${name}`;
}

function isKnown({ area, renaming }: Job): boolean {
  return knownSurvivors.some(({ file, name }) => file === area.file && name === renaming.name);
}

const queue = await jobs();
const report: Report = { noticed: [], survivors: [], unchecked: [] };
const started = Date.now();
// Stopped by hand, it ends with what is under way, reports that, and leaves no copy behind.
process.once('SIGINT', () => (queue.length = 0));
const suites = new Map<string, Promise<boolean>>();
await Promise.all(Array.from({ length: Math.max(1, Number(values.parallel)) }, () => work(queue, suites)));

const { noticed, survivors, unchecked } = report;
const unexplained = survivors.filter((job) => !isKnown(job));
const explained = survivors.length - unexplained.length;
console.log(`
${noticed.length + survivors.length} names renamed in ${Math.round((Date.now() - started) / 1000)} s: ${noticed.length} noticed, \
${survivors.length} survived, ${explained} of them explained in test/renaming/survivors.ts`);
for (const job of unexplained) console.log(`not explained: ${lineOf(job)}`);
const stale = knownSurvivors.filter(({ file, name }) => {
  const is = (job: Job) => job.area.file === file && job.renaming.name === name;
  return noticed.some(is) && !survivors.some(is);
});
for (const { file, name } of stale) console.log(`explained, but noticed: service/${file}  ${name}`);
if (unchecked.length > 0) console.log(`${unchecked.length} names were not renamed: the suites of their files are red`);
process.exitCode = unexplained.length + stale.length + unchecked.length === 0 ? 0 : 1;
