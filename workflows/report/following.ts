import { announceNews } from './announcements.js';
import { clear, raise } from './attention.js';
import { currentPhase, outcomeOf, type ReportCase } from './case.js';
import { deadlineOf, giveUpAt, isOverdue, pollAt, type OverdueReason } from './deadlines.js';
import { readJob } from './reading.js';
import type { ReportRun } from './run.js';
import { show } from './visibility.js';

/** Reads the job where nobody has told of it for too long, and asks a person where it really stands still. */
export async function meetDeadlines(run: ReportRun): Promise<void> {
  const { kase } = run;
  if (isContradicted(kase) || isIncompleteEnd(kase)) return readJob(run);
  if (outcomeOf(kase) !== undefined || !isDue(kase, Date.now())) return;
  // Silence may only mean a lost webhook.
  await readJob(run);
  if (outcomeOf(kase) !== undefined) return;
  const now = Date.now();
  const { reason, at } = deadlineOf(kase);
  if (at <= now) raise(kase, reason, now);
  if (giveUpAt(kase) <= now) kase.ending = 'unresolved';
}

/** Asked once for each time: a read that fails is repeated when the job is read next. */
function isContradicted(kase: ReportCase): boolean {
  const { contradicted = false } = kase;
  delete kase.contradicted;
  return contradicted && outcomeOf(kase) === undefined;
}

/** A webhook may tell of an end and leave out what came of it; a read is the whole job, or all there is. */
function isIncompleteEnd(kase: ReportCase): boolean {
  const { heard } = kase.reported;
  if (kase.ending !== undefined || heard === undefined || kase.endRead === heard.status) return false;
  const { status, counts, failureReason } = heard;
  const isIncomplete = (status === 'completed' && !counts) || (status === 'failed' && failureReason === undefined);
  if (isIncomplete) kase.endRead = status;
  return isIncomplete;
}

function isDue(kase: ReportCase, now: number): boolean {
  const deadline = isOverdue(kase) ? Infinity : deadlineOf(kase).at;
  return Math.min(pollAt(kase), deadline, giveUpAt(kase)) <= now;
}

/** Brings everything in line with what is known now: questions, announcements, and what operators see. */
export function review(run: ReportRun): void {
  const { kase } = run;
  const now = Date.now();
  clear(kase, answeredQuestions(kase), now);
  announceNews(kase, now);
  show(kase);
}

/** Moving on answers the question of the stage that is over. */
function answeredQuestions(kase: ReportCase): OverdueReason[] {
  if (outcomeOf(kase) === undefined)
    return currentPhase(kase) === 'in_review' ? ['parsing_overdue'] : ['review_overdue'];
  return kase.ending === undefined ? ['parsing_overdue', 'review_overdue'] : [];
}
