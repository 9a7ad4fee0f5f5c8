import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ServiceUnreachable, AnswerLost } from '../../../../service/errors.js';
import { type ReportFile, parsingFailureReasons, parsingStatuses } from '../../../../service/report/reports.js';
import type { ServiceConfig } from '../../../../service/http/http.js';
import { brokenRules, errorNamed, readFrom, rejection, serviceAt, serving, speakingTcp } from '../recording-server.js';
import { eventually } from '../../../rig/eventually.js';

const user = '11111111-1111-4111-8111-111111111111';
const pdf = Buffer.from('%PDF-1.4\ninvented\n');

async function* pieces(...chunks: readonly (Buffer | Error)[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const chunk of chunks) {
    if (chunk instanceof Error) throw chunk;
    yield await Promise.resolve(chunk);
  }
}

/** So many bytes in pieces of 64 KiB; `ended` says that the consumer released it or read it all. */
function large(bytes: number): { file: ReportFile; ended: () => boolean; given: () => number } {
  let [given, ended] = [0, false];
  async function* source(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (; given < bytes; given += 65_536)
        yield await Promise.resolve(Buffer.alloc(Math.min(65_536, bytes - given), 7));
    } finally {
      ended = true;
    }
  }
  const file: ReportFile = { contentType: 'application/pdf', bytes: source(), size: bytes };
  return { file, ended: () => ended, given: () => given };
}

/** Gives each chunk after a pause. */
async function* slowly(pauseMs: number, ...chunks: Buffer[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const chunk of chunks) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    yield chunk;
  }
}

/** A server that keeps the raw bytes after the request's head, and answers with a job. */
async function keepingBodies(): Promise<{ baseUrl: string; bodies: Buffer[]; requests: IncomingMessage[] }> {
  const bodies: Buffer[] = [];
  const requests: IncomingMessage[] = [];
  const { baseUrl } = await serving((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks));
      requests.push(request);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ id: 'job-1', status: 'upload_pending', needs_human_review: false }));
    });
  });
  return { baseUrl, bodies, requests };
}

/** Uploads a file to the service at that address. */
const upload = (baseUrl: string, file: ReportFile, config?: Partial<ServiceConfig>) =>
  serviceAt(baseUrl, config).reports.createJob({ userId: user, file });

describe('the request of an upload', () => {
  // proves 1, 230, 323
  test('is a form with user, request for review and file, byte for byte', async () => {
    const { baseUrl, bodies, requests } = await keepingBodies();
    const job = await serviceAt(baseUrl).reports.createJob({
      userId: user,
      needsHumanReview: true,
      file: { contentType: 'application/pdf', bytes: pieces(pdf), size: pdf.length },
    });
    expect(job).toMatchObject({ id: 'job-1', status: 'upload_pending' });
    const [request] = requests;
    expect([request?.method, request?.url]).toEqual(['POST', '/lab_report/v1/parser/job']);
    expect(request?.headers).toMatchObject({ 'x-service-api-key': 'sk_invented', accept: 'application/json' });
    const form = /^multipart\/form-data; boundary=(labops-[0-9a-f]{32})$/;
    const [, boundary] = form.exec(request?.headers['content-type'] ?? '') ?? [];
    const fields = {
      'name="user_id"': user,
      'name="needs_human_review"': 'true',
      'name="file"; filename="report.pdf"\r\ncontent-type: application/pdf': pdf.toString(),
    };
    const parts = Object.entries(fields).map(
      ([head, content]) => `--${boundary}\r\ncontent-disposition: form-data; ${head}\r\n\r\n${content}\r\n`,
    );
    expect(bodies[0]?.toString()).toBe(`${parts.join('')}--${boundary}--\r\n`);
    expect(Number(request?.headers['content-length'])).toBe(bodies[0]?.length);
  });

  // proves 230
  test.each([
    ['application/pdf', 'report.pdf'],
    ['image/jpeg', 'report.jpg'],
    ['image/png', 'report.png'],
  ] as const)('names %s as its type, and %s as its file name, whoever it belongs to', async (contentType, name) => {
    const { baseUrl, bodies } = await keepingBodies();
    await upload(baseUrl, { contentType, bytes: pieces(pdf) });
    expect(bodies[0]?.toString()).toContain(`; filename="${name}"\r\ncontent-type: ${contentType}\r\n\r\n`);
  });

  test('is sent in chunks if the size is unknown, and leaves out options that were not given', async () => {
    const { baseUrl, bodies, requests } = await keepingBodies();
    await upload(baseUrl, { contentType: 'image/png', bytes: pieces(pdf, pdf) });
    expect(requests[0]?.headers).toMatchObject({ 'transfer-encoding': 'chunked' });
    expect(requests[0]?.headers).not.toHaveProperty('content-length');
    const text = bodies[0]?.toString();
    expect(text).toContain(`\r\n\r\n${pdf.toString()}${pdf.toString()}\r\n--`);
    expect(text).not.toContain('needs_human_review');
  });

  test('can be sent again and again by one service', async () => {
    const { baseUrl, bodies } = await keepingBodies();
    const { reports } = serviceAt(baseUrl);
    for (let n = 0; n < 3; n += 1) {
      const { file, ended } = large(3_000_000);
      await reports.createJob({ userId: user, file });
      expect([ended(), Number(bodies[n]?.length) > 3_000_000]).toEqual([true, true]);
    }
  });
});

describe('a request that breaks a rule is not sent', () => {
  test.each([
    ['userId', { userId: ' ' }, {}],
    ['contentType', {}, { contentType: 'text/plain' }],
    ['size', {}, { size: 0 }],
  ])('%s', async (field, request, change) => {
    const file = { contentType: 'application/pdf', bytes: pieces(pdf), ...change } as ReportFile;
    const broken = await brokenRules(({ reports }) => reports.createJob({ userId: user, ...request, file }));
    expect(broken).toEqual([expect.stringMatching(new RegExp(`^${field} `))]);
  });

  test.each([pdf.length - 1, pdf.length + 1])('a file of another size than announced (%i)', async (size) => {
    const { baseUrl, bodies } = await keepingBodies();
    const error = await rejection(upload(baseUrl, { contentType: 'application/pdf', bytes: pieces(pdf), size }));
    expect(error).toMatchObject(errorNamed('RequestInvalid', 'as many bytes as its size says'));
    expect(bodies).toEqual([]);
  });
});

describe('an upload that fails', () => {
  test.each([undefined, 200_000])('rejects with the error of the file that broke off (size %s)', async (size) => {
    let isClosed = false;
    const { baseUrl } = await serving((request) => {
      request.resume();
      request.on('close', () => (isClosed = true));
    });
    const broken = new Error('the disk is gone');
    const bytes = pieces(Buffer.alloc(100_000), broken);
    const file: ReportFile = { contentType: 'application/pdf', bytes, ...(size === undefined ? {} : { size }) };
    expect(await rejection(upload(baseUrl, file))).toBe(broken);
    await eventually(() => expect(isClosed).toBe(true));
  });

  test('rejects with the reason of the signal, closes the connection and lets go of the file', async () => {
    const controller = new AbortController();
    let isClosed = false;
    const baseUrl = await speakingTcp((socket) => {
      socket.once('data', () => controller.abort(new Error('not wanted any more')));
      socket.on('close', () => (isClosed = true));
    });
    const { file, ended, given } = large(50_000_000);
    const { signal } = controller;
    const error = await rejection(serviceAt(baseUrl).reports.createJob({ userId: user, file }, { signal }));
    expect(error).toEqual(new Error('not wanted any more'));
    await eventually(() => expect([isClosed, ended()]).toEqual([true, true]));
    expect(given()).toBeLessThan(50_000_000);
  });

  test.each([
    [413, 'too large'],
    [400, 'empty file'],
  ])('reads a refusal that came before the body was sent (%i)', async (status, detail) => {
    const baseUrl = await speakingTcp((socket) => {
      socket.once('data', () => {
        // It reads no further, and leaves the caller time to see the answer.
        socket.pause();
        socket.write(earlyAnswer(status, detail));
      });
    });
    const { file, ended, given } = large(50_000_000);
    const error = await rejection(upload(baseUrl, file));
    expect(error).toMatchObject({ name: 'ServiceRefused', status, serviceSentence: detail });
    await eventually(() => expect(ended()).toBe(true));
    expect(given()).toBeLessThan(50_000_000);
  });

  test('reads most refusals of a service that resets the connection right behind them', async () => {
    // In a thread of its own: in ours it would always be served between two writes.
    const server = `
      const { parentPort, workerData } = require('node:worker_threads');
      require('node:net').createServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => socket.pause().write(workerData, () => socket.destroy()));
      }).listen(0, '127.0.0.1', function () { parentPort.postMessage(this.address().port); });`;
    const worker = new Worker(server, { eval: true, workerData: earlyAnswer(413, 'too large') });
    onTestFinished(async () => void (await worker.terminate()));
    const [port] = (await once(worker, 'message')) as [number];
    const { reports } = serviceAt(`http://127.0.0.1:${port}`);
    const names: string[] = [];
    for (let n = 0; n < 30; n += 1) {
      const error = await rejection(reports.createJob({ userId: user, file: large(20_000_000).file }));
      names.push((error as Error).name);
    }
    // The rest found the connection reset; then the job does not exist either. Without the turns of the loop hardly one is read.
    expect(names.filter((name) => name === 'ServiceRefused').length).toBeGreaterThan(2);
    expect(new Set(names).size).toBeLessThanOrEqual(2);
    expect(names).not.toContain('AnswerLost');
  });

  test('an upload whose connection breaks half-way leaves no job: it may be repeated', async () => {
    const baseUrl = await speakingTcp((socket) => {
      socket.once('data', () => socket.resetAndDestroy());
    });
    const { file, ended } = large(20_000_000);
    const error = await rejection(upload(baseUrl, file));
    expect(error).toMatchObject(errorNamed('ServiceUnreachable', 'was not sent completely'));
    await eventually(() => expect(ended()).toBe(true));
  });

  test('an upload whose connection breaks after the last byte leaves the outcome unknown', async () => {
    const { baseUrl } = await serving((request) => {
      request.resume();
      request.on('end', () => request.socket.destroy());
    });
    const { file } = large(200_000);
    expect(await rejection(upload(baseUrl, file))).toBeInstanceOf(AnswerLost);
  });

  test('ends if the service accepts nothing any more, or the file gives nothing', async () => {
    const { baseUrl } = await serving((request) => request.pause());
    const { reports } = serviceAt(baseUrl, { headersTimeoutMs: 300 });
    const { file } = large(50_000_000);
    expect(await rejection(reports.createJob({ userId: user, file }))).toBeInstanceOf(ServiceUnreachable);

    const next = () => new Promise<never>(() => undefined);
    const silent = { contentType: 'image/png', bytes: { [Symbol.asyncIterator]: () => ({ next }) } } as const;
    const error = await rejection(reports.createJob({ userId: user, file: silent }));
    expect((error as Error).message).toContain('was not sent completely: made no progress within 300 ms');
  });

  test('an upload that goes on slowly is not ended by the timeouts of other calls', async () => {
    const { baseUrl, bodies } = await keepingBodies();
    const bytes = slowly(700, ...Array.from({ length: 18 }, () => Buffer.alloc(1_000)));
    await upload(baseUrl, { contentType: 'image/png', bytes }, { timeoutMs: 300, headersTimeoutMs: 12_000 });
    expect(bodies[0]?.length).toBeGreaterThan(18_000);
  });

  test('says so if the answer breaks off or makes no sense', async () => {
    const { baseUrl } = await serving((request, response) => {
      request.resume().on('end', () => response.end('{"status":"started"}'));
    });
    const error = await rejection(upload(baseUrl, { contentType: 'image/png', bytes: pieces(pdf) }));
    expect((error as Error).message).toContain('id: must be there, as id or as job_id');
  });
});

/** As it goes over the wire. */
function earlyAnswer(status: number, detail: string): string {
  const body = JSON.stringify({ detail });
  return `HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

describe('a job', () => {
  const read = (body: object) => readFrom({ id: 'job-1', ...body }, ({ reports }) => reports.getJob('job-1'));

  test('may write its id as job_id', async () => {
    expect(await read({ job_id: 'job-1', id: null })).toMatchObject({ id: 'job-1' });
  });

  test('lacks what is bad, and counts each result that is not an object', async () => {
    const loinc_matches = ['odd', { loinc_code: '1-1', aliases: [1, 'a'], confidence_score: 'high' }];
    const results = ['nonsense', null, { test_name: 7, value: 5.6, min_reference_range: 'low' }, { loinc_matches }];
    const job = await read({ failure_reason: 12, is_reviewed: 'no', data: { metadata: [], results } });
    expect(job).toEqual({
      id: 'job-1',
      failure_reason: '12',
      data: {
        unreadable_results: 2,
        results: [{ test_name: '7', value: '5.6' }, { loinc_matches: [{ loinc_code: '1-1', aliases: ['a'] }] }],
      },
    });
  });
});

// proves 266, I10
test('the known statuses and failure reasons are exported for a switch that stays open', () => {
  // Written out, so a changed name in the product is noticed.
  const statuses = ['upload_pending', 'started', 'processing', 'pending_review', 'completed', 'failed'];
  expect(parsingStatuses).toEqual(statuses);
  const reasons = ['invalid_input', 'low_quality', 'not_english', 'too_many_pages', 'processing_error'];
  expect(parsingFailureReasons).toEqual(reasons);
});

describe('the answer to an upload', () => {
  /** Answers so long after the whole form came. */
  async function answeringAfter(milliseconds: number): Promise<string> {
    const { baseUrl } = await serving((request, response) => {
      request.resume().on('end', () => setTimeout(() => response.end('{"id":"job-1"}'), milliseconds));
    });
    return baseUrl;
  }

  const request = () => ({ userId: user, file: { contentType: 'application/pdf', bytes: pieces(pdf) } }) as const;

  test('is given up after its own time, even if the service would be waited for longer', async () => {
    const service = serviceAt(await answeringAfter(20_000));
    const began = performance.now();
    expect(await rejection(service.reports.createJob(request(), { answerTimeoutMs: 300 }))).toBeInstanceOf(AnswerLost);
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  test('is waited for longer than any other if it may take longer', async () => {
    const { baseUrl } = await serving((asked, response) => {
      const another = () => rejection(reports.getJob('job-2'));
      if (asked.method === 'POST')
        asked.resume().on('end', () => void another().then(() => response.end('{"id":"job-1"}')));
    });
    const { reports } = serviceAt(baseUrl, { headersTimeoutMs: 2_000 });
    expect(await reports.createJob(request(), { answerTimeoutMs: 30_000 })).toMatchObject({ id: 'job-1' });
  });

  test('has its whole time, however long the file took', async () => {
    const service = serviceAt(await answeringAfter(300));
    const file = { contentType: 'application/pdf', bytes: slowly(4_000, pdf, pdf, pdf) } as const;
    const job = await service.reports.createJob({ userId: user, file }, { answerTimeoutMs: 10_000 });
    expect(job).toMatchObject({ id: 'job-1' });
  });
});
