import type { Command } from 'commander';
import type { DeliveryState } from '../../protocol/notifications/delivery.js';
import type { ReplayNotificationsProgress } from '../../protocol/operators/notification-replay.js';
import type { UndeliveredSummary } from '../notifications/undelivered.js';
import type { CommandLine } from './command-line.js';
import { time } from './input.js';
import { addPageOptions, noteNext, type PageOptions, readPage } from './lists.js';
import { facts, moment, sections, table } from './output.js';

/** Notifications that could not be delivered before their workflow ended. */
export function notificationCommands(program: Command, commandLine: CommandLine): void {
  const notifications = program
    .command('notifications')
    .description('list, resend or discard undelivered notifications, or replay those that a product has lost');
  addPageOptions(notifications.command('list'))
    .description('list the workflows with undelivered notifications that are still being sent, newest first')
    .action(async (options: PageOptions) =>
      commandLine.run(async ({ lab }) => {
        const { found, rest } = await readPage(options, (page) => lab.notifications.list(page));
        commandLine.print({ workflows: found, ...rest }, () => undeliveredTable(found), found);
        noteNext(commandLine, 'workflows', rest);
      }),
    );
  notifications
    .command('show <workflow-id>')
    .description('show the undelivered notifications of a workflow, for instance kit-order/<order id>')
    .action(async (source: string) =>
      commandLine.run(async ({ lab }) => {
        const state = await lab.notifications.state(source);
        commandLine.print(state, () => deliveryText(state));
      }),
    );
  notifications
    .command('resend <workflow-id> [notification-id...]')
    .description('send notifications now, even those that the receiver refused; without ids, all of them')
    .action(async (source: string, ids: string[]) =>
      commandLine.send(mayHappen(source), async ({ lab }) => {
        const state = await lab.notifications.resend(source, ids.length > 0 ? { ids } : {});
        commandLine.print(state, () => deliveryText(state));
      }),
    );
  replayCommand(notifications, commandLine);
  notifications
    .command('discard <workflow-id> <notification-id...>')
    .description('drop notifications that nobody needs any more')
    .option('--yes', 'do not ask for a confirmation')
    .action(async (source: string, ids: string[], { yes }: { yes?: true }) => {
      const which = ids.length === 1 ? 'This notification' : `These ${ids.length} notifications`;
      await commandLine.confirm(`${which} will never be sent.`, yes === true);
      await commandLine.send(mayHappen(source), async ({ lab }) => {
        const state = await lab.notifications.discard(source, { ids });
        commandLine.print(state, () => deliveryText(state));
      });
    });
}

/** For a product that was restored from a backup, and has lost what it accepted since. */
function replayCommand(notifications: Command, commandLine: CommandLine): void {
  notifications
    .command('replay')
    .description('send again, with their ids, what the product accepted since a time; for a product that was restored')
    .requiredOption('--since <time>', 'ISO 8601: a date (midnight in UTC), or a time with its zone', time)
    .action(async ({ since }: { since: Date }) =>
      commandLine.send(
        'The replay may continue, for a day at most: the same command waits for its end',
        async ({ lab, progress }) => {
          progress.say('replaying');
          const onProgress = ({ notifications: sent, workflowsToGo }: ReplayNotificationsProgress): void =>
            progress.say(`replaying: ${sent} notifications, ${workflowsToGo ?? 'all'} workflows to go`);
          const result = await lab.notifications.replay({ since }, { onProgress });
          commandLine.print(result, () =>
            facts([
              ['Sent again', result.notifications],
              ['From workflows', result.workflows],
              ['Histories that cannot be read', result.unreadable],
            ]),
          );
          commandLine.note('They are being delivered: `labops notifications list` shows what has not arrived.');
        },
        'endless',
      ),
    );
}

function mayHappen(source: string): string {
  return `The command may be carried out nevertheless: \`labops notifications show ${source}\` shows what is undelivered`;
}

function undeliveredTable(found: readonly UndeliveredSummary[]): string {
  if (found.length === 0) return 'No undelivered notifications.';
  return table(
    ['Workflow', 'Since'],
    found.map(({ source, since }) => [source, moment(since)]),
  );
}

function deliveryText({ undelivered, triedUntil, delivered, discarded }: DeliveryState): string {
  return sections(
    table(
      ['Id', 'Type', 'Time', 'Refused with'],
      undelivered.map(({ id, type, at, refusedWith }) => [id, type, moment(at), refusedWith ?? '']),
    ),
    facts([
      ['Retried until', moment(triedUntil)],
      ['Delivered', delivered],
      ['Discarded', discarded],
    ]),
  );
}
