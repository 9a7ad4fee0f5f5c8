import { log } from '@temporalio/workflow';
import { refusalOf } from '../command-queue.js';
import { reading } from '../proxies.js';
import { saidNothing } from './case.js';
import type { ReportRun } from './run.js';
import { takeAbsence, takeRead, takeUnsureAbsence } from './intake.js';

/**
 * A job that was known and is gone ends the case; one that cannot be read now is as silent as before, and so is one that is
 * not found in words that are not the service's.
 */
export async function readJob(run: ReportRun): Promise<void> {
  const { kase } = run;
  const asked = kase.reported;
  try {
    const read = await reading.readParsingJob.executeWithOptions({ summary: 'read the job' }, [kase.jobId]);
    if (read === null) takeAbsence(kase);
    else if ('unsure' in read) takeUnsureAbsence(kase, Date.now());
    else takeRead(run, read, asked);
  } catch (error) {
    const { type, message } = refusalOf(error);
    log.warn('parsing job could not be read', { jobId: kase.jobId, type, message });
    saidNothing(kase, Date.now());
  }
}
