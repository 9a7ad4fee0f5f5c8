import { rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { findDevServer } from '../../sandbox/temporal/find.js';
import { build } from '../../test/rig/build.js';
import { findPostgres, installCommand, startPostgres } from '../../test/rig/postgres.js';
import { commandLine, positiveWholeNumber, wholeNumber } from '../../tools/command-line.js';
import { planOf, type Plan } from './plan.js';
import { defaultSettleMs, run, type RunOptions, type Verdict } from './run.js';
import { describeFault } from './schedule.js';
import { manyConnections, newFolder, openStage, type Stage } from './stage.js';

interface Given {
  seed: number;
  orders: number;
  seconds?: number;
  settle: number;
  print?: true;
}

const program = commandLine(
  'faults',
  'Plays orders, links, reports, visits and deletions twice, without faults and with those that the seed decides, and compares the two.',
)
  .option('--seed <number>', 'decides stories, pauses and faults', wholeNumber, 1)
  .option('--orders <number>', 'how many orders; other subjects come on top', wholeNumber, 50)
  .option(
    '--seconds <number>',
    'how long faults begin (default: 30, and half a second more for each order beyond 50)',
    wholeNumber,
  )
  .option(
    '--settle <seconds>',
    'within how many seconds after the last fault everything must have ended',
    positiveWholeNumber,
    defaultSettleMs / 1_000,
  )
  .option('--print', 'prints the plan and ends')
  .addHelpText('after', '\nExit status 1: something does not hold. The logs are kept then.');

async function main(): Promise<number> {
  const given = program.parse().opts<Given>();
  const { seed, orders, seconds = 30 + Math.max(0, Math.round((orders - 50) / 2)) } = given;
  const postgres = await findPostgres();
  const plan = planOf({ seed, orders, seconds, hasDatabase: postgres !== undefined });
  print(plan);
  if (given.print) return 0;
  if (postgres === undefined) {
    console.log(`without health data, because PostgreSQL is not installed: ${installCommand}`);
    return played(plan, given.settle * 1_000);
  }
  const server = await startPostgres(postgres, manyConnections);
  try {
    return await played(plan, given.settle * 1_000, server.url);
  } finally {
    await server.stop();
  }
}

function print({ seed, subjects, faults, clocks, lengthMs }: Plan): void {
  console.log(`seed ${seed}: ${subjects.length} subjects, ${faults.length} faults in ${lengthMs / 1_000} s`);
  for (const [part, aheadMs] of Object.entries(clocks)) {
    console.log(`  the clock of ${part} is ${(aheadMs / 1_000).toFixed(1)} s ahead of Temporal's`);
  }
  for (const fault of faults) console.log(`  ${describeFault(fault)}`);
}

async function played(plan: Plan, settleMs: number, databaseUrl?: string): Promise<number> {
  const folder = await newFolder(plan.seed);
  const folders = [folder];
  const interrupted = (): void => {
    // The processes end with this one.
    for (const each of folders) rmSync(each, { recursive: true, force: true });
    process.exit(130);
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  const { folder: buildFolder, remove } = await build();
  folders.push(buildFolder);
  try {
    const began = Date.now();
    const { clocks } = plan;
    const temporal = await findDevServer();
    const stage = await openStage({ buildFolder, folder, temporal, clocks, databaseUrl });
    const say = (text: string): void =>
      console.log(`${((Date.now() - began) / 1_000).toFixed(1).padStart(7)} s ${text}`);
    const verdict = await playedOn(stage, plan, { settleMs, say });
    report(verdict, Date.now() - began);
    if (verdict.violations.length > 0) {
      console.log(`Logs and database: ${folder}`);
      return 1;
    }
    await rm(folder, { recursive: true });
    return 0;
  } finally {
    await remove();
  }
}

async function playedOn(stage: Stage, plan: Plan, options: RunOptions): Promise<Verdict> {
  try {
    return await run(stage, plan, options);
  } catch (error) {
    // At once: what is closed below may end the process.
    console.log(`broke off: ${String(error)}`);
    throw error;
  } finally {
    await stage.close();
  }
}

function report({ violations, ...numbers }: Verdict, tookMs: number): void {
  console.log(JSON.stringify({ ...numbers, tookSeconds: Math.round(tookMs / 1_000), violations: violations.length }));
  for (const violation of violations) console.log(`- ${violation}`);
}

process.exitCode = await main();
