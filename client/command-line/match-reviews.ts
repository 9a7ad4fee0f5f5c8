import type { Command } from 'commander';
import type { MatchReviewState } from '../../protocol/match-review/messages.js';
import type { MatchReviewHandle } from '../match-review/match-review-handle.js';
import type { CommandLine } from './command-line.js';
import { textOf } from './input.js';
import { omitNullish } from '../../service/json-object.js';
import { listCommand, ofMatchReviews } from './lists.js';
import { attentionText, changeLine, facts, sections, timelineTable, waiting, words } from './output.js';

interface NoteOption {
  noteFile?: string;
}

interface AcceptOptions extends NoteOption {
  order?: string;
  user?: string;
}

const noteFile = ['--note-file <path>', 'a file with a note for the lab service; - reads standard input'] as const;

/** Results that the lab service could not match with an order, each by its id. */
export function matchReviewCommands(program: Command, commandLine: CommandLine): void {
  const reviews = program.command('match-reviews').description('decide about results that match no order');
  listCommand(reviews, commandLine, ofMatchReviews);
  const onResult = (name: string, description: string): Command =>
    reviews.command(`${name} <raw-result-id>`).description(description);
  const show = (state: MatchReviewState): void => commandLine.print(state, () => reviewText(state));
  const send = (rawResultId: string, command: (handle: MatchReviewHandle) => Promise<MatchReviewState>) =>
    commandLine.send(mayHappen(rawResultId), async ({ lab }) =>
      show(await command(await lab.matchReviews.getHandle({ rawResultId }))),
    );

  onResult('start', 'follow a review that no webhook has reported').action(async (rawResultId: string) =>
    commandLine.send(mayHappen(rawResultId), async ({ lab }) =>
      show(await (await lab.matchReviews.start({ rawResultId })).state()),
    ),
  );
  onResult('accept', 'give the result to an order')
    .option('--order <order-id>', "the order that it belongs to (default: the lab service's only candidate)")
    .option('--user <user-id>', 'the user that it belongs to')
    .option(...noteFile)
    .action(async (rawResultId: string, { order, user, noteFile: path }: AcceptOptions) => {
      const note = await textOf(commandLine.terminal, path);
      const acceptance = omitNullish({ orderId: order, userId: user, note });
      await send(rawResultId, (handle) => handle.accept(acceptance));
    });
  onResult('reject', "state that the result belongs to none of the team's orders")
    .option(...noteFile)
    .action(async (rawResultId: string, { noteFile: path }: NoteOption) => {
      const rejection = omitNullish({ note: await textOf(commandLine.terminal, path) });
      await send(rawResultId, (handle) => handle.reject(rejection));
    });
  onResult('mark-unsure', "leave the decision to the lab service's staff")
    .option(...noteFile)
    .action(async (rawResultId: string, { noteFile: path }: NoteOption) => {
      const rejection = omitNullish({ note: await textOf(commandLine.terminal, path) });
      await send(rawResultId, (handle) => handle.markUnsure(rejection));
    });
  onResult('show', 'show the state of a review').action(async (rawResultId: string) =>
    commandLine.run(async ({ lab }) => show(await (await lab.matchReviews.getHandle({ rawResultId })).state())),
  );
  onResult(
    'watch',
    'poll a review and print each state that differs from the one before, one per line, until it is over',
  ).action(async (rawResultId: string) =>
    commandLine.watch((lab) => lab.matchReviews.getHandle({ rawResultId }), changeLine),
  );
}

function mayHappen(rawResultId: string): string {
  return `The command may be carried out nevertheless: \`labops match-reviews show ${rawResultId}\` shows the review`;
}

function reviewText(state: MatchReviewState): string {
  const { timeline, attention, allowedActions, outcome } = state;
  return sections(
    facts([
      ['Result', state.rawResultId],
      ['User', state.userId],
      ['Phase', words(state.phase)],
      ['Status', state.status],
      ['Not matched because', state.decisionCode && words(state.decisionCode)],
      ['Interpretation', state.interpretation],
      ['Kind of result', state.resultStatus],
      ['Allowed', outcome === undefined ? allowedActions.join(', ') || 'nothing' : undefined],
      ['Waits for', outcome === undefined ? waiting(state.waiting) : undefined],
      ['Decided', state.decision?.action],
      ['Decided by', state.decision?.by],
      ['Outcome', words(outcome ?? '')],
      ['Order', state.resolvedOrderId],
      ['User of the order', state.resolvedUserId],
    ]),
    attentionText(attention),
    timelineTable(timeline),
  );
}
