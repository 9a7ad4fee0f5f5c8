import { randomUUID } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError, WorkflowFailedError } from '@temporalio/client';
import type { QueryDefinition } from '@temporalio/common';
import {
  callFaults,
  operatorCallName,
  operatorCalls,
  unprotected,
  type AnswerOf,
  type OperatorCallName,
  type TakenBy,
} from '../../protocol/operators/operator-calls.js';
import type { CallOptions } from '../call-options.js';
import { EncryptionRequired } from '../errors.js';
import { refuseFaulty } from '../input-faults.js';
import type { OneCall } from '../one-call.js';
import { hasKeys } from '../payload-limit.js';
import { reporting } from '../watching.js';
import type { TemporalCalls } from '../workflow-calls.js';
import { OperatorCallInvalid, operatorErrorMap } from './errors.js';

/**
 * Carries out one call of an operator: a short run of a worker, after the one that has its ID.
 *
 * @param progressQuery of a call over many: its run answers it
 */
export async function operate<Name extends OperatorCallName, Progress extends object = object>(
  calls: TemporalCalls,
  name: Name,
  input: TakenBy<Name>,
  { onProgress, ...options }: ProgressOptions<Progress>,
  progressQuery?: QueryDefinition<Progress>,
): Promise<AnswerOf<Name>> {
  refuseFaulty('The command', callFaults(name, input), OperatorCallInvalid);
  const { client, taskQueue } = calls;
  const problem = hasKeys(client) ? undefined : unprotected(name, input);
  if (problem !== undefined) throw new EncryptionRequired(problem);
  const { id, joins, within, deadline, unanswered } = operatorCalls[name];
  const workflowId = id(input, joins ? encodeURIComponent(taskQueue) : randomUUID());
  const kind = { errors: operatorErrorMap, underWay: unanswered, defaultDeadline: deadline };
  return calls.call(kind, options, async (call) => {
    for (;;) {
      try {
        const handle = await client.workflow.start(operatorCallName, {
          workflowId,
          taskQueue,
          args: [{ ...calls.actor, do: name, ...input }],
          workflowIdConflictPolicy: joins ? 'USE_EXISTING' : 'FAIL',
          workflowExecutionTimeout: within,
          staticSummary: `Operator's call: ${name}`,
        });
        const result = call.result<AnswerOf<Name>>(handle, unanswered);
        if (!onProgress || !progressQuery) return await result;
        return await reporting(result, () => call.query(handle, progressQuery), onProgress, call.signal);
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        await untilEnded(call, client.workflow.getHandle(workflowId));
      }
    }
  });
}

/** Options of a call over many. */
export interface ProgressOptions<Progress> extends CallOptions {
  onProgress?: (progress: Progress) => void;
}

/** The result of another command belongs to its caller. */
async function untilEnded(call: OneCall, other: Parameters<OneCall['result']>[0]): Promise<void> {
  const notSent = 'Another command on the same subject is still under way, and this one was not sent: send it again.';
  await call.result(other, notSent).catch((error: unknown) => {
    if (!(error instanceof WorkflowFailedError)) throw error;
  });
}
