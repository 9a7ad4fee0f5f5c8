import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { projectFolder } from '../../test/rig/processes.js';
import { cpuMsOf, residentMbOf, type Measure, interleaved } from './rounds.js';
import type { Side } from './stage.js';

/** Until a program has printed its help, and until a worker polls. */
export const start: Measure = {
  name: 'start',
  title: 'Start: CPU in ms, and memory in MB, until the help is printed or the worker polls',
  run(stage, { rounds }) {
    const started = async (starting: Promise<Side>) => {
      const { process } = await starting;
      const used = { 'CPU ms': await cpuMsOf(process.pid), MB: await residentMbOf(process.pid) };
      await process.stop();
      return used;
    };
    return interleaved(rounds, [
      { name: "Temporal's client, imported", shot: () => cpuOf(['--eval', "import('@temporalio/client')"]) },
      {
        name: 'labops --help',
        against: "Temporal's client, imported",
        shot: () => cpuOf(['dist/workers/labops.js', '--help']),
      },
      { name: 'bare worker', shot: () => started(stage.startBare()) },
      { name: 'worker', against: 'bare worker', shot: () => started(stage.startProject()) },
    ]);
  },
};

/** The processor time of a program of this folder, from its start to its end. */
async function cpuOf(args: readonly string[]): Promise<Record<string, number>> {
  // It reports itself: once it has ended nobody else can ask.
  const report =
    "process.on('exit', () => { const u = process.cpuUsage(); process.stderr.write(`cpu:${u.user + u.system}`); })";
  const preload = ['--import', `data:text/javascript,${encodeURIComponent(report)}`];
  const child = spawn(process.execPath, [...preload, ...args], {
    cwd: projectFolder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  await once(child, 'close');
  return { 'CPU ms': Number(/cpu:(\d+)/.exec(output)?.[1]) / 1000 };
}
