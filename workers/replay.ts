import { Client } from '@temporalio/client';
import { DefaultLogger, makeTelemetryFilterString, type ReplayResult, Runtime, Worker } from '@temporalio/worker';
import type { Terminal } from '../client/command-line/terminal.js';
import { auditSinks } from './audit-writer.js';
import { workflowBundle } from './bundle.js';
import { readWorkerConfig } from './settings/config.js';
import { dataConverterOf, markingUnencrypted } from './encryption.js';
import { createLog } from './log.js';
import { StartFailed } from './process.js';
import { type Run, sampleOpen } from './replay-sample.js';
import { connect } from './worker.js';
import * as workflows from '../workflows/index.js';

/** The result of replaying one workflow type. */
export interface TypeReplay {
  workflowType: string;
  replayed: number;
  /** Workflow IDs whose history this build would not continue, with the reason. */
  differing: { workflowId: string; reason: string }[];
}

/**
 * Replays the histories of a sample of open workflows (`sampleOpen`) with this build's workflows. Nothing is changed.
 *
 * @param count of all types together
 */
export async function replayOpen(
  client: Client,
  taskQueue: string,
  options: Parameters<typeof Worker.runReplayHistories>[0],
  count: number,
): Promise<TypeReplay[]> {
  const replays: TypeReplay[] = [];
  for (const [workflowType, runs] of await sampleOpen(client, taskQueue, Object.keys(workflows), count)) {
    const replay: TypeReplay = { workflowType, replayed: 0, differing: [] };
    for await (const result of Worker.runReplayHistories(options, historiesOf(client, runs))) take(replay, result);
    replays.push(replay);
  }
  return replays;
}

function take(replay: TypeReplay, { workflowId, error }: ReplayResult): void {
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

/**
 * `labops replay`.
 * @throws StartFailed if a history differs, or if there is none
 */
export async function replay({ open }: { open: number }, terminal: Terminal): Promise<void> {
  const config = readWorkerConfig();
  const { namespace } = config.temporal;
  const log = createLog(config.logLevel, 'replay');
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
    for (const line of linesOf(replays)) terminal.out(`${line}\n`);
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

function linesOf(replays: readonly TypeReplay[]): string[] {
  return replays.flatMap(({ workflowType, replayed, differing }) => [
    `${workflowType}: ${replayed} replayed, ${differing.length} differ`,
    ...differing.map(({ workflowId, reason }) => `  ${workflowId}: ${reason}`),
  ]);
}
