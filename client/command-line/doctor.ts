import type { Command } from 'commander';
import { UsageError } from './exit-codes.js';

/** Says where `doctor` is: it reads all settings of the worker, which this package does not know. */
export function doctorCommand(program: Command): void {
  program
    .command('doctor')
    .description("check a deployment and name each fault's remedy (in the worker's repository or image only)")
    .action(() => {
      throw new UsageError(
        '`labops doctor` is part of the worker, not of this package: run it in its image, or `npm run doctor` in its repository',
      );
    });
}
