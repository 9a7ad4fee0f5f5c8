import { ApplicationFailure, CancelledFailure, TemporalFailure } from '@temporalio/common';
import {
  proxySinks,
  workflowInfo,
  type Sinks,
  type WorkflowInboundCallsInterceptor,
  type WorkflowInternalsInterceptor,
} from '@temporalio/workflow';
import { isActor } from '../protocol/ids.js';
import { isSentByClients, isStartedByClients, subjectsOfStart } from '../protocol/audited.js';
import { deleteUserName } from '../protocol/deletion/messages.js';
import { operatorCallName, operatorCalls } from '../protocol/operators/operator-calls.js';
import { stopPlacingName } from '../protocol/placing-stop.js';
import { labUserIdKey } from '../protocol/search-attributes.js';
import { isObject } from '../protocol/json.js';

type Inbound = Required<WorkflowInboundCallsInterceptor>;
type Activate = NonNullable<WorkflowInternalsInterceptor['activate']>;

/** A command or a start, and what came of it, for the audit trail. */
export interface AuditedCommand {
  /** The workflow's type and, after a dot, the message; the type alone for its start and its end. */
  action: string;
  /** Its sender, if it says so. */
  by?: string;
  /** `started`, `done`, how a deletion ended, or the type of the refusal. */
  outcome: string;
  /** The ids that it was about: the workflow's, the user's and the like. */
  subjects: string[];
  /** The same whenever the same command is handled again. */
  event: string;
}

/** A call costs no event. */
export interface AuditSinks extends Sinks {
  audit: { command: (command: AuditedCommand) => void };
}

/**
 * Reports what a person or a program starts, every command once it is answered, and the end of each deletion. Promises are handed on as they
 * are, so a history replays the same with it and without (docs/internals/decisions/0024-an-audit-trail-outside-temporal.md).
 */
export class CommandAudit implements WorkflowInboundCallsInterceptor, WorkflowInternalsInterceptor {
  /** The events of the clients' signals that were not handled yet: a signal itself has no id. */
  private readonly signalEvents: string[] = [];

  activate: Activate = (input, next) => {
    for (const { signalWorkflow: signal } of input.activation.jobs ?? [])
      if (signal && isSentByClients(workflowInfo().workflowType, signal.signalName))
        this.signalEvents.push(String(signal.originatingEventId));
    next(input);
  };

  execute: Inbound['execute'] = (input, next) => {
    const answer = next(input);
    const { workflowType, runId, firstExecutionRunId } = workflowInfo();
    const [given] = input.args;
    // A run that continues another, or that a reset has made, names the first.
    if (runId === firstExecutionRunId && isStartedByClients(workflowType, given))
      report(workflowType, 'started', 'start', given, subjectsOfStart(given));
    if (workflowType === operatorCallName) {
      const { do: name, id } = isObject(given) ? given : {};
      const isKnown = typeof name === 'string' && Object.hasOwn(operatorCalls, name);
      const about = typeof id === 'string' ? [id] : [];
      reportEnd(answer, isKnown ? `${workflowType}.${name}` : workflowType, 'end', { given, about });
    }
    if (workflowType === deleteUserName) reportEnd(answer, workflowType, 'end', { doneOf: outcomeIn });
    if (workflowType === stopPlacingName) reportEnd(answer, workflowType, 'end', {});
    return answer;
  };

  /** A refusal from here is not in the history. */
  validateUpdate: Inbound['validateUpdate'] = (input, next) => {
    try {
      next(input);
    } catch (error) {
      // The sender may use its id again: nothing else in the history has it.
      report(actionOf(input.name), outcomeOf(error), `refused/${input.updateId}/${Date.now()}`, input.args[0]);
      throw error;
    }
  };

  handleUpdate: Inbound['handleUpdate'] = (input, next) => {
    const answer = next(input);
    reportEnd(answer, actionOf(input.name), `update/${input.updateId}`, { given: input.args[0] });
    return answer;
  };

  handleSignal: Inbound['handleSignal'] = (input, next) => {
    if (isSentByClients(workflowInfo().workflowType, input.signalName))
      report(actionOf(input.signalName), 'done', `signal/${this.signalEvents.shift()}`, input.args[0]);
    return next(input);
  };
}

function actionOf(message: string): string {
  return `${workflowInfo().workflowType}.${message}`;
}

function reportEnd(
  answer: Promise<unknown>,
  action: string,
  id: string,
  { given, about, doneOf = () => 'done' }: { given?: unknown; about?: string[]; doneOf?: (result: unknown) => string },
): void {
  answer.then(
    (result) => report(action, doneOf(result), id, given, about),
    (error: unknown) => {
      // Anything else fails the workflow task, which is repeated.
      if (error instanceof TemporalFailure) report(action, outcomeOf(error), id, given, about);
    },
  );
}

function report(action: string, outcome: string, id: string, given?: unknown, about: string[] = []): void {
  const { workflowId, runId, typedSearchAttributes, unsafe } = workflowInfo();
  if (unsafe.isReplayingHistoryEvents) return;
  const user = typedSearchAttributes.get(labUserIdKey);
  const by = isObject(given) ? given['by'] : undefined;
  proxySinks<AuditSinks>().audit.command({
    action,
    ...(isActor(by) && { by }),
    outcome,
    subjects: [workflowId, ...(user === undefined ? [] : [user]), ...about],
    event: `${runId}/${id}`,
  });
}

function outcomeIn(result: unknown): string {
  const outcome = isObject(result) ? result['outcome'] : undefined;
  return typeof outcome === 'string' ? outcome : 'done';
}

/** Never its message: it may quote a person. */
function outcomeOf(error: unknown): string {
  if (error instanceof ApplicationFailure) return error.type ?? 'failed';
  return error instanceof CancelledFailure ? 'cancelled' : 'failed';
}
