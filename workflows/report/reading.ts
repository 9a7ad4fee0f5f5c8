import { log } from '@temporalio/workflow';
import { refusalOf } from '../command-queue.js';
import { reading } from '../proxies.js';
import { outcomeOf } from './case.js';
import type { ReportRun } from './run.js';
import { takeRead } from './intake.js';

/** A job that was known and is gone ends the case; one that cannot be read now is as silent as before. */
export async function readJob(run: ReportRun): Promise<void> {
  const { kase } = run;
  const asked = kase.reported;
  try {
    const snapshot = await reading.readParsingJob.executeWithOptions({ summary: 'read the job' }, [kase.jobId]);
    if (snapshot) takeRead(run, snapshot, asked);
    else if (outcomeOf(kase) === undefined) kase.ending = 'job_gone';
  } catch (error) {
    const { type, message } = refusalOf(error);
    log.warn('parsing job could not be read', { jobId: kase.jobId, type, message });
    kase.lookedAt = Date.now();
    kase.silentReads += 1;
  }
}
