import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sampleReport } from '../../sandbox/sample-report.js';
import { NotFound, ServiceRefused } from '../../service/errors.js';
import { readEvent } from '../../service/events.js';
import { type LabService, createLabService } from '../../service/lab-service.js';
import type { ParsingJob, ReportContentType } from '../../service/reports.js';
import { sandboxApiKey, startReceiver, startSandbox, type Receiver, type Sandbox } from './sandbox-rig.js';
import { eventually } from '../rig/eventually.js';

/** 1 s of a job's life lasts 0.2 ms, its review's day 20 s: the clock is advanced to what waits for a day. */
const fast = { daySeconds: 20 };
/** 1 s of a job's life lasts a quarter of an hour: nothing happens to it before the clock is advanced. */
const slow = { daySeconds: 86_400_000 };
const unknown = '00000000-0000-4000-8000-000000000000';

function serviceOf({ service }: Sandbox): LabService {
  const lab = createLabService({ baseUrl: service.url, apiKey: sandboxApiKey });
  onTestFinished(() => lab.close());
  return lab;
}

async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array, void, undefined> {
  for (let start = 0; start < bytes.length; start += 65_536) {
    yield await Promise.resolve(bytes.subarray(start, start + 65_536));
  }
}

async function upload(
  lab: LabService,
  userId: string,
  bytes: Buffer,
  more: { needsHumanReview?: boolean; contentType?: ReportContentType; isStreamed?: boolean } = {},
): Promise<ParsingJob> {
  const { needsHumanReview, contentType = 'application/pdf', isStreamed = false } = more;
  return lab.reports.createJob({
    userId,
    file: { contentType, bytes: pieces(bytes), ...(isStreamed ? {} : { size: bytes.length }) },
    ...(needsHumanReview === undefined ? {} : { needsHumanReview }),
  });
}

async function refusalOf(work: Promise<unknown>): Promise<[number, string | undefined]> {
  const error: unknown = await work.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ServiceRefused);
  return [(error as ServiceRefused).status, (error as ServiceRefused).reason];
}

/** The webhooks about a job, in the order in which things happened. */
function reported({ received }: Receiver): string[] {
  return received.map(({ json }) => {
    const event = readEvent(json);
    if (event.kind !== 'parsing_job') throw new Error(`a webhook of the kind ${event.kind}`);
    return `${event.eventType.split('.').at(-1)} ${event.job.status}`;
  });
}

describe('an upload', () => {
  test.each([true, false])(
    'arrives as it was sent, and only facts of it are kept (in chunks: %s)',
    async (isStreamed) => {
      const sandbox = await startSandbox();
      const userId = await sandbox.newUser();
      // Bytes in a file that look like the end of a form do not end it.
      const bytes = Buffer.concat([sampleReport('pdf'), Buffer.from('\r\n--labops-\r\n--'), randomBytes(300_000)]);
      const job = await upload(serviceOf(sandbox), userId, bytes, { isStreamed });
      expect(job).toMatchObject({ status: 'upload_pending', failure_reason: null, data: null, is_reviewed: false });
      expect(await sandbox.control.job(job.id)).toMatchObject({
        user_id: userId,
        outcome: 'completed',
        files: [
          {
            size: bytes.length,
            sha256: createHash('sha256').update(bytes).digest('hex'),
            contentType: 'application/pdf',
            name: 'report.pdf',
          },
        ],
      });
    },
  );

  test.each([
    ['png', 'image/png'],
    ['jpg', 'image/jpeg'],
  ] as const)('may be a %s', async (kind, contentType) => {
    const sandbox = await startSandbox();
    const job = await upload(serviceOf(sandbox), await sandbox.newUser(), sampleReport(kind), { contentType });
    expect((await sandbox.control.job(job.id)).files).toMatchObject([{ contentType, name: `report.${kind}` }]);
  });

  // proves 230, 313
  test('may have as many bytes as the limit; one more is refused with 413', async () => {
    const sandbox = await startSandbox();
    const [lab, userId] = [serviceOf(sandbox), await sandbox.newUser()];
    expect((await upload(lab, userId, sampleReport('pdf', { size: 10_485_760 }))).status).toBe('upload_pending');
    expect((await refusalOf(upload(lab, userId, sampleReport('pdf', { size: 10_485_761 }))))[0]).toBe(413);
    await sandbox.control.changeSettings({ reportMaxBytes: 1_000 });
    expect((await refusalOf(upload(lab, userId, sampleReport('pdf', { size: 1_001 }))))[0]).toBe(413);
    expect(await sandbox.control.jobs()).toHaveLength(1);
  });

  test.each([
    ['an empty file', Buffer.alloc(0), 'File is empty'],
    ['a text named as a PDF', Buffer.from('only text'), 'Only PDF, JPEG and PNG files are supported'],
    ['an outcome that there is not', sampleReport('pdf', { outcome: 'odd' }), 'labops-sandbox: no such outcome'],
  ])('%s is refused with 400', async (_what, bytes, reason) => {
    const sandbox = await startSandbox();
    const refused = await refusalOf(upload(serviceOf(sandbox), await sandbox.newUser(), bytes, { isStreamed: true }));
    expect(refused).toEqual([400, expect.stringContaining(reason)]);
  });

  test('an upload of an unknown user is refused with 404', async () => {
    const sandbox = await startSandbox();
    expect((await refusalOf(upload(serviceOf(sandbox), unknown, sampleReport('pdf'))))[0]).toBe(404);
  });

  test('an upload with a request for review is refused if the team is not enabled', async () => {
    const sandbox = await startSandbox({ reportHumanReview: false });
    const [lab, userId] = [serviceOf(sandbox), await sandbox.newUser()];
    expect(await refusalOf(upload(lab, userId, sampleReport('pdf'), { needsHumanReview: true }))).toEqual([
      400,
      'Human review is not supported yet for your team please contact support',
    ]);
    expect((await upload(lab, userId, sampleReport('pdf'), { needsHumanReview: false })).needs_human_review).toBe(
      false,
    );
  });

  test('an upload beyond a sandbox’s limit is refused', async () => {
    const sandbox = await startSandbox({ maxReports: 1 });
    const [lab, userId] = [serviceOf(sandbox), await sandbox.newUser()];
    await upload(lab, userId, sampleReport('pdf'));
    const [status, reason] = await refusalOf(upload(lab, userId, sampleReport('pdf')));
    expect([status, reason]).toEqual([400, expect.stringContaining('is limited to 1 reports')]);
  });

  test('needs user and file; all faults come in one answer', async () => {
    const { service, newUser } = await startSandbox();
    const post = async (fields: Record<string, string>, type = 'multipart/form-data; boundary=b') => {
      const parts = Object.entries(fields).map(
        ([name, value]) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      );
      const answer = await fetch(`${service.url}/lab_report/v1/parser/job`, {
        method: 'POST',
        headers: { 'x-service-api-key': sandboxApiKey, 'content-type': type },
        body: `${parts.join('')}--b--\r\n`,
      });
      const { detail } = (await answer.json()) as { detail: { type: string; loc: string[] }[] };
      return [answer.status, ...detail.map(({ type, loc }) => `${loc.join('.')} ${type}`)];
    };
    expect(await post({})).toEqual([422, 'body.user_id missing', 'body.file missing']);
    expect(await post({ user_id: await newUser() })).toEqual([422, 'body.file missing']);
    expect(await post({ user_id: 'one', needs_human_review: 'perhaps' })).toEqual([
      422,
      'body.user_id uuid_parsing',
      'body.needs_human_review bool_parsing',
      'body.file missing',
    ]);
    expect(await post({}, 'application/x-invented')).toEqual([422, 'body.user_id missing', 'body.file missing']);
  });

  test('an upload that breaks off makes no job', async () => {
    const sandbox = await startSandbox();
    const [lab, userId] = [serviceOf(sandbox), await sandbox.newUser()];
    async function* broken(): AsyncGenerator<Uint8Array, void, undefined> {
      yield sampleReport('pdf', { size: 500_000 });
      await eventually(async () => expect(await sandbox.control.requests({ method: 'POST' })).toHaveLength(1));
      throw new Error('the disk is gone');
    }
    const file = { contentType: 'application/pdf', bytes: broken() } as const;
    await expect(lab.reports.createJob({ userId, file })).rejects.toThrow('the disk is gone');
    await eventually(async () => {
      const [request] = await sandbox.control.requests({ method: 'POST' });
      expect(request?.outcome).not.toBe('pending');
    });
    expect(await sandbox.control.jobs()).toEqual([]);
  });

  test('needs the team key', async () => {
    const { service } = await startSandbox();
    const lab = createLabService({ baseUrl: service.url, apiKey: 'another' });
    onTestFinished(() => lab.close());
    expect((await refusalOf(upload(lab, unknown, sampleReport('pdf'))))[0]).toBe(401);
  });
});

describe('a job', () => {
  // proves 231, 265, 266
  test('goes from started to completed, and ends with three biomarkers', async () => {
    const receiver = await startReceiver();
    const sandbox = await startSandbox({
      ...fast,
      webhookUrl: receiver.url,
      webhookSecrets: ['whsec_aW52ZW50ZWQtc2VjcmV0LXR3bw=='],
    });
    const [lab, userId] = [serviceOf(sandbox), await sandbox.newUser()];
    const { id } = await upload(lab, userId, sampleReport('pdf'));
    await eventually(() => expect(reported(receiver)).toHaveLength(3));
    expect(reported(receiver).toSorted()).toEqual(['created started', 'updated completed', 'updated processing']);
    const event = readEvent(receiver.received[0]?.json);
    expect(event).toMatchObject({ kind: 'parsing_job', jobId: id, userId });

    const job = await lab.reports.getJob(id);
    expect(job).toMatchObject({ id, status: 'completed', failure_reason: null, data: { unreadable_results: 0 } });
    expect(job.data?.results.map((result) => [result.loinc_match_status, result.interpretation])).toEqual([
      ['auto_match', 'abnormal'],
      ['needs_review', 'normal'],
      ['no_match', 'unknown'],
    ]);
    expect(job.data?.results[0]).toMatchObject({ is_above_max_range: true, loinc_matches: [{ loinc_code: '4548-4' }] });
  });

  test.each([
    ['failed:low_quality', ['started', 'processing', 'failed'], 'low_quality'],
    ['failed:next_year', ['started', 'processing', 'failed'], 'next_year'],
    ['no-results', ['started', 'processing', 'completed'], null],
    ['review', ['started', 'processing', 'pending_review', 'completed'], null],
    ['review-failed:invalid_input', ['started', 'processing', 'pending_review', 'failed'], 'invalid_input'],
    ['stuck', ['started'], null],
    ['unknown-status', ['started', 'processing', 'quality_hold', 'completed'], null],
  ])('a job whose file says %s goes through %j', async (outcome, statuses, reason) => {
    const sandbox = await startSandbox();
    const lab = serviceOf(sandbox);
    const job = await upload(lab, await sandbox.newUser(), sampleReport('jpg', { outcome }), {
      contentType: 'image/jpeg',
    });
    await sandbox.control.advanceClock('2d');
    const { history } = await sandbox.control.job(job.id);
    expect(history.map(({ status }) => status)).toEqual(['upload_pending', ...statuses]);
    expect((await lab.reports.getJob(job.id)).failure_reason).toBe(reason);
  });

  // proves 266
  test('a job that needs a review by a person waits for that, and is then reviewed', async () => {
    const sandbox = await startSandbox();
    const lab = serviceOf(sandbox);
    const { id } = await upload(lab, await sandbox.newUser(), sampleReport('pdf'), { needsHumanReview: true });
    await sandbox.control.advanceClock('1h');
    expect(await lab.reports.getJob(id)).toMatchObject({ status: 'pending_review', is_reviewed: false, data: null });
    await sandbox.control.advanceClock('1d');
    expect(await lab.reports.getJob(id)).toMatchObject({ status: 'completed', is_reviewed: true });
  });

  test('shows only what the current schema has if a deployment does so', async () => {
    const sandbox = await startSandbox({ reportStates: 'schema' });
    const job = await sandbox.control.createJob({ outcome: 'review' });
    await sandbox.control.advanceClock('2d');
    const { history } = await sandbox.control.job(job.id);
    expect(history.map(({ status }) => status)).toEqual(['upload_pending', 'started', 'completed']);
  });

  test('may spell its id job_id, in answers and webhooks', async () => {
    const receiver = await startReceiver();
    const settings = { webhookUrl: receiver.url, webhookEnvelope: 'without_ids', reportJobId: 'job_id' } as const;
    const sandbox = await startSandbox({ ...settings, webhookSecrets: ['whsec_aW52ZW50ZWQtc2VjcmV0LXR3bw=='] });
    // A job that stays as it is after its first step sends no second webhook.
    const { id } = await upload(serviceOf(sandbox), await sandbox.newUser(), sampleReport('pdf', { outcome: 'stuck' }));
    await sandbox.control.advanceClock('2s');
    await eventually(() => expect(receiver.received).toHaveLength(1));
    const { raw, json } = receiver.received[0] ?? { raw: '', json: undefined };
    expect(JSON.parse(raw)).toMatchObject({ data: { job_id: id } });
    expect(raw).not.toMatch(/"id"|user_id/);
    expect(readEvent(json)).toMatchObject({ kind: 'parsing_job', jobId: id });
  });

  test('a job that does not exist is answered 404', async () => {
    const sandbox = await startSandbox();
    await expect(serviceOf(sandbox).reports.getJob(unknown)).rejects.toBeInstanceOf(NotFound);
  });
});

describe('the control interface', () => {
  test('moves a job anywhere, with its webhook or without, and ends what was planned', async () => {
    const receiver = await startReceiver();
    const settings = { webhookUrl: receiver.url, webhookSecrets: ['whsec_aW52ZW50ZWQtc2VjcmV0LXR3bw=='] };
    const sandbox = await startSandbox({ ...slow, ...settings });
    const { control } = sandbox;
    const { id } = await control.createJob();
    await control.moveJob(id, { status: 'processing', webhook: false });
    await control.moveJob(id, { status: 'failed', failure_reason: 'not_english' });
    await control.moveJob(id, { status: 'completed', failure_reason: null, results: 'none', is_reviewed: true });
    await control.advanceClock('2d');
    await control.settleWebhooks();
    expect(reported(receiver).toSorted()).toEqual(['updated completed', 'updated failed']);
    expect(await serviceOf(sandbox).reports.getJob(id)).toMatchObject({
      status: 'completed',
      failure_reason: null,
      is_reviewed: true,
      data: { results: [] },
    });
  });

  test('finds the deliveries of a job, and its faults meet them', async () => {
    const receiver = await startReceiver();
    const settings = { webhookUrl: receiver.url, webhookSecrets: ['whsec_aW52ZW50ZWQtc2VjcmV0LXR3bw=='] };
    const { control } = await startSandbox({ ...slow, ...settings });
    const [one, other] = [await control.createJob(), await control.createJob()];
    await control.addWebhookFault({ job_id: one.id, status: 'started', action: { kind: 'lose' } });
    await control.advanceClock('10h');
    await control.settleWebhooks();
    const states = async (id: string) =>
      (await control.deliveries({ job_id: id })).map(({ status, state, order_id }) => [status, state, order_id]);
    expect(await states(one.id)).toEqual([
      ['started', 'lost', null],
      ['processing', 'delivered', null],
      ['completed', 'delivered', null],
    ]);
    expect((await states(other.id))[0]).toEqual(['started', 'delivered', null]);
  });

  test('forgets a job, and everything at a reset', async () => {
    const sandbox = await startSandbox();
    const { control } = sandbox;
    const [one] = [await control.createJob(), await control.createJob()];
    await control.deleteJob(one.id);
    await expect(serviceOf(sandbox).reports.getJob(one.id)).rejects.toBeInstanceOf(NotFound);
    expect(await control.jobs()).toHaveLength(1);
    await control.reset();
    expect(await control.jobs()).toEqual([]);
  });

  test('lists the outcomes that exist', async () => {
    const { control } = await startSandbox();
    await expect(control.createJob({ outcome: 'odd' })).rejects.toThrow('there are completed, no-results');
  });
});
