import type { Command } from 'commander';
import type { ReconcileProgress } from '../../workflows/reconcile/messages.js';
import type { CommandLine } from './command-line.js';
import { facts, moment } from './output.js';

/** Hears what an outage swallowed, for a range of time. */
export function reconcileCommand(program: Command, commandLine: CommandLine): void {
  program
    .command('reconcile')
    .description('compare orders updated in a range of time with what the workflows have heard, and tell them')
    .requiredOption('--from <time>', 'ISO 8601: a date (midnight in UTC), or a time with its zone')
    .requiredOption('--to <time>', 'the same; the day of a date is not included, nor the last ten minutes')
    .action(async (range: { from: string; to: string }) =>
      commandLine.run(async ({ lab, progress }) => {
        progress.say('reconciling');
        const { from, to } = range;
        const result = await lab.orders.reconcile({ from, to }, (come) => progress.say(lineOf(come)));
        commandLine.print(result, () =>
          facts([
            ['Compared up to', moment(result.watermark)],
            ['Listed', result.listed],
            ['Unfinished, told', result.told],
            ['Finished', result.finished],
            ['Finished, end unheard', result.reopened],
            ['Passed over', result.passedOver],
          ]),
        );
        if (result.passedOver > 0) commandLine.note("The worker's log warns of the orders that were passed over.");
      }, 'endless'),
    );
}

function lineOf({ listed, pagesToGo }: ReconcileProgress): string {
  return `reconciling: ${listed} orders${pagesToGo === undefined ? '' : `, ${pagesToGo} pages to go`}`;
}
