import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ReportReferenceConflict, type ReportHandle, type ReportSubmission } from '../../client/index.js';
import { samplePdf } from '../../sandbox/sample-report.js';
import { parsingJobId, submitReportId } from '../../protocol/ids.js';
import { jobChangedSignal, parsingJobName, stateQuery as reportStateQuery } from '../../protocol/report/messages.js';
import type { SubmitReportResult } from '../../protocol/report/submission-messages.js';
import { parsingJobStart } from '../../protocol/report/start.js';
import { taskQueue } from '../rig/environments.js';
import { patience, stack } from './stack.js';

/** To whom an unclaimed job belongs: the part that earlier and other submissions of a user play. */

const root = mkdtempSync(join(tmpdir(), 'lab-reports-'));
const lab = stack({ worker: { REPORT_ROOT: root } });
afterAll(() => rm(root, { recursive: true }));

const path = '/lab_report/v1/parser/job';
const lose = { method: 'POST', path, times: 1, action: { kind: 'drop_response' } } as const;
const quick = { uploadTimeout: '25s', creationTimeout: '6s', lostAnswerWait: '9s' } as const;
const report = samplePdf(['labops-sandbox: stuck']);

async function submission(changes: Partial<ReportSubmission> = {}): Promise<ReportSubmission> {
  const name = `${randomUUID()}.pdf`;
  await writeFile(join(root, name), report);
  const userId = changes.userId ?? (await lab.newUser());
  return { reference: `report-${randomUUID()}`, userId, file: { path: name }, policy: quick, ...changes };
}

async function submissionOf({ reference = '' }: ReportHandle): Promise<SubmitReportResult> {
  return lab.rig.client.workflow.getHandle(submitReportId(reference)).result() as Promise<SubmitReportResult>;
}

async function jobsOf(userId: string): Promise<string[]> {
  return (await lab.sandbox.jobs()).filter((job) => job.user_id === userId).map(({ id }) => id);
}

async function attentionOf(jobId: string): Promise<string[]> {
  const workflow = lab.rig.client.workflow.getHandle(parsingJobId(jobId));
  return (await workflow.query(reportStateQuery)).attention.map(({ reason }) => reason);
}

/** A job of the user that was made elsewhere and reported by a webhook; it can be found by searching. */
async function madeElsewhere(userId: string): Promise<string> {
  const { id } = await lab.sandbox.createJob({ user_id: userId, outcome: 'stuck' });
  await untilListed(`WorkflowId = '${parsingJobId(id)}' AND LabUserId = '${userId}'`);
  return id;
}

async function untilListed(query: string): Promise<void> {
  const count = async () => (await lab.rig.client.workflow.count(query)).count;
  await expect.poll(count, patience).toBeGreaterThan(0);
}

async function untilEnded(reference: string, status: string): Promise<void> {
  await untilListed(`WorkflowId = '${submitReportId(reference)}' AND ExecutionStatus = '${status}'`);
}

async function fail(given: ReportSubmission): Promise<void> {
  const handle = await lab.labs.reports.submit(given);
  await handle.jobId().catch(() => undefined);
  await untilEnded(given.reference, 'Failed');
}

async function finish(handle: ReportHandle): Promise<void> {
  await lab.sandbox.moveJob(await handle.jobId(), { status: 'completed', results: 'sample' });
  await handle.result();
}

describe('a reference that was refused and is submitted again is uploaded, whatever its user made meanwhile,', () => {
  test('a refused reference that is submitted again is uploaded if its file did not exist', async () => {
    const name = `${randomUUID()}.pdf`;
    const given = await submission({ file: { path: name } });
    await fail(given);
    const other = await madeElsewhere(given.userId);
    await writeFile(join(root, name), report);
    const handle = await lab.labs.reports.submit(given);
    expect(await handle.jobId()).not.toBe(other);
    expect(await submissionOf(handle)).toMatchObject({ adopted: false, lostUploads: [] });
    await finish(handle);
  });

  test('a refused reference that is submitted again is uploaded if the service refused it', async () => {
    const given = await submission();
    await lab.sandbox.addFault({ ...lose, action: { kind: 'answer', status: 413, body: { detail: 'too large' } } });
    await fail(given);
    const other = await madeElsewhere(given.userId);
    const handle = await lab.labs.reports.submit(given);
    expect(await handle.jobId()).not.toBe(other);
    await finish(handle);
  });
});

test('a submission that fails after a lost answer leaves its job to the next run', async () => {
  await lab.sandbox.addWebhookFault({ status: 'started', times: 1, action: { kind: 'hold' } });
  const given = await submission();
  await lab.sandbox.addFault(lose);
  await lab.sandbox.addFault({ ...lose, action: { kind: 'answer', status: 413, body: { detail: 'too large' } } });
  await fail(given);
  const jobs = await jobsOf(given.userId);
  await lab.sandbox.removeFaults();
  await expect.poll(() => lab.sandbox.releaseWebhooks(), patience).toBe(1);
  for (const jobId of jobs)
    await untilListed(`WorkflowId = '${parsingJobId(jobId)}' AND LabUserId = '${given.userId}'`);
  const handle = await lab.labs.reports.submit(given);
  expect(jobs).toHaveLength(1);
  expect(await handle.jobId()).toBe(jobs[0]);
  expect(await submissionOf(handle)).toMatchObject({ adopted: true, lostUploads: [] });
  await finish(handle);
});

describe('a submission that is terminated in mid-upload and repeated', () => {
  test('waits for the job that the first one may have made, and takes it over', async () => {
    const late = { kind: 'delay', phase: 'after_work', delayMs: 14_000 } as const;
    await lab.sandbox.addFault({ ...lose, action: late });
    await lab.sandbox.addWebhookFault({ status: 'started', times: 1, action: { kind: 'hold' } });
    const given = await submission({ policy: { ...quick, creationTimeout: '16s', lostAnswerWait: '60s' } });
    await lab.labs.reports.submit(given);
    await expect.poll(() => jobsOf(given.userId), patience).toHaveLength(1);
    await lab.rig.client.workflow.getHandle(submitReportId(given.reference)).terminate('by the test');
    await untilEnded(given.reference, 'Terminated');
    const handle = await lab.labs.reports.submit(given);
    await expect.poll(() => lab.sandbox.releaseWebhooks(), patience).toBe(1);
    const jobId = await handle.jobId();
    expect(await jobsOf(given.userId)).toEqual([jobId]);
    expect(await submissionOf(handle)).toMatchObject({ adopted: true, lostUploads: [] });
    await finish(handle);
  });

  test('uploads again if none appears, and claims the first one, too', async () => {
    const late = { kind: 'delay', phase: 'after_work', delayMs: 14_000 } as const;
    await lab.sandbox.addFault({ ...lose, action: late });
    await lab.sandbox.addWebhookFault({ status: 'started', times: 1, action: { kind: 'hold' } });
    const given = await submission({ policy: { ...quick, creationTimeout: '16s' } });
    await lab.labs.reports.submit(given);
    await expect.poll(() => jobsOf(given.userId), patience).toHaveLength(1);
    const [first = ''] = await jobsOf(given.userId);
    await lab.rig.client.workflow.getHandle(submitReportId(given.reference)).terminate('by the test');
    await untilEnded(given.reference, 'Terminated');
    const handle = await lab.labs.reports.submit(given);
    const second = await handle.jobId();
    expect(await submissionOf(handle)).toMatchObject({ adopted: false, lostUploads: [{}] });
    await untilEnded(given.reference, 'Completed');
    await expect.poll(() => lab.sandbox.releaseWebhooks(), patience).toBe(1);
    await untilListed(`WorkflowId = '${parsingJobId(first)}'`);
    const superseded: unknown = await lab.rig.client.workflow.getHandle(parsingJobId(first)).result();
    expect(superseded).toMatchObject({ outcome: 'superseded', supersededBy: second });
    await finish(handle);
  });

  test('is refused for another file, which must not get the results of the first', async () => {
    const late = { kind: 'delay', phase: 'after_work', delayMs: 14_000 } as const;
    await lab.sandbox.addFault({ ...lose, action: late });
    const given = await submission({ policy: { ...quick, creationTimeout: '16s', lostAnswerWait: '60s' } });
    await lab.labs.reports.submit(given);
    await expect.poll(() => jobsOf(given.userId), patience).toHaveLength(1);
    await lab.rig.client.workflow.getHandle(submitReportId(given.reference)).terminate('by the test');
    await untilEnded(given.reference, 'Terminated');
    const other = await lab.labs.reports.submit({ ...given, file: (await submission({ userId: given.userId })).file });
    await expect(other.jobId()).rejects.toBeInstanceOf(ReportReferenceConflict);
    await untilEnded(given.reference, 'Failed');
    const again = await lab.labs.reports.submit(given);
    const jobId = await again.jobId();
    expect(await jobsOf(given.userId)).toEqual([jobId]);
    expect(await submissionOf(again)).toMatchObject({ adopted: true, lostUploads: [] });
    await finish(again);
  });
});

describe('another submission of the user that was refused before anything was sent', () => {
  test('does not keep a lost answer from its job', async () => {
    const userId = await lab.newUser();
    await lab.sandbox.addFault(lose);
    const handle = await lab.labs.reports.submit(
      await submission({ userId, policy: { ...quick, lostAnswerWait: '60s' } }),
    );
    await fail(await submission({ userId, file: { path: 'not-there.pdf' } }));
    const jobId = await handle.jobId();
    expect(await jobsOf(userId)).toEqual([jobId]);
    expect(await submissionOf(handle)).toMatchObject({ adopted: true });
    await finish(handle);
  });

  test('does not keep the late job from being superseded', async () => {
    const userId = await lab.newUser();
    await lab.sandbox.addWebhookFault({ status: 'started', times: 1, action: { kind: 'hold' } });
    await lab.sandbox.addFault(lose);
    const handle = await lab.labs.reports.submit(await submission({ userId }));
    const second = await handle.jobId();
    await fail(await submission({ userId, file: { path: 'not-there.pdf' } }));
    await untilEnded(handle.reference ?? '', 'Completed');
    const [first = ''] = (await jobsOf(userId)).filter((id) => id !== second);
    await expect.poll(() => lab.sandbox.releaseWebhooks(), patience).toBe(1);
    await untilListed(`WorkflowId = '${parsingJobId(first)}'`);
    const superseded: unknown = await lab.rig.client.workflow.getHandle(parsingJobId(first)).result();
    expect(superseded).toMatchObject({ outcome: 'superseded', supersededBy: second });
    // A job says nothing about its file: if it is another report, its result is notified.
    await lab.sandbox.moveJob(first, { status: 'completed', results: 'sample' });
    const notified = () => lab.receiver.about(first).map(({ type, data }) => [type, data['superseded_by']]);
    const expected = [
      ['ended', second],
      ['completed', second],
    ];
    await expect.poll(notified, patience).toEqual(expected);
    await finish(handle);
  });
});

test('a job with another request for review is not the lost one', async () => {
  const userId = await lab.newUser();
  await lab.sandbox.addWebhookFault({ status: 'started', times: 1, action: { kind: 'hold' } });
  await lab.sandbox.addFault(lose);
  const handle = await lab.labs.reports.submit(await submission({ userId }));
  await expect.poll(() => jobsOf(userId), patience).toHaveLength(1);
  await expect.poll(async () => (await lab.sandbox.jobs()).at(-1)?.job['status'], patience).toBe('started');
  const other = await lab.sandbox.createJob({ user_id: userId, outcome: 'stuck', needs_human_review: true });
  expect(await handle.jobId()).not.toBe(other.id);
  expect(await submissionOf(handle)).toMatchObject({ adopted: false, lostUploads: [{}] });
  await finish(handle);
});

test('a job whose webhooks name no user needs attention while an answer is lost', async () => {
  await lab.sandbox.addWebhookFault({ status: 'started', times: 1, action: { kind: 'hold' } });
  await lab.sandbox.addFault(lose);
  const handle = await lab.labs.reports.submit(await submission());
  await handle.jobId();
  await untilEnded(handle.reference ?? '', 'Completed');
  const { id: jobId } = await lab.sandbox.createJob({ outcome: 'stuck', webhook: false });
  const snapshot = { jobId, status: 'started' };
  await lab.rig.client.workflow.signalWithStart(parsingJobName, {
    ...parsingJobStart(snapshot),
    taskQueue,
    signal: jobChangedSignal,
    signalArgs: [snapshot],
  });
  await expect.poll(async () => attentionOf(jobId).catch(() => []), patience).toEqual(['ambiguous_job']);
  await (await lab.labs.reports.get({ jobId })).cancel();
  await finish(handle);
});

test('a job that cannot be read is followed by its webhooks all the same', async () => {
  const refuse = { kind: 'answer', status: 401, body: { detail: 'invalid key' } } as const;
  const fault = await lab.sandbox.addFault({ method: 'GET', path: `${path}/*`, action: refuse });
  const userId = await lab.newUser();
  const { id } = await lab.sandbox.createJob({ user_id: userId, outcome: 'stuck' });
  await lab.sandbox.moveJob(id, { status: 'failed', failure_reason: 'low_quality' });
  await untilListed(`WorkflowId = '${parsingJobId(id)}'`);
  const notified = () => lab.receiver.about(id).map(({ type }) => type);
  await expect.poll(notified, patience).toContain('failed');
  await lab.sandbox.removeFaults(fault);
  expect(await attentionOf(id).catch(() => [])).toEqual([]);
});
