import type { Area, Connect } from './command-line.js';
import { run } from './program.js';
import { processTerminal } from './terminal.js';

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
