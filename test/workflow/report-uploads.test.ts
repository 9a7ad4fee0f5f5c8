import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationFailure, Client, WorkflowFailedError } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import {
  LabOperations,
  ReportFileRefused,
  ReportInvalid,
  ReportNotFound,
  ReportReferenceConflict,
  ReportRefused,
  ReportSubmissionCancelled,
  ReportSubmissionExpired,
  ServiceDown,
  SignedUrlRefused,
} from '../../client/index.js';
import { samplePdf } from '../../sandbox/sample-report.js';
import { submitReportId } from '../../protocol/ids.js';
import {
  cancelUpdate as cancelSubmissionUpdate,
  submitReportName,
  type SubmitReportResult,
} from '../../protocol/report/submission-messages.js';
import { labAttentionKey, labReferenceKey, labUserIdKey } from '../../protocol/search-attributes.js';
import { namespace, taskQueue } from '../rig/environments.js';
import { eventually } from '../rig/eventually.js';
import { hosting } from '../unit/report-file/reading.js';
import { follow, start, submission, submit, uploadPath, writeReport } from './report.js';
import { setStage } from './story.js';

const stage = setStage();

const limit = 10_485_760;

async function refusalOf(file: { path: string }): Promise<ReportFileRefused> {
  const handle = await start(stage, await submission(stage, { file }));
  const refusal: unknown = await handle.jobId().catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(ReportFileRefused);
  return refusal as ReportFileRefused;
}

async function uploads(): Promise<number> {
  return stage.countRequests('POST', uploadPath);
}

async function resultOf(reference: string): Promise<SubmitReportResult> {
  return stage.temporal.workflow.getHandle(submitReportId(reference)).result() as Promise<SubmitReportResult>;
}

/** Why a person should look at a submission. */
async function attentionOf(reference: string): Promise<readonly string[]> {
  const workflow = stage.temporal.workflow.getHandle(submitReportId(reference));
  return (await workflow.describe()).typedSearchAttributes.get(labAttentionKey) ?? [];
}

describe('one job is followed for a reference', () => {
  test('one job is followed for a reference if it is submitted twice, at once and after the end', async () => {
    const given = await submission(stage);
    const [one, other] = await Promise.all([start(stage, given), start(stage, { ...given, policy: {} })]);
    expect(await one.jobId()).toBe(await other.jobId());
    const report = await follow(stage, one);
    await report.move({ status: 'completed', results: 'sample' });
    await report.result();
    expect(await (await start(stage, given)).jobId()).toBe(report.jobId);
    expect(await uploads()).toBe(1);
    const found = await stage.product.reports.get({ reference: given.reference });
    expect(await found.jobId()).toBe(report.jobId);
  });

  test('another file, user or request under a reference is a conflict', async () => {
    const given = await submission(stage);
    await start(stage, given);
    const others = [
      { file: { path: 'another.pdf' } },
      { userId: 'another-user' },
      { needsHumanReview: true },
      { policy: { firstPoll: '1m' } },
    ] as const;
    for (const other of others) {
      await expect(stage.product.reports.submit({ ...given, ...other })).rejects.toThrow(ReportReferenceConflict);
    }
  });

  test('one job is followed if the upload broke off before the service had the whole file: it is repeated at once', async () => {
    await stage.sandbox.addFault({ method: 'POST', path: uploadPath, times: 2, action: { kind: 'refuse' } });
    const file = { path: await writeReport(stage, padded(limit)) };
    const handle = await start(stage, await submission(stage, { file }));
    await stage.skip('30 seconds');
    const report = await follow(stage, handle);
    expect(await stage.sandbox.jobs()).toMatchObject([{ id: report.jobId }]);
    expect(await resultOf(report.handle.reference ?? '')).toMatchObject({
      version: 1,
      adopted: false,
      lostUploads: [],
    });
  });

  test.each([
    ['was lost', { kind: 'drop_response' }, 2],
    ['was a 503', { kind: 'answer', status: 503, body: 'busy' }, 1],
  ] as const)(
    'one job is followed if the answer %s: the job is waited for, then the file is sent again',
    async (_what, action, jobs) => {
      await stage.sandbox.addFault({ method: 'POST', path: uploadPath, times: 1, action });
      const given = await submission(stage);
      const handle = await start(stage, given);
      await stage.expectRequests('POST', uploadPath);
      await stage.skip('1 minute');
      expect(await uploads()).toBe(1);
      await stage.skip('5 minutes');
      const report = await follow(stage, handle);
      expect((await stage.sandbox.jobs()).map(({ id }) => id).at(-1)).toBe(report.jobId);
      expect(await stage.sandbox.jobs()).toHaveLength(jobs);
      const { lostUploads } = await resultOf(given.reference);
      expect(lostUploads).toHaveLength(1);
    },
  );

  test('an unreadable answer fails the submission, because the next one would be as unreadable', async () => {
    const action = { kind: 'answer', status: 200, body: { status: 'started' }, phase: 'after_work' } as const;
    await stage.sandbox.addFault({ method: 'POST', path: uploadPath, action });
    const handle = await start(stage, await submission(stage));
    await stage.expectRequests('POST', uploadPath);
    const refused = handle.jobId().catch((error: unknown) => error);
    await stage.skip('1 hour');
    expect(await refused).toBeInstanceOf(ServiceDown);
    expect(await uploads()).toBe(1);
  });

  test('the job of another submission is not taken for that of an upload: it would show the results of another file', async () => {
    const other = await submit(stage);
    const body = { ...{ id: other.jobId, status: 'started' }, ...{ needs_human_review: false, is_reviewed: false } };
    const action = { kind: 'answer', status: 200, body, phase: 'after_work' } as const;
    await stage.sandbox.addFault({ method: 'POST', path: uploadPath, times: 1, action });
    const handle = await start(stage, await submission(stage));
    await stage.expectRequests('POST', uploadPath, 2);
    const refused = handle.jobId().catch((error: unknown) => error);
    await stage.skip('1 hour');
    expect(await refused).toBeInstanceOf(ServiceDown);
    expect(await uploads()).toBe(2);
    const { reference, attention } = await other.handle.state();
    expect(reference).toBe(other.handle.reference);
    expect(attention.map(({ reason }) => reason)).not.toContain('reference_conflict');
  });

  test('one job is followed through an outage of hours, which needs attention after one', async () => {
    const fault = await stage.sandbox.addFault({ path: uploadPath, action: { kind: 'refuse' } });
    const given = await submission(stage);
    const handle = await start(stage, given);
    const attention = () => attentionOf(given.reference);
    await stage.skip('2 hours');
    await eventually(async () => expect(await attention()).toEqual(['upload_delayed']));
    await stage.sandbox.removeFaults(fault);
    await stage.skip('15 minutes');
    await follow(stage, handle);
    expect(await attention()).toEqual([]);
    expect(await stage.sandbox.jobs()).toHaveLength(1);
  });

  test('a refused key needs attention at once, and the file is uploaded once the key is right', async () => {
    const action = { kind: 'answer', status: 401, body: { detail: 'Invalid' } } as const;
    const fault = await stage.sandbox.addFault({ path: uploadPath, action });
    const given = await submission(stage);
    const handle = await start(stage, given);
    const attention = () => attentionOf(given.reference);
    await eventually(async () => expect(await attention()).toEqual(['upload_delayed']));
    await stage.sandbox.removeFaults(fault);
    await stage.skip('15 minutes');
    await follow(stage, handle);
    expect(await attention()).toEqual([]);
    expect(await stage.sandbox.jobs()).toHaveLength(1);
  });

  test('a service that asks for a day of patience is not asked again before', async () => {
    const action = { kind: 'answer', status: 429, headers: { 'retry-after': '86400' }, body: 'busy' } as const;
    await stage.sandbox.addFault({ method: 'POST', path: uploadPath, times: 1, action });
    const handle = await start(stage, await submission(stage));
    await stage.skip('23 hours');
    expect(await uploads()).toBe(1);
    await stage.skip('2 hours');
    await follow(stage, handle);
    expect(await uploads()).toBe(2);
  });
});

describe('a submission whose file is never taken', () => {
  // So patient that a week takes some twenty attempts.
  const busy = { kind: 'answer', status: 429, headers: { 'retry-after': '36000' }, body: 'busy' } as const;

  test('ends by itself after seven days, says why, and may be submitted again', async () => {
    const fault = await stage.sandbox.addFault({ method: 'POST', path: uploadPath, action: busy });
    const given = await submission(stage);
    const handle = await start(stage, given);
    const refused = handle.jobId().catch((error: unknown) => error);
    await stage.skip('6 days');
    const before = await uploads();
    await stage.skip('22 hours');
    expect(await uploads()).toBeGreaterThan(before);
    await stage.skip('3 hours');
    const refusal = await refused;
    expect(refusal).toBeInstanceOf(ReportSubmissionExpired);
    expect((refusal as Error).message).toMatch(/7 days.*TooManyRequests/);
    const after = await uploads();
    await stage.skip('2 days');
    expect(await uploads()).toBe(after);
    await stage.sandbox.removeFaults(fault);
    await follow(stage, await start(stage, given));
    expect(await stage.sandbox.jobs()).toHaveLength(1);
  });

  test('ends sooner if the policy says so, even while a lost answer is waited for', async () => {
    await stage.sandbox.addFault({ method: 'POST', path: uploadPath, action: { kind: 'drop_response' } });
    const policy = { submissionDeadline: '1h', lostAnswerWait: '1d' } as const;
    const handle = await start(stage, await submission(stage, { policy }));
    const refused = handle.jobId().catch((error: unknown) => error);
    await stage.expectRequests('POST', uploadPath);
    await stage.skip('61 minutes');
    expect(await refused).toBeInstanceOf(ReportSubmissionExpired);
    expect(await uploads()).toBe(1);
  });

  test('can be cancelled between two attempts: nothing is sent any more, and it may be submitted again', async () => {
    const fault = await stage.sandbox.addFault({ method: 'POST', path: uploadPath, action: busy });
    const given = await submission(stage);
    const handle = await start(stage, given);
    await stage.expectRequests('POST', uploadPath);
    await stage.untilNoActivityRuns(submitReportId(given.reference));
    const cancelled = { outcome: 'cancelled', reference: given.reference, lostUploads: [] };
    expect(await handle.cancel()).toEqual(cancelled);
    await expect(handle.jobId()).rejects.toBeInstanceOf(ReportSubmissionCancelled);
    expect(await handle.cancel()).toEqual(cancelled);
    await stage.skip('1 day');
    expect(await uploads()).toBe(1);
    await stage.sandbox.removeFaults(fault);
    await follow(stage, await start(stage, given));
    expect(await stage.sandbox.jobs()).toHaveLength(1);
  });

  test('can be cancelled while its host stands still: the connection is closed, and nothing was sent', async () => {
    let [isAsked, isClosed] = [false, false];
    const { url } = await hosting((request, response) => {
      isAsked = true;
      request.socket.on('close', () => (isClosed = true));
      response.write(samplePdf(['labops-sandbox: stuck']));
    });
    const given = await submission(stage, { file: { url }, policy: { creationTimeout: '1s' } });
    const handle = await start(stage, given);
    await eventually(() => expect(isAsked).toBe(true));
    expect(await handle.cancel()).toEqual({ outcome: 'cancelled', reference: given.reference, lostUploads: [] });
    await eventually(() => expect(isClosed).toBe(true));
    expect(await stage.sandbox.jobs()).toEqual([]);
  });

  test('can be cancelled after a lost answer: the result names the upload that the service may read all the same', async () => {
    await stage.sandbox.addFault({ method: 'POST', path: uploadPath, times: 1, action: { kind: 'drop_response' } });
    const given = await submission(stage);
    const handle = await start(stage, given);
    await eventually(async () => expect(await stage.sandbox.jobs()).toHaveLength(1));
    await stage.untilNoActivityRuns(submitReportId(given.reference));
    const between = { from: expect.any(String) as string, until: expect.any(String) as string };
    expect(await handle.cancel()).toEqual({
      ...{ outcome: 'cancelled', reference: given.reference },
      lostUploads: [between],
    });
    await expect(handle.jobId()).rejects.toBeInstanceOf(ReportSubmissionCancelled);
  });

  test('can be cancelled when its answer is on the way: the job is there, and is no longer followed', async () => {
    const action = { kind: 'delay', delayMs: 10_000 } as const;
    await stage.sandbox.addFault({ method: 'POST', path: uploadPath, times: 1, action });
    const handle = await start(stage, await submission(stage));
    await stage.expectRequests('POST', uploadPath);
    expect(await handle.cancel()).toMatchObject({ jobId: await handle.jobId(), outcome: 'abandoned' });
  });

  test('can be cancelled by an operator when its answer is on the way: the job is handed over', async () => {
    const action = { kind: 'delay', delayMs: 10_000 } as const;
    await stage.sandbox.addFault({ method: 'POST', path: uploadPath, times: 1, action });
    const given = await submission(stage);
    const handle = await start(stage, given);
    await stage.expectRequests('POST', uploadPath);
    await stage.temporal.workflow.getHandle(submitReportId(given.reference)).cancel();
    expect(await handle.state()).toMatchObject({ reference: given.reference, jobId: await handle.jobId() });
  });
});

describe('a file is not sent', () => {
  test('a file is not sent if it is a text file named .pdf', async () => {
    const path = await writeReport(stage, Buffer.from('Cholesterol: fine. '.repeat(500)));
    expect((await refusalOf({ path })).message).toMatch(/wrong_type/);
  });

  test('a file is not sent if it is empty', async () => {
    const path = await writeReport(stage, Buffer.alloc(0));
    expect((await refusalOf({ path })).message).toMatch(/\(empty\)/);
  });

  test('a file is not sent if it does not exist', async () => {
    expect((await refusalOf({ path: 'not-there.pdf' })).message).toMatch(/not_found/);
  });

  test('a file is not sent if it is a folder', async () => {
    await mkdir(join(stage.reportRoot, 'folder'));
    expect((await refusalOf({ path: 'folder' })).message).toMatch(/not_a_file/);
  });

  test.each(['../secret.pdf', '/etc/hostname', 'folder/../../secret.pdf'])(
    'a file is not sent if it lies outside the root: %s',
    async (path) => {
      expect((await refusalOf({ path })).message).toMatch(/outside_root/);
    },
  );

  test('a file is not sent if a symbolic link leads out of the root', async () => {
    const outside = join(tmpdir(), `outside-${process.pid}.pdf`);
    await writeFile(outside, samplePdf(['nobody']));
    await symlink(outside, join(stage.reportRoot, 'link.pdf'));
    expect((await refusalOf({ path: 'link.pdf' })).message).toMatch(/outside_root/);
  });

  test('a file is not sent if it has one byte more than the limit', async () => {
    const path = await writeReport(stage, padded(limit + 1));
    const refusal = await refusalOf({ path });
    expect(refusal.message).toMatch(/too_large/);
    expect(refusal.fields).toMatchObject([{ field: 'file' }]);
  });

  test('no upload was begun for any refused file, and no refusal names a place on the disk', async () => {
    const { message, fields } = await refusalOf({ path: '../secret.pdf' });
    expect(JSON.stringify({ message, fields })).not.toMatch(/secret|\/tmp/);
    expect(await uploads()).toBe(0);
  });
});

function padded(size: number): Buffer {
  const head = samplePdf(['labops-sandbox: stuck']);
  return Buffer.concat([head, Buffer.alloc(size - head.length, '%')]);
}

test('a file of exactly the limit is sent, byte for byte', async () => {
  const report = await submit(stage, { file: { path: await writeReport(stage, padded(limit)) } });
  expect(await stage.sandbox.job(report.jobId)).toMatchObject({ files: [{ size: limit, name: 'report.pdf' }] });
});

describe('the service refuses', () => {
  test('a user that it does not know, with its own sentence', async () => {
    const handle = await start(stage, await submission(stage, { userId: '99999999-2222-4333-8444-555566667777' }));
    const refusal: unknown = await handle.jobId().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ReportRefused);
    expect((refusal as ReportRefused).status).toBe(404);
  });

  test('a review for a team that is not enabled', async () => {
    await stage.sandbox.changeSettings({ reportHumanReview: false });
    const handle = await start(stage, await submission(stage, { needsHumanReview: true }));
    await expect(handle.jobId()).rejects.toMatchObject({ name: 'FeatureNotEnabled', status: 400 });
  });

  test('a file that is too large for it, which may be submitted again once it takes it', async () => {
    await stage.sandbox.changeSettings({ reportMaxBytes: 100 });
    const given = await submission(stage);
    const refused = await start(stage, given);
    await expect(refused.jobId()).rejects.toMatchObject({ name: 'ReportRefused', status: 413 });
    await stage.sandbox.changeSettings({ reportMaxBytes: limit });
    const report = await follow(stage, await start(stage, given));
    expect(await stage.sandbox.jobs()).toMatchObject([{ id: report.jobId }]);
  });
});

test('a signed URL is refused by the worker too, while it does not encrypt', async () => {
  // Such a client claims to encrypt; the worker of this stage does not.
  const pretending = {
    encode: (payloads: unknown[]) => Promise.resolve(payloads),
    decode: (payloads: unknown[]) => Promise.resolve(payloads),
  };
  const dataConverter = { payloadCodecs: [pretending as never] };
  const temporal = new Client({ connection: stage.temporal.connection, namespace, dataConverter });
  const product = new LabOperations(temporal, { taskQueue, deadline: 'none' });
  const file = { url: 'https://files.example.com/report.pdf?X-Amz-Signature=very-secret' };
  const given = await submission(stage, { file });
  const handle = await product.reports.submit(given);
  const refusal: unknown = await handle.jobId().catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(SignedUrlRefused);
  expect((refusal as SignedUrlRefused).message).not.toContain('very-secret');
  const signedAgain = { ...given, file: { url: file.url.replace('very-secret', 'another') } };
  await expect(product.reports.submit(signedAgain)).resolves.toMatchObject({ reference: given.reference });
});

test.each([
  ['PolicyInvalid', 'report-refused-1', undefined, { policy: { firstPoll: 'soon' } }],
  ['ReferenceInvalid', 'not a reference', undefined, {}],
  ['ReferenceInvalid', 'report-refused-2', 'an-id-of-its-own', {}],
  ['InvalidCommand', 'report-refused-3', undefined, { file: { path: 'a.pdf', url: 'https://files.example.com' } }],
  ['InvalidCommand', 'report-refused-4', undefined, { file: undefined }],
  ['InvalidCommand', 'report-refused-5', undefined, { userId: "a' OR 'a" }],
  ['InvalidCommand', 'report-refused-6', undefined, { needsHumanReview: 'yes' }],
])('a backend that starts the workflow itself gets %s for %s', async (type, reference, workflowId, more) => {
  const workflow = await stage.temporal.workflow.start(submitReportName, {
    workflowId: workflowId ?? submitReportId(reference),
    taskQueue,
    args: [{ ...(await submission(stage)), reference, ...more }],
  });
  const failure: unknown = await workflow.result().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(WorkflowFailedError);
  expect((failure as WorkflowFailedError).cause).toBeInstanceOf(ApplicationFailure);
  expect((failure as WorkflowFailedError).cause).toMatchObject({ type });
  expect(await uploads()).toBe(0);
});

test('a submission that a backend starts without search attributes sets them itself, before anything else', async () => {
  const busy = { kind: 'answer', status: 429, headers: { 'retry-after': '36000' }, body: 'busy' } as const;
  await stage.sandbox.addFault({ method: 'POST', path: uploadPath, action: busy });
  const given = await submission(stage);
  const shouted = { ...given, userId: given.userId.toUpperCase() };
  const workflow = await stage.temporal.workflow.start(submitReportName, {
    workflowId: submitReportId(given.reference),
    taskQueue,
    args: [shouted],
  });
  stage.onClear(() => stage.awaitEnd(workflow.workflowId));
  await eventually(async () => {
    const { typedSearchAttributes } = await workflow.describe();
    expect(typedSearchAttributes.get(labUserIdKey)).toBe(given.userId);
    expect(typedSearchAttributes.get(labReferenceKey)).toBe(given.reference);
  });
  await stage.expectRequests('POST', uploadPath);
  await stage.untilNoActivityRuns(workflow.workflowId);
  await workflow.executeUpdate(cancelSubmissionUpdate);
});

test('a job that was never reported is not found, nor is one with an impossible id', async () => {
  for (const jobId of ['11111111-2222-4333-8444-555566667777', '../job', '']) {
    await expect(stage.product.reports.get({ jobId })).rejects.toBeInstanceOf(ReportNotFound);
  }
  await expect(stage.product.reports.get({ reference: 'a b' })).rejects.toBeInstanceOf(ReportInvalid);
});
