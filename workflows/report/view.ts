import { compareText, omitNullish } from '../../protocol/json.js';
import {
  failureOf,
  type ParsingJobResult,
  type ReportPhase,
  type ReportState,
} from '../../protocol/report/messages.js';
import { labPhaseKey, labReferenceKey, ofUser, supersededPhase } from '../../protocol/search-attributes.js';
import { attentionAttributes, attentionLines, shownAttention } from '../entity/attention.js';
import {
  byActor,
  code,
  moment,
  plain,
  sentence,
  table,
  waitingLine,
  words,
  showToOperators,
} from '../entity/operators.js';
import { iso } from '../entity/spans.js';
import { deadlineOf, isOverdue } from './deadlines.js';
import { currentJob, currentPhase, outcomeOf, type Job } from './job.js';
import { firstVersion } from '../entity/versions.js';

/** The answer of `state` and `cancel`. */
export function stateOf(job: Job): ReportState {
  const { jobId, reference, userId, supersededBy } = job;
  const { status = 'unknown', isReviewed, needsHumanReview, failureReason, counts } = currentJob(job);
  const outcome = outcomeOf(job);
  return {
    jobId,
    ...omitNullish({ reference, userId, needsHumanReview, isReviewed, counts, supersededBy, outcome }),
    phase: currentPhase(job),
    status,
    ...(status === 'failed' && { failure: failureOf(failureReason) }),
    waiting: waitingOf(job),
    attention: shownAttention(job.attention),
    timeline: job.timeline,
  };
}

export function resultOf(job: Job): ParsingJobResult {
  return {
    version: firstVersion,
    ...stateOf(job),
    outcome: outcomeOf(job) ?? 'unresolved',
    policy: job.policy,
    announced: job.announced,
    attention: job.attention,
    ...(Object.keys(job.raised).length > 0 && { raised: job.raised }),
  };
}

const waitedFor: Readonly<Record<ReportPhase, string>> = {
  uploaded: 'the service to start on the report',
  parsing: 'the report to be read',
  in_review: 'a person at the service to review the values',
  completed: 'nothing',
  failed: 'nothing',
};

function waitingOf(job: Job): ReportState['waiting'] {
  if (outcomeOf(job) !== undefined) return { for: 'nothing' };
  const what = waitedFor[currentPhase(job)];
  return isOverdue(job) ? { for: what } : { for: what, until: iso(deadlineOf(job).at) };
}

/** The case file that the Web UI shows, in Markdown: where the report is, what it waits for, and what happened. */
export function caseFileOf(job: Job): string {
  const state = stateOf(job);
  const reference = state.reference === undefined ? '' : `, reference ${code(state.reference)}`;
  return [
    `### ${sentence(state.phase)}`,
    `Parsing job ${code(state.jobId)}${reference}`,
    state.outcome === undefined ? waitingLine(state.waiting) : outcomeLine(state),
    ...countLines(state),
    ...attentionLines(state.attention),
    table(['When (UTC)', 'What happened'], rowsOf(job)),
  ].join('\n\n');
}

function outcomeLine({ outcome, failure, supersededBy }: ReportState): string {
  const why = failure === undefined ? '' : `, ${plain(words(failure.reason))}`;
  const by = supersededBy === undefined ? '' : ` by ${code(supersededBy)}`;
  return `**Outcome** ${words(outcome ?? '')}${why}${by}`;
}

function countLines({ counts }: ReportState): string[] {
  if (!counts) return [];
  const { results, byLoincMatchStatus: matches, aboveRange, belowRange } = counts;
  const loinc = `${matches.auto_match} matched to LOINC, ${matches.needs_review} to be reviewed`;
  return [`**Biomarkers** ${results}: ${loinc}; ${aboveRange} above and ${belowRange} below their range`];
}

/** The reports of the service and the actions that followed, in the order of time. */
function rowsOf({ timeline, journal }: Job): string[][] {
  const reported = timeline.map(({ at, status, isReviewed }) => {
    const reviewed = isReviewed === true ? ', reviewed' : '';
    return { at, what: `${plain(sentence(status))}${reviewed} (${code(status)})` };
  });
  return [...reported, ...journal.map(({ at, what, by }) => ({ at, what: `**${what}**${byActor(by)}` }))]
    .toSorted((a, b) => compareText(a.at, b.at))
    .map(({ at, what }) => [moment(at), what]);
}

/** Shows the case file and the search attributes of the report as it is now. */
export function show(job: Job): void {
  const { reference, userId, attention, ending } = job;
  showToOperators(
    () => caseFileOf(job),
    [
      { key: labPhaseKey, value: ending === 'superseded' ? supersededPhase : currentPhase(job) },
      ...attentionAttributes(attention),
      ...(reference === undefined ? [] : [{ key: labReferenceKey, value: reference }]),
      ...ofUser(userId),
    ],
  );
}
