import './sandbox.js';
import type { SearchAttributePair, Workflow } from '@temporalio/common';
import { encodeUnifiedSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes.js';
import type { coresdk, google } from '@temporalio/proto';
import { setActivator } from '@temporalio/workflow/lib/global-attributes.js';
import type { WorkflowInfo } from '@temporalio/workflow';
import { Activator } from '@temporalio/workflow/lib/internals.js';
import { RecordedSteps } from '../../workflows/entity/steps.js';
import { activate, concludeActivation, tryUnblockConditions } from '@temporalio/workflow/lib/worker-interface.js';
import {
  asJson,
  detailsOf,
  failureOf,
  fromPayload,
  typeOfFailure,
  type Failure,
  type JsonPayload,
} from './payloads.js';

export type Job = coresdk.workflow_activation.IWorkflowActivationJob & { variant: Variant };
type Variant = NonNullable<coresdk.workflow_activation.WorkflowActivationJob['variant']>;
export type Command = coresdk.workflow_commands.IWorkflowCommand;

/** Of the protocol: a cancelled activity is reported as cancelled at once. */
const tryCancel = 0;

/** An activity that the workflow waits for. */
export interface ActivityCall {
  name: string;
  argument: never;
  /** How long it may take with all its attempts, in milliseconds; absent is without end. */
  within?: number;
  /** If it is cancelled, the workflow does not wait for what it comes to. */
  endsAtOnce?: true;
  /** It is cancelled, and the workflow waits for what it comes to. */
  isCalledBack?: true;
  /** How long it may wait for a worker, in milliseconds; absent is without end. */
  startsWithin?: number;
}

export type Answer = { value: unknown } | { failure: Failure };

export interface Message {
  name: string;
  argument?: unknown;
}

/** The answer to an update: what it came to, or the type of its refusal. */
export interface Reply {
  name: string;
  value?: unknown;
  refused?: string;
}

/** How a run closed. `failed` is the failure's type, or the error that no workflow task may throw. */
export type End =
  | { kind: 'completed'; result: unknown }
  | { kind: 'continued'; input: unknown; memo?: Record<string, unknown> }
  | { kind: 'failed'; type: string; message?: string; details?: unknown };

export interface Opening {
  workflow: Workflow;
  type: string;
  workflowId: string;
  /** Milliseconds since the epoch. */
  now: number;
  /** The run before it, if it goes on where that one stopped. */
  continuedFrom?: string;
  /** The search attributes that the start set. */
  attributes?: SearchAttributePair[];
}

/**
 * One run of a workflow, in this process and without a server: the real workflow code on the real runtime of the SDK, which gets the
 * activations that a worker would give it. Time stands still until `passTime`. Only one run can be active at a time.
 */
export class Run {
  now: number;
  end: End | undefined;
  readonly replies: Reply[] = [];
  /** The details of each refusal. */
  readonly refusals: unknown[] = [];
  /** The updates that were accepted, also those whose handler refuses them later: they are in the history. */
  readonly accepted: string[] = [];
  /** The line that the Web UI shows of each activity and timer. */
  readonly summaries: string[] = [];
  /** The kinds of its commands, in this order: `scheduleActivity`, `upsertWorkflowSearchAttributes`. */
  readonly commands: string[] = [];
  readonly timers = new Map<number, number>();
  readonly calls: { seq: number; call: ActivityCall }[] = [];
  /** Cancelled calls, until the workflow is notified that they were cancelled. */
  private readonly cancelled: { seq: number; call: ActivityCall }[] = [];
  protected readonly activator: Activator;
  private readonly attributes: SearchAttributePair[];
  private updates = 0;
  private queried: unknown;
  private readonly asked = new Map<string, string>();

  constructor({ workflow, type, workflowId, now, continuedFrom, attributes = [] }: Opening) {
    this.now = now;
    this.attributes = attributes;
    this.activator = new Activator({
      info: {
        ...infoOf(type, workflowId, now),
        ...(continuedFrom && { continuedFromExecutionRunId: continuedFrom, firstExecutionRunId: continuedFrom }),
      },
      now,
      // Two runs must not draw the same ids.
      randomnessSeed: Array.from(String(now), Number),
      showStackTraceSources: false,
      sourceMap: { version: 3, sources: [], names: [], mappings: '', file: '' },
      registeredActivityNames: new Set(),
      getTimeOfDay: () => 0n,
      stackTracesEnabled: false,
    });
    this.activator.workflow = workflow;
    Object.assign(this.activator, { payloadConverter: asJson });
    const { inbound, internals } = this.activator.interceptors;
    const steps = new RecordedSteps();
    inbound.push(steps);
    internals.push(steps);
  }

  /** Starts the workflow, together with signals and an update, as signal-with-start and update-with-start do. */
  async start(input: unknown, signals: readonly Message[] = [], update?: Message): Promise<void> {
    const messages = [...signals.map(signalJob), ...(update ? [this.updateJob(update)] : [])];
    await this.activate([this.startJob(input), ...messages]);
  }

  protected startJob(input: unknown): Job {
    const searchAttributes = { indexedFields: encodeUnifiedSearchAttributes(undefined, this.attributes) };
    return job('initializeWorkflow', { arguments: [asJson.toPayload(input)], headers: {}, searchAttributes });
  }

  async signal(message: Message): Promise<void> {
    await this.activate([signalJob(message)]);
  }

  async update(message: Message): Promise<void> {
    await this.activate([this.updateJob(message)]);
  }

  protected updateJob({ name, argument }: Message): Job {
    this.updates += 1;
    const id = String(this.updates);
    this.asked.set(id, name);
    const input = argument === undefined ? [] : [asJson.toPayload(argument)];
    return job('doUpdate', { id, protocolInstanceId: id, name, input, headers: {}, runValidator: true });
  }

  async cancel(): Promise<void> {
    await this.activate([job('cancelWorkflow', { reason: '' })]);
  }

  /** The view of operators: the text in the Web UI, and the search attributes by their names. */
  get shown(): { details: string; attributes: Record<string, unknown> } {
    const { currentDetails, info } = this.activator;
    const pairs = info.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]);
    // The details may be an object with `toJSON`, as the SDK's query serialises them.
    const details = JSON.parse(JSON.stringify(currentDetails)) as string;
    return { details, attributes: Object.fromEntries(pairs) as Record<string, unknown> };
  }

  /** The problems that the workflow has logged: `error: a signal was dropped`. */
  get logged(): string[] {
    const problems = this.activator.sinkCalls.filter(({ fnName }) => fnName === 'warn' || fnName === 'error');
    return problems.map(({ fnName, args: [message] }) => `${fnName}: ${String(message)}`);
  }

  /** @param signals come in the same step, before the answer */
  async answer(seq: number, name: string, answer: Answer, ...signals: Message[]): Promise<void> {
    await this.activate([...signals.map(signalJob), this.answerJob(seq, name, answer)]);
  }

  /** The run does not wait for this call any more. */
  protected answerJob(seq: number, name: string, answer: Answer | 'cancelled'): Job {
    const index = this.calls.findIndex((call) => call.seq === seq);
    if (index >= 0) this.calls.splice(index, 1);
    return job('resolveActivity', { seq, result: resultOf(name, answer) });
  }

  /** The moment at which the next timer fires, in milliseconds since the epoch. */
  nextTimer(): number | undefined {
    return this.timers.size === 0 ? undefined : Math.min(...this.timers.values());
  }

  /**
   * @param isEarly the timer fires though its time has not come
   * @param update comes in the same step, before the timer
   */
  async fireNextTimer({ isEarly = false, update }: { isEarly?: boolean; update?: Message } = {}): Promise<void> {
    const at = this.nextTimer();
    const [seq] = [...this.timers].find(([, time]) => time === at) ?? [];
    if (seq === undefined || at === undefined) return;
    this.timers.delete(seq);
    if (!isEarly) this.now = Math.max(this.now, at);
    await this.activate([...(update ? [this.updateJob(update)] : []), job('fireTimer', { seq })]);
  }

  /** From now on the server suggests a new run, which the main loop takes up when it next looks: for a long history, or a later release. */
  suggestNewRun(
    why: 'continueAsNewSuggested' | 'targetWorkerDeploymentVersionChanged' = 'continueAsNewSuggested',
  ): void {
    this.activator.mutateWorkflowInfo((info) => ({ ...info, [why]: true }));
  }

  /** Also of a run that has closed. */
  async query(name: string, argument?: unknown): Promise<unknown> {
    const { end } = this;
    this.end = undefined;
    const input = argument === undefined ? [] : [asJson.toPayload(argument)];
    await this.activate([job('queryWorkflow', { queryId: name, queryType: name, arguments: input, headers: {} })]);
    this.end = end;
    return this.queried;
  }

  protected async activate(jobs: Job[]): Promise<void> {
    if (this.end) return;
    const realNow = Date.now;
    setActivator(this.activator);
    this.activator.now = this.now;
    Date.now = () => this.now;
    try {
      const [first] = jobs;
      if (first?.initializeWorkflow) this.activator.initializeWorkflow(first.initializeWorkflow);
      activate({ jobs });
      do await microtasks();
      while (tryUnblockConditions() > 0);
      for (const command of concludeActivation().successful?.commands ?? []) this.take(command);
    } catch (error) {
      this.end = { kind: 'failed', type: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    } finally {
      Date.now = realNow;
      setActivator(undefined);
    }
    await this.resolveCancelled();
  }

  /** Reports cancelled calls as cancelled, as a worker does at once. Calls whose result the workflow still waits for are not among them. */
  private async resolveCancelled(): Promise<void> {
    const jobs = this.cancelled.splice(0).map(({ seq, call }) => this.answerJob(seq, call.name, 'cancelled'));
    if (jobs.length > 0) await this.activate(jobs);
  }

  protected take(command: Command): void {
    // The SDK keeps commands that follow the end in the same step, if it can; no run must depend on them.
    if (this.end) return;
    this.commands.push(Object.keys(command).find((name) => name !== 'userMetadata') ?? '');
    const { summary } = command.userMetadata ?? {};
    if (summary) this.summaries.push(fromPayload(summary as JsonPayload) as string);
    const { scheduleActivity, requestCancelActivity, startTimer, cancelTimer, updateResponse } = command;
    if (scheduleActivity) {
      const [argument] = (scheduleActivity.arguments ?? []) as JsonPayload[];
      const {
        activityType,
        scheduleToCloseTimeout: limit,
        scheduleToStartTimeout: wait,
        cancellationType,
      } = scheduleActivity;
      const call = { name: activityType ?? '', argument: fromPayload(argument) as never };
      const limits = { ...(limit && { within: msOf(limit) }), ...(wait && { startsWithin: msOf(wait) }) };
      const endsAtOnce = (cancellationType ?? tryCancel) === tryCancel && { endsAtOnce: true as const };
      this.calls.push({ seq: scheduleActivity.seq ?? 0, call: { ...call, ...limits, ...endsAtOnce } });
    }
    if (requestCancelActivity) this.cancelCall(requestCancelActivity.seq ?? 0);
    if (startTimer) {
      this.timers.set(startTimer.seq ?? 0, this.now + msOf(startTimer.startToFireTimeout ?? {}));
    }
    if (cancelTimer) this.timers.delete(cancelTimer.seq ?? 0);
    if (updateResponse) this.takeReply(updateResponse);
    const { response } = command.respondToQuery?.succeeded ?? {};
    if (response) this.queried = fromPayload(response as JsonPayload);
    this.takeEnd(command);
  }

  private cancelCall(seq: number): void {
    const index = this.calls.findIndex((each) => each.seq === seq);
    const { call } = this.calls[index] ?? {};
    if (call?.endsAtOnce) this.cancelled.push(...this.calls.splice(index, 1));
    else if (call) call.isCalledBack = true;
  }

  private takeReply(response: coresdk.workflow_commands.IUpdateResponse): void {
    const { protocolInstanceId, accepted, completed, rejected } = response;
    const name = this.asked.get(protocolInstanceId ?? '') ?? '';
    if (accepted) this.accepted.push(name);
    if (completed) this.replies.push({ name, value: fromPayload(completed as JsonPayload) });
    if (!rejected) return;
    this.replies.push({ name, refused: typeOfFailure(rejected) });
    this.refusals.push(detailsOf(rejected));
  }

  private takeEnd(command: Command): void {
    const { completeWorkflowExecution: completed, continueAsNewWorkflowExecution: continued } = command;
    if (completed) this.end = { kind: 'completed', result: fromPayload(completed.result as JsonPayload) };
    if (continued) {
      const memo = Object.entries((continued.memo ?? {}) as Record<string, JsonPayload>);
      this.end = {
        kind: 'continued',
        input: fromPayload(continued.arguments?.[0] as JsonPayload),
        ...(memo.length > 0 && { memo: Object.fromEntries(memo.map(([name, text]) => [name, fromPayload(text)])) }),
      };
    }
    const { failure } = command.failWorkflowExecution ?? {};
    if (failure) {
      const { message } = failure;
      this.end = {
        kind: 'failed',
        type: typeOfFailure(failure),
        ...(message != null && { message }),
        details: detailsOf(failure),
      };
    }
    if (command.cancelWorkflowExecution) this.end = { kind: 'failed', type: 'cancelled' };
  }
}

function msOf({ seconds, nanos }: google.protobuf.IDuration): number {
  return Number(seconds ?? 0) * 1000 + (nanos ?? 0) / 1e6;
}

function resultOf(name: string, answer: Answer | 'cancelled'): object {
  if (answer === 'cancelled') return { cancelled: { failure: failureOf(name, { ended: 'called_back' }) } };
  if ('value' in answer) return { completed: { result: asJson.toPayload(answer.value) } };
  return { failed: { failure: failureOf(name, answer.failure) } };
}

export function job(variant: Variant, content: object): Job {
  return { variant, [variant]: content };
}

export function signalJob({ name, argument }: Message): Job {
  return job('signalWorkflow', { signalName: name, input: [asJson.toPayload(argument)], headers: {} });
}

/** A macrotask comes after all microtasks. */
function microtasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function infoOf(workflowType: string, workflowId: string, now: number): WorkflowInfo {
  return {
    workflowId,
    workflowType,
    runId: 'run',
    namespace: 'lives',
    taskQueue: 'lives',
    searchAttributes: {},
    firstExecutionRunId: 'run',
    originalExecutionRunId: 'run',
    startTime: new Date(now),
    runStartTime: new Date(now),
    attempt: 1,
    historyLength: 3,
    historySize: 0,
    continueAsNewSuggested: false,
    targetWorkerDeploymentVersionChanged: false,
    unsafe: { isReplaying: false, isReplayingHistoryEvents: false, now: () => now },
  } as unknown as WorkflowInfo;
}
