import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  makeContinueAsNewFunc,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { readEarlierRun, type EarlierRun } from '../../protocol/earlier-run.js';
import {
  cancelReportUpdate,
  jobChangedSignal,
  parsingJobName,
  reportStateQuery,
  reportSubmittedSignal,
  type ParsingJobInput,
  type ParsingJobResult,
  type ReportState,
} from '../../protocol/report/messages.js';
import { Alarm } from '../entity/alarm.js';
import { deliveryOf } from '../entity/attention.js';
import { note } from '../entity/journal.js';
import { deliverBeforeEnd, keepDelivering } from '../entity/outbox.js';
import { announceEnd, clear, raise } from './announcements.js';
import { nextMoment } from './deadlines.js';
import { identify } from './identify.js';
import { hear, takeOver } from './intake.js';
import { openJob, outcomeOf, type Job } from './job.js';
import { meetDeadlines, review } from './review.js';
import { reportResultOf, reportStateOf } from './view.js';

/**
 * Follows one parsing job until its report was read. Started by signal-with-start: by the hand-over from `submitReport`,
 * or by the first webhook of a job that nobody submitted through us.
 */
export async function parsingJob(input: ParsingJobInput): Promise<ParsingJobResult> {
  if (typeof input?.jobId !== 'string') throw ApplicationFailure.nonRetryable('jobId is missing', 'InvalidCommand');
  const run: ReportRun = {
    job: openJob(input.jobId, input.carried, Date.now()),
    earlierRun: readEarlierRun(input.earlierRun),
    alarm: new Alarm(),
    heard: false,
  };
  listen(run);
  await identify(run);
  const delivery = new CancellationScope();
  const delivering = delivery.run(() =>
    keepDelivering(
      run.job,
      deliveryOf(run.job, { raise, clear }, () => (run.heard = true)),
    ),
  );
  do {
    await followToTheEnd(run);
  } while (!(await isSettled(run)));
  delivery.cancel();
  await delivering;
  return reportResultOf(run.job);
}

/** Works until there is an outcome, one thing at a time. */
async function followToTheEnd(run: ReportRun): Promise<void> {
  const { job, alarm } = run;
  for (;;) {
    run.heard = false;
    await meetDeadlines(run);
    review(run);
    if (outcomeOf(job) !== undefined) return;
    if (workflowInfo().continueAsNewSuggested) await continueAnew(run);
    alarm.set(nextMoment(job));
    await condition(() => run.heard || alarm.rang);
  }
}

/** An end holds once everybody was told, and nothing new came in meanwhile: a review may still change the results. */
async function isSettled(run: ReportRun): Promise<boolean> {
  run.alarm.disarm();
  run.heard = false;
  announceEnd(run.job, Date.now());
  await deliverBeforeEnd(run.job, () => run.heard);
  await condition(allHandlersFinished);
  return !run.heard;
}

/** Starts over with an empty history; everything known goes along. */
async function continueAnew({ job }: ReportRun): Promise<void> {
  await condition(allHandlersFinished);
  await makeContinueAsNewFunc<typeof parsingJob>({ workflowType: parsingJobName })({
    jobId: job.jobId,
    carried: job,
  });
}

function listen(run: ReportRun): void {
  const { job } = run;
  setHandler(jobChangedSignal, (snapshot) => hear(run, snapshot), {
    description: 'A webhook reported this job.',
  });
  setHandler(reportSubmittedSignal, (submitted) => takeOver(run, submitted), {
    description: 'submitReport hands over the report that it uploaded, with its reference and policy.',
  });
  setHandler(reportStateQuery, () => reportStateOf(job), {
    description: 'Where the report stands, what it waits for, and its timeline.',
  });
  setHandler(cancelReportUpdate, () => abandon(run), {
    description: 'Stops following the job. The service cannot cancel it and is told nothing.',
    validator: () => {
      const outcome = outcomeOf(job);
      if (outcome === undefined) return;
      throw ApplicationFailure.nonRetryable(`The report has ended: ${outcome}`, 'ReportEnded', { fields: [] });
    },
  });
}

function abandon(run: ReportRun): ReportState {
  const { job } = run;
  job.ending = 'abandoned';
  note(job, 'the product stopped following the job', Date.now());
  run.heard = true;
  return reportStateOf(job);
}

/** One run of `parsingJob`: the case it works on, and what wakes it. */
export interface ReportRun {
  job: Job;
  earlierRun: EarlierRun | undefined;
  alarm: Alarm;
  /** Something was heard that the main loop has not looked at yet. */
  heard: boolean;
}
