import { defaultPayloadConverter } from '@temporalio/common';
import {
  ApplicationFailure,
  log,
  patched,
  proxySinks,
  workflowInfo,
  type Sinks,
  type WorkflowInboundCallsInterceptor,
  type WorkflowInternalsInterceptor,
} from '@temporalio/workflow';
import {
  faults,
  markOf,
  missingKey,
  refusalPatch,
  requiredMetadata,
  unwrapped,
  type Fault,
  type Mark,
  unreadableSignal,
} from '../protocol/unencrypted.js';

type Inbound = Required<WorkflowInboundCallsInterceptor>;
type Activate = NonNullable<WorkflowInternalsInterceptor['activate']>;
type Job = NonNullable<Parameters<Activate>[0]['activation']['jobs']>[number];
type Payload = NonNullable<NonNullable<Job['signalWorkflow']>['input']>[number];
type ActivityResult = NonNullable<NonNullable<Job['resolveActivity']>['result']>;
type Failure = NonNullable<NonNullable<ActivityResult['failed']>['failure']>;

/**
 * Refuses what nobody with the keys has written: input and activities' results that came unencrypted although the worker requires
 * encryption, or that cannot be decrypted. An update is rejected, a signal is dropped, a result counts as a lost answer, and an
 * unencrypted start fails. A start that cannot be decrypted waits for its key: it may carry everything that an earlier run knew.
 * Nothing else blocks a workflow task (docs/internals/decisions/0010-encryption-is-required.md).
 *
 * The worker decides once, and the history remembers a refusal by a marker. A replay goes by the history alone, whatever the worker's
 * mode and keys are by then: what has the marker was refused, and what has none was taken.
 */
export class InputRefusal implements WorkflowInboundCallsInterceptor, WorkflowInternalsInterceptor {
  private isRequired = false;
  /** The faults of updates and queries, by their ids, and of the start. */
  private readonly marks = new Map<string, Mark>();
  /** How many updates were accepted: the same in every replay. */
  private updates = 0;

  activate: Activate = (input, next) => {
    const { activation } = input;
    const jobs = activation.jobs ?? [];
    // A start without a payload does not say so; the first payload that the worker decodes for this run does.
    this.isRequired ||= jobs.flatMap(payloadsIn).some((payload) => payload?.metadata?.[requiredMetadata]);
    activation.jobs = jobs.filter((job) => this.isTaken(job));
    next(input);
  };

  execute: Inbound['execute'] = (input, next) => {
    if (this.refuses('start', this.marks.get('start'))) return Promise.reject(refusalOf('The input', 'unencrypted'));
    return next(input);
  };

  /** Runs before anything of the update is written to the history, and in no replay. */
  validateUpdate: Inbound['validateUpdate'] = (input, next) => {
    const mark = this.marks.get(input.updateId);
    if (mark?.refused) throw refusalOf('The update', mark.fault);
    next(input);
  };

  handleUpdate: Inbound['handleUpdate'] = (input, next) => {
    this.updates += 1;
    const fault = this.refuses(`update-${this.updates}`, this.marks.get(input.updateId));
    return fault ? Promise.reject(refusalOf('The update', fault)) : next(input);
  };

  handleQuery: Inbound['handleQuery'] = (input, next) => {
    const mark = this.marks.get(input.queryId ?? '');
    return mark?.fault === 'unreadable' ? Promise.reject(refusalOf('The query', mark.fault)) : next(input);
  };

  /** Takes the marks off, and changes what is refused. False for a signal that is dropped. */
  private isTaken(job: Job): boolean {
    const { initializeWorkflow: start, signalWorkflow: signal, resolveActivity: answer } = job;
    if (start) this.takeStart(start.arguments);
    if (job.doUpdate) this.keep(job.doUpdate.id, this.markOfUpdate(job.doUpdate.input));
    if (job.queryWorkflow) this.keep(job.queryWorkflow.queryId, unmark(job.queryWorkflow.arguments));
    if (answer?.result) this.recordAnswer(String(answer.seq), answer.result);
    return !signal || this.takesSignal(signal);
  }

  /** An update without an argument has nothing that only a holder of the keys can write. */
  private markOfUpdate(input: Payload[] | null | undefined): Mark | undefined {
    return (input ?? []).length === 0 ? { fault: 'unencrypted', refused: this.isRequired } : unmark(input);
  }

  private keep(id: string | null | undefined, mark: Mark | undefined): void {
    if (id != null && mark) this.marks.set(id, mark);
  }

  private takeStart(args: Payload[] | null | undefined): void {
    const mark = unmark(args);
    if (mark?.fault === 'unreadable') throw keyMissing('the start of this workflow', mark);
    this.keep('start', mark);
  }

  /** A signal that cannot be decrypted becomes another one, which its workflow may handle, so even one with an unknown name is noticed. */
  private takesSignal(signal: NonNullable<Job['signalWorkflow']>): boolean {
    const mark = unmark(signal.input);
    const fault = this.refuses(`signal-${String(signal.originatingEventId)}`, mark);
    if (!fault) return true;
    log.error(`a signal was dropped: it ${reasons[fault]}`, { signal: signal.signalName, keyId: mark?.keyId });
    signal.signalName = unreadableSignal.name;
    signal.input = [];
    return fault === 'unreadable';
  }

  private recordAnswer(id: string, result: ActivityResult): void {
    const mark = this.markOfAnswer(result);
    const fault = this.refuses(`result-${id}`, mark);
    if (!fault) return;
    log.error(`an activity's result was refused: it ${reasons[fault]}`, { activityId: id, keyId: mark?.keyId });
    for (const status of Object.keys(result)) delete result[status as keyof ActivityResult];
    result.failed = { failure: lostAnswer(fault) };
  }

  /** Every worker writes some result, and one with keys encrypts a failure's message. The server's own failures have none. */
  private markOfAnswer({ completed, failed }: ActivityResult): Mark | undefined {
    const bare: Mark = { fault: 'unencrypted', refused: this.isRequired };
    if (completed) return completed.result ? unmark([completed.result]) : bare;
    const causes = causesOf(failed?.failure);
    const faults = unmark(causes.flatMap(payloadsOf));
    // The workflow takes the first that says something (`refusalOf`), also within what looks like a failure of the server.
    const isBare = causes.some((own) => own.applicationFailureInfo && !own.encodedAttributes);
    return faults ?? (isBare ? bare : undefined);
  }

  private refuses(what: string, mark: Mark | undefined): Fault | undefined {
    if (!workflowInfo().unsafe.isReplaying)
      return mark?.refused && patched(refusalPatch(mark.fault, what)) ? mark.fault : undefined;
    const recorded = faults.find((fault) => patched(refusalPatch(fault, what)));
    if (recorded === undefined && mark?.fault === 'unreadable') throw keyMissing('the history of this workflow', mark);
    return recorded;
  }
}

const reasons: Readonly<Record<Fault, string>> = {
  unencrypted: 'was not encrypted, and this worker requires it',
  unreadable: 'cannot be read with the keys of this worker',
};

function refusalOf(what: string, fault: Fault): ApplicationFailure {
  const message = `${what} ${reasons[fault]}: give the sender the worker's LABOPS_ENCRYPTION_KEYS`;
  return ApplicationFailure.nonRetryable(message, 'EncryptionRequired', { fields: [] });
}

/** The worker's log of a key that it lacks. `log` is silent in replays, and the task's failure says nothing while it is encrypted. */
export interface KeySinks extends Sinks {
  keys: { missing: (message: string) => void };
}

/** Fails the workflow task, which Temporal repeats. */
function keyMissing(what: string, mark: Mark): Error {
  const remedy = `add ${missingKey(mark)} to the worker's LABOPS_ENCRYPTION_KEYS`;
  const message = `${what} cannot be read: ${mark.misplaced === true ? 'it was encrypted for another workflow or namespace' : remedy}`;
  proxySinks<KeySinks>().keys.missing(message);
  return new Error(message);
}

/** Nobody knows if the activity was carried out, as after a lost answer. */
function lostAnswer(fault: Fault): Failure {
  const details = { payloads: [defaultPayloadConverter.toPayload({ fields: [] })] };
  const message = `The result ${reasons[fault]}`;
  return {
    message: 'Activity task failed',
    activityFailureInfo: { activityType: { name: 'refused' } },
    cause: { message, applicationFailureInfo: { type: 'AnswerLost', nonRetryable: false, details } },
  };
}

/** The failure of the activity, and what caused it. */
function causesOf(failure: Failure | null | undefined): Failure[] {
  return failure?.cause ? [failure.cause, ...causesOf(failure.cause)] : [];
}

function payloadsOf({ encodedAttributes, applicationFailureInfo }: Failure): (Payload | null | undefined)[] {
  return [encodedAttributes, ...(applicationFailureInfo?.details?.payloads ?? [])];
}

/** Everything of a job that the worker decodes. */
function payloadsIn(job: Job): (Payload | null | undefined)[] {
  const { completed, failed } = job.resolveActivity?.result ?? {};
  return [
    ...(job.initializeWorkflow?.arguments ?? []),
    ...(job.signalWorkflow?.input ?? []),
    ...(job.doUpdate?.input ?? []),
    ...(job.queryWorkflow?.arguments ?? []),
    completed?.result,
    ...causesOf(failed?.failure).flatMap(payloadsOf),
  ];
}

/** Takes the marks off. @returns the worst of them */
function unmark(payloads: readonly (Payload | null | undefined)[] | null | undefined): Mark | undefined {
  const marks = (payloads ?? []).flatMap((payload) => (payload ? (unmarkOne(payload) ?? []) : []));
  return marks.find(({ fault }) => fault === 'unreadable') ?? marks.find(({ refused }) => refused) ?? marks[0];
}

function unmarkOne(payload: Payload): Mark | undefined {
  const value = valueOf(payload);
  const mark = value === unreadable ? { fault: 'unreadable' as const, refused: true } : markOf(value);
  if (mark)
    Object.assign(payload, defaultPayloadConverter.toPayload(value === unreadable ? undefined : unwrapped(value)));
  return mark;
}

const unreadable = Symbol('unreadable');

/** A worker without keys leaves what is encrypted to one with keys. */
function valueOf(payload: Payload): unknown {
  try {
    return defaultPayloadConverter.fromPayload(payload);
  } catch {
    const encoding = String.fromCharCode(...(payload.metadata?.['encoding'] ?? []));
    return encoding === 'binary/encrypted' ? undefined : unreadable;
  }
}
