import type { MatchReviewPhase, MatchReviewResult, MatchReviewState } from '../../protocol/match-review/messages.js';
import { labPhaseKey, ofUser } from '../../protocol/search-attributes.js';
import { attentionAttributes, attentionLines, shownAttention } from '../entity/attention.js';
import { code, historyTable, plain, sentence, showToOperators, waitingLine, words } from '../entity/operators.js';
import { isoOf } from '../entity/spans.js';
import { waitingUntil } from './deadlines.js';
import { currentPhase, stands, type Review } from './review.js';
import { firstVersion } from '../entity/versions.js';
import { omitNullish } from '../../protocol/json.js';

/** The answer of `state` and the updates. */
export function stateOf(review: Review): MatchReviewState {
  const { rawResultId, userId, known, decision, resolvedOrderId, resolvedUserId, ending } = review;
  const { status, decisionCode, interpretation, resultStatus, labSlug } = known ?? { labSlug: undefined };
  const phase = currentPhase(review);
  return {
    rawResultId,
    phase,
    ...omitNullish({ userId, status, decisionCode, interpretation, resultStatus, labSlug }),
    ...omitNullish({ decision, resolvedOrderId, resolvedUserId, outcome: ending }),
    subReasonCodes: known?.subReasonCodes ?? [],
    allowedActions: ending === undefined ? (known?.allowedActions ?? []) : [],
    waiting: omitNullish({ for: waitedFor[phase] ?? 'nothing', until: isoOf(waitingUntil(review)) }),
    attention: shownAttention(review.attention.filter(({ reason }) => stands(review, reason))),
    timeline: review.journal,
  };
}

export function resultOf(review: Review): MatchReviewResult {
  const { policy, announced, raised } = review;
  return { version: firstVersion, ...stateOf(review), policy, announced, raised };
}

const waitedFor: Partial<Readonly<Record<MatchReviewPhase, string>>> = {
  awaiting_decision: 'a person to decide',
  with_service: 'the service’s staff to decide',
  unknown: 'the service to say where the review stands',
};

/** The case file that the Web UI shows, in Markdown: the decision that is needed, and the history. */
export function caseFileOf(state: MatchReviewState): string {
  const { rawResultId, phase, decisionCode, allowedActions, interpretation, attention, timeline } = state;
  const actions = allowedActions.length === 0 ? 'none' : allowedActions.map(code).join(', ');
  return [
    `### ${sentence(phase)}`,
    `Unmatched result ${code(rawResultId)}`,
    ...(decisionCode === undefined ? [] : [`**Reason** ${plain(words(decisionCode))}`]),
    ...(interpretation === undefined ? [] : [`**Interpretation** ${plain(interpretation)}`]),
    ...(state.outcome === undefined ? [`**Allowed** ${actions}`, waitingLine(state.waiting)] : [outcomeLine(state)]),
    ...attentionLines(attention),
    historyTable(timeline),
  ].join('\n\n');
}

function outcomeLine({ outcome, resolvedOrderId }: MatchReviewState): string {
  const where = resolvedOrderId === undefined ? '' : `: order ${code(resolvedOrderId)}`;
  return `**Outcome** ${words(outcome ?? '')}${where}`;
}

/** Shows the case file and the search attributes of the review as it is now. */
export function show(review: Review): void {
  const state = stateOf(review);
  showToOperators(
    () => caseFileOf(state),
    [
      { key: labPhaseKey, value: state.phase },
      ...attentionAttributes(state.attention),
      ...ofUser(state.resolvedUserId ?? state.userId),
    ],
  );
}
