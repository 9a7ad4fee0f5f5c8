import { parsingJob } from '../../../workflows/report/workflow.js';
import { Life } from '../life.js';
import { began, jobId, snapshot, userId } from './jobs.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

export const opening = { workflow: parsingJob, type: 'parsingJob', workflowId: `parsing-job/${jobId}`, now: began };

export const handOver = (more: object = {}) => ({
  ...{ reference: 'report-1', userId, policy: resolvePolicy('report'), snapshot: snapshot('started') },
  ...{ adopted: false, notifies: true, ...more },
});

/** A job that was handed over, unless a webhook brought it. */
export async function life(read: unknown, isAdopted = false): Promise<Life> {
  const policy = resolvePolicy('report', { giveUpAfter: '2d' });
  const first = snapshot('started');
  const identifyJob = { snapshot: first, gone: false, notifies: true, owner: { kind: 'none' } };
  const submitted = { name: 'reportSubmitted', argument: handOver({ policy }) };
  const begun = new Life(opening, { identifyJob, readParsingJob: read });
  return begun.start({ jobId, policy }, isAdopted ? { name: 'jobChanged', argument: first } : submitted);
}
