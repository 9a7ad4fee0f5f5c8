import { announceNews, clear } from './announcements.js';
import type { OverdueReason } from './deadlines.js';
import { currentPhase, outcomeOf, type Job } from './job.js';

/** Brings everything in line with what is known now: questions and announcements. */
export function bringInLine(job: Job): void {
  const now = Date.now();
  clear(job, answeredQuestions(job), now);
  announceNews(job, now);
}

/** Moving on answers the question of the stage that is over. */
function answeredQuestions(job: Job): OverdueReason[] {
  if (outcomeOf(job) === undefined) return currentPhase(job) === 'in_review' ? ['parsing_overdue'] : ['review_overdue'];
  return job.ending === undefined ? ['parsing_overdue', 'review_overdue'] : [];
}
