import { randomUUID } from 'node:crypto';
import { defaultDataConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { LabOperations } from '../../../client/index.js';
import { clientAnsweredWith, type GrpcStatus } from '../../rig/grpc-answers.js';
import { rejection } from '../service/recording-server.js';

/* How Temporal's server ends an update that its workflow has not answered (service/history/workflow/update in its source). */

const { UpdateWorkflowExecutionResponse, ExecuteMultiOperationResponse } = proto.temporal.api.workflowservice.v1;

const userId = randomUUID();
const undone = { phase: 'undone' };
const completed = UpdateWorkflowExecutionResponse.create({
  stage: 3,
  updateRef: { updateId: 'any', workflowExecution: { workflowId: 'any', runId: 'any' } },
  outcome: { success: { payloads: [defaultDataConverter.payloadConverter.toPayload(undone)] } },
});
const answers: Record<string, Uint8Array> = {
  UpdateWorkflowExecution: UpdateWorkflowExecutionResponse.encode(completed).finish(),
  ExecuteMultiOperation: ExecuteMultiOperationResponse.encode({
    responses: [{ startWorkflow: { runId: 'any' } }, { updateWorkflow: completed }],
  }).finish(),
};

/** A server that ends every update so, or only the first `times`; with the IDs of the updates that came. */
async function endingUpdates(end: GrpcStatus, times = Infinity) {
  const ids: (string | undefined)[] = [];
  const workflow: WorkflowClientInterceptor[] = [
    {
      startUpdate: (input, next) => (ids.push(input.options.updateId), next(input)),
      startUpdateWithStart: (input, next) => (ids.push(input.updateOptions.updateId), next(input)),
    },
  ];
  const answered = (method: string) => (answers[method] && ids.length <= times ? end : answers[method]);
  const client = await clientAnsweredWith(answered, { interceptors: { workflow } });
  return { lab: new LabOperations(client, { encryption: 'optional' }), ids };
}

const taskFailure = 'Unable to perform workflow execution update due to unexpected workflow task failure.';
const failedTask: GrpcStatus = { code: 9, details: taskFailure };
const unaccepted: GrpcStatus[] = [
  failedTask,
  { code: 14, details: 'workflow update was aborted' },
  { code: 8, details: 'workflow operation can not be applied because workflow is closing' },
];

const commands: [string, (lab: LabOperations) => Promise<unknown>][] = [
  ['an update', ({ notifications }) => notifications.discard('kit-order/invented', { ids: ['invented'] })],
  ['an update that may start its workflow', ({ users }) => users.requestDeletion({ userId })],
];

describe.each(unaccepted)('$details:', (end) => {
  test.each(commands)('%s is sent again under the same ID', async (name, command) => {
    const { lab, ids } = await endingUpdates(end, 2);
    const answer = await command(lab);
    expect(answer).toMatchObject(name === 'an update' ? undone : { requested: undone });
    expect(ids).toHaveLength(3);
    expect(ids[0]).toBeTypeOf('string');
    expect(new Set(ids).size).toBe(1);
  });
});

test.each<[string, GrpcStatus, string, RegExp]>([
  [
    'of a worker whose tasks the server keeps failing is its failure',
    failedTask,
    'WorkerFailing',
    /^The worker keeps failing at this workflow/,
  ],
  [
    'of a paused workflow says how to continue it',
    { code: 9, details: 'Workflow is paused. Cannot update the workflow.' },
    'TemporalRefused',
    /paused.+`temporal workflow unpause`/,
  ],
  [
    'whose run is gone before its answer was read may have been carried out',
    { code: 5, details: 'update "invented" not found' },
    'TimedOut',
    /^No answer within .+s\. The command was sent and may still be carried out: /,
  ],
])('an update %s', async (_name, end, name, message) => {
  const { lab } = await endingUpdates(end);
  const error = await rejection(
    lab.notifications.discard('kit-order/invented', { ids: ['invented'] }, { deadline: '5s' }),
  );
  expect(error).toMatchObject({ name });
  expect((error as Error).message).toMatch(message);
});
