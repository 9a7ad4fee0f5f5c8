import { parseArgs } from 'node:util';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker, type ReplayResult } from '@temporalio/worker';
import { workflowBundle } from './bundle.js';
import { readWorkerConfig } from './config.js';
import { dataConverterOf, markingUnencrypted } from './encryption.js';
import { createLog } from './log.js';
import { isProgram, runProgram, StartFailed } from './process.js';
import { ofTaskQueue } from './temporal-config.js';
import * as workflows from '../workflows/index.js';

/** How many open workflows are replayed if `--open` does not say. */
const usualCount = 200;

/** The result of replaying one workflow type. */
export interface TypeReplay {
  workflowType: string;
  replayed: number;
  /** Workflow IDs whose history this build would not continue, with the reason. */
  differing: { workflowId: string; reason: string }[];
}

/**
 * Replays the histories of open workflows with this build's workflows: of each type an equal share, the latest first. Nothing is changed.
 *
 * @param count of all types together
 */
export async function replayOpen(
  client: Client,
  taskQueue: string,
  options: Parameters<typeof Worker.runReplayHistories>[0],
  count = usualCount,
): Promise<TypeReplay[]> {
  const types = Object.keys(workflows);
  const share = Math.ceil(count / types.length);
  const replays: TypeReplay[] = [];
  for (const workflowType of types) {
    const histories = historiesOf(client, await openOf(client, taskQueue, workflowType, share));
    const replay: TypeReplay = { workflowType, replayed: 0, differing: [] };
    for await (const result of Worker.runReplayHistories(options, histories)) take(replay, result);
    replays.push(replay);
  }
  return replays;
}

function take(replay: TypeReplay, { workflowId, error }: ReplayResult): void {
  replay.replayed += 1;
  if (error) replay.differing.push({ workflowId, reason: error.message.split('\n', 1).join('') });
}

async function openOf(client: Client, taskQueue: string, workflowType: string, limit: number) {
  const query = `${ofTaskQueue(taskQueue)} AND WorkflowType = '${workflowType}' AND ExecutionStatus = 'Running'`;
  // The client's own list decodes memos, and one that this machine has no key for would end it.
  const { namespace } = client.options;
  const { executions } = await client.workflowService.listWorkflowExecutions({ namespace, query, pageSize: limit });
  return executions.map(({ execution }) => ({
    workflowId: execution?.workflowId ?? '',
    runId: execution?.runId ?? '',
  }));
}

async function* historiesOf(client: Client, executions: readonly { workflowId: string; runId: string }[]) {
  for (const { workflowId, runId } of executions) {
    yield { workflowId, history: await client.workflow.getHandle(workflowId, runId).fetchHistory() };
  }
}

/** `npm run replay -- --open 200`: exit status 1 if this build would not continue a history. Settings are those of the worker. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { open: { type: 'string', default: String(usualCount) } } });
  const count = Number(values.open);
  if (!Number.isInteger(count) || count < 1)
    throw new StartFailed(
      '--open must be a whole number of at least 1: give the number of workflows to replay, such as 200.',
    );
  const config = readWorkerConfig();
  const { namespace, connection: address } = config.temporal;
  const conversion = dataConverterOf(config.keyRing, createLog(config.logLevel, 'replay'));
  const connection = await NativeConnection.connect(address);
  try {
    const client = new Client({ connection, namespace, ...conversion });
    const bundle = await workflowBundle(config.keyRing ? 'encoded' : 'readable');
    const options = { workflowBundle: bundle, ...markingUnencrypted(conversion, config.encryption) };
    const replays = await replayOpen(client, config.taskQueue, options, count);
    for (const line of linesOf(replays)) process.stdout.write(`${line}\n`);
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

function linesOf(replays: readonly TypeReplay[]): string[] {
  return replays.flatMap(({ workflowType, replayed, differing }) => [
    `${workflowType}: ${replayed} replayed, ${differing.length} differ`,
    ...differing.map(({ workflowId, reason }) => `  ${workflowId}: ${reason}`),
  ]);
}

if (isProgram(import.meta.url)) await runProgram(main);
