import type { ReportSnapshot } from '../../../service/report/snapshot.js';
import { openJob, type Job } from '../../../workflows/report/job.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

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
