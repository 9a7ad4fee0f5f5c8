import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  makeContinueAsNewFunc,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { Alarm } from '../alarm.js';
import { isTold, keepDelivering, untilTold } from '../outbox.js';
import { announceEnd } from './announcements.js';
import { raise } from './attention.js';
import { note, openReportCase, outcomeOf } from './case.js';
import { nextMoment } from './deadlines.js';
import { meetDeadlines, review } from './following.js';
import { identify } from './identify.js';
import { hear, takeOver } from './intake.js';
import {
  cancelReportUpdate,
  jobChangedSignal,
  parsingJobName,
  reportStateQuery,
  reportSubmittedSignal,
  type ParsingJobInput,
  type ParsingJobResult,
  type ReportState,
} from './messages.js';
import type { ReportRun } from './run.js';
import { reportTelling } from './telling.js';
import { reportResultOf, reportStateOf } from './view.js';
import { show } from './visibility.js';

/**
 * Follows one parsing job until its report was read. Started by signal-with-start: by the hand-over from `submitReport`,
 * or by the first webhook of a job that nobody submitted through us.
 */
export async function parsingJob(input: ParsingJobInput): Promise<ParsingJobResult> {
  if (typeof input?.jobId !== 'string') throw ApplicationFailure.nonRetryable('jobId is missing', 'InvalidCommand');
  const run: ReportRun = {
    kase: openReportCase(input.jobId, input.carried, Date.now()),
    alarm: new Alarm(),
    heard: false,
  };
  listen(run);
  await identify(run);
  const delivery = new CancellationScope();
  const delivering = delivery.run(() => keepDelivering(run.kase, reportTelling(run)));
  do {
    await followToTheEnd(run);
  } while (!(await isSettled(run)));
  delivery.cancel();
  await delivering;
  return reportResultOf(run.kase);
}

/** Works until there is an outcome, one thing at a time. */
async function followToTheEnd(run: ReportRun): Promise<void> {
  const { kase, alarm } = run;
  for (;;) {
    run.heard = false;
    await meetDeadlines(run);
    review(run);
    if (outcomeOf(kase) !== undefined) return;
    delete run.tellUntil;
    if (workflowInfo().continueAsNewSuggested) await continueAnew(run);
    alarm.set(nextMoment(kase));
    await condition(() => run.heard || alarm.rang);
  }
}

/** An end holds once everybody was told, and nothing new came in meanwhile: a review may still change the results. */
async function isSettled(run: ReportRun): Promise<boolean> {
  run.alarm.disarm();
  run.heard = false;
  announceEnd(run.kase, Date.now());
  await tellTheEnd(run);
  await condition(allHandlersFinished);
  return !run.heard;
}

/** A receiver that stays silent does not hold an end for ever: then a person is asked to look. */
async function tellTheEnd(run: ReportRun): Promise<void> {
  const { kase } = run;
  if (isTold(kase)) return;
  run.tellUntil ??= Date.now() + kase.policy.notificationDeadline;
  if (await untilTold(kase, run.tellUntil - Date.now(), () => run.heard)) return;
  raise(kase, 'notifications_undelivered', Date.now());
  show(kase);
}

/** Starts over with an empty history; everything known goes along. */
async function continueAnew({ kase }: ReportRun): Promise<void> {
  await condition(allHandlersFinished);
  await makeContinueAsNewFunc<typeof parsingJob>({ workflowType: parsingJobName })({
    jobId: kase.jobId,
    carried: kase,
  });
}

function listen(run: ReportRun): void {
  const { kase } = run;
  setHandler(jobChangedSignal, (snapshot) => hear(run, snapshot), {
    description: 'A webhook reported this job.',
  });
  setHandler(reportSubmittedSignal, (submitted) => takeOver(run, submitted), {
    description: 'submitReport hands over the report that it uploaded, with its reference and policy.',
  });
  setHandler(reportStateQuery, () => reportStateOf(kase), {
    description: 'Where the report stands, what it waits for, and its timeline.',
  });
  setHandler(cancelReportUpdate, () => abandon(run), {
    description: 'Stops following the job. The service cannot cancel it and is told nothing.',
    validator: () => {
      const outcome = outcomeOf(kase);
      if (outcome === undefined) return;
      throw ApplicationFailure.nonRetryable(`The report has ended: ${outcome}`, 'ReportEnded', { fields: [] });
    },
  });
}

function abandon(run: ReportRun): ReportState {
  const { kase } = run;
  kase.ending = 'abandoned';
  note(kase, 'the product stopped following the job', Date.now());
  run.heard = true;
  return reportStateOf(kase);
}
