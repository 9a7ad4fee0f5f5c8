import { describe, expect, test } from 'vitest';
import type { ReportPolicy } from '../../../protocol/report/policy.js';
import { type SubmitReportInput, uploadOutcomeOf } from '../../../protocol/report/submission-messages.js';
import { submitReport } from '../../../workflows/report/submit.js';
import { inTurn, Life, silent, type Answers } from '../life.js';
import { began, jobId, snapshot, userId } from './jobs.js';
import { resolvePolicy as policyOf } from '../../../protocol/policy/policies.js';

/* The lives of submissions, from the file to the hand-over of its job: what is uploaded, when, and what the caller is answered. */

const reference = 'report-1';
const started = snapshot('started');
const file = { path: 'report.pdf' };

/** What failed before the service had the whole file: nothing was made. */
const unreachable = { failure: { type: 'ServiceUnreachable', isFinal: false } };
const lost = { failure: { type: 'AnswerLost', isFinal: false } };
const notFound = { findUnclaimedJob: {} };
const retrying = (type: string) => `The report is not uploaded yet (${type}). The upload is retried.`;

function opened(answers: Answers, now = began, of = reference): Life {
  const opening = { workflow: submitReport, type: 'submitReport', workflowId: `submit-report/${of}`, now };
  return new Life(opening, answers);
}

const inputOf = (policy: ReportPolicy = {}, more: object = {}) => ({
  ...{ reference, userId, file, policy: policyOf('report', policy) },
  ...more,
});

async function life(answers: Answers, policy: ReportPolicy = {}, more: object = {}): Promise<Life> {
  return opened(answers).start(inputOf(policy, more));
}

const at = (seconds: number) => new Date(began + seconds * 1000).toISOString();
const uploadsOf = (of: Life) => of.secondsOf('uploadReport');
const searchesOf = (of: Life) => of.secondsOf('findUnclaimedJob');
const attentionOf = ({ run }: Life) => run.shown.attributes['LabAttention'] ?? [];

test('a file is uploaded, and its job is handed over with everything that its workflow needs', async () => {
  const submission = await life({ uploadReport: { snapshot: started } });
  const { creationTimeout, uploadTimeout } = policyOf('report');
  const request = { reference, userId, file, needsHumanReview: false, creationTimeout, uploadTimeout, looksBack: true };
  expect(submission.argumentsOf('uploadReport')).toEqual([request]);
  const policy = policyOf('report');
  const handedOver = { reference, userId, policy, snapshot: started, adopted: false };
  expect(submission.argumentsOf('handOverReport')).toEqual([handedOver]);
  const result = { version: 1, jobId, adopted: false, lostUploads: [] };
  expect(submission.run.end).toEqual({ kind: 'completed', result });
  expect(submission.run.shown).toEqual({
    details: `Uploaded as job \`${jobId}\`. Workflow \`parsing-job/${jobId}\` follows it from here.`,
    attributes: { LabReference: reference, LabUserId: userId },
  });
});

test.each([
  [true, true],
  [null, false],
])('an upload under way says so, with the user’s id in one spelling and %j for a review', async (given, sent) => {
  const more = { userId: userId.toUpperCase(), needsHumanReview: given };
  const submission = await life({ uploadReport: silent }, {}, more);
  expect(submission.run.shown.details).toBe('Uploads the report to the lab service.');
  expect(submission.run.calls[0]?.call.argument).toMatchObject({ userId, needsHumanReview: sent });
});

test('a policy that is given in part, or not at all, is resolved first; one that is wrong fails the submission', async () => {
  const policy = policyOf('report', { creationTimeout: '10s' });
  const answers = { resolvePolicy: policy, uploadReport: { snapshot: started } };
  const submission = await opened(answers).start({ reference, userId, file, policy: { creationTimeout: '10s' } });
  expect(submission.calls).toEqual(['0h resolvePolicy', '0h uploadReport', '0h handOverReport']);
  const resolvePolicy = { failure: { type: 'PolicyInvalid' } };
  const wrong = await opened({ ...answers, resolvePolicy }).start({ reference, userId, file, policy: { x: 1 } });
  expect(wrong.events).toEqual(['0h failed: PolicyInvalid']);
});

describe('an input', () => {
  test.each<[string, string, object]>([
    ['without a reference', 'ReferenceInvalid', { reference: undefined }],
    ['whose reference is not a text', 'ReferenceInvalid', { reference: 1 }],
    ['with a reference that Temporal or a URL would not take', 'ReferenceInvalid', { reference: 'report 1' }],
    ['with the reference of another workflow', 'ReferenceInvalid', { reference: 'report-2' }],
    ['without a user', 'InvalidCommand', { userId: undefined }],
    ['whose user has no id of the service', 'InvalidCommand', { userId: 'user 1' }],
    ['without a file', 'InvalidCommand', { file: undefined }],
    ['whose file is a text', 'InvalidCommand', { file: 'report.pdf' }],
    ['whose file is null', 'InvalidCommand', { file: null }],
    ['whose file is nowhere', 'InvalidCommand', { file: {} }],
    ['whose file is in two places', 'InvalidCommand', { file: { path: 'report.pdf', url: 'https://example.com' } }],
    ['whose path has headers', 'InvalidCommand', { file: { path: 'report.pdf', headersFrom: 'a' } }],
    ['whose headers are not a name', 'InvalidCommand', { file: { url: 'https://example.com', headersFrom: 1 } }],
    ['that says neither yes nor no to a review', 'InvalidCommand', { needsHumanReview: 'yes' }],
  ])('%s is refused, and nothing is uploaded', async (_what, type, more) => {
    const { events, calls, run } = await life({}, {}, more);
    expect(events).toEqual([`0h failed: ${type}`]);
    expect(calls).toEqual([]);
    expect(run.end).toMatchObject({
      message: expect.stringMatching(/^(reference|the workflow ID|userId|file|needs)/) as string,
    });
  });

  test.each([undefined, 'report 1'])('is refused though its workflow has the ID of its reference: %s', async (odd) => {
    const submission = await opened({}, began, String(odd)).start({ ...inputOf(), reference: odd });
    expect(submission.events).toEqual(['0h failed: ReferenceInvalid']);
  });

  test.each<[string, Partial<SubmitReportInput>]>([
    ['with a URL', { file: { url: 'https://example.com/report.pdf' } }],
    ['with a URL and headers', { file: { url: 'https://example.com/report.pdf', headersFrom: 'lab' } }],
  ])('%s is taken', async (_what, more) => {
    const { events } = await life({ uploadReport: { snapshot: started } }, {}, more);
    expect(events).toEqual(['0h completed']);
  });
});

test.each<[string, (string | undefined)[], number?]>([
  ['nothing_created', ['ServiceUnreachable', 'TooManyRequests', 'AttemptOutdated', 'UploadNotStarted']],
  ['nothing_created', ['ReportFileUnavailable', 'StateTooNew']],
  ['unknown', ['AnswerLost', 'ServiceUnavailable', 'Error', undefined]],
  ['created_unreadably', ['AnswerUnreadable']],
  ['created_unreadably', ['AnswerUnreadable'], 200],
  ['nothing_created', ['AnswerUnreadable'], 302],
  ['nothing_created', ['AnswerUnreadable'], 404],
])('a failed upload comes to %s by %j, status %s', (outcome, types, status) => {
  for (const type of types) expect(uploadOutcomeOf({ type, details: [{ status }] }), type).toBe(outcome);
});

describe('a file that the service does not take', () => {
  test('is uploaded again at doubling pauses, needs a person after an hour, and expires', async () => {
    const submission = await life({ uploadReport: unreachable }, { submissionDeadline: '2d' });
    expect(submission.run.shown.details).toBe(retrying('ServiceUnreachable'));
    await submission.until(0.8);
    expect(attentionOf(submission)).toEqual([]);
    await submission.until(2);
    expect(uploadsOf(submission).slice(0, 12)).toEqual([...[0, 2, 6, 14, 30, 62, 126, 254, 510, 1022, 1622, 2222]]);
    // The attempt after this pause begins after the hour.
    expect(attentionOf(submission)).toEqual(['upload_delayed']);
    expect(submission.run.shown.attributes['LabAttentionSince']).toEqual(new Date(began + 3_422_000));
    await submission.until(1000);
    expect(submission.events).toEqual(['48h failed: ReportSubmissionExpired']);
    const message =
      'The report was not uploaded within 2 days (submissionDeadline); the last attempt ended with ServiceUnreachable';
    expect(submission.run.end).toMatchObject({ message });
    expect(uploadsOf(submission).at(-1)).toBeLessThan(48 * 3600);
  });

  test('is not uploaded before the service asked for it, and needs a person if that is after an hour', async () => {
    const busy = { failure: { type: 'TooManyRequests', isFinal: false, details: { retryAfterMs: 5_400_000 } } };
    const submission = await life({ uploadReport: busy });
    expect(attentionOf(submission)).toEqual(['upload_delayed']);
    expect(uploadsOf(await submission.until(4))).toEqual([0, 5400, 10800]);
  });

  test('because of the key needs a person at once, and nobody any more once the key is right and it is taken', async () => {
    const submission = await life({ uploadReport: { failure: { type: 'Unauthorized' } } });
    expect(attentionOf(submission)).toEqual(['upload_delayed']);
    await submission.given({ uploadReport: { snapshot: started } }, 1);
    expect(submission.events).toEqual(['0.001h completed']);
    expect(attentionOf(submission)).toEqual([]);
    expect(submission.run.shown.attributes).not.toHaveProperty('LabAttentionSince');
  });

  test('for good fails the submission at once, with what the service said', async () => {
    const details = { fields: [{ field: 'file', message: 'is not a PDF' }] };
    const { events, run } = await life({ uploadReport: { failure: { type: 'ReportRefused', details } } });
    expect(events).toEqual(['0h failed: ReportRefused']);
    expect(run.end).toMatchObject({ details });
  });

  test('waits for a worker until a person is asked to look, then an hour at a time, and hardly beyond the deadline', async () => {
    const waits: [number, number | undefined][] = [];
    const uploadReport = (now: number, _request: unknown, { startsWithin }: { startsWithin?: number }) => {
      waits.push([(now - began) / 60_000, (startsWithin ?? 0) / 60_000]);
      return { failure: { ended: 'not_started' } };
    };
    const submission = await life({ uploadReport }, { submissionDeadline: '90m' });
    expect(submission.run.shown.details).toContain('UploadNotStarted');
    await submission.until(3);
    const [first, second] = waits;
    const at59 = waits.findLast(([minutes]) => minutes < 60);
    const at60 = waits.find(([minutes]) => minutes >= 60);
    const last = waits.at(-1);
    expect([first?.[1], second?.[1]]).toEqual([60, 60 - 2 / 60]);
    expect(at59?.[1]).toBeCloseTo(60 - (at59?.[0] ?? 0), 5);
    expect(at60?.[1]).toBeCloseTo(90 - (at60?.[0] ?? 0), 5);
    expect(last?.[1]).toBeCloseTo(90 - (last?.[0] ?? 0), 5);
    const message = expect.stringContaining('UploadNotStarted') as string;
    expect(submission.run.end).toMatchObject({ type: 'ReportSubmissionExpired', message });
  });

  test('an hour before the deadline and later waits an hour for a worker, and a minute at least', async () => {
    const waits = new Map<number, number | undefined>();
    const uploadReport = (now: number, _request: unknown, { startsWithin }: { startsWithin?: number }) => {
      waits.set((now - began) / 3_600_000, startsWithin);
      const retryAfterMs = 7_190_000;
      return { failure: { type: 'TooManyRequests', isFinal: false, details: { retryAfterMs } } };
    };
    await (await life({ uploadReport }, { submissionDeadline: '4h' })).until(10);
    expect([...waits.values()]).toEqual([3_600_000, 3_600_000, 60_000]);
  });
});

describe('an upload whose answer is lost', () => {
  test('is waited for as long as the service may be at work, then until lostAnswerWait; then the file is sent again', async () => {
    const submission = await life({ uploadReport: inTurn(lost, { snapshot: started }), ...notFound });
    expect(submission.run.shown.details).toBe(
      'The answer to the upload was lost (AnswerLost). Waits for the job that the upload may have created.',
    );
    await submission.until(1);
    expect(searchesOf(submission)).toEqual([45, 120, 122]);
    expect(uploadsOf(submission)).toEqual([0, 122]);
    const askedFor = (until: number) => ({
      ...{ reference, userId, needsHumanReview: false },
      lostUploads: [{ from: at(0), until: at(until) }],
    });
    expect(submission.argumentsOf('findUnclaimedJob')).toEqual([45, 120, 120].map(askedFor));
    const lostUploads = [{ from: at(0), until: at(120) }];
    expect(submission.run.end).toMatchObject({ result: { adopted: false, lostUploads } });
  });

  test.each([
    ['at widening distance', { lostAnswerWait: '10m' } as const, [45, 135, 315, 600, 602]],
    ['at least as long as the service may be at work', { lostAnswerWait: '10s' } as const, [45, 47]],
  ])('is waited for %s', async (_how, policy, searches) => {
    const submission = await life({ uploadReport: inTurn(lost, { snapshot: started }), ...notFound }, policy);
    expect(searchesOf(await submission.until(1))).toEqual(searches);
  });

  test('and that made a job after all is that job, also if it appears as late as before the next upload', async () => {
    for (const [times, seconds] of [45, 120, 122].entries()) {
      const found = { found: started, remaining: [] };
      const findUnclaimedJob = inTurn(...Array.from({ length: times }, () => ({})), found);
      const submission = await life({ uploadReport: lost, findUnclaimedJob });
      await submission.until(1);
      expect(uploadsOf(submission)).toEqual([0]);
      expect(searchesOf(submission).at(-1)).toBe(seconds);
      expect(submission.argumentsOf('handOverReport')).toMatchObject([{ adopted: true }]);
      expect(submission.run.end).toMatchObject({ result: { jobId, adopted: true, lostUploads: [] } });
    }
  });

  test('of which another may still make a job keeps that one in the result', async () => {
    const remaining = [{ from: at(0), until: at(45) }];
    const submission = await life({ uploadReport: lost, findUnclaimedJob: { found: started, remaining } });
    expect((await submission.until(1)).run.end).toMatchObject({ result: { lostUploads: remaining } });
  });

  test('because its worker was lost is waited for, too, which is said while it is retried', async () => {
    const answers = { uploadReport: inTurn({ failure: { ended: 'worker_lost' } }, { snapshot: started }), ...notFound };
    const submission = await life(answers);
    expect(submission.run.shown.details).toContain('(WorkerLost)');
    await submission.until(121 / 3600);
    expect(submission.run.shown.details).toBe(retrying('WorkerLost'));
    await submission.until(0.1);
    expect(uploadsOf(submission)).toEqual([0, 122]);
  });

  test('because it is unreadable fails the submission, once the job did not appear, and names the upload', async () => {
    const unreadable = { failure: { type: 'AnswerUnreadable', isFinal: false } };
    const submission = await (await life({ uploadReport: unreadable, ...notFound })).until(1);
    expect(submission.events).toEqual(['0.033h failed: AnswerUnreadable']);
    expect(uploadsOf(submission)).toEqual([0]);
    const lostUploads = [{ from: at(0), until: at(120) }];
    expect(submission.run.end).toMatchObject({ details: { fields: [], lostUploads } });
    const found = { found: started, remaining: [] };
    const adopted = await (await life({ uploadReport: unreadable, findUnclaimedJob: found })).until(1);
    expect(adopted.run.end).toMatchObject({ result: { adopted: true } });
  });

  test('is not waited for beyond the deadline', async () => {
    const policy = { lostAnswerWait: '1d', submissionDeadline: '1h' } as const;
    const submission = await (await life({ uploadReport: lost, ...notFound }, policy)).until(100);
    expect(submission.events).toEqual(['1h failed: ReportSubmissionExpired']);
    expect(submission.run.end).toMatchObject({ message: expect.stringContaining('within 1 hour') as string });
    expect(uploadsOf(submission)).toEqual([0]);
    expect(submission.run.end).toMatchObject({ details: { lostUploads: [{ from: at(0), until: at(3600) }] } });
  });

  test('twice names both, in the result and in a refusal that follows', async () => {
    const lostUploads = [
      { from: at(0), until: at(120) },
      { from: at(122), until: at(242) },
    ];
    for (const [answer, end] of [
      [{ snapshot: started }, { result: { lostUploads } }],
      [{ failure: { type: 'ReportRefused' } }, { type: 'ReportRefused', details: { fields: [], lostUploads } }],
    ]) {
      const submission = await life({ uploadReport: inTurn(lost, lost, answer), ...notFound });
      expect((await submission.until(1)).run.end).toMatchObject(end as object);
    }
  });
});

describe('an earlier run’s lost upload', () => {
  const longAgo = { from: at(-7200), until: at(-7100) };

  test('whose job has appeared by now is that job, and nothing is uploaded', async () => {
    const found = { found: started, remaining: [] };
    const answers = { uploadReport: { lostBefore: [longAgo] }, findUnclaimedJob: found };
    const { run, calls } = await life(answers);
    expect(calls).toEqual(['0h uploadReport', '0h findUnclaimedJob', '0h handOverReport']);
    expect(run.end).toMatchObject({ result: { adopted: true } });
  });

  test('without a job is looked for once more, and the file is uploaded without looking back', async () => {
    const uploadReport = inTurn({ lostBefore: [longAgo] }, { snapshot: started });
    const submission = await life({ uploadReport, ...notFound });
    expect(submission.argumentsOf('uploadReport')).toMatchObject([{ looksBack: true }, { looksBack: false }]);
    expect(submission.events).toEqual(['0h completed']);
    const waited = { from: at(-7200), until: at(-7100 + 120) };
    expect(submission.run.end).toMatchObject({ result: { lostUploads: [waited] } });
  });

  test('of a moment ago is waited for like one of this run, from the last of them', async () => {
    const lostBefore = [
      { from: at(-60), until: at(-10) },
      { from: at(-8), until: at(-5) },
    ];
    const submission = await life({ uploadReport: inTurn({ lostBefore }, { snapshot: started }), ...notFound });
    expect(submission.run.shown.details).toContain('(an earlier run ended)');
    await submission.until(1);
    expect(searchesOf(submission)).toEqual([40, 115, 115]);
    expect(uploadsOf(submission)).toEqual([0, 115]);
  });
});

test('an answer that cannot be followed fails the submission', async () => {
  const answers = { uploadReport: { snapshot: snapshot('started', { jobId: 'a job' }) } };
  const { events, calls } = await life(answers);
  expect(events).toEqual(['0h failed: AnswerUnreadable']);
  expect(calls).toEqual(['0h uploadReport']);
});

describe('a submission that is cancelled', () => {
  const cancelled = { outcome: 'cancelled', reference, lostUploads: [] };

  test('between two attempts uploads nothing any more', async () => {
    const submission = await life({ uploadReport: unreachable });
    expect(await submission.update('cancel')).toEqual({ name: 'cancel', value: cancelled });
    expect(submission.events).toEqual(['0h failed: ReportSubmissionCancelled']);
    const message = 'The submission was cancelled before there was a job';
    expect(submission.run.end).toMatchObject({ message, details: { fields: [] } });
    expect(submission.run.end).not.toHaveProperty('details.lostUploads');
  });

  const withdrawn = [{ value: cancelled }, 'failed: ReportSubmissionCancelled'] as const;
  const refused = [{ refused: 'ReportEnded' }, 'failed: ReportRefused'] as const;
  const tooLate = [{ value: { outcome: 'uploaded', jobId } }, 'completed'] as const;

  test.each<[string, string, unknown, readonly [object, string]]>([
    ['an upload waits for what comes of it', 'uploadReport', { failure: { ended: 'called_back' } }, withdrawn],
    ['an upload that fails otherwise uploads nothing any more', 'uploadReport', unreachable, withdrawn],
    ['one that is refused has that answer', 'uploadReport', { failure: { type: 'ReportRefused' } }, refused],
    ['one that makes a job is too late: that is handed over', 'uploadReport', { snapshot: started }, tooLate],
    ['the hand-over of the job is too late, too', 'handOverReport', null, tooLate],
  ])('during %s', async (_when, pending, answer, [reply, end]) => {
    const submission = await life({ uploadReport: { snapshot: started }, [pending]: silent });
    expect(await submission.update('cancel')).toBeUndefined();
    await submission.given({ [pending]: answer });
    expect(submission.run.replies).toEqual([{ name: 'cancel', ...reply }]);
    expect(submission.events).toEqual([`0h ${end}`]);
    expect(submission.calls).toEqual(['0h uploadReport', ...(end === 'completed' ? ['0h handOverReport'] : [])]);
  });

  test('while a lost answer is waited for names the upload, to the caller and to the next run', async () => {
    const submission = await life({ uploadReport: lost, ...notFound });
    await submission.until(0.001);
    const lostUploads = [{ from: at(0), until: at(0) }];
    expect(await submission.update('cancel')).toEqual({ name: 'cancel', value: { ...cancelled, lostUploads } });
    expect(submission.run.end).toMatchObject({ type: 'ReportSubmissionCancelled', details: { lostUploads } });
  });

  test('through Temporal ends as cancelled', async () => {
    const submission = await life({ uploadReport: unreachable });
    await submission.cancel();
    expect(submission.events).toEqual(['0h failed: cancelled']);
  });
});

test('a long history goes on in a new run: with its deadline, its pauses, its lost uploads, and without looking back again', async () => {
  const answers = { uploadReport: inTurn({ lostBefore: [{ from: at(-9), until: at(-8) }] }, unreachable), ...notFound };
  const policy = { lostAnswerWait: '45s', submissionDeadline: '1d' } as const;
  const submission = await life(answers, policy);
  await submission.until(110 / 3600);
  const before = uploadsOf(submission);
  submission.run.suggestNewRun();
  await submission.until(1);
  expect(submission.events).toHaveLength(1);
  const { input, kind } = submission.run.end as { kind: string; input: SubmitReportInput };
  expect(kind).toBe('continued');
  const lostUploads = [{ from: at(-9), until: at(-8 + 45) }];
  const carried = { version: 1, lostUploads, failures: before.length, since: began, looksBack: false };
  expect(input).toEqual({ ...inputOf(policy), carried: { ...carried, failures: before.length - 1 } });
  const next = await opened({ uploadReport: unreachable, ...notFound }, submission.run.now).start(input);
  expect(next.secondsOf('uploadReport')).toEqual([0]);
  expect((await next.until(1000)).events).toEqual(['23h failed: ReportSubmissionExpired']);
});
