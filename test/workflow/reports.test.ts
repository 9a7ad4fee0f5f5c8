import { Client } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { errors, LabOperations } from '../../client/index.js';
import { endJob, follow, Report, start, submission, submit, uploadPath } from './report.js';
import { eventually } from '../rig/eventually.js';
import { hosting } from '../unit/report-file/reading.js';
import { namespace, taskQueue } from '../rig/environments.js';
import { samplePdf } from '../../sandbox/sample-report.js';
import { setStage } from './story.js';

/* A report from its upload to its biomarkers, and what only a server shows of it; every other rule has a life in test/unit/report. */

const stage = setStage();

test('webhooks about a job that nobody submitted start a workflow that adopts it', async () => {
  await stage.syncClock();
  const { id, user_id: userId } = await stage.sandbox.createJob({ outcome: 'stuck' });
  await stage.sandbox.moveJob(id, 'processing');
  const handle = await eventually(() => stage.product.reports.getHandle({ jobId: id }));
  const report = new Report(stage, handle, id);
  stage.onClear(() => endJob(stage, id));
  await report.expectState({ phase: 'parsing', userId });
  await stage.skip('1 minute');
  await report.move({ status: 'completed', results: 'sample' });
  const result = await report.result();
  expect(result).toMatchObject({ outcome: 'completed', userId });
  expect(result.reference).toBeUndefined();
  await report.expectNotifications('phase_changed', 'completed');
});

describe('a submission', () => {
  test('one job is followed for a reference if it is submitted twice, at once and after the end', async () => {
    const given = await submission(stage);
    const [one, other] = await Promise.all([start(stage, given), start(stage, { ...given, policy: {} })]);
    expect(await one.jobId()).toBe(await other.jobId());
    const report = await follow(stage, one);
    await report.move({ status: 'completed', results: 'sample' });
    await report.result();
    expect(await (await start(stage, given)).jobId()).toBe(report.jobId);
    expect(await stage.countRequests('POST', uploadPath)).toBe(1);
    const found = await stage.product.reports.getHandle({ reference: given.reference });
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
      await expect(stage.product.reports.submit({ ...given, ...other })).rejects.toThrow(
        errors.ReportReferenceConflict,
      );
    }
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
    expect(await refused).toBeInstanceOf(errors.ServiceDown);
    expect(await stage.countRequests('POST', uploadPath)).toBe(2);
    const { reference, attention } = await other.handle.state();
    expect(reference).toBe(other.handle.reference);
    expect(attention.map(({ reason }) => reason)).not.toContain('reference_conflict');
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

  test('of a file that is too large for the service is refused, which may be submitted again once it takes it', async () => {
    await stage.sandbox.changeSettings({ reportMaxBytes: 100 });
    const given = await submission(stage);
    const refused = await start(stage, given);
    await expect(refused.jobId()).rejects.toMatchObject({ name: 'ReportRefused', status: 413 });
    await stage.sandbox.changeSettings({ reportMaxBytes: 10_485_760 });
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
  expect(refusal).toBeInstanceOf(errors.SignedUrlRefused);
  expect((refusal as errors.SignedUrlRefused).message).not.toContain('very-secret');
  const signedAgain = { ...given, file: { url: file.url.replace('very-secret', 'another') } };
  await expect(product.reports.submit(signedAgain)).resolves.toMatchObject({ reference: given.reference });
});

test('a job that was never reported is not found, nor is one with an impossible id', async () => {
  for (const jobId of ['11111111-2222-4333-8444-555566667777', '../job', '']) {
    await expect(stage.product.reports.getHandle({ jobId })).rejects.toBeInstanceOf(errors.ReportNotFound);
  }
  await expect(stage.product.reports.getHandle({ reference: 'a b' })).rejects.toBeInstanceOf(errors.ReportInvalid);
});
