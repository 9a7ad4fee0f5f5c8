import { randomUUID } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError, WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
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
import type { TemporalCalls } from '../workflow-calls.js';
import { OperatorCallInvalid, operatorErrorMap } from './errors.js';

/**
 * Carries out one call of an operator: a short run of a worker, after the one that has its ID.
 *
 * @param meanwhile gets the result to wait for, and the run that it comes from
 */
export async function operate<Name extends OperatorCallName>(
  calls: TemporalCalls,
  name: Name,
  input: TakenBy<Name>,
  options: CallOptions,
  meanwhile: Meanwhile<AnswerOf<Name>> = (result) => result,
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
        return await meanwhile(call.result<AnswerOf<Name>>(handle, unanswered), call, handle);
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        await untilEnded(call, client.workflow.getHandle(workflowId));
      }
    }
  });
}

type Meanwhile<Answer> = (result: Promise<Answer>, call: OneCall, handle: WorkflowHandle) => Promise<Answer>;

/** The result of another command belongs to its caller. */
async function untilEnded(call: OneCall, other: Parameters<OneCall['result']>[0]): Promise<void> {
  const notSent = 'Another command on the same subject is still under way, and this one was not sent: send it again.';
  await call.result(other, notSent).catch((error: unknown) => {
    if (!(error instanceof WorkflowFailedError)) throw error;
  });
}
