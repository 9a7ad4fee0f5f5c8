import type { WebhookAnswer } from '../../client/webhooks/endpoint.js';
import { createWebhookHandler, type WebhookHandler } from '../../client/webhooks/handler.js';
import { signWebhook } from '../../client/testing.js';
import { readSeeds, spoiltBytes } from './mutate.js';
import type { Random } from './random.js';
import { type CaughtStart, recordingTemporal } from './recording-temporal.js';
import type { Tally } from './tally.js';
import { announceNews } from '../../workflows/order/announcements.js';
import { foldIn, openChain } from '../../workflows/order/chain.js';
import { nextMoment } from '../../workflows/order/deadlines.js';
import { readSnapshot } from '../../workflows/order/snapshots.js';
import { caseFileOf, stateOf } from '../../workflows/order/view.js';
import { announceNews as announceJob } from '../../workflows/report/announcements.js';
import { nextMoment as nextJobMoment } from '../../workflows/report/deadlines.js';
import { learnFromWebhook, openJob } from '../../workflows/report/job.js';
import { readReportSnapshot } from '../../workflows/report/reports.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

/** Invented. */
export const secret = `whsec_${Buffer.from('an-invented-key-with-32-bytes-01').toString('base64')}`;

/** What the sandbox's patients are called and where they live. None of it may leave a webhook. */
export const personal = /Testperson|Testpatient|Testdoctor|Imaginary|Fictional|Nowhereville|Springfield/;

/** The longest search attribute that Temporal takes, in bytes. */
export const longestAttribute = 2_048;

/** The handler as the ingress has it, with a client of Temporal that catches its requests. */
interface CatchingHandler {
  handler: WebhookHandler;
  /** The requests since the last call. */
  caught: () => CaughtStart[];
  /** What was logged since the last call, as text. */
  logged: () => string;
}

export function catchingHandler(keepsRejected: boolean): CatchingHandler {
  let starts: CaughtStart[] = [];
  let lines: string[] = [];
  const log = (fields: object, message: string): void => void lines.push(JSON.stringify(fields) + message);
  const handler = createWebhookHandler({
    temporal: recordingTemporal((start) => starts.push(start)),
    encryption: 'optional',
    secrets: [secret],
    logger: { info: log, warn: log, error: log },
    ...(keepsRejected && {
      rejected: () => Promise.resolve(undefined),
      healthData: () => Promise.resolve('stream_due'),
    }),
  });
  return {
    handler,
    caught: () => {
      const caught = starts;
      starts = [];
      return caught;
    },
    logged: () => {
      const logged = lines.join('\n');
      lines = [];
      return logged;
    },
  };
}

/** Sends mutated webhooks to the handler itself, in this process. */
export async function fuzzWebhooks(random: Random, count: number, tally: Tally): Promise<void> {
  const seeds = readSeeds<object>('webhooks.json');
  const handlers = [catchingHandler(false), catchingHandler(true)];
  for (let n = 0; n < count; n += 1) {
    await takeWebhook(spoiltBytes(random, random.pick(seeds)), random.pick(handlers), tally);
    // Otherwise nothing but promises would run, and what is unhandled would show only at the end.
    if (n % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** One signed webhook, with everything that is claimed about it. */
export async function takeWebhook(
  body: Buffer,
  { handler, caught, logged }: CatchingHandler,
  tally: Tally,
): Promise<void> {
  const input = (): string => body.toString('latin1');
  const request = { method: 'POST', ...signWebhook({ body, secret }) };
  const answer = await tally.timed(body.length, input, () => handler.handle(request));
  tally.count(nameOf(answer));
  const lines = logged();
  if (answer.status >= 500) tally.found(`answered ${nameOf(answer)}: ${lines.slice(0, 1_000)}`, input());
  for (const start of caught()) check(start, tally, input);
  if (personal.test(lines)) tally.found('logged something personal', input());
}

function nameOf({ status, body }: WebhookAnswer): string {
  return body === undefined ? String(status) : `${status} ${(JSON.parse(body) as { error: string }).error}`;
}

function check(start: CaughtStart, tally: Tally, input: () => string): void {
  const { workflowId, text } = start;
  if (!/^[a-z-]+\/[A-Za-z0-9._/-]{1,260}$/.test(workflowId)) tally.found('an odd workflow ID', input());
  if (start.longestAttribute > longestAttribute) tally.found('a search attribute that is too long', input());
  if (personal.test(text)) tally.found('brought something personal to Temporal', input());
  try {
    foldSignal(start, Date.now());
  } catch (error) {
    tally.found(`the workflow's fold failed: ${String(error)}`, input());
  }
}

/**
 * Does with a caught signal what the workflow does before it waits: reads it, folds it in, announces it, finds the next moment and
 * writes what operators see. Throws what the workflow would throw.
 */
function foldSignal({ signalName, argument }: CaughtStart, now: number): void {
  if (signalName === 'orderChanged') foldOrder(argument);
  if (signalName === 'jobChanged') foldJob(argument, now);
}

function foldOrder(argument: unknown): void {
  const snapshot = readSnapshot(argument);
  if (!snapshot) throw new Error('The snapshot of a webhook is not read as one.');
  const chain = openChain({ rootOrderId: snapshot.orderId, policy: resolvePolicy('order') }, 0);
  chain.notifies = true;
  foldIn(chain, snapshot);
  announceNews(chain);
  const next = nextMoment(chain)?.at;
  if (next !== undefined && Number.isNaN(next)) throw new Error('The next moment is not a time.');
  JSON.stringify(stateOf(chain));
  caseFileOf(chain);
}

function foldJob(argument: unknown, now: number): void {
  const snapshot = readReportSnapshot(argument);
  if (!snapshot) throw new Error('The snapshot of a webhook is not read as one.');
  const job = openJob({ jobId: snapshot.jobId, policy: resolvePolicy('report') }, now);
  learnFromWebhook(job, snapshot, now);
  announceJob(job, now);
  if (Number.isNaN(nextJobMoment(job).at)) throw new Error('The next moment of a job is not a time.');
}
