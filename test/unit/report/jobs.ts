import type { ReportSnapshot } from '../../../service/report/snapshot.js';
import { openJob, type Job } from '../../../workflows/report/job.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';
import { parsingJob } from '../../../workflows/report/workflow.js';
import { Life } from '../life.js';

/** Ids of jobs and users of these tests; nobody has them. */
export const jobId = '6a7b8c9d-0e1f-4a2b-8c3d-4e5f60718293';
export const userId = '11111111-2222-4333-8444-555566667777';

export const began = Date.parse('2026-11-02T09:00:00.000Z');

export function snapshot(status?: string, more: Partial<ReportSnapshot> = {}): ReportSnapshot {
  return { jobId, ...(status !== undefined && { status }), ...more };
}

/** A job that was handed over at `began`, with a target for notifications. */
export function handedOver(changes: Partial<Job> = {}): Job {
  return {
    ...openJob({ jobId, policy: resolvePolicy('report') }, began),
    handedOver: true,
    reference: 'report-1',
    userId,
    notifies: true,
    ...changes,
  };
}

export const counts = {
  results: 3,
  unreadable: 0,
  byLoincMatchStatus: { auto_match: 2, needs_review: 1, no_match: 0, unknown: 0 },
  byInterpretation: { normal: 2, abnormal: 1, critical: 0, unknown: 0 },
  aboveRange: 1,
  belowRange: 0,
};

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
