import type { RaisedAttention } from '../../protocol/attention.js';
import type { EarlierRun } from '../../protocol/signal-or-start.js';
import { canonicalJson } from '../../protocol/json.js';
import { isFinal, isUnknown, phaseOf } from '../../protocol/report/lifecycle.js';
import type {
  ParsingJobInput,
  ReportAttentionReason,
  ReportOutcome,
  ReportPhase,
  ReportTimelineEntry,
} from '../../protocol/report/messages.js';
import type { ResolvedReportPolicy } from '../../protocol/report/policy.js';
import type { ReportSnapshot } from '../../service/report/snapshot.js';
import { type Attentive, nothingYet } from '../entity/attention.js';
import type { EntityRun } from '../entity/loop.js';
import type { Outbox } from '../entity/outbox.js';
import { openPolicy, type Governed } from '../entity/policy.js';
import { answered, type Polled } from '../entity/polling.js';
import { iso } from '../entity/spans.js';
import { foldRead, foldWebhook, knownOf, type Reported } from './reports.js';
import { carriedOn, firstVersion } from '../entity/versions.js';

/**
 * Everything a `parsingJob` run knows: what was reported (`reported`, the fold) and what was decided on it. It is plain
 * JSON and goes through continue-as-new as it is.
 */
export interface Job
  extends Outbox, Attentive<RaisedAttention<ReportAttentionReason>>, Governed<ResolvedReportPolicy>, Polled {
  version: number;
  jobId: string;
  policy: ResolvedReportPolicy;
  /** True if `submitReport` handed this job over; a job that was not is adopted. */
  handedOver: boolean;
  /** The job was made for this hand-over: there is no history to read. */
  isNew: boolean;
  /** The purpose of the run has been found out. */
  identified: boolean;
  reference?: string;
  userId?: string;
  reported: Reported;
  /** Waiting for a machine, or for a person: since when, in milliseconds since the epoch. */
  stage: { reviewing: boolean; since: number };
  /** Since when the job is not found, by an answer that is not the service's own; milliseconds since the epoch. */
  absentSince?: number;
  /** Ids of what was announced of the job itself. */
  announced: string[];
  /** The phase that was announced last. */
  announcedPhase?: ReportPhase;
  timeline: ReportTimelineEntry[];
  ending?: ReportOutcome;
  /** The ending was put into the outbox. */
  endAnnounced?: boolean;
  supersededBy?: string;
  /** How an earlier run ended, and how many statuses its timeline had. */
  before?: { outcome: ReportOutcome; statuses: number };
}

/** One run of `parsingJob`. */
export interface ReportRun extends EntityRun {
  job: Job;
  earlierRun: EarlierRun | undefined;
}

/** Statuses follow a short way; a service that goes back and forth must not fill the state. */
const timelineLength = 50;

export function openJob({ jobId, policy, carried }: ParsingJobInput, now: number): Job {
  if (carried != null) return carriedOn<Job>('state of the report', carried);
  return {
    version: firstVersion,
    jobId,
    ...openPolicy('report', policy),
    handedOver: false,
    isNew: false,
    identified: false,
    reported: {},
    stage: { reviewing: false, since: now },
    lookedAt: now,
    silentReads: 0,
    announced: [],
    ...nothingYet(),
    timeline: [],
  };
}

export function currentJob(job: Job): ReportSnapshot {
  return knownOf(job.reported) ?? { jobId: job.jobId };
}

export function currentPhase(job: Job): ReportPhase {
  const { status } = currentJob(job);
  // What comes after the beginning of a review, and before its end, is a part of it.
  return job.stage.reviewing && isUnknown(status) ? 'in_review' : phaseOf(status);
}

/** Set once nothing is left to wait for. */
export function outcomeOf(job: Job): ReportOutcome | undefined {
  if (job.ending !== undefined) return job.ending;
  const phase = currentPhase(job);
  return phase === 'completed' || phase === 'failed' ? phase : undefined;
}

/** Folds a webhook in; says whether it brought anything new. */
export function learnFromWebhook(job: Job, snapshot: ReportSnapshot, now: number): boolean {
  return learn(job, foldWebhook(job.reported, snapshot), now);
}

/** Folds a read in that was asked for when `asked` was all that was reported; says whether it brought anything new. */
export function learnFromRead(job: Job, snapshot: ReportSnapshot, asked: Reported, now: number): boolean {
  const isNews = learn(job, foldRead(job.reported, snapshot, asked), now);
  answered(job, isNews, now);
  return isNews;
}

function learn(job: Job, reported: Reported, now: number): boolean {
  const before = saidBy(job);
  job.reported = reported;
  const { status = 'unknown', isReviewed, userId } = currentJob(job);
  if (userId !== undefined) job.userId ??= userId;
  if (saidBy(job) === before) return false;
  answered(job, true, now);
  const reviewing = currentPhase(job) === 'in_review';
  if (reviewing !== job.stage.reviewing) job.stage = { reviewing, since: now };
  const last = job.timeline.at(-1);
  if (last?.status !== status || last.isReviewed !== (isReviewed === true ? true : undefined)) {
    const entry = { at: iso(now), status, ...(isReviewed === true && { isReviewed }) };
    job.timeline = [...job.timeline, entry].slice(-timelineLength);
  }
  return true;
}

/** A read that only confirms a webhook is not news, nor is that it leaves out the envelope's user. */
function saidBy({ reported }: Job): string {
  const { userId: _userId, ...said } = knownOf(reported) ?? {};
  return canonicalJson(said);
}

/**
 * A job that was given up is followed again if it is reported before its run closes. One that somebody stopped following stays
 * so until the service ends it.
 */
export function reopen(job: Job): void {
  const { ending } = job;
  const isEndedByService = ending === 'abandoned' && hasEndedByItself(job);
  if (ending === 'unresolved' || ending === 'job_gone' || isEndedByService) withdrawEnding(job);
}

export function withdrawEnding(job: Job): void {
  delete job.ending;
  delete job.endAnnounced;
  delete job.supersededBy;
}

export function hasEndedByItself(job: Job): boolean {
  return isFinal(currentJob(job).status);
}
