import { Client } from '@temporalio/client';
import { DefaultLogger, makeTelemetryFilterString, type ReplayResult, Runtime, Worker } from '@temporalio/worker';
import type { Replayed } from '../client/command-line/answers.js';
import type { CommandLine } from '../client/command-line/command-line.js';
import { auditSinks } from './audit-writer.js';
import { workflowBundle } from './bundle.js';
import { readWorkerConfig } from './settings/config.js';
import { dataConverterOf, markingUnencrypted } from './encryption.js';
import { createLog } from './log.js';
import { StartFailed } from './process.js';
import { connect } from './native-connection.js';
import * as workflows from '../workflows/index.js';
import { ofTaskQueue } from '../protocol/task-queues.js';

/**
 * Replays the histories of a sample of open workflows (`sampleOpen`) with this build's workflows. Nothing is changed.
 *
 * @param count of all types together
 */
async function replayOpen(
  client: Client,
  taskQueue: string,
  options: Parameters<typeof Worker.runReplayHistories>[0],
  count: number,
): Promise<Replayed[]> {
  const replays: Replayed[] = [];
  for (const [workflowType, runs] of await sampleOpen(client, taskQueue, Object.keys(workflows), count)) {
    const replay: Replayed = { workflowType, replayed: 0, differing: [] };
    for await (const result of Worker.runReplayHistories(options, historiesOf(client, runs))) take(replay, result);
    replays.push(replay);
  }
  return replays;
}

function take(replay: Replayed, { workflowId, error }: ReplayResult): void {
  replay.replayed += 1;
  if (error) replay.differing.push({ workflowId, reason: reasonOf(error) });
}

/** The native core wraps a failure of the workflow in its own sentence, with its stack trace. */
function reasonOf({ message }: Error): string {
  const failure = /Failure \{ message: "((?:[^"\\]|\\.)+)"/.exec(message)?.[1];
  return failure?.replaceAll(String.raw`\"`, '"') ?? message.split('\n', 1).join('');
}

async function* historiesOf(client: Client, runs: readonly Run[]) {
  for (const { workflowId, runId } of runs) {
    yield { workflowId, history: await client.workflow.getHandle(workflowId, runId).fetchHistory() };
  }
}

/** A run of a workflow. */
interface Run {
  workflowId: string;
  runId: string;
}

/** The largest page that a server gives by default. */
const pageSize = 1_000;

/**
 * Samples open workflows of each type, spread evenly from the newest to the oldest: the oldest have the longest histories, which begin
 * with events of earlier releases. Types share the count equally, and one with fewer open workflows leaves the rest of its share to the others.
 */
export async function sampleOpen(
  client: Client,
  taskQueue: string,
  workflowTypes: readonly string[],
  count: number,
): Promise<Map<string, Run[]>> {
  const queryOf = (type: string) =>
    `${ofTaskQueue(taskQueue)} AND WorkflowType = '${type}' AND ExecutionStatus = 'Running'`;
  const open = new Map<string, number>();
  for (const type of workflowTypes) open.set(type, (await client.workflow.count(queryOf(type))).count);
  const sampled = new Map<string, Run[]>();
  for (const [type, share] of sharesOf(open, count)) {
    sampled.set(type, await pick(client, queryOf(type), placesOf(open.get(type) ?? 0, share)));
  }
  return sampled;
}

function sharesOf(open: ReadonlyMap<string, number>, count: number): Map<string, number> {
  const shares = new Map<string, number>();
  let left = count;
  // Those with the fewest first, so each knows what they leave.
  for (const [type, total] of [...open].toSorted(([, a], [, b]) => a - b)) {
    const share = Math.min(total, Math.ceil(left / (open.size - shares.size)));
    shares.set(type, share);
    left -= share;
  }
  return shares;
}

/** The places of the sample in a list that begins with the newest; a sample of one is the oldest. */
function placesOf(total: number, share: number): Set<number> {
  return new Set(
    Array.from({ length: share }, (_, index) =>
      share === 1 ? total - 1 : Math.round((index * (total - 1)) / (share - 1)),
    ),
  );
}

/** Reads the list up to the last of these places: a server in front of a database cannot sort by another order than its own. */
async function pick(client: Client, query: string, places: ReadonlySet<number>): Promise<Run[]> {
  const picked: Run[] = [];
  const last = Math.max(-1, ...places);
  let nextPageToken: Uint8Array | undefined;
  for (let place = 0; place <= last;) {
    // The client's own list decodes memos, and one that this machine has no key for would end it.
    const page = await client.workflowService.listWorkflowExecutions({
      namespace: client.options.namespace,
      query,
      pageSize,
      ...(nextPageToken && { nextPageToken }),
    });
    for (const { execution } of page.executions) {
      if (places.has(place)) picked.push({ workflowId: execution?.workflowId ?? '', runId: execution?.runId ?? '' });
      place += 1;
    }
    if (page.nextPageToken.length === 0) break;
    nextPageToken = page.nextPageToken;
  }
  return picked;
}

/**
 * `labops replay`.
 * @throws StartFailed if a history differs, or if there is none
 */
export async function replay({ open }: { open: number }, commandLine: CommandLine): Promise<void> {
  const config = readWorkerConfig();
  const { namespace } = config.temporal;
  const log = createLog(config, 'replay');
  const { dataConverter } = dataConverterOf(config.keyRing, log);
  // Failures stay readable: nothing is written to Temporal, and an encoded failure would hide the reason.
  const conversion = dataConverter && { dataConverter: { payloadCodecs: dataConverter.payloadCodecs ?? [] } };
  quietRuntime();
  const connection = await connect(config.temporal);
  try {
    const client = new Client({ connection, namespace, ...conversion });
    const bundle = await workflowBundle('readable');
    // The SDK's type does not have the namespace, which payloads are bound to, but its replayer takes it.
    const marking = markingUnencrypted(conversion ?? {}, config.encryption, log);
    const sinks = { ...marking.sinks, ...auditSinks() };
    const options = { namespace, workflowBundle: bundle, ...marking, sinks };
    const replays = await replayOpen(client, config.taskQueue, options, open);
    commandLine.print({ workflows: replays }, () => linesOf(replays).join('\n'), replays);
    const differing = replays.flatMap((replay) => replay.differing).length;
    if (replays.every(({ replayed }) => replayed === 0)) {
      throw new StartFailed(
        `No open workflow of the task queue ${config.taskQueue} was found: correct TASK_QUEUE or TEMPORAL_NAMESPACE.`,
      );
    }
    if (differing > 0) {
      throw new StartFailed(`This build cannot continue ${differing} of the open workflows: do not move them to it.`);
    }
  } finally {
    await connection.close();
  }
}

/** Warnings go to standard error: the SDK's native part would write them among the lines of the answer. */
function quietRuntime(): void {
  const filter = makeTelemetryFilterString({ core: 'WARN', other: 'WARN' });
  Runtime.install({ logger: new DefaultLogger('WARN'), telemetryOptions: { logging: { filter, forward: {} } } });
}

function linesOf(replays: readonly Replayed[]): string[] {
  return replays.flatMap(({ workflowType, replayed, differing }) => [
    `${workflowType}: ${replayed} replayed, ${differing.length} differ`,
    ...differing.map(({ workflowId, reason }) => `  ${workflowId}: ${reason}`),
  ]);
}
