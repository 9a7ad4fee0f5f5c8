import { setTimeout as sleep } from 'node:timers/promises';
import { parsingJobId, submitReportId } from '../../../protocol/ids.js';
import { until } from '../stage.js';
import type { Story } from './story.js';

export const reports: readonly Story[] = [
  async function reportReviewed(stage) {
    const handle = await stage.submit();
    const jobId = await handle.jobId();
    for (const status of ['started', 'pending_review']) {
      await stage.sandbox.moveJob(jobId, status);
      await until(handle, (state) => state.status === status);
    }
    await stage.sandbox.moveJob(jobId, { status: 'completed', results: 'sample', is_reviewed: true });
    await handle.result();
    return { 'report-submitted': submitReportId(handle.reference ?? ''), 'report-reviewed': parsingJobId(jobId) };
  },

  /** The answer to the upload is lost, and the job is found by its webhook. */
  async function reportLost(stage) {
    const path = '/lab_report/v1/parser/job';
    await stage.sandbox.addFault({ method: 'POST', path, times: 1, action: { kind: 'drop_response' } });
    const handle = await stage.submit({ uploadTimeout: '20s', creationTimeout: '1s', lostAnswerWait: '60s' });
    const jobId = await handle.jobId();
    await stage.sandbox.moveJob(jobId, { status: 'failed', failure_reason: 'low_quality' });
    await handle.result();
    return { 'report-lost': submitReportId(handle.reference ?? ''), 'report-failed': parsingJobId(jobId) };
  },

  /** No webhook about the job arrives: it is read, raises attention, and is no longer followed. */
  async function reportOverdue(stage) {
    const handle = await stage.submit({ firstPoll: '1s', parsingDeadline: '2s' });
    const jobId = await handle.jobId();
    await until(handle, ({ attention }) => attention.some(({ reason }) => reason === 'parsing_overdue'));
    await handle.cancel();
    await handle.result();
    return { 'report-overdue': parsingJobId(jobId) };
  },

  async function reportAdopted(stage) {
    const { id } = await stage.sandbox.createJob({ outcome: 'stuck' });
    await stage.sandbox.moveJob(id, { status: 'completed', results: 'none' });
    const workflow = stage.temporal.workflow.getHandle(parsingJobId(id));
    while ((await workflow.describe().catch(() => undefined)) === undefined) await sleep(50);
    await workflow.result();
    return { 'report-adopted': parsingJobId(id) };
  },
];
