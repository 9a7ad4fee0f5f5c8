import { currentJob, currentPhase, outcomeOf, type ReportCase } from './case.js';
import { deadlineOf, isOverdue } from './deadlines.js';
import { failureOf } from './failure-reasons.js';
import type { ParsingJobResult, ReportPhase, ReportState } from './messages.js';

/** What `state` and `cancel` answer with. */
export function reportStateOf(kase: ReportCase): ReportState {
  const { needsHumanReview } = currentJob(kase);
  const outcome = outcomeOf(kase);
  return {
    ...identityOf(kase),
    phase: currentPhase(kase),
    ...(needsHumanReview !== undefined && { needsHumanReview }),
    ...findingsOf(kase),
    waiting: waitingOf(kase),
    attention: kase.attention.map(({ reason, since }) => ({ reason, since })),
    timeline: kase.timeline,
    ...(outcome !== undefined && { outcome }),
  };
}

export function reportResultOf(kase: ReportCase): ParsingJobResult {
  return {
    outcome: outcomeOf(kase) ?? 'unresolved',
    ...identityOf(kase),
    ...findingsOf(kase),
    timeline: kase.timeline,
    policy: kase.policy,
    announced: kase.announced,
  };
}

function identityOf({ jobId, reference, userId }: ReportCase) {
  return { jobId, ...(reference !== undefined && { reference }), ...(userId !== undefined && { userId }) };
}

function findingsOf(kase: ReportCase) {
  const { status = 'unknown', isReviewed, failureReason, counts } = currentJob(kase);
  const { supersededBy } = kase;
  return {
    status,
    ...(isReviewed !== undefined && { isReviewed }),
    ...(status === 'failed' && { failure: failureOf(failureReason) }),
    ...(counts && { counts }),
    ...(supersededBy !== undefined && { supersededBy }),
  };
}

const waitedFor: Readonly<Record<ReportPhase, string>> = {
  uploaded: 'the service to begin with the report',
  parsing: 'the report to be read',
  in_review: 'a person at the service to check what was read',
  completed: 'nothing',
  failed: 'nothing',
};

function waitingOf(kase: ReportCase): ReportState['waiting'] {
  if (outcomeOf(kase) !== undefined) return { for: 'nothing' };
  const what = waitedFor[currentPhase(kase)];
  return isOverdue(kase) ? { for: what } : { for: what, until: new Date(deadlineOf(kase).at).toISOString() };
}
