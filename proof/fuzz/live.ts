import { Client, Connection, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import { defineUpdate } from '@temporalio/workflow';
import { pino } from 'pino';
import { setTimeout as sleep } from 'node:timers/promises';
import { searchAttributeKeys } from '../../protocol/search-attributes.js';
import { startDevServer } from '../../sandbox/temporal/dev-server.js';
import { serveHttp, type HttpEndpoint } from '../../sandbox/temporal/ports.js';
import { readIngressConfig, readWorkerConfig } from '../../workers/settings/config.js';
import { startIngress } from '../../workers/ingress.js';
import { startWorker } from '../../workers/worker.js';
import { commands } from './commands.js';
import { type Message, signals, targets, type Target } from './live-targets.js';
import { mutated, textOf, readSeeds, spoiltBytes } from './mutate.js';
import type { Random } from './random.js';
import type { Tally } from './tally.js';
import { secret } from './webhooks.js';
import { sendSome } from './raw-http.js';

const taskQueue = 'lab-operations-fuzz';
const atOnce = 8;

/** How long a command may take until it is accepted or refused. */
const patienceMs = 20_000;

/** What a workflow says of an input that it does not take. */
const refusals =
  /^(?:WorkflowUpdateFailedError|WorkflowNotFoundError|WorkflowFailedError|WorkflowUpdateRPCTimeoutOrCancelledError)$/;

/**
 * Mutated webhooks, commands, signals and start inputs against a running ingress and worker on a real Temporal, while the lab
 * service answers as badly. In the end no workflow task may have failed, and every workflow that is open must answer.
 *
 * @param count of webhooks, and of commands, signals and starts together
 */
export async function fuzzLive(random: Random, count: number, tally: Tally): Promise<void> {
  const log = pino({ level: 'silent' });
  const server = await startDevServer({ searchAttributes: searchAttributeKeys });
  const service = await hostileService(random);
  const common = { TEMPORAL_ADDRESS: server.address, TASK_QUEUE: taskQueue, HEALTH_DATA: 'off' };
  const worker = await startWorker(
    readWorkerConfig({
      ...common,
      SERVICE_BASE_URL: service.url,
      SERVICE_API_KEY: 'sk_invented',
      NOTIFICATIONS: 'off',
    }),
    log,
  );
  const ingress = await startIngress(
    readIngressConfig({
      ...common,
      WEBHOOK_SECRETS: secret,
      INGRESS_PORT: '0',
      INGRESS_HOST: '127.0.0.1',
      INGRESS_DRAIN_SECONDS: '0',
    }),
    log,
  );
  const connection = await Connection.connect({ address: server.address });
  const client = new Client({ connection });
  try {
    const port = Number(new URL(ingress.url).port);
    for (let sent = 0; sent < count; sent += atOnce) {
      const some = Math.min(atOnce, count - sent);
      await sendSome(random, { port, count: some }, tally);
      const sending = Array.from({ length: some }, () => sendAny(random, client));
      for (const { outcome, input, fault } of await Promise.all(sending)) {
        tally.count(outcome);
        if (fault !== undefined) tally.found(fault, input);
      }
    }
    await checkHistories(client, tally);
  } finally {
    await ingress.close();
    await connection.close();
    await Promise.all([worker.stop(), service.close()]);
    await server.stop();
  }
}

/** A refusal comes at once; what was accepted may take as long as it likes. */
async function answered(client: Client, update: { result(): Promise<unknown> }): Promise<void> {
  try {
    await client.withDeadline(Date.now() + 1_000, () => update.result());
  } catch (error) {
    if (!(error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)) throw error;
  }
}

interface Sent {
  outcome: string;
  input: string;
  fault?: string;
}

async function sendAny(random: Random, client: Client): Promise<Sent> {
  const kind = random.pick(['update', 'update', 'signal', 'start'] as const);
  if (kind === 'start') {
    const target = renumbered(random.pick(targets), random.below(1_000_000));
    const input = jsonOf(random, target.input);
    return attempt(`start ${target.workflow}`, input, () => begin(client, target, JSON.parse(input) as unknown));
  }
  const { workflow, name, seed } = random.pick<Message>(kind === 'update' ? commands : signals);
  const target = targets.find((each) => each.workflow === workflow);
  if (!target) throw new Error(`The workflow ${workflow} is not among the targets.`);
  const input = jsonOf(random, seed);
  return attempt(`${kind} ${workflow}.${name}`, input, async () => {
    await begin(client, target, target.input);
    const handle = client.workflow.getHandle(target.id);
    const args: [unknown] = [JSON.parse(input)];
    if (kind === 'signal') return handle.signal(name, ...args);
    const update = defineUpdate<unknown, [unknown]>(name);
    const accepted = await client.withDeadline(Date.now() + patienceMs, () =>
      handle.startUpdate(update, { args, waitForStage: 'ACCEPTED' }),
    );
    await answered(client, accepted);
  });
}

/** The same workflow for another order, user, job and so on: ID and input have to fit each other. */
function renumbered(target: Target, number: number): Target {
  return JSON.parse(JSON.stringify(target).replaceAll(/-1(?:001)?(?=["/])/g, `-${number}`)) as Target;
}

function jsonOf(random: Random, seed: unknown): string {
  for (;;) {
    const text = textOf(mutated(random, seed));
    // Larger messages are Temporal's to refuse, and what is deeper this client cannot write.
    if (
      text !== '' &&
      text.length < 200_000 &&
      !text.includes('['.repeat(1_000)) &&
      !text.includes('{"a":'.repeat(1_000))
    )
      return text;
  }
}

async function begin(client: Client, { workflow, id }: Target, input: unknown): Promise<void> {
  const options = { workflowId: id, taskQueue, workflowIdConflictPolicy: 'USE_EXISTING' } as const;
  await client.workflow.start(workflow, { ...options, args: [input] });
}

async function attempt(what: string, input: string, run: () => Promise<void>): Promise<Sent> {
  try {
    await run();
    return { outcome: `${what}: accepted`, input };
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
    const outcome = `${what}: ${cause?.name ?? name}`;
    const isRefused = refusals.test(name) && (cause === undefined || /ApplicationFailure/.test(cause.name));
    const type = cause !== undefined && 'type' in cause ? String(cause.type) : '';
    if (isRefused && !/TypeError|RangeError/.test(type)) return { outcome: `${what}: refused ${type}`, input };
    return { outcome, input, fault: `${what} was refused by ${String(error)}: ${String(cause)}` };
  }
}

interface Seed {
  call: string;
  status: number;
  body: unknown;
}

/** The call whose answer fits a path; others get the answer of any call. */
const callOf: readonly (readonly [path: RegExp, call: string])[] = [
  [/^GET \/v3\/order\/[^/]+$/, 'orders.get'],
  [/^GET \/v3\/order_transaction\/[^/]+$/, 'orders.transaction'],
  [/^GET \/orders/, 'orders.list'],
  [/^POST \/v3\/order\/testkit$/, 'orders.createTestkit'],
  [/^POST \/v3\/order/, 'orders.create'],
  [/^GET \/v2\/user\/[^/]+$/, 'users.get'],
  [/^DELETE \/v2\/user\//, 'users.delete'],
  [/^POST \/v2\/link\/token/, 'links.createToken'],
  [/complete_mfa$/, 'links.completeMfa'],
  [/^GET \/lab_report/, 'reports.getJob'],
  [/appointment\/availability/, 'appointments.availability'],
  [/^(?:GET|PATCH) .*appointment/, 'appointments.get'],
  [/^GET \/v3\/unmatched_result\//, 'matchReviews.get'],
];

/** A lab service on loopback: half of its answers are good and about what was asked, the others are mutated. */
function hostileService(random: Random): Promise<HttpEndpoint> {
  const seeds = readSeeds<Seed>('answers.json');
  const good = seeds.filter(({ status }) => status < 300);
  return serveHttp((request, response) => {
    const asked = `${request.method} ${request.url?.split('?')[0]}`;
    const call = callOf.find(([path]) => path.test(asked))?.[1];
    const { status, body } = random.pick(call === undefined || random.oneIn(10) ? seeds : good.filter(named(call)));
    const about = aboutAsked(body, asked);
    const bytes = random.oneIn(2) ? spoiltBytes(random, about) : Buffer.from(JSON.stringify(about));
    request.resume();
    request.on('end', () => response.writeHead(status, { 'content-type': 'application/json' }).end(bytes));
  });
}

function named(call: string): (seed: Seed) => boolean {
  return (seed) => seed.call === call;
}

/** The body under the id of the path. */
function aboutAsked(body: unknown, asked: string): unknown {
  const id = /\/(?:order|user|job|unmatched_result)\/([^/]+)/.exec(asked)?.[1];
  if (id === undefined || typeof body !== 'object' || body === null || !('id' in body)) return body;
  return { ...body, id: decodeURIComponent(id) };
}

/** How long an open workflow may take to answer a query. */
const answersWithinMs = 20_000;

/** Finds workflow tasks that failed, and open workflows that do not answer. */
async function checkHistories(client: Client, tally: Tally): Promise<void> {
  // Visibility shows a workflow about a second after its start.
  await sleep(2_000);
  for await (const { workflowId, runId, type, status } of client.workflow.list()) {
    const handle = client.workflow.getHandle(workflowId, runId);
    const { events } = await handle.fetchHistory();
    tally.count(`${type} is ${status.name.toLowerCase()}`);
    // An event that came while the workflow was about to end is not a fault: the task is repeated with it.
    const failed = events?.find(
      ({ workflowTaskFailedEventAttributes: failed }) =>
        failed != null && failed.failure?.message !== 'UnhandledCommand',
    );
    const failure = failed?.workflowTaskFailedEventAttributes?.failure;
    if (failed) tally.found(`a workflow task of ${type} failed: ${failure?.message}`, failure?.stackTrace ?? '');
    if (status.name !== 'RUNNING') continue;
    await client
      .withDeadline(Date.now() + answersWithinMs, () => handle.query('__temporal_workflow_metadata'))
      .catch((error: unknown) => tally.found(`${type} does not answer: ${String(error)}`, workflowId));
  }
}
