import { mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { LabOperations } from '../../client/index.js';
import { SandboxControl } from '../control.js';
import { Calendar } from './calendar.js';
import { Closing } from './closing.js';
import { readCommandLine, usage, UsageError, type CommandLine } from './command-line.js';
import { DemoConfigError, readDemoConfig, type DemoConfig } from './config.js';
import { ProgramFailed } from './processes.js';
import { Screen } from './screen.js';
import { PortsBusy, startServers, type Servers } from './servers.js';
import { OneAtATime, type Scenery } from './stage.js';
import { showAddresses, showEndings } from './summary.js';
import { isExact, takeTally } from './tally.js';
import { tellStories } from './telling.js';

/** How the demo ends: its exit status. */
const [asTold, notAsTold, badUsage] = [0, 1, 2];

const screen = new Screen();

/** Settles at the first SIGINT or SIGTERM. A terminal, npm and tsx each pass Ctrl-C on: the later ones are let pass. */
function interruption(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, resolve);
  });
}

async function main(): Promise<number> {
  const commandLine = readCommandLine(process.argv.slice(2));
  if (commandLine.help) {
    process.stdout.write(usage);
    return asTold;
  }
  const config = readDemoConfig();
  const interrupted = interruption();
  const logFolder = await mkdtemp(join(tmpdir(), 'lab-operations-demo-'));
  const closing = new Closing();
  const stopping = new AbortController();
  let status = notAsTold;
  try {
    const performed = perform(config, commandLine, { logFolder, closing, signal: stopping.signal, interrupted });
    const ended = await Promise.race([performed, interrupted]);
    status = typeof ended === 'number' ? ended : 128 + constants.signals[ended];
    if (typeof ended !== 'number') screen.line(`\n${ended}: the demo ends before its stories do.`);
  } finally {
    stopping.abort();
    await closing.close();
  }
  if (status !== notAsTold) await rm(logFolder, { recursive: true });
  return status;
}
