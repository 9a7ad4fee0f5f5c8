import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Measures what three changes of @temporalio/worker save when a bare workflow runs: README.md beside this file.
 *
 *     node measure.js [rounds]            the CPU of a replay, as the SDK is and with each patch
 *     node measure.js record [address]    records history.json again, at a Temporal server (127.0.0.1:7233)
 */

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);
const historyFile = join(here, 'history.json');
const patches = ['stacks-on-demand', 'no-watchdog', 'one-reply'];
const variants = { 'as it is': [], ...Object.fromEntries(patches.map((name) => [name, [name]])), 'all three': patches };
const warmUp = 10;
const replays = 40;

const [mode = '8', argument] = process.argv.slice(2);
if (mode === 'record') await record(argument ?? '127.0.0.1:7233');
else if (mode === 'replay') await replay(argument, process.argv[4]);
else measure(Number(mode));

/** Every variant in every round, in reverse order in every second one; each in a process of its own. */
function measure(rounds) {
  const folders = Object.entries(variants).map(([name, applied]) => [name, variant(name, applied)]);
  const readings = new Map(folders.map(([name]) => [name, []]));
  try {
    for (let round = 0; round < rounds; round += 1) {
      const order = round % 2 === 0 ? folders : folders.toReversed();
      for (const [name, folder] of order) {
        const timeout = variants[name].includes('no-watchdog') ? '0' : '5s';
        const text = execFileSync(process.execPath, [fileURLToPath(import.meta.url), 'replay', folder, timeout]);
        readings.get(name).push(Number(text));
      }
    }
  } finally {
    for (const [, folder] of folders) rmSync(folder, { recursive: true, force: true });
  }
  const bare = readings.get('as it is');
  for (const [name, each] of readings) {
    const ratios = each.map((cpu, round) => cpu / bare[round]);
    process.stdout.write(`${name.padEnd(18)} ${spread(each, 1)} ms   × ${spread(ratios, 2)}\n`);
  }
}

/** A copy of the installed package with patches applied, beside it: so it finds what it depends on. */
function variant(name, applied) {
  const installed = dirname(require.resolve('@temporalio/worker/package.json'));
  const folder = join(installed, '..', `.worker-${name.replaceAll(' ', '-')}`);
  rmSync(folder, { recursive: true, force: true });
  cpSync(installed, folder, { recursive: true });
  for (const patch of applied) {
    execFileSync('git', ['apply', join(here, `${patch}.patch`)], {
      cwd: folder,
      // Within a repository git would skip files outside of it, or ignored ones.
      env: { ...process.env, GIT_CEILING_DIRECTORIES: dirname(folder) },
    });
  }
  return folder;
}

async function replay(folder, isolateExecutionTimeout) {
  const { Worker, Runtime, DefaultLogger } = require(folder);
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const history = JSON.parse(readFileSync(historyFile, 'utf8'));
  const options = { workflowsPath: join(here, 'workflow.js'), isolateExecutionTimeout };
  const histories = Array.from({ length: warmUp + replays }, (_, n) => ({ workflowId: `bare-${n}`, history }));
  let done = 0;
  let before;
  for await (const { error } of Worker.runReplayHistories(options, histories)) {
    if (error) throw error;
    done += 1;
    if (done === warmUp) before = process.cpuUsage();
  }
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(String((user + system) / 1000 / replays));
  process.exit();
}

async function record(address) {
  const { Connection, Client } = require('@temporalio/client');
  const { NativeConnection, Worker } = require('@temporalio/worker');
  const { historyToJSON } = require('@temporalio/common/lib/proto-utils');
  const worker = await Worker.create({
    connection: await NativeConnection.connect({ address }),
    taskQueue: 'bare',
    identity: 'bare',
    workflowsPath: join(here, 'workflow.js'),
    activities: { step: (n) => Promise.resolve(n) },
  });
  const client = new Client({ connection: await Connection.connect({ address }), identity: 'bare' });
  await worker.runUntil(async () => {
    const rounds = 10;
    const handle = await client.workflow.start('bare', {
      taskQueue: 'bare',
      workflowId: `bare-${Date.now()}`,
      args: [rounds],
    });
    for (let round = 0; round < rounds; round += 1) {
      await handle.signal('event');
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    await handle.result();
    const history = JSON.parse(historyToJSON(await handle.fetchHistory()));
    writeFileSync(historyFile, `${JSON.stringify(history)}\n`);
  });
  process.exit();
}

function spread(numbers, digits) {
  const sorted = numbers.toSorted((one, other) => one - other);
  const middle = sorted[Math.floor(sorted.length / 2)];
  return `${middle.toFixed(digits)} (${sorted[0].toFixed(digits)}–${sorted.at(-1).toFixed(digits)})`;
}
