import { ApplicationFailure, setHandler } from '@temporalio/workflow';
import { readEarlierRun } from '../../protocol/signal-or-start.js';
import type { OfActor } from '../../protocol/ids.js';
import * as messages from '../../protocol/report/messages.js';
import { noticeUnreadable, openRun, runLoop } from '../entity/loop.js';
import { note } from '../entity/journal.js';
import { announceEnd, announceNews, clear, raise } from './announcements.js';
import { identify } from './identify.js';
import { receiveSnapshot, receiveSubmission } from './intake.js';
import { currentPhase, openJob, outcomeOf, type Job, type ReportRun } from './job.js';
import { handlePassedDeadlines, nextMoment } from './deadlines.js';
import { resultOf, show, stateOf } from './view.js';
import { actorOf, refuse } from '../entity/commands.js';

/**
 * Follows one parsing job until its report was read. Started by signal-with-start: by the hand-over from `submitReport`,
 * or by the first webhook of a job that nobody submitted through us.
 */
export async function parsingJob(input: messages.ParsingJobInput): Promise<messages.ParsingJobResult> {
  if (typeof input?.jobId !== 'string')
    throw ApplicationFailure.nonRetryable('jobId is required: give the id of the job', 'InvalidCommand');
  const run: ReportRun = {
    ...openRun(),
    job: openJob(input, Date.now()),
    earlierRun: readEarlierRun(input.earlierRun),
  };
  listen(run);
  await identify(run);
  await runLoop(run, loopOf(run));
  return resultOf(run.job);
}

function loopOf(run: ReportRun) {
  const { job } = run;
  return {
    state: job,
    attention: { raise, clear },
    async act() {
      await handlePassedDeadlines(run);
      publish(job);
    },
    // As one that was not read since long ago: it is due.
    readDropped: () => {
      Object.assign(job, { lookedAt: 0, silentReads: 0 });
    },
    isOver: () => outcomeOf(job) !== undefined,
    announceEnd: () => announceEnd(job, Date.now()),
    nextMoment: () => nextMoment(job),
    workflowType: messages.parsingJobName,
    nextInput: (): messages.ParsingJobInput => ({ jobId: job.jobId, carried: job }),
  };
}

/** Brings everything that others see in line with what is known: questions, notifications, and the case file. */
function publish(job: Job): void {
  const now = Date.now();
  // Moving on answers the question of the stage that is over.
  if (outcomeOf(job) === undefined)
    clear(job, [currentPhase(job) === 'in_review' ? 'parsing_overdue' : 'review_overdue'], now);
  else if (job.ending === undefined) clear(job, ['parsing_overdue', 'review_overdue'], now);
  announceNews(job, now);
  show(job);
}

function listen(run: ReportRun): void {
  const { job } = run;
  noticeUnreadable(run);
  setHandler(messages.jobChangedSignal, (snapshot) => receiveSnapshot(run, snapshot), {
    description: 'A webhook reported this job.',
  });
  setHandler(messages.reportSubmittedSignal, (submitted) => receiveSubmission(run, submitted), {
    description: 'submitReport hands over the report that it uploaded, with its reference and policy.',
  });
  setHandler(messages.stateQuery, () => stateOf(job), {
    description: 'Where the report stands, what it waits for, and its timeline.',
  });
  setHandler(messages.cancelUpdate, (given) => abandon(run, actorOf(given)), {
    description: 'Stops following the job. The service cannot cancel it, and learns nothing of it.',
    validator: (given: OfActor) => {
      actorOf(given);
      const outcome = outcomeOf(job);
      // A repetition succeeds.
      if (outcome === undefined || outcome === 'abandoned') return;
      throw refuse('ReportEnded', `The report has ended: ${outcome}`);
    },
  });
}

function abandon(run: ReportRun, actor: OfActor): messages.ReportState {
  const { job } = run;
  if (outcomeOf(job) === 'abandoned') return stateOf(job);
  job.ending = 'abandoned';
  note(job, 'the product stopped following the job', Date.now(), undefined, actor);
  run.hasNews = true;
  return stateOf(job);
}
