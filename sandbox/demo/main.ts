import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Closing } from './closing.js';
import { readCommandLine, usage, UsageError, DemoConfigError, readDemoConfig } from './config.js';
import { Interrupted, runDemo } from './demo.js';
import { Keyboard, Screen } from './screen.js';

/** After that whatever still runs is killed by its watchdog as soon as this process has gone. */
const closeWithinMs = 20_000;

/** @returns the exit status: 0 if all succeeded, 1 if not, 2 for a wrong setting or argument, 128 + n by a signal */
async function main(screen: Screen): Promise<number> {
  const { once, act, help } = readCommandLine(process.argv.slice(2));
  if (help) {
    process.stdout.write(usage);
    return 0;
  }
  const config = readDemoConfig();
  const interrupted = interruption();
  const logFolder = await mkdtemp(join(tmpdir(), 'lab-operations-demo-'));
  const closing = new Closing();
  let status = 1;
  try {
    const keyboard = closing.use(
      () => new Keyboard({ input: process.stdin, screen, asks: !once }),
      async (opened) => opened.close(),
    );
    status = await runDemo({ once, act, config, logFolder, closing, screen, keyboard, interrupted });
  } catch (error) {
    status = explain(error, screen);
  } finally {
    await Promise.race([closing.close(), pause(closeWithinMs)]);
  }
  // A port that is busy is found before anything has written.
  if (status === 1 && (await readdir(logFolder)).length > 0) screen.line(`The logs of all processes: ${logFolder}`);
  else await rm(logFolder, { recursive: true });
  return status;
}

/** Settles at the first SIGINT or SIGTERM. A terminal and npm each pass Ctrl-C on: later ones are let pass, for the end has its own limit. */
function interruption(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, resolve);
  });
}

/** Says what went wrong, and answers with the exit status. */
function explain(error: unknown, screen: Screen): number {
  if (error instanceof Interrupted) {
    screen.line(`\n${error.signal}: stopping before the stories have ended.`);
    return 128 + constants.signals[error.signal];
  }
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`\n${message}\n`);
  return error instanceof UsageError || error instanceof DemoConfigError ? 2 : 1;
}

const screen = new Screen();
const status = await main(screen).catch((error: unknown) => explain(error, screen));
// An interrupted download or call must not keep the process alive.
process.exit(status);
