import { appendFileSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import { defaultTaskQueue } from '../../protocol/task-queues.js';
import { isProduction, readActor, requireActor, readReadsFile } from '../config.js';
import { appointmentCommands } from './appointments.js';
import { completionCommand } from './completion.js';
import {
  CommandLine,
  outputOption,
  timeFormatOption,
  type Area,
  type Connect,
  type GlobalOptions,
} from './command-line.js';
import { Ended, type ExitCode, exitCodes, UsageError } from './failures.js';
import { keyCommands } from './keys.js';
import { linkCommands } from './links.js';
import { duration } from './input.js';
import { notificationCommands } from './notifications.js';
import { matchReviewCommands } from './match-reviews.js';
import { orderCommands } from './orders.js';
import { placingCommands } from './placing-stop.js';
import { rejectedEventCommands } from './rejected-events.js';
import { reportCommands } from './reports.js';
import { type Terminal, processTerminal } from './terminal.js';
import { userCommands } from './users.js';
import { webhookCommands } from './webhooks.js';
import { isReference } from '../../protocol/ids.js';
import type { ReadRecord } from '../../service/reads.js';

/** That of the package; a test holds the two together. */
export const version = '0.1.0';

/** Their answers say something of a person, also those of commands, which answer with the state: LABOPS_READS_FILE records who gets one. */
const areasOfPersons: readonly Area[] = [
  orderCommands,
  linkCommands,
  reportCommands,
  userCommands,
  appointmentCommands,
  matchReviewCommands,
];
const otherAreas: readonly Area[] = [
  notificationCommands,
  placingCommands,
  webhookCommands,
  rejectedEventCommands,
  keyCommands,
];

const about = `Operates the lab-operations worker. It connects to Temporal only, with Temporal's own settings:
TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS…, or a profile of temporal.toml.
If the worker encrypts, set LABOPS_ENCRYPTION_KEYS to its keys.`;

const exitStatus = `
Exit status: 0 done; 1 the command did not succeed; 2 the command line, a file or a setting is invalid;
130 interrupted by Ctrl-C.`;

/** A blank TASK_QUEUE is not set. */
function taskQueueOption(): Option {
  return new Option('--task-queue <name>', 'task queue of the worker')
    .env('TASK_QUEUE')
    .default(defaultTaskQueue)
    .argParser((name) => name.trim() || defaultTaskQueue);
}

const actorMissing =
  'No actor is given, and production requires one: give your id, never a name, as --actor or LABOPS_ACTOR. Nothing was sent';

/**
 * The whole program, with all its commands. Nothing is connected before a command runs.
 * @param workerCommands adds `doctor`, `replay`, `migrate`, `service` and `audit`, which need no actor; without it they say where they are
 */
export function createProgram(
  terminal: Terminal,
  connect: Connect,
  isJson = false,
  workerCommands: Area = refusedCommands,
): Command {
  const program = new Command('labops');
  program
    .description(about)
    .version(version)
    .addOption(outputOption())
    .addOption(timeFormatOption())
    .option('--address <host:port>', "Temporal's address (default: TEMPORAL_ADDRESS, else localhost:7233)")
    .option('--namespace <name>', "Temporal's namespace (default: TEMPORAL_NAMESPACE, else default)")
    .option('--profile <name>', "profile of Temporal's configuration file (default: TEMPORAL_PROFILE, else default)")
    .option(
      '--identity <name>',
      'who calls, as histories show it: no name of a person (default: the actor, else process and host)',
    )
    .option(
      '--actor <id>',
      'your id, never a name: histories show who did what (default: LABOPS_ACTOR; production requires one)',
    )
    .addOption(taskQueueOption())
    .option(
      '--timeout <duration>',
      'how long to wait for an answer, such as 90s (default: depends on the command)',
      duration,
    )
    .option('--verbose', 'print stack traces of errors')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => terminal.out(text),
      writeErr: (text) => {
        if (!isJson) terminal.err(text);
      },
      // Faults of the command line are reported like any other error: see `report`.
      outputError: () => undefined,
    })
    .addHelpText('after', exitStatus)
    .exitOverride();
  const commandLine = new CommandLine(terminal, connect, () => optionsOf(program));
  for (const area of areasOfPersons) area(program, commandLine);
  const ofPersons = [...program.commands];
  for (const area of otherAreas) area(program, commandLine);
  for (const area of program.commands) {
    area.hook('preAction', (_area, command) => {
      const { actor } = optionsOf(program);
      if (actor === undefined && isProduction()) throw new UsageError(actorMissing);
      requireActor(actor);
      if (ofPersons.includes(area)) recordRead(command, actor);
    });
  }
  workerCommands(program, commandLine);
  completionCommand(program, commandLine);
  return program;
}

/** The setting LABOPS_ACTOR counts as if it was given as --actor. */
function optionsOf(program: Command): GlobalOptions {
  const actor = readActor();
  return { ...(actor !== undefined && { actor }), ...program.opts<GlobalOptions>() };
}

/** Appends one line of JSON to the file LABOPS_READS_FILE before the command begins: what cannot be recorded is not shown. */
function recordRead(command: Command, actor: string | undefined): void {
  const file = readReadsFile();
  if (file === undefined) return;
  const { reference, user } = command.opts<{ reference?: string; user?: string }>();
  const subject = command.args[0] ?? reference ?? user;
  const record: ReadRecord = {
    at: new Date().toISOString(),
    ...(actor !== undefined && { actor }),
    what: `labops ${command.parent?.name()} ${command.name()}`,
    // Text that is not an id may be anything, such as a name.
    ...(isReference(subject) && { subject }),
  };
  try {
    appendFileSync(file, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw new UsageError(`The file of LABOPS_READS_FILE cannot be written (${code}): nothing was read or sent`);
  }
}

/** Runs one command line to its end. */
export async function run(
  argv: readonly string[],
  terminal: Terminal,
  connect: Connect,
  workerCommands?: Area,
): Promise<number> {
  // commander stops at the first fault, maybe before it has read the option.
  const isJson = /(^| )(-o ?|--output[ =])jsonl?( |$)/.test(argv.join(' '));
  const program = createProgram(terminal, connect, isJson, workerCommands);
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof Ended) return error.status;
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
    const { verbose } = program.opts<GlobalOptions>();
    return report(terminal, usageOf(error), { isJson, verbose: verbose === true });
  }
}

/** commander's errors are wrong usage; if it has printed the help already, nothing is added. */
function usageOf(error: unknown): unknown {
  if (!(error instanceof CommanderError)) return error;
  const message = error.code === 'commander.help' ? 'A command is missing' : error.message.replace(/^error: /, '');
  return new UsageError(message, { cause: error });
}

async function report(
  terminal: Terminal,
  error: unknown,
  how: { isJson: boolean; verbose: boolean },
): Promise<ExitCode> {
  const { exitCodeOf, failureLine, failureReport } = await import('./failures.js');
  const stack = how.verbose && error instanceof Error ? { stack: error.stack } : {};
  if (how.isJson) terminal.err(`${JSON.stringify({ error: { ...failureReport(error), ...stack } })}\n`);
  else terminal.err([failureLine(error), ...(stack.stack === undefined ? [] : [stack.stack]), ''].join('\n'));
  return exitCodeOf(error);
}

/** Says where these are: they need settings of the worker, which this package does not know. */
function refusedCommands(program: Command): void {
  for (const name of ['doctor', 'replay', 'migrate', 'service', 'audit']) {
    program
      .command(name)
      .description("only in the worker's repository or image")
      .allowUnknownOption()
      .allowExcessArguments()
      .action(() => {
        throw new UsageError(
          `\`labops ${name}\` is part of the worker, not of this package: run it in its image, or \`npm run ${name}\` in its repository`,
        );
      });
  }
}

/** Temporal's client is loaded for a command that connects: it takes longer than all else. */
const connect: Connect = async (options) => (await import('../lab-operations.js')).LabOperations.connect(options);

/** The exit status after a failed write. The reader may stop early, as `head` does; a full disk loses the answer. */
function statusAfter({ code = 'error' }: NodeJS.ErrnoException): number {
  if (code === 'EPIPE') return 0;
  process.stderr.write(`The answer could not be written (${code}).\n`);
  return 1;
}

/**
 * Runs this process as `labops`, to its end.
 * @param workerCommands see `createProgram`
 */
export function runLabops(workerCommands?: Area): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(statusAfter(error)));
  void run(process.argv.slice(2), processTerminal, connect, workerCommands).then((status) => {
    // A connection that still tries must not keep the process alive, and a pipe has to get all that was written before it.
    process.stdout.write('', () => {
      const { errored } = process.stdout;
      const last = errored === null ? status : statusAfter(errored);
      process.stderr.write('', () => process.exit(last));
    });
  });
}
