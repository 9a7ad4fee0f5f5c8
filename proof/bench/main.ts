import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { Option } from 'commander';
import { stopProcesses } from '../../test/rig/processes.js';
import { commandLine, positiveWholeNumber } from '../../tools/command-line.js';
import { audit, histories, lifecycles, monitoring } from './lifecycles.js';
import { fleet } from './fleet.js';
import { fold } from './fold.js';
import { ingress } from './ingress.js';
import { isolation } from './isolation.js';
import { openOrders } from './open-orders.js';
import { replay } from './replay.js';
import { type Measure, tableOf } from './rounds.js';
import { openStage } from './stage.js';
import { start } from './start.js';
import { store } from './store.js';
import { visible } from './visible.js';

/*
 * `npm run bench`: measures the project against a bare workflow of the same lifecycle, and prints a table for each measure
 * (docs/internals/performance.md). It runs programs of dist/, as in production.
 */

const measures: readonly Measure[] = [
  histories,
  lifecycles,
  visible,
  replay,
  fold,
  start,
  openOrders,
  ingress,
  store,
  fleet,
  isolation,
  monitoring,
  audit,
];

interface Given {
  only: string[];
  rounds: number;
  orders: number;
  json?: string;
}

const names = measures.map(({ name }) => name);
const usual = measures.filter(({ onlyIfNamed }) => !onlyIfNamed).map(({ name }) => name);
const { only, rounds, orders, json } = commandLine(
  'bench',
  'Measures the project against a bare workflow of the same lifecycle.',
)
  .addOption(
    new Option('--only <names...>', 'these measures alone')
      .choices(names)
      .default(usual, 'all but fleet, isolation, monitoring and audit'),
  )
  .option('--rounds <number>', 'how often everything is measured', positiveWholeNumber, 8)
  .option('--orders <number>', 'open orders of the fleet', positiveWholeNumber, 500)
  .option('--json <file>', 'writes the results to it, too')
  .parse()
  .opts<Given>();

// Ctrl-C ends what was started, too.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void stopProcesses().finally(() => process.exit(130)));
}

const stage = await openStage();
const results = [];
try {
  for (const measure of measures) {
    if (!only.includes(measure.name)) continue;
    const measured = await measure.run(stage, { rounds, orders, say: (line) => console.log(line) });
    await stage.stopWorkers();
    results.push({ name: measure.name, title: measure.title, measured });
    console.log(`\n### ${measure.title}\n\n${tableOf(measured)}`);
  }
} finally {
  await stopProcesses();
  await stage.close();
}
const machine = `${cpus().length} CPUs, ${cpus()[0]?.model.trim() ?? 'unknown'}, Node ${process.versions.node}`;
const report = { at: new Date().toISOString(), machine, rounds, results };
if (json !== undefined) await writeFile(json, `${JSON.stringify(report, null, 2)}\n`);
