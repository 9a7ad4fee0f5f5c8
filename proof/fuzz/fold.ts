import { announceNews } from '../../workflows/order/announcements.js';
import { learn, openChain } from '../../workflows/order/chain.js';
import { nextMoment } from '../../workflows/order/deadlines.js';
import { readSnapshot } from '../../workflows/order/snapshots.js';
import { caseFileOf, stateOf } from '../../workflows/order/view.js';
import { announceNews as announceJob } from '../../workflows/report/announcements.js';
import { nextMoment as nextJobMoment } from '../../workflows/report/deadlines.js';
import { learnFromWebhook, openJob } from '../../workflows/report/job.js';
import { readReportSnapshot } from '../../workflows/report/reports.js';
import type { CaughtStart } from './recording-temporal.js';
import { resolvePolicy } from '../../protocol/policies.js';

/**
 * Does with a caught signal what the workflow does before it waits: reads it, folds it in, announces it, finds the next moment and
 * writes what operators see. Throws what the workflow would throw.
 */
export function foldIn({ signalName, argument }: CaughtStart, now: number): void {
  if (signalName === 'orderChanged') foldOrder(argument);
  if (signalName === 'jobChanged') foldJob(argument, now);
}

function foldOrder(argument: unknown): void {
  const snapshot = readSnapshot(argument);
  if (!snapshot) throw new Error('The snapshot of a webhook is not read as one.');
  const chain = openChain({ rootOrderId: snapshot.orderId, policy: resolvePolicy('order') }, 0);
  chain.notifies = true;
  learn(chain, snapshot);
  announceNews(chain);
  const next = nextMoment(chain)?.at;
  if (next !== undefined && Number.isNaN(next)) throw new Error('The next moment is not a time.');
  JSON.stringify(stateOf(chain));
  caseFileOf(chain);
}

function foldJob(argument: unknown, now: number): void {
  const snapshot = readReportSnapshot(argument);
  if (!snapshot) throw new Error('The snapshot of a webhook is not read as one.');
  const job = openJob({ jobId: snapshot.jobId, policy: resolvePolicy('report') }, now);
  learnFromWebhook(job, snapshot, now);
  announceJob(job, now);
  if (Number.isNaN(nextJobMoment(job).at)) throw new Error('The next moment of a job is not a time.');
}
