import type { ReportSnapshot } from '../../service/report-snapshot.js';
import { canonicalJson } from '../canonical-json.js';
import { isFinal, isUnknown, phaseOf } from './lifecycle.js';
import type { ReportAttention, ReportOutcome, ReportPhase, ReportTimelineEntry } from './messages.js';
import type { ReportNotification } from './notifications.js';
import { resolveReportPolicy, type ResolvedReportPolicy } from './policy.js';
import { hearOf, knownOf, readOf, type Reported } from './state.js';

/**
 * Everything a `parsingJob` run knows: what was reported (`reported`, the fold) and what was decided on it. It is plain
 * JSON and goes through continue-as-new as it is.
 */
export interface ReportCase {
  jobId: string;
  policy: ResolvedReportPolicy;
  /** Whether `submitReport` handed this job over; one that was not is adopted. */
  handedOver: boolean;
  /** The job was made for this hand-over, so that there is no history to read. */
  uploadedAnew: boolean;
  /** What the run is for has been found out. */
  identified: boolean;
  reference?: string;
  userId?: string;
  /** Whether the worker has a target for notifications. Unknown until the hand-over or the first read. */
  notifies?: boolean;
  reported: Reported;
  /** Waiting for a machine, or for a person: since when, in milliseconds since the epoch. */
  stage: { reviewing: boolean; since: number };
  /** When something new was learnt, or the job was last read; milliseconds since the epoch. */
  lookedAt: number;
  /** A webhook differs from a status that is not known here: only a read tells which of the two came later. */
  contradicted?: boolean;
  /** Since when the job is not found, in words that are not the service's; milliseconds since the epoch. */
  absentSince?: number;
  /** Reads since then that said nothing new. */
  silentReads: number;
  /** Ids of what was announced of the job itself. */
  announced: string[];
  /** The phase that was announced last. */
  announcedPhase?: ReportPhase;
  attention: RaisedReportAttention[];
  /** How often each question was raised: one that comes again is another notification. */
  raised: Record<string, number>;
  outbox: ReportNotification[];
  /** Only its notifications keep it from ending. */
  isClosing?: boolean;
  timeline: ReportTimelineEntry[];
  /** What was done and decided, for the case file; the latest fifty. */
  journal: { at: string; what: string }[];
  ending?: ReportOutcome;
  /** The ending was put into the outbox. */
  endTold?: boolean;
  supersededBy?: string;
  /** The end that was heard of without what came of it, and has been read for that. */
  endRead?: string;
}

export interface RaisedReportAttention extends ReportAttention {
  /** Which time it is raised, from 1. */
  time: number;
}

const journalLength = 50;
/** Statuses follow a short way; a service that goes back and forth must not fill the state. */
const timelineLength = 50;

export function openReportCase(jobId: string, carried: unknown, now: number): ReportCase {
  if (carried !== undefined) return carried as ReportCase;
  return {
    jobId,
    policy: resolveReportPolicy(),
    handedOver: false,
    uploadedAnew: false,
    identified: false,
    reported: {},
    stage: { reviewing: false, since: now },
    lookedAt: now,
    silentReads: 0,
    announced: [],
    attention: [],
    raised: {},
    outbox: [],
    timeline: [],
    journal: [],
  };
}

export function currentJob(kase: ReportCase): ReportSnapshot {
  return knownOf(kase.reported) ?? { jobId: kase.jobId };
}

export function currentPhase(kase: ReportCase): ReportPhase {
  const { status } = currentJob(kase);
  // What comes after the beginning of a review, and before its end, is a part of it.
  return kase.stage.reviewing && isUnknown(status) ? 'in_review' : phaseOf(status);
}

/** Set once nothing is left to wait for. */
export function outcomeOf(kase: ReportCase): ReportOutcome | undefined {
  if (kase.ending !== undefined) return kase.ending;
  const phase = currentPhase(kase);
  return phase === 'completed' || phase === 'failed' ? phase : undefined;
}

/** Folds a webhook in; says whether it told anything new. */
export function learnFromWebhook(kase: ReportCase, snapshot: ReportSnapshot, now: number): boolean {
  return learn(kase, hearOf(kase.reported, snapshot), now);
}

/** Whether a webhook that told nothing new may all the same be the later one: an unknown status has no place on the way. */
export function contradicts(kase: ReportCase, { status }: ReportSnapshot): boolean {
  const { status: known } = currentJob(kase);
  return outcomeOf(kase) === undefined && isUnknown(known) && status !== undefined && status !== known;
}

/** Folds a read in that was asked for when `asked` was all that was reported; says whether it told anything new. */
export function learnFromRead(kase: ReportCase, snapshot: ReportSnapshot, asked: Reported, now: number): boolean {
  const isNews = learn(kase, readOf(kase.reported, snapshot, asked), now);
  kase.lookedAt = now;
  kase.silentReads = isNews ? 0 : kase.silentReads + 1;
  return isNews;
}

/** A read that told nothing of the job. */
export function saidNothing(kase: ReportCase, now: number): void {
  kase.lookedAt = now;
  kase.silentReads += 1;
}

function learn(kase: ReportCase, reported: Reported, now: number): boolean {
  if (reported === kase.reported) return false;
  const before = saidBy(kase);
  kase.reported = reported;
  const { status = 'unknown', isReviewed, userId } = currentJob(kase);
  if (userId !== undefined) kase.userId ??= userId;
  if (saidBy(kase) === before) return false;
  kase.lookedAt = now;
  kase.silentReads = 0;
  const reviewing = currentPhase(kase) === 'in_review';
  if (reviewing !== kase.stage.reviewing) kase.stage = { reviewing, since: now };
  const last = kase.timeline.at(-1);
  if (last?.status !== status || last.isReviewed !== (isReviewed === true ? true : undefined)) {
    const entry = { at: new Date(now).toISOString(), status, ...(isReviewed === true && { isReviewed }) };
    kase.timeline = [...kase.timeline, entry].slice(-timelineLength);
  }
  return true;
}

/** A read that only confirms a webhook is no news; that it leaves out the envelope's user is none either. */
function saidBy({ reported }: ReportCase): string {
  const { userId: _userId, ...said } = knownOf(reported) ?? {};
  return canonicalJson(said);
}

export function note(kase: ReportCase, what: string, now: number): void {
  kase.journal = [...kase.journal, { at: new Date(now).toISOString(), what }].slice(-journalLength);
}

/** Giving up ends the waiting, not the truth: a job that is heard of again before its end was told is followed on. */
export function reopen(kase: ReportCase): void {
  if (kase.ending === 'unresolved' || kase.ending === 'job_gone') withdrawEnding(kase);
}

export function withdrawEnding(kase: ReportCase): void {
  delete kase.ending;
  delete kase.endTold;
  delete kase.supersededBy;
}

export function hasEndedByItself(kase: ReportCase): boolean {
  return isFinal(currentJob(kase).status);
}
