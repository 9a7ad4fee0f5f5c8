import { Option, type Command } from 'commander';
import type {
  RejectedEventEntry,
  RejectedEventFilter,
  RejectedEventState,
  ReplayRejectedEventsResult,
} from '../../protocol/operators/rejected-events.js';
import type { CommandLine } from './command-line.js';
import { UsageError } from './failures.js';
import { count } from './input.js';
import { facts, moment, sections, table, words } from './output.js';
import { omitNullish } from '../../service/json-object.js';

interface Filter {
  type?: string;
  reason?: string;
  before?: string;
}

interface ListOptions extends Filter {
  state: RejectedEventState;
  limit: number;
}

interface ReplayOptions extends Filter {
  all?: true;
  limit?: number;
}

const states = ['waiting', 'replayed', 'discarded', 'expired'] as const;

/** Verified events that could not be handled. Their content stays in the worker's database. */
export function rejectedEventCommands(program: Command, commandLine: CommandLine): void {
  const rejected = program
    .command('rejected-events')
    .description('list, replay or discard verified webhooks that could not be handled');
  const filtered = (command: Command): Command =>
    command
      .option('--type <event-type>', 'only events of exactly this type')
      .option('--reason <reason>', 'only events whose reason starts with this, such as not_handled')
      .option('--before <id>', 'only events before this one: the `next` of the previous answer');

  filtered(rejected.command('list'))
    .description('list rejected events, newest first, and how many are waiting')
    .addOption(new Option('--state <state>', 'only events in this state').choices(states).default('waiting'))
    .option('--limit <number>', 'the most to show', count, 50)
    .action(async ({ state, limit, ...filter }: ListOptions) =>
      commandLine.run(async ({ lab }) => {
        const page = await lab.rejectedEvents.listPage({ ...filterOf(filter), state, limit });
        const inWords = () => sections(eventTable(page.events), facts([['Waiting in total', page.waiting]]));
        commandLine.print(page, inWords, page.events);
        if (page.next !== undefined) commandLine.note(`There may be more: --before ${page.next}`);
      }),
    );
  filtered(rejected.command('replay [event-id]'))
    .description('retry an event after the cause is fixed, or all that match')
    .option('--all', 'all waiting events that match the other options')
    .option('--limit <number>', 'the most to replay (default: 1000)', count)
    .action(async (id: string | undefined, options: ReplayOptions) => {
      const which = whichEvents(id, options);
      const goesOn = 'The replay may continue, for a day at most: `labops rejected-events list` shows what still waits';
      await commandLine.send(
        goesOn,
        async ({ lab, progress }) => {
          progress.say('replaying');
          const result = await lab.rejectedEvents.replay(which, {
            onProgress: ({ replayed, left }) =>
              progress.say(`replaying: ${countOf(replayed)} handled, ${countOf(left)} still waiting`),
          });
          commandLine.print(result, () => replayText(result));
          if (result.next !== undefined)
            commandLine.note(`The limit was reached: continue with --before ${result.next}`);
        },
        'endless',
      );
    });
  rejected
    .command('discard <event-id>')
    .description('discard an event: its content is erased, the reason stays')
    .requiredOption('--reason <text>', 'why it is discarded, for people who read it later; nothing personal')
    .option('--yes', 'do not ask for a confirmation')
    .action(async (id: string, { reason, yes }: { reason: string; yes?: true }) => {
      await commandLine.confirm(`The content of event ${id} will be erased.`, yes === true);
      const goesOn =
        'The event may be discarded nevertheless: `labops rejected-events list --state discarded` shows it then';
      await commandLine.send(goesOn, async ({ lab }) => {
        await lab.rejectedEvents.discard(id, { reason });
        commandLine.print({ id, state: 'discarded' }, () => `Event ${id} is discarded.`);
      });
    });
}

/** All events must be requested explicitly: a forgotten id must not mean all of them. */
function whichEvents(id: string | undefined, { all, limit, ...filter }: ReplayOptions) {
  const isFiltered = limit !== undefined || Object.keys(filter).length > 0;
  if (id !== undefined && all !== true && !isFiltered) return { id };
  if (id === undefined && all === true) return { ...filterOf(filter), ...(limit !== undefined && { limit }) };
  throw new UsageError("Give one event's id, or --all, which --type and --reason can narrow down");
}

function filterOf({ type, reason, before }: Filter): RejectedEventFilter {
  return omitNullish({ eventType: type, reason, before });
}

function eventTable(events: readonly RejectedEventEntry[]): string {
  if (events.length === 0) return 'No rejected events.';
  return table(
    ['Id', 'Received', 'Type', 'Reason', 'State'],
    events.map(({ id, receivedAt, eventType, reason, state, discardReason }) => [
      ...[id, moment(receivedAt), eventType, reason],
      discardReason === undefined ? state : `${state}: ${discardReason}`,
    ]),
  );
}

function countOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, each) => sum + each, 0);
}

function replayText({ replayed, left, leftEvents }: ReplayRejectedEventsResult): string {
  const counted = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .map(([answer, events]) => `${events} ${words(answer)}`)
      .join(', ') || 'none';
  return sections(
    facts([
      ['Handled', counted(replayed)],
      ['Still waiting', counted(left)],
    ]),
    leftEvents.length === 0
      ? undefined
      : table(
          ['Id', 'Why'],
          leftEvents.map(({ id, answer }) => [id, words(answer)]),
        ),
  );
}
