import { condition, workflowInfo } from '@temporalio/workflow';
import type { JobReading } from '../../activities/reports.js';
import { readingPatiently } from '../proxies.js';
import { announceClaim } from './announcements.js';
import { raise } from './attention.js';
import { hasEndedByItself, type ReportCase } from './case.js';
import { setNotifies, takeAbsence, takeRead, takeUnsureAbsence } from './intake.js';
import type { ParsingJobResult, ReportTimelineEntry } from './messages.js';
import type { ReportRun } from './run.js';
import { knownOf } from './state.js';

/** A run is started together with its first signal; one that was started by hand reads its job instead. */
const firstReportWait = 10_000;

/**
 * How long a run that a webhook started waits for a hand-over before it looks whose job it is: the upload's answer is on
 * its way while the webhook comes. It is doubled as long as an upload of the same user is under way that may claim it.
 */
const claimWait = 10_000;

/** So often: ten minutes in all. Then the job counts as one that was made elsewhere, and a person is asked. */
const mostLooks = 7;

/**
 * Finds out what this run is for: a job that was handed over, one that it adopts, one that ended before and stirs again,
 * or the fruit of an upload whose answer was lost and whose file another job reads meanwhile.
 */
export async function identify(run: ReportRun): Promise<void> {
  const { kase } = run;
  if (kase.identified) return;
  const isReported = () => knownOf(kase.reported) !== undefined;
  if (!isReported()) await condition(isReported, firstReportWait, { summary: 'first report' });
  const looks = await awaitOwner(run);
  // What was handed over together with an answer was made just now; what was found elsewhere may have a history.
  if (looks === 0 && !kase.uploadedAnew && kase.ending === undefined) await readUp(run);
  kase.identified = true;
}

/** @returns how often it was asked whose job this is */
async function awaitOwner(run: ReportRun): Promise<number> {
  const { kase } = run;
  let looks = 0;
  // A job that was over when it was first heard of probably ended long ago: reading tells more than waiting.
  if (isOpen(kase) && hasEndedByItself(kase)) {
    looks += 1;
    await readUp(run, { tooSoon: true });
  }
  for (let n = 0; isOpen(kase) && n < mostLooks; n += 1) {
    const wait = claimWait * 2 ** Math.max(n - 1, 0);
    if (await condition(() => !isOpen(kase), wait, { summary: 'hand-over' })) break;
    looks += 1;
    await readUp(run);
  }
  // An upload that is stuck for so long may still be the one that made it: only a person can tell.
  if (isOpen(kase)) raise(kase, 'ambiguous_job', Date.now());
  return looks;
}

/** Nobody has claimed the job, and it was not found out that nobody will. */
function isOpen({ handedOver, identified, ending }: ReportCase): boolean {
  return !handedOver && !identified && ending === undefined;
}

/** @param tooSoon an upload that is about to claim the job may not be listed yet: only a history settles whose it is */
async function readUp(run: ReportRun, { tooSoon = false } = {}): Promise<void> {
  const { kase } = run;
  const since = workflowInfo().startTime.toISOString();
  const reported = kase.reported;
  const question = { jobId: kase.jobId, since, ...(kase.userId !== undefined && { userId: kase.userId }) };
  const reading = await readingPatiently.identifyJob.executeWithOptions({ summary: 'whose job is this' }, [question]);
  const { snapshot, gone, unsure, notifies, previous } = reading;
  if (previous) resume(kase, previous);
  if (snapshot) takeRead(run, snapshot, reported);
  setNotifies(kase, notifies);
  if (previous && staysEnded(kase, previous)) stayEnded(kase, previous);
  else if (gone) takeAbsence(kase);
  else if (unsure) takeUnsureAbsence(kase, Date.now());
  if (previous) kase.identified = true;
  else if (isOpen(kase) && !tooSoon) settleOwner(kase, reading);
}

/** Whether this unclaimed job is somebody's lost upload. When in doubt it is not marked, and a person is asked. */
function settleOwner(kase: ReportCase, { owner }: JobReading): void {
  switch (owner.kind) {
    case 'open':
      return;
    case 'superseded':
      kase.ending = 'superseded';
      kase.supersededBy = owner.by;
      break;
    case 'ambiguous':
      raise(kase, 'ambiguous_job', Date.now());
      break;
    case 'none':
      break;
    default:
      return owner satisfies never;
  }
  kase.identified = true;
}

/** Goes on where the last run ended: with its reference and policy, and without announcing anything again. */
function resume(kase: ReportCase, previous: ParsingJobResult): void {
  if (!kase.handedOver) kase.policy = previous.policy;
  kase.announced = [...new Set([...previous.announced, ...kase.announced])];
  const isKnown = ({ status, isReviewed }: ReportTimelineEntry) =>
    previous.timeline.some((entry) => entry.status === status && entry.isReviewed === isReviewed);
  kase.timeline = [...previous.timeline, ...kase.timeline.filter((entry) => !isKnown(entry))];
  if (previous.userId !== undefined) kase.userId ??= previous.userId;
  if (previous.reference === undefined) {
    if (kase.handedOver) announceClaim(kase, Date.now());
    return;
  }
  kase.reference ??= previous.reference;
  kase.handedOver = true;
}

/** What somebody decided to stop following stays so, unless the service ended it: that is news. */
function staysEnded(kase: ReportCase, { outcome }: ParsingJobResult): boolean {
  if (outcome === 'superseded') return !kase.handedOver;
  return outcome === 'abandoned' && !hasEndedByItself(kase);
}

function stayEnded(kase: ReportCase, { outcome, supersededBy }: ParsingJobResult): void {
  kase.ending = outcome;
  kase.endTold = true;
  if (supersededBy !== undefined) kase.supersededBy = supersededBy;
}
