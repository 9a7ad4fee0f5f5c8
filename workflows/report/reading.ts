import { activities } from '../activity-options.js';
import { isDue, timeOf } from '../entity/alarm.js';
import { loggedRefusal } from '../entity/commands.js';
import { raise } from './announcements.js';
import { deadlineOf, giveUpAt, mustGiveUpAt, nextMoment } from './deadlines.js';
import { recordAbsence, recordRead, recordUnsureAbsence } from './intake.js';
import { outcomeOf, saidNothing, type ReportRun } from './job.js';

/** Reads the job if nothing was reported for too long, and asks a person to look if it really stands still. */
export async function handlePassedDeadlines(run: ReportRun): Promise<void> {
  const { job } = run;
  if (outcomeOf(job) !== undefined || !isDue(job, nextMoment(job).at)) return;
  // Silence may only mean a lost webhook.
  const isAnswered = await readJob(run);
  if (outcomeOf(job) !== undefined) return;
  const now = timeOf(job);
  const { reason, at } = deadlineOf(job);
  if (at <= now) raise(job, reason, now);
  if ((isAnswered ? giveUpAt(job) : mustGiveUpAt(job)) <= now) job.ending = 'unresolved';
}

/**
 * A job that was known and is gone ends the workflow; one that cannot be read now is as silent as before, and so is one that is
 * not found by an answer that is not the service's own.
 *
 * @returns whether the service itself has answered
 */
async function readJob(run: ReportRun): Promise<boolean> {
  const { job } = run;
  const asked = job.reported;
  try {
    const read = await activities.readParsingJob.executeWithOptions({ summary: 'read the job' }, [job.jobId]);
    if (read !== null && 'unsure' in read) {
      recordUnsureAbsence(job, timeOf(job));
      return false;
    }
    if (read === null) recordAbsence(job);
    else recordRead(job, read, asked);
    return true;
  } catch (error) {
    loggedRefusal('parsing job could not be read', { jobId: job.jobId }, error);
    saidNothing(job, timeOf(job));
    return false;
  }
}
