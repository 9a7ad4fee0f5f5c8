import { expect, test } from 'vitest';
import { resolveReportPolicy } from '../../../protocol/report/policy.js';
import type { ReportSnapshot } from '../../../service/report-snapshot.js';
import { parsingJob } from '../../../workflows/report/workflow.js';
import { Life, unavailable } from '../life.js';
import { began, counts, jobId, snapshot, userId } from './jobs.js';

/* The lives of parsing jobs, from the hand-over to the end: what the product is notified of, and when the service is asked. */

/** A job that was handed over, unless a webhook brought it. */
async function life(read: unknown, isAdopted = false): Promise<Life> {
  const opening = { workflow: parsingJob, type: 'parsingJob', workflowId: `parsing-job/${jobId}`, now: began };
  const policy = resolveReportPolicy({ giveUpAfter: '2d' });
  const first = snapshot('started');
  const begun = new Life(opening, {
    identifyJob: { snapshot: first, gone: false, notifies: true, owner: { kind: 'none' } },
    readParsingJob: read,
  });
  const submitted = { reference: 'report-1', userId, policy, snapshot: first, adopted: false, notifies: true };
  const handOver = { name: 'reportSubmitted', argument: submitted };
  return begun.start({ jobId, policy }, isAdopted ? { name: 'jobChanged', argument: first } : handOver);
}

const report = (of: Life, status: string, more: Partial<ReportSnapshot> = {}) => {
  of.answers['readParsingJob'] = snapshot(status, more);
  return of.signal('jobChanged', snapshot(status, more));
};

const about = { jobId, reference: 'report-1', userId };
const readsOf = ({ calls }: Life) => calls.map((call) => Number.parseFloat(call));

test('a job that never moves is read at doubling intervals, needs a person, and is given up', async () => {
  const job = await (await life(snapshot('started'))).until(1000);
  expect(job.events).toEqual([
    '0h report.phase_changed parsing',
    '1h report.attention_raised parsing_overdue',
    '49h report.ended unresolved',
    '49h completed',
  ]);
  expect(readsOf(job).slice(0, 8)).toEqual([0.033, 0.1, 0.233, 0.5, 1, 2.067, 4.2, 8.467]);
  const from = { source: `parsing-job/${jobId}`, subject: jobId };
  expect(job.announced).toEqual([
    {
      ...{
        ...from,
        id: `${jobId}/started/phase_changed`,
        at: '2026-11-02T09:00:00.000Z',
        type: 'report.phase_changed',
      },
      data: { ...about, phase: 'parsing', status: 'started' },
    },
    {
      ...{ ...from, id: `${jobId}/parsing_overdue/attention_raised`, type: 'report.attention_raised' },
      ...{ at: '2026-11-02T10:00:00.000Z' },
      data: { ...about, reason: 'parsing_overdue', since: '2026-11-02T10:00:00.000Z' },
    },
    {
      ...{ ...from, id: `${jobId}/unresolved/ended`, at: '2026-11-04T10:00:00.000Z', type: 'report.ended' },
      data: { ...about, outcome: 'unresolved' },
    },
  ]);
});

test('a job is given up a day later if the service is silent, and at once if it is gone', async () => {
  const silent = await (await life(unavailable)).until(1000);
  expect(silent.events.slice(1)).toEqual([
    '1h report.attention_raised parsing_overdue',
    '73h report.ended unresolved',
    '73h completed',
  ]);
  const gone = await (await life(null)).until(1000);
  expect(gone.events.slice(1)).toEqual(['0.033h report.ended job_gone', '0.033h completed']);
});

test('a review, its delay and its result are announced, and answer the questions before them', async () => {
  const job = await life(snapshot('started'));
  await job.until(2);
  await report(job, 'pending_review', { needsHumanReview: true });
  await job.until(24 * 5);
  await report(job, 'completed', { counts, isReviewed: true });
  expect(job.events).toEqual([
    '0h report.phase_changed parsing',
    '1h report.attention_raised parsing_overdue',
    '2h report.attention_cleared parsing_overdue',
    '2h report.review_needed',
    '98h report.attention_raised review_overdue',
    '120h report.attention_cleared review_overdue',
    '120h report.completed',
    '120h completed',
  ]);
  expect(job.announced[3]?.data).toEqual({ ...about, status: 'pending_review' });
  expect(job.announced.at(-1)?.data).toEqual({ ...about, isReviewed: true, ...counts });
});

test('a result answers the question of its delay', async () => {
  const job = await (await life(snapshot('started'))).until(2);
  await report(job, 'completed', { counts });
  expect(job.events.slice(2)).toEqual([
    '2h report.attention_cleared parsing_overdue',
    '2h report.completed',
    '2h completed',
  ]);
});

test('a delay that is over when the review ends without a result needs nobody either', async () => {
  const job = await life(snapshot('pending_review'));
  await report(job, 'pending_review');
  await job.until(100);
  job.answers['readParsingJob'] = snapshot('processing');
  await job.until(102.5);
  expect(job.events.slice(2, 5).map((event) => event.replace(/^[\d.]+h /, ''))).toEqual([
    'report.attention_raised review_overdue',
    'report.attention_cleared review_overdue',
    'report.phase_changed parsing',
  ]);
});

test('a job that nobody submitted is announced without a reference', async () => {
  const job = await (await life(snapshot('started'), true)).until(0.01);
  expect(job.calls).toEqual(['0.003h identifyJob']);
  expect(job.announced.map(({ data }) => data)).toEqual([{ jobId, phase: 'parsing', status: 'started' }]);
});
