import { InvalidArgumentError, Option, type Command } from 'commander';
import {
  appointmentAttention,
  linkAttention,
  matchReviewAttention,
  orderAttention,
  reportAttention,
} from '../../protocol/attention-reasons.js';
import type { AppointmentAttentionReason, AppointmentPhase } from '../../protocol/appointment/messages.js';
import type { LinkAttentionReason, LinkPhase } from '../../protocol/link/messages.js';
import type { MatchReviewAttentionReason, MatchReviewPhase } from '../../protocol/match-review/messages.js';
import type { AttentionReason, OrderPhase } from '../../protocol/order/state.js';
import { appointmentPhases, linkPhases, matchReviewPhases, orderPhases, reportPhases } from '../../protocol/phases.js';
import type { ReportAttentionReason, ReportPhase } from '../../protocol/report/messages.js';
import type { placingPhase, supersededPhase } from '../../protocol/search-attributes.js';
import type { LabOperations } from '../lab-operations.js';
import type { ListOptions, WorkflowFilter, WorkflowSummary } from '../workflow-list.js';
import type { AppointmentSummary } from '../appointment/appointments.js';
import type { LinkSummary } from '../link/links.js';
import type { MatchReviewSummary } from '../match-review/match-reviews.js';
import type { OrderSummary } from '../order/orders.js';
import type { ReportSummary } from '../report/reports.js';
import type { Answer } from './answers.js';
import type { CommandLine } from './command-line.js';
import { count, name } from './input.js';
import { moment, table, words } from './output.js';
import { omitNullish } from '../../service/json-object.js';

/* Lists of orders, links, reports, appointments and match reviews. The compiler checks that no phase and no reason is missing. */

/** One kind of list: what can be given for its filter, and what its table has. */
interface Listed<Phase extends string, Reason extends string, Summary = never> {
  /** The name of the listed things, in the plural. */
  what: string;
  /** A phase for the help. */
  example: Phase;
  phases: Readonly<Record<Phase, 'open' | 'end'>>;
  attention: Readonly<Record<Reason, unknown>>;
  list: (lab: LabOperations, filter: WorkflowFilter<Phase, Reason>, options: ListOptions) => AsyncIterable<Summary>;
  /** The first columns, which say which one it is. */
  columns: (summary: Summary) => Record<string, string | undefined>;
  /** Until there is a phase. */
  firstPhase?: string;
}

export const ofOrders: Listed<OrderPhase | typeof placingPhase, AttentionReason, OrderSummary> = {
  what: 'orders',
  example: 'awaiting_registration',
  phases: { placing: 'open', ...orderPhases },
  attention: orderAttention,
  list: (lab, filter, options) => lab.orders.list(filter, options),
  columns: ({ rootOrderId, reference }) => ({ Order: rootOrderId, Reference: reference }),
};

export const ofLinks: Listed<LinkPhase, LinkAttentionReason, LinkSummary> = {
  what: 'links',
  example: 'awaiting_code',
  phases: linkPhases,
  attention: linkAttention,
  list: (lab, filter, options) => lab.links.list(filter, options),
  columns: ({ userId, provider }) => ({ User: userId, Provider: provider }),
};

export const ofReports: Listed<ReportPhase | typeof supersededPhase, ReportAttentionReason, ReportSummary> = {
  what: 'reports',
  example: 'in_review',
  phases: reportPhases,
  attention: reportAttention,
  list: (lab, filter, options) => lab.reports.list(filter, options),
  columns: ({ jobId, reference }) => ({ 'Parsing job': jobId, Reference: reference }),
  firstPhase: 'uploading',
};

export const ofAppointments: Listed<AppointmentPhase, AppointmentAttentionReason, AppointmentSummary> = {
  what: 'appointments',
  example: 'awaiting_choice',
  phases: appointmentPhases,
  attention: appointmentAttention,
  list: (lab, filter, options) => lab.appointments.list(filter, options),
  columns: ({ orderId }) => ({ Order: orderId }),
};

export const ofMatchReviews: Listed<MatchReviewPhase, MatchReviewAttentionReason, MatchReviewSummary> = {
  what: 'reviews',
  example: 'awaiting_decision',
  phases: matchReviewPhases,
  attention: matchReviewAttention,
  list: (lab, filter, options) => lab.matchReviews.list(filter, options),
  columns: ({ rawResultId }) => ({ Result: rawResultId }),
};

/** The options that narrow a list. */
export interface FilterOptions<Phase extends string, Reason extends string> {
  phase?: Phase;
  attention?: true | Reason;
  user?: string;
}

interface ListCommandOptions<Phase extends string, Reason extends string>
  extends FilterOptions<Phase, Reason>, PageOptions {
  ended?: true;
}

export interface PageOptions {
  limit: number;
  after?: string;
}

export function addPageOptions(command: Command): Command {
  return command
    .option('--limit <number>', 'the most to show', count, 50)
    .option('--after <token>', 'continue a list: `next` from the answer before; repeat the other options');
}

/** The elements of a page, and the rest of the answer: the token of the next page, if there is one. */
export async function readPage<Summary>(
  { limit, after }: PageOptions,
  list: (options: ListOptions) => AsyncIterable<Summary>,
): Promise<{ found: Summary[]; rest: { next?: string } }> {
  const found: Summary[] = [];
  const rest: { next?: string } = {};
  const page = { limit, ...(after !== undefined && { after }), onNext: (token: string) => void (rest.next = token) };
  for await (const each of list({ page })) found.push(each);
  return { found, rest };
}

export function noteNext(commandLine: CommandLine, what: string, { next }: { next?: string }): void {
  if (next !== undefined) commandLine.note(`There may be more ${what}: raise --limit, or add --after ${next}`);
}

export function addFilterOptions(
  command: Command,
  { what, example, phases, attention }: Omit<Listed<string, string>, 'list' | 'columns'>,
): Command {
  return command
    .addOption(oneOf('phase', phases, '--phase <phase>', `only ${what} in this phase, such as ${example}`))
    .addOption(
      oneOf('reason', attention, '--attention [reason]', `only ${what} that need attention, for one reason or any`),
    )
    .option('--user <user-id>', `only this user's ${what} (the lab service's id)`);
}

export function listCommand<
  Phase extends string,
  Reason extends string,
  Summary extends WorkflowSummary<string, string>,
>(parent: Command, commandLine: CommandLine, listed: Listed<Phase, Reason, Summary>): void {
  const { what, list, columns, firstPhase = '' } = listed;
  const cells = (summary: Summary) => ({
    ...columns(summary),
    Phase: words(summary.phase ?? (summary.endedAt ? '' : firstPhase)),
    Attention: summary.attention.map(words).join(', '),
    User: summary.userId,
    Since: moment(summary.startedAt),
    Ended: moment(summary.endedAt),
  });
  const text = (found: readonly Summary[]): string => {
    const rows = found.map(cells);
    return rows[0] ? table(Object.keys(rows[0]), rows.map(Object.values)) : `No ${what}.`;
  };
  const command = parent
    .command('list')
    .description(`list ${what}, newest first (from search attributes; does not query workflows)`);
  addFilterOptions(command, listed).option(
    '--ended',
    `include ${what} that have ended, as long as Temporal retains them`,
  );
  addPageOptions(command).action(async (options: ListCommandOptions<Phase, Reason>) => {
    await commandLine.run(async ({ lab }) => {
      const { found, rest } = await readPage(options, (page) => list(lab, filterOf(options), page));
      const answer = { [what]: found, ...rest } as unknown as Answer;
      commandLine.print(answer, () => text(found), found);
      noteNext(commandLine, what, rest);
    });
  });
}

export function filterOf<Phase extends string, Reason extends string>({
  phase,
  attention,
  user,
  ended,
}: Omit<ListCommandOptions<Phase, Reason>, keyof PageOptions>): WorkflowFilter<Phase, Reason> {
  const conditions = omitNullish({ phase, attention, userId: user });
  const isEmpty = Object.keys(conditions).length === 0;
  return { ...(isEmpty ? { all: true } : conditions), ...(ended === true && { ended }) };
}

function oneOf(what: string, known: object, flags: string, description: string): Option {
  const names = Object.keys(known);
  return new Option(flags, description).choices(names).argParser((text: string) => {
    const given = name(text);
    if (names.includes(given)) return given;
    throw new InvalidArgumentError(`Unknown ${what} ${given}. Known ${what}s: ${names.join(', ')}.`);
  });
}
