import ms from 'ms';
import { describe, expect, test } from 'vitest';
import { ReportNotRead } from '../../client/index.js';
import { parsingFailureReasons } from '../../service/reports.js';
import { parsingJobId } from '../../protocol/ids.js';
import { failureOf } from '../../protocol/report/failure-reasons.js';
import { jobChangedSignal, reportSubmittedSignal, type ReportSubmitted } from '../../protocol/report/messages.js';
import { resolveReportPolicy } from '../../protocol/report/policy.js';
import { eventually } from '../rig/eventually.js';
import { endJob, follow, jobPath, Report, start, submission, submit, uploadPath } from './report.js';
import { setStage } from './story.js';

const stage = setStage();

/** A job whose workflow has ended moves on, and another run has begun. */
async function stirs(report: Report, move: Parameters<typeof stage.sandbox.moveJob>[1]): Promise<void> {
  const workflow = stage.temporal.workflow.getHandle(parsingJobId(report.jobId));
  const { runId } = await workflow.describe();
  await stage.sandbox.moveJob(report.jobId, move);
  await eventually(async () => expect((await workflow.describe()).runId).not.toBe(runId));
}

describe('a submitted report', () => {
  test('is read: the product is notified, the result has counts, and the biomarkers come from the service', async () => {
    const report = await submit(stage);
    await expect(report.handle.biomarkers()).rejects.toBeInstanceOf(ReportNotRead);
    await report.move('started', 'processing', { status: 'completed', results: 'sample' });
    const result = await report.result();
    expect(result).toMatchObject({ outcome: 'completed', reference: report.handle.reference, status: 'completed' });
    await report.expectNotifications('phase_changed', 'completed');
    expect(report.notifications[1]).toMatchObject({
      id: `${report.jobId}/completed/completed`,
      data: { job_id: report.jobId, reference: report.handle.reference, is_reviewed: false, results: 3 },
    });
    const biomarkers = await report.handle.biomarkers();
    expect(biomarkers).toHaveLength(result.counts?.results ?? 0);
    const matched = biomarkers.find(({ loinc_matches: matches }) => matches?.length);
    expect(matched).toMatchObject({ loinc_matches: [{ loinc_code: expect.any(String) as string }] });
  });

  test.each(['upload_pending', 'started', 'processing', 'pending_review', 'a_status_of_tomorrow'])(
    'goes on from the status %s to its result, whatever is skipped',
    async (status) => {
      const report = await submit(stage);
      if (status !== 'upload_pending') await report.move(status);
      await report.move({ status: 'completed', results: 'none' });
      expect(await report.result()).toMatchObject({ outcome: 'completed', counts: { results: 0 } });
    },
  );

  test.each([...parsingFailureReasons, 'a_reason_of_tomorrow'])(
    'a submitted report that cannot be read for %s ends with a sentence for the person who uploaded it',
    async (reason) => {
      const report = await submit(stage);
      await report.move('started', { status: 'failed', failure_reason: reason });
      const { sentence } = failureOf(reason);
      expect(await report.result()).toMatchObject({ outcome: 'failed', failure: { reason, sentence } });
      await report.expectNotifications('phase_changed', 'failed');
      expect(report.notifications[1]?.data).toMatchObject({ failure_reason: reason, failure_sentence: sentence });
    },
  );

  test('is reviewed by a person, which is announced, and may take days', async () => {
    const report = await submit(stage, { needsHumanReview: true });
    await report.move('started', 'pending_review');
    await report.expectState({ phase: 'in_review', needsHumanReview: true });
    await stage.skip('3 days');
    await report.expectAttention();
    await report.move({ status: 'completed', results: 'sample', is_reviewed: true });
    expect(await report.result()).toMatchObject({ outcome: 'completed', isReviewed: true });
    await report.expectNotifications('phase_changed', 'review_needed', 'completed');
    expect(report.notifications.at(-1)).toMatchObject({
      id: `${report.jobId}/completed.reviewed/completed`,
      data: { is_reviewed: true },
    });
  });
});

describe('webhooks', () => {
  test('webhooks that are lost only delay the result: the job is read at growing intervals', async () => {
    const report = await submit(stage, { policy: { parsingDeadline: '30 days' } });
    await report.move('started');
    await stage.skip('1 hour');
    const jobPath = `${uploadPath}/${report.jobId}`;
    const reads = await stage.countRequests('GET', jobPath);
    expect(reads).toBeGreaterThan(3);
    await stage.skip('1 day');
    expect((await stage.countRequests('GET', jobPath)) - reads).toBeLessThan(10);
    await report.move({ status: 'completed', results: 'sample', webhook: false });
    await stage.skip('6 hours');
    expect(await report.result()).toMatchObject({ outcome: 'completed', counts: { results: 3 } });
  });

  test('webhooks that come twice or late change nothing', async () => {
    const report = await submit(stage);
    await report.move('started', 'pending_review');
    const before = await report.handle.state();
    const workflow = stage.temporal.workflow.getHandle(parsingJobId(report.jobId));
    for (const status of ['started', 'pending_review', 'upload_pending']) {
      await workflow.signal(jobChangedSignal, { jobId: report.jobId, status });
    }
    expect(await report.handle.state()).toEqual(before);
    await report.expectNotifications('phase_changed', 'review_needed');
  });

  test('webhooks that are not snapshots of this job are dropped', async () => {
    const report = await submit(stage);
    await report.move('started');
    const workflow = stage.temporal.workflow.getHandle(parsingJobId(report.jobId));
    for (const odd of [undefined, null, {}, { jobId: 'another-job', status: 'failed' }]) {
      await workflow.signal(jobChangedSignal, odd as never);
    }
    expect(await report.handle.state()).toMatchObject({ status: 'started' });
  });

  test('may come before the upload is answered: one workflow follows the job', async () => {
    const late = { kind: 'delay', phase: 'after_work', delayMs: 2_500 } as const;
    await stage.sandbox.addFault({ method: 'POST', path: uploadPath, times: 1, action: late });
    const given = await submission(stage);
    const handle = await start(stage, given);
    const [early] = await eventually(async () => {
      const jobs = await stage.sandbox.jobs();
      expect(jobs).toHaveLength(1);
      return jobs;
    });
    const workflow = stage.temporal.workflow.getHandle(parsingJobId(early?.id ?? ''));
    await stage.sandbox.moveJob(early?.id ?? '', 'started');
    const { runId } = await eventually(() => workflow.describe());
    const report = await follow(stage, handle);
    expect(report.jobId).toBe(early?.id);
    await report.expectState({ reference: given.reference, status: 'started' });
    expect(await workflow.describe()).toMatchObject({ runId, status: { name: 'RUNNING' } });
    await report.expectNotifications('phase_changed');
    expect(report.notifications[0]?.data).toMatchObject({ reference: given.reference });
  });

  test('webhooks about a job that nobody submitted start a workflow that adopts it', async () => {
    await stage.syncClock();
    const { id, user_id: userId } = await stage.sandbox.createJob({ outcome: 'stuck' });
    await stage.sandbox.moveJob(id, 'processing');
    const handle = await eventually(() => stage.product.reports.get({ jobId: id }));
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

  test('webhooks about an event after the end start a run that reads the job and ends', async () => {
    const report = await submit(stage);
    await report.move('started', { status: 'completed', results: 'sample' });
    await report.result();
    await stirs(report, { status: 'completed', results: 'sample', is_reviewed: true });
    await stage.skip('15 minutes');
    expect(await report.result()).toMatchObject({ outcome: 'completed', isReviewed: true });
    // This server cannot list earlier runs; what it announces again has the same id.
    const ids = new Set(report.notifications.map(({ id }) => id));
    expect([...ids].filter((id) => id.endsWith('/completed'))).toEqual([
      `${report.jobId}/completed/completed`,
      `${report.jobId}/completed.reviewed/completed`,
    ]);
  });
});

test.each([
  ['completed', { results: 'sample' }, { counts: { results: 3 } }],
  ['failed', { failure_reason: 'low_quality' }, { failure: { reason: 'low_quality' } }],
] as const)('a webhook that says %s and no more is completed by one read', async (status, move, expected) => {
  const report = await submit(stage);
  await report.move({ status, ...move, webhook: false });
  const workflow = stage.temporal.workflow.getHandle(parsingJobId(report.jobId));
  await workflow.signal(jobChangedSignal, { jobId: report.jobId, status });
  expect(await report.result()).toMatchObject({ outcome: status, ...expected });
  expect(await stage.countRequests('GET', `${uploadPath}/${report.jobId}`)).toBe(1);
});

test('a review that the service does not report is not an overdue report', async () => {
  await stage.sandbox.changeSettings({ reportStates: 'schema' });
  const report = await submit(stage, { needsHumanReview: true });
  await report.move('started');
  await stage.skip('3 days');
  await report.expectAttention();
  await stage.skip('2 days');
  await report.expectAttention('parsing_overdue');
  await stage.sandbox.changeSettings({ reportStates: 'all' });
});

describe('a job that stands still', () => {
  test('needs attention after its deadline, and no longer once it moves', async () => {
    const report = await submit(stage);
    await report.move('started');
    await stage.skip('2 hours');
    await report.expectAttention('parsing_overdue');
    await report.move('pending_review');
    await report.expectAttention();
    await stage.skip('5 days');
    await report.expectAttention('review_overdue');
    await report.move({ status: 'completed', results: 'sample', is_reviewed: true });
    await report.result();
    await report.expectNotifications(
      'phase_changed',
      'attention_raised parsing_overdue',
      'attention_cleared parsing_overdue',
      'review_needed',
      'attention_raised review_overdue',
      'attention_cleared review_overdue',
      'completed',
    );
  });

  test('is given up once: a repeated webhook asks no question and announces no end again', async () => {
    const report = await submit(stage, { policy: { giveUpAfter: '1 day' } });
    await report.move('started');
    await stage.skip('2 days');
    expect(await report.result()).toMatchObject({ outcome: 'unresolved' });
    const told = ['phase_changed', 'attention_raised parsing_overdue', 'ended unresolved'];
    await report.expectNotifications(...told);
    await stirs(report, 'started');
    await report.expectAttention('parsing_overdue');
    await stage.skip('3 days');
    expect(await report.result()).toMatchObject({ outcome: 'unresolved' });
    await stirs(report, { status: 'completed', results: 'sample' });
    await stage.skip('15 minutes');
    expect(await report.result()).toMatchObject({ outcome: 'completed' });
    await report.expectNotifications(...told, 'attention_cleared parsing_overdue', 'completed');
    const ids = report.notifications.map(({ id }) => id);
    expect(ids[3]).toBe(ids[1]?.replace('attention_raised', 'attention_cleared'));
  });

  test('is given up after `giveUpAfter`, and followed again by a late event', async () => {
    const report = await submit(stage, { policy: { giveUpAfter: '1 day' } });
    await report.move('started');
    await stage.skip('2 days');
    expect(await report.result()).toMatchObject({ outcome: 'unresolved', status: 'started' });
    await report.expectNotifications('phase_changed', 'attention_raised parsing_overdue', 'ended unresolved');
    await stirs(report, { status: 'completed', results: 'sample' });
    await stage.skip('15 minutes');
    expect(await report.result()).toMatchObject({ outcome: 'completed' });
  });

  describe('while the service is down', () => {
    async function standsStill() {
      const report = await submit(stage, { policy: { giveUpAfter: '1 day' } });
      await report.move('started');
      await stage.skip('2 hours');
      await report.expectAttention('parsing_overdue');
      const fault = await stage.sandbox.addFault({ path: jobPath, action: { kind: 'refuse' } });
      await report.move({ status: 'completed', results: 'sample', webhook: false });
      return { report, fault };
    }

    test('a job is not given up: the read that is answered shows that it has completed', async () => {
      const { report, fault } = await standsStill();
      await stage.skip('30 hours');
      await report.expectState({ status: 'started' });
      await stage.sandbox.removeFaults(fault);
      await stage.skip('7 hours');
      expect(await report.result()).toMatchObject({ outcome: 'completed' });
    });

    test('a job is given up a day later', async () => {
      const { report } = await standsStill();
      await stage.skip('46 hours');
      await report.expectState({ status: 'started' });
      await stage.skip('3 hours');
      expect(await report.result()).toMatchObject({ outcome: 'unresolved' });
    });
  });

  test('a job that stands still while the service is down is read once that is back', async () => {
    const report = await submit(stage, { policy: { parsingDeadline: '10 days' } });
    await report.move('started');
    const fault = await stage.sandbox.addFault({ path: jobPath, action: { kind: 'refuse' } });
    await report.move({ status: 'completed', results: 'sample', webhook: false });
    await stage.skip('3 hours');
    await report.expectState({ status: 'started' });
    await stage.sandbox.removeFaults(fault);
    await stage.skip('6 hours');
    expect(await report.result()).toMatchObject({ outcome: 'completed' });
  });
});

test('a job that the service no longer knows ends as gone', async () => {
  const report = await submit(stage);
  await report.move('started');
  await stage.sandbox.deleteJob(report.jobId);
  await stage.skip('5 minutes');
  expect(await report.result()).toMatchObject({ outcome: 'job_gone' });
  await report.expectNotifications('phase_changed', 'ended job_gone');
});

test('a webhook and an unknown status lead to a read, whichever of the two is later', async () => {
  const report = await submit(stage);
  await report.move('started', { status: 'queued', webhook: false });
  await stage.skip('3 minutes');
  await report.expectState({ status: 'queued' });
  await report.move('pending_review');
  await report.expectState({ phase: 'in_review' });
  await report.expectNotifications('phase_changed', 'review_needed');
  const workflow = stage.temporal.workflow.getHandle(parsingJobId(report.jobId));
  await stage.sandbox.moveJob(report.jobId, { status: 'quality_hold', webhook: false });
  await stage.skip('1 day');
  await report.expectState({ status: 'quality_hold' });
  const reads = await stage.countRequests('GET', `${uploadPath}/${report.jobId}`);
  await workflow.signal(jobChangedSignal, { jobId: report.jobId, status: 'processing' });
  await stage.expectRequests('GET', `${uploadPath}/${report.jobId}`, reads + 1);
  await report.expectState({ status: 'quality_hold' });
});

describe('a 404 that is not the service’s own', () => {
  const foreign = { kind: 'answer', status: 404, body: '<html><h1>404 Not Found</h1></html>' } as const;

  test('ends nothing, however often it comes within ten minutes: the job is still followed', async () => {
    const report = await submit(stage);
    await report.move('started');
    const fault = await stage.sandbox.addFault({ method: 'GET', path: jobPath, action: foreign });
    await stage.skip('8 minutes');
    await report.expectState({ status: 'started' });
    expect(await stage.countRequests('GET', `${uploadPath}/${report.jobId}`)).toBeGreaterThan(1);
    await stage.sandbox.removeFaults(fault);
    await report.move({ status: 'completed', results: 'sample' });
    expect(await report.result()).toMatchObject({ outcome: 'completed' });
  });

  test('does not end a job that a webhook brought', async () => {
    await stage.sandbox.addFault({ method: 'GET', path: jobPath, times: 1, action: foreign });
    const { id } = await stage.sandbox.createJob({ user_id: await stage.newUser(), outcome: 'stuck' });
    stage.onClear(() => endJob(stage, id));
    const handle = await eventually(() => stage.product.reports.get({ jobId: id }));
    const report = new Report(stage, handle, id);
    await stage.skip('15 seconds');
    await stage.expectRequests('GET', `${uploadPath}/${id}`);
    await report.move({ status: 'completed', results: 'sample' });
    expect(await report.result()).toMatchObject({ outcome: 'completed' });
    expect(report.notified).not.toContain('ended job_gone');
  });

  test('is believed when it lasts', async () => {
    const report = await submit(stage);
    await report.move('started');
    await stage.sandbox.addFault({ method: 'GET', path: jobPath, action: foreign });
    await stage.skip('1 hour');
    expect(await report.result()).toMatchObject({ outcome: 'job_gone' });
  });
});

test('cancelling stops following the job without a call to the service; a repetition has the same answer', async () => {
  const report = await submit(stage);
  await report.move('started');
  expect(await report.handle.cancel()).toMatchObject({ outcome: 'abandoned' });
  expect(await report.result()).toMatchObject({ outcome: 'abandoned', status: 'started' });
  await report.expectNotifications('phase_changed', 'ended abandoned');
  expect(await report.handle.cancel()).toMatchObject({ outcome: 'abandoned' });
  expect(await stage.sandbox.jobs()).toMatchObject([{ job: { status: 'started' } }]);
});

test('a report that is read after its cancellation, while that is still being notified, is announced', async () => {
  const report = await submit(stage);
  await report.move('started');
  await report.expectNotifications('phase_changed');
  stage.receiver.isDown = true;
  await report.handle.cancel();
  await report.move('completed');
  await report.expectState({ outcome: 'completed' });
  stage.receiver.isDown = false;
  expect(await report.result()).toMatchObject({ outcome: 'completed' });
  await report.expectNotifications('phase_changed', 'ended abandoned', 'completed');
});

test('a job that nobody submitted, and that ends before anything was read about it, notifies its end', async () => {
  const { id } = await stage.sandbox.createJob({ user_id: await stage.newUser(), outcome: 'stuck' });
  stage.onClear(() => endJob(stage, id));
  const handle = await eventually(() => stage.product.reports.get({ jobId: id }));
  const report = new Report(stage, handle, id);
  await report.handle.cancel();
  expect(await report.result()).toMatchObject({ outcome: 'abandoned' });
  await report.expectNotifications('ended abandoned');
});

describe('the hand-over', () => {
  async function handOver(report: Report, reference: string): Promise<void> {
    const submitted: ReportSubmitted = {
      reference,
      userId: 'somebody-else',
      policy: resolveReportPolicy({ parsingDeadline: '1m' }),
      snapshot: { jobId: report.jobId, status: 'upload_pending' },
      adopted: false,
      notifies: true,
    };
    await stage.temporal.workflow.getHandle(parsingJobId(report.jobId)).signal(reportSubmittedSignal, submitted);
  }

  test('may come twice, and changes nothing the second time', async () => {
    const report = await submit(stage);
    await report.move('started');
    const before = await report.handle.state();
    await handOver(report, report.handle.reference ?? '');
    expect(await report.handle.state()).toEqual(before);
  });

  test('the hand-over with a second reference needs attention, and the first one keeps the job', async () => {
    const report = await submit(stage);
    await handOver(report, 'a-second-reference');
    await report.expectAttention('reference_conflict');
    await report.expectState({ reference: report.handle.reference ?? '' });
  });
});

/** The job starts while the receiver is down. Waits for the first attempt: time that is skipped before it does not count. */
async function startUnheard(report: Report): Promise<void> {
  const { attempts } = stage.receiver;
  stage.receiver.isDown = true;
  await report.move('started');
  await eventually(() => expect(stage.receiver.attempts).toBeGreaterThan(attempts));
}

test('notifications that do not arrive need attention and go out once the receiver is back', async () => {
  const report = await submit(stage, { policy: { notificationDeadline: '1 hour', parsingDeadline: '10 days' } });
  await startUnheard(report);
  await stage.skip(ms('3h'));
  await report.expectAttention('notifications_undelivered');
  stage.receiver.isDown = false;
  await stage.skip(ms('1h'));
  await report.expectAttention();
  expect(report.notified).toContain('phase_changed');
});

test('watching shows each state once, until the end', async () => {
  const report = await submit(stage);
  const seen: string[] = [];
  const watching = (async () => {
    for await (const { status } of report.handle.watch({ minInterval: '100ms', maxInterval: '100ms' }))
      seen.push(status);
  })();
  await report.move('started', 'processing');
  await eventually(() => expect(seen.at(-1)).toBe('processing'));
  await report.move({ status: 'completed', results: 'sample' });
  await watching;
  expect(seen.at(-1)).toBe('completed');
});
