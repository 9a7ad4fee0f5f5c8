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
import { addPageOptions, noteNext, type PageOptions, readPage } from './lists.js';
import { facts, moment, sections, table, words } from './output.js';
import { omitNullish } from '../../service/json-object.js';

interface Filter {
  type?: string;
  reason?: string;
}

interface ListOptions extends Filter, PageOptions {
  state: RejectedEventState;
}

interface ReplayOptions extends Filter, Partial<PageOptions> {
  all?: true;
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
      .option('--reason <reason>', 'only events whose reason starts with this, such as not_handled');

  addPageOptions(filtered(rejected.command('list')))
    .description('list rejected events, newest first, and how many are waiting')
    .addOption(new Option('--state <state>', 'only events in this state').choices(states).default('waiting'))
    .action(async (options: ListOptions) =>
      commandLine.run(async ({ lab }) => {
        const filter = { ...filterOf(options), state: options.state };
        const { found, rest } = await readPage(options, (page) => lab.rejectedEvents.list(filter, page));
        const waiting = await lab.rejectedEvents.count();
        const inWords = () => sections(eventTable(found), facts([['Waiting in total', waiting]]));
        commandLine.print({ events: found, waiting, ...rest }, inWords, found);
        noteNext(commandLine, 'events', rest);
      }),
    );
  filtered(rejected.command('replay [event-id]'))
    .description('retry an event after the cause is fixed, or all that match')
    .option('--all', 'all waiting events that match the other options')
    .option('--limit <number>', 'the most to replay (default: 1000)', count)
    .option('--after <token>', 'continue a replay: `next` from the answer before; repeat the other options')
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
            commandLine.note(`The limit was reached: continue with --after ${result.next}`);
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
function whichEvents(id: string | undefined, { all, ...filter }: ReplayOptions) {
  const isFiltered = Object.keys(filter).length > 0;
  if (id !== undefined && all !== true && !isFiltered) return { id };
  if (id === undefined && all === true) {
    const { limit, after } = filter;
    return { ...filterOf(filter), ...omitNullish({ limit, after }) };
  }
  throw new UsageError("Give one event's id, or --all, which --type and --reason can narrow down");
}

function filterOf({ type, reason }: Filter): RejectedEventFilter {
  return omitNullish({ eventType: type, reason });
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
