import type { ServerResponse } from 'node:http';
import { serveHttp } from '../../sandbox/temporal/ports.js';
import { answerFaults } from '../../service/order/answers.js';
import { appointmentSnapshotOf } from '../../service/appointment/snapshot.js';
import type { Appointment } from '../../service/appointment/appointments.js';
import * as errors from '../../service/errors.js';
import { createLabService, type LabService } from '../../service/lab-service.js';
import type { Marker } from '../../service/lab-tests.js';
import { matchReviewSnapshotOf } from '../../service/match-review/snapshot.js';
import type { MatchReview } from '../../service/match-review/match-reviews.js';
import { defaultInstallation } from '../../service/installation.js';
import { snapshotOf } from '../../service/order/projection.js';
import type { Order } from '../../service/order/order.js';
import type { ParsingJob } from '../../service/report/parsing-job.js';
import { reportSnapshotOf } from '../../service/report/snapshot.js';
import { sampleCalls, type SampleCall } from '../../tools/service-check/calls.js';
import { readSnapshot } from '../../workflows/order/snapshots.js';
import { readSeeds, spoiltBytes } from './mutate.js';
import type { Random } from './random.js';
import type { Tally } from './tally.js';
import { personal } from './webhooks.js';

/** An answer as it goes over the wire. */
export interface SpoiltAnswer {
  call: string;
  status: number;
  headers: Record<string, string>;
  bytes: Buffer;
  /** True: the connection closes before the body is complete. */
  breaksOff: boolean;
}

interface Seed {
  call: string;
  status: number;
  body: unknown;
}

/** More than the pages of any list in the seeds: a reader that asks for more would ask forever. */
const mostRequests = 1_100;

const key = 'sk_invented';

/** The lab service with one answer at a time, and a client of it. */
export interface AnsweringService {
  service: LabService;
  /** Answers every request with it from now on. */
  answerWith(answer: SpoiltAnswer): void;
  /** The requests since then. */
  requests(): number;
  close(): Promise<void>;
}

export async function answeringService(): Promise<AnsweringService> {
  let present: SpoiltAnswer | undefined;
  let requests = 0;
  const server = await serveHttp((request, response) => {
    requests += 1;
    request.resume();
    request.on('end', () => (requests > mostRequests || !present ? response.destroy() : send(response, present)));
  });
  const service = createLabService({
    baseUrl: server.url,
    apiKey: key,
    managementKey: 'mk_invented',
    timeoutMs: 10_000,
  });
  return {
    service,
    answerWith: (answer) => {
      present = answer;
      requests = 0;
    },
    requests: () => requests,
    close: async () => {
      await service.close();
      await server.close();
    },
  };
}

function send(response: ServerResponse, { status, headers, bytes, breaksOff }: SpoiltAnswer): void {
  response.writeHead(status, breaksOff ? { ...headers, 'content-length': String(bytes.length + 1) } : headers);
  if (!breaksOff) response.end(bytes);
  else response.write(bytes, () => response.destroy());
}

const statuses = [
  201, 202, 204, 206, 301, 307, 400, 401, 403, 404, 408, 409, 410, 413, 418, 422, 429, 500, 502, 503, 504,
];
const contentTypes = ['application/json', 'application/json', 'text/plain', 'text/html', 'application/pdf', ''];
const retryAfter = ['1', '0', '-1', '1e9', 'soon', 'Wed, 21 Oct 2099 07:28:00 GMT', 'Wed, 99 Foo 2026', ''];

function spoiltAnswer(random: Random, { call, status, body }: Seed): SpoiltAnswer {
  return {
    call,
    status: random.oneIn(8) ? random.pick(statuses) : status,
    headers: {
      'content-type': random.pick(contentTypes),
      ...(random.oneIn(8) && { 'retry-after': random.pick(retryAfter) }),
      ...(random.oneIn(50) && { 'content-encoding': random.pick(['gzip', 'br', 'invented']) }),
      ...(random.oneIn(50) && { location: random.pick(['/', 'http://127.0.0.1:1/', '//', '']) }),
    },
    bytes: typeof body === 'string' && !random.oneIn(5) ? Buffer.from(body, 'latin1') : spoiltBytes(random, body),
    breaksOff: random.oneIn(100),
  };
}

/** Answers each call of the client with mutated answers of the service, over HTTP on loopback. */
export async function fuzzAnswers(random: Random, count: number, tally: Tally): Promise<void> {
  const seeds = readSeeds<Seed>('answers.json');
  const answering = await answeringService();
  for (let n = 0; n < count; n += 1) await recordAnswer(spoiltAnswer(random, random.pick(seeds)), answering, tally);
  await answering.close();
}

/** The documented errors, by name. */
const documented: ReadonlySet<string> = new Set(Object.keys(errors));

/** One answer, with everything that is claimed about it. */
export async function recordAnswer(answer: SpoiltAnswer, answering: AnsweringService, tally: Tally): Promise<void> {
  const call = sampleCalls.find(({ name }) => name === answer.call);
  if (!call) throw new Error(`The call ${answer.call} does not exist: record the seeds again.`);
  const { bytes, ...rest } = answer;
  const input = (): string => JSON.stringify({ ...rest, bytes: bytes.toString('latin1') });
  const outcome = await tally.timed(bytes.length, input, () => {
    answering.answerWith(answer);
    return outcomeOf(call, answering.service);
  });
  if (answering.requests() > mostRequests) tally.found('asked for pages without end', input());
  if ('error' in outcome) checkError(outcome.error, tally, input);
  else projected(call, outcome.result, tally, input);
}

async function outcomeOf({ run }: SampleCall, service: LabService): Promise<{ result: unknown } | { error: unknown }> {
  try {
    return { result: await run(service) };
  } catch (error) {
    return { error };
  }
}

function checkError(error: unknown, tally: Tally, input: () => string): void {
  const name = error instanceof Error ? error.name : typeof error;
  tally.count(name);
  if (!(error instanceof errors.ServiceError) || !documented.has(name)) {
    tally.found(`was refused by ${String(error)}, which is not documented`, input());
    return;
  }
  const { message } = error;
  if (!/^[A-Z]+ \/\S* .{5,}$/s.test(message)) tally.found(`was refused without a reason: ${message}`, input());
  if (message.length > 2_000) tally.found('was refused with a message of more than 2,000 characters', input());
  if (personal.test(message) || message.includes(key)) tally.found('was refused with a message that quotes', input());
}

/** What the activities do with a result before it may enter a workflow. */
function projected({ name }: SampleCall, result: unknown, tally: Tally, input: () => string): void {
  tally.count('read');
  try {
    if (name === 'orders.get') checkOrder(result as Order);
    if (/^orders\.(?:create|register|import|cancel)/.test(name)) checkOrder((result as { order: Order }).order);
    if (name === 'labTests.listMarkers') answerFaults(result as Marker[], []);
    if (name === 'orders.list') for (const order of result as Order[]) checkOrder(order);
    if (name === 'reports.getJob') reportSnapshotOf(result as ParsingJob);
    if (/^(?:appointments|walkIns)\.get$/.test(name)) appointmentSnapshotOf(result as Appointment);
    if (name === 'matchReviews.get') matchReviewSnapshotOf(result as MatchReview);
  } catch (error) {
    tally.found(`a result that was read cannot be used: ${String(error)}`, input());
  }
}

function checkOrder(order: Order): void {
  const snapshot: unknown = JSON.parse(JSON.stringify(snapshotOf(order, defaultInstallation)));
  if (!readSnapshot(snapshot)) throw new Error('its snapshot is not read as one');
  if (personal.test(JSON.stringify(snapshot))) throw new Error('its snapshot is personal');
}
