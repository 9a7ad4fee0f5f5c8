import type { ParsingJobResult, ReportState } from '../../protocol/report/messages.js';
import type { ReportSnapshot } from '../../service/report/snapshot.js';
import { deadlineOf, giveUpAt, isOverdue, pollAt } from '../../workflows/report/deadlines.js';
import { currentPhase, type Job } from '../../workflows/report/job.js';
import { parsingJob } from '../../workflows/report/workflow.js';
import {
  afterCommand,
  afterEvent,
  fails,
  noAnswer,
  endOf,
  reportedOrNot,
  type Left,
  carriedIn,
  type Choose,
  type Model,
  type Move,
  type State,
  type Step,
  orderOf,
} from './model.js';
import type { ActivityCall, Answer } from './run.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

interface ReportWorld {
  /** The job as the service has it. */
  job: ReportSnapshot;
  isGone: boolean;
  left: Left;
}

const hour = 3_600_000;

const jobId = 'job-1';
const counts = {
  ...{ results: 3, unreadable: 0, aboveRange: 0, belowRange: 0 },
  byLoincMatchStatus: { auto_match: 3, needs_review: 0, no_match: 0, unknown: 0 },
  byInterpretation: { normal: 3, abnormal: 0, critical: 0, unknown: 0 },
};

/** Everything that a job can be reported as; the last two are not known, or say less than they should. */
const reports: readonly Omit<ReportSnapshot, 'jobId'>[] = [
  { status: 'upload_pending' },
  { status: 'processing' },
  { status: 'pending_review', needsHumanReview: true },
  { status: 'completed', counts },
  { status: 'completed', counts, isReviewed: true },
  { status: 'failed', failureReason: 'unreadable_file' },
  { status: 'unheard_of' },
  { status: 'completed' },
];

const policy = resolvePolicy('report', {
  ...{ firstPoll: '1h', firstReviewPoll: '2h', longestPoll: '2h' },
  ...{ parsingDeadline: '3h', reviewDeadline: '4h', giveUpAfter: '5h' },
});

/** One parsing job, from its hand-over to its end, and what the service reports after that. */
export function reportModel(left: Left): Model<ReportWorld> {
  const world: ReportWorld = { job: { jobId, status: 'started' }, isGone: false, left };
  const submitted = {
    reference: 'ref-1',
    userId: 'user-1',
    policy,
    snapshot: world.job,
    adopted: false,
    notifies: true,
  };
  return {
    name: 'report',
    workflowId: `parsing-job/${jobId}`,
    workflow: parsingJob,
    beginnings: [{ input: { jobId }, signals: [{ name: 'reportSubmitted', argument: submitted }], world }],
    events,
    commands: ({ world }) => [{ name: 'command cancel', update: { name: 'cancel' }, world: afterCommand(world) }],
    answer,
    essence,
    faults,
    phaseOf: (state) => endOf(state) ?? currentPhase(carriedIn<Job>(state.input)),
  };
}

function events({ world }: State<ReportWorld>): Move<ReportWorld>[] {
  return (world.isGone ? [] : reports).flatMap((report) => {
    const name = `${report.status}${report.isReviewed ? ' reviewed' : ''}${report.status === 'completed' && !report.counts ? ' without counts' : ''}`;
    // A webhook may leave out what a read shows.
    const job = { jobId, ...report, ...(report.status === 'completed' && { counts }) };
    const after = afterEvent(world, (next) => (next.job = job));
    return reportedOrNot(name, after, { name: 'jobChanged', argument: { jobId, ...report } });
  });
}

function answer(world: ReportWorld, { name }: ActivityCall, choose: Choose, at: { previous?: unknown }): Answer {
  const isIdentified = name === 'identifyJob';
  if (!isIdentified && fails(world, choose)) return noAnswer;
  if (!isIdentified && !world.isGone && fails(world, choose)) world.isGone = choose(2) === 0;
  const previous = at.previous === undefined ? {} : { previous: at.previous };
  if (isIdentified)
    return { value: { snapshot: world.job, gone: false, notifies: true, owner: { kind: 'none' }, ...previous } };
  return { value: world.isGone ? null : world.job };
}

function essence({ input, world, result, now }: State<ReportWorld>): unknown {
  const { outcome, announced, status } = (result ?? {}) as Partial<ParsingJobResult>;
  if (result !== undefined) return [outcome, status, announced, world];
  const job = carriedIn<Job>(input);
  const { journal: _journal, timeline: _timeline, policy: _policy, raised: _raised, silentReads, ...rest } = job;
  const deadline = isOverdue(job) ? undefined : { name: 'deadline', at: deadlineOf(job).at };
  const upcoming = [{ name: 'poll', at: pollAt(job) }, { name: 'give up', at: giveUpAt(job) }, deadline];
  return [rest, Math.min(silentReads, 2), orderOf(upcoming, now, hour), world];
}

function faults(step: Step<ReportWorld>): string[] {
  const { before, after, announced, calls, move, reply } = step;
  const result = after.result as ParsingJobResult | undefined;
  const job = result === undefined ? carriedIn<Job>(after.input) : undefined;
  const isAsked = calls.some(({ call }) => call.name === 'readParsingJob' || call.name === 'identifyJob');
  const stood = carriedIn<Partial<Job>>(before.input).attention ?? [];
  const asksNew = (job?.attention ?? []).some(({ reason }) => !stood.some((raised) => raised.reason === reason));
  const found: string[] = [];
  if ((asksNew || result?.outcome === 'unresolved' || result?.outcome === 'job_gone') && !isAsked) {
    found.push('silence is taken for standing still without a read');
  }
  if (result && ['completed', 'failed'].includes(result.outcome) && result.status !== result.outcome) {
    found.push(`${result.outcome} though the job is ${result.status}`);
  }
  const isEnding = result && !['completed', 'failed'].includes(result.outcome);
  // What a person gave up stays so, and was announced before.
  const hasStayed = (before.result as ParsingJobResult | undefined)?.outcome === 'abandoned';
  if (isEnding && !hasStayed && !announced.some((id) => id.endsWith('/ended'))) found.push('an end was not announced');
  const isResult = result && !isEnding;
  if (isResult && !after.announced.some((id) => id.startsWith(`${jobId}/${result.outcome}`))) {
    found.push(`${result.outcome} was not announced`);
  }
  if (move.update && reply?.value !== undefined && (reply.value as ReportState).outcome !== 'abandoned') {
    found.push('a cancellation was acknowledged and had no effect');
  }
  return found;
}
