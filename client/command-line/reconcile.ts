import type { Command } from 'commander';
import type { ReconcileProgress } from '../../protocol/reconcile.js';
import type { EarlierFailure } from '../order/reconciliation.js';
import type { CommandLine } from './command-line.js';
import { facts, moment } from './output.js';

const goesOn = 'The reconciliation may continue: the same command waits for the end of the run that has begun';

/** Catches up on the webhooks of a range of time that an outage lost. */
export function reconcileCommand(orders: Command, commandLine: CommandLine): void {
  orders
    .command('reconcile')
    .description('compare the orders updated in a time range with what the workflows know, and notify them')
    .requiredOption('--from <time>', 'ISO 8601: a date (midnight in UTC), or a time with its zone')
    .requiredOption('--to <time>', 'the same; the range ends before it, and at least ten minutes ago')
    .action(async (range: { from: string; to: string }) => {
      const { failureLine } = await import('./failures.js');
      await commandLine.send(
        goesOn,
        async ({ lab, progress }) => {
          progress.say('reconciling');
          const { from, to } = range;
          const onProgress = (come: ReconcileProgress): void => progress.say(lineOf(come));
          const onEarlierFailure = ({ at, error }: EarlierFailure): void => {
            commandLine.note(
              `The last run for this range failed at ${moment(at)}. ${failureLine(error)} Another run is started.`,
            );
            progress.resume();
          };
          const result = await lab.orders.reconcile({ from, to }, { onProgress, onEarlierFailure });
          commandLine.print(result, () =>
            facts([
              ['Compared up to', moment(result.watermark)],
              ['Listed', result.listed],
              ['Unfinished, notified', result.notified],
              ['Finished', result.finished],
              ['Finished, notified because the end was missed', result.reopened],
              ['Skipped', result.passedOver],
              ['Critical', result.critical],
              ['Match reviews', result.matchReviews],
            ]),
          );
          if (result.passedOver > 0) commandLine.note("The worker's log says why orders were skipped.");
        },
        'endless',
      );
    });
}

function lineOf({ listed, pagesToGo }: ReconcileProgress): string {
  return `reconciling: ${listed} orders${pagesToGo === undefined ? '' : `, ${pagesToGo} pages to go`}`;
}
