import { compareText } from '../canonical-json.js';
import { code, moment, plain, sentence, words } from '../case-file-words.js';
import type { ReportCase } from './case.js';
import type { ReportState } from './messages.js';
import { reportStateOf } from './view.js';

/** The case file that the Web UI shows, in Markdown: where the report is, what it waits for, and what happened. */
export function reportCaseFileOf(kase: ReportCase): string {
  const state = reportStateOf(kase);
  const reference = state.reference === undefined ? '' : `, reference ${code(state.reference)}`;
  return [
    `### ${sentence(state.phase)}`,
    `Parsing job ${code(state.jobId)}${reference}`,
    state.outcome === undefined ? waitingLine(state) : outcomeLine(state),
    ...countLines(state),
    ...state.attention.map(({ reason, since }) => `**Attention** ${words(reason)} since ${moment(since)}`),
    ['| When (UTC) | What happened |', '| --- | --- |', ...rowsOf(kase)].join('\n'),
  ].join('\n\n');
}

function waitingLine({ waiting }: ReportState): string {
  return `**Waits for** ${waiting.for}${waiting.until === undefined ? '' : ` until ${moment(waiting.until)}`}`;
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

/** What the service reported and what was done about it, in the order of time. */
function rowsOf({ timeline, journal }: ReportCase): string[] {
  const reported = timeline.map(({ at, status, isReviewed }) => {
    const reviewed = isReviewed === true ? ', reviewed' : '';
    return { at, what: `${plain(sentence(status))}${reviewed} (${code(status)})` };
  });
  return [...reported, ...journal.map(({ at, what }) => ({ at, what: `**${what}**` }))]
    .toSorted((a, b) => compareText(a.at, b.at))
    .map(({ at, what }) => `| ${moment(at)} | ${what} |`);
}
