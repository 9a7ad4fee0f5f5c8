import {
  ApplicationFailure,
  CancelledFailure,
  QueryNotRegisteredError,
  QueryRejectedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { ValueError } from '@temporalio/common';
import type { FailureDetails } from '../protocol/failure-details.js';
import { encryptedEncoding } from './encryption/payload-codec.js';

/*
 * The client's errors. Every error that a caller can react to has its own class: its doc comment says when it is
 * thrown, its `remedy` what to do. `npm run docs` writes docs/errors.md from the two, and labops shows the remedy. This
 * file has the errors that all areas share; each area has an errors.ts of its own.
 */

/** Base class of all errors that come from a workflow or from Temporal. */
export class LabOperationsError extends Error {
  /** True if the message itself says what to do: anyone who shows it need not add the remedy. */
  static readonly advises: boolean = false;
  override readonly name: string = 'LabOperationsError';
}

/** A field and its fault: a rule of ours, or the service's own sentence, which may quote the person. */
export interface RefusedField {
  field: string;
  message: string;
}

/**
 * Something was refused for reasons that its fields name. The message can be logged: it holds nothing about a person.
 * The service's own sentences, in `sentence` and the fields' messages, may quote one: show them to the person or the
 * operator.
 */
export class Refusal extends LabOperationsError {
  /** The service's own sentence, if it was the service that refused and it gave one. */
  readonly sentence: string | undefined;
  readonly fields: readonly RefusedField[];
  /** The service's HTTP status, if the service refused. */
  readonly status: number | undefined;

  constructor(message: string, details: Partial<FailureDetails> = {}) {
    super(message);
    this.sentence = details.sentence;
    this.fields = details.fields ?? [];
    this.status = details.status;
  }
}

export interface ErrorClass<Given extends unknown[], Base extends LabOperationsError, Name extends string> {
  new (...given: Given): Base & { readonly name: Name };
  readonly remedy: string;
  readonly advises: boolean;
}

/** The base of an error that is not a refusal: its name, and what to do. A bundler may rename the class itself. */
export function failure<Name extends string>(
  name: Name,
  remedy: string,
): ErrorClass<[message: string, options?: ErrorOptions], LabOperationsError, Name> {
  return class extends LabOperationsError {
    static readonly remedy = remedy;
    override readonly name = name;
  };
}

/** The base of a refusal: its name, and what to do. */
export function refusal<Name extends string>(
  name: Name,
  remedy: string,
): ErrorClass<[message: string, details?: Partial<FailureDetails>], Refusal, Name> {
  return class extends Refusal {
    static readonly remedy = remedy;
    override readonly name = name;
  };
}

/** What a caller gave breaks a rule. */
export class InputInvalid extends Refusal {}

/** The base of a refusal of what a caller gave. */
export function invalid<Name extends string>(
  name: Name,
): ErrorClass<[message: string, details?: Partial<FailureDetails>], InputInvalid, Name> {
  return class extends InputInvalid {
    static readonly remedy = 'Fix the fields named in the error.';
    override readonly name = name;
  };
}

/** The lab service does not accept the worker's key: it is missing, wrong, or for another environment. */
export class ServiceAccessDenied extends refusal(
  'ServiceAccessDenied',
  "Check the worker's SERVICE_API_KEY, SERVICE_BRAND and SERVICE_BASE_URL.",
) {}

/** The team is not enabled for this feature of the lab service. */
export class FeatureNotEnabled extends refusal(
  'FeatureNotEnabled',
  'Ask the operator of the lab service to enable it for the team.',
) {}

/** The lab service could not be reached or did not answer in time. Nothing is lost. */
export class ServiceDown extends refusal('ServiceDown', 'Send the same command again.') {}

/**
 * Nothing was done. Either the input was not encrypted and the worker requires encryption, or it was encrypted with another
 * key, or the answer would be a credential that anybody could read in Temporal because payloads are not encrypted.
 */
export class EncryptionRequired extends refusal(
  'EncryptionRequired',
  'Give worker and client the same LABOPS_ENCRYPTION_KEYS.',
) {}

/** A read of the lab service names nothing, or more than one thing, or has a filter that is not valid. Nothing was read. */
export class ReadInvalid extends refusal('ReadInvalid', 'Fix the fields named in the error.') {}

/** The call goes to the lab service itself, and this client does not know where that is. */
export class ServiceNotConfigured extends failure(
  'ServiceNotConfigured',
  'Pass `service` to the `LabOperations` constructor.',
) {}

/** The worker encrypts, or encryption is required, and this client has no keys. */
export class EncryptionKeysMissing extends failure(
  'EncryptionKeysMissing',
  "Set LABOPS_ENCRYPTION_KEYS to the worker's keys; in code: `new Client({ dataConverter: labDataConverter(parseKeyRing(keys)) })`.",
) {
  static override readonly advises = true;

  constructor(problem = 'The data in Temporal is encrypted and this client has no keys', options?: ErrorOptions) {
    super(
      `${problem}: set LABOPS_ENCRYPTION_KEYS to the worker's keys, or give the Temporal Client ` +
        '`dataConverter: labDataConverter(parseKeyRing(keys))`',
      options,
    );
  }
}

/** The call's deadline has passed: 30 seconds unless you gave another. The message says what continues nevertheless. */
export class TimedOut extends failure('TimedOut', 'Ask again, or wait longer with `deadline` (labops: `--timeout`).') {
  /** The reasons why a person should look at the workflow that the call waited for, such as `placing_delayed`. */
  readonly attention: string[];

  constructor(message: string, attention: string[] = [], options?: ErrorOptions) {
    super(message, options);
    this.attention = attention;
  }
}

/** No worker polls the task queue. What was started is carried out as soon as there is one. */
export class NoWorker extends failure(
  'NoWorker',
  "Start a worker. Its TASK_QUEUE must equal the client's `taskQueue` (labops: `--task-queue` or TASK_QUEUE).",
) {
  static override readonly advises = true;
  readonly taskQueue: string;

  constructor(taskQueue: string, underWay: string, options?: ErrorOptions) {
    const remedy = `start the worker, or correct its TASK_QUEUE or the client's \`taskQueue\`. ${underWay}`.trim();
    super(`No worker polls the task queue ${taskQueue}: ${remedy}`, options);
    this.taskQueue = taskQueue;
  }
}

/** A worker is running but fails at the workflow again and again, for a reason that only its log says. */
export class WorkerFailing extends failure(
  'WorkerFailing',
  "Read the worker's log, and compare its LABOPS_ENCRYPTION_KEYS and version with the client's.",
) {
  static override readonly advises = true;

  constructor(options?: ErrorOptions) {
    super(
      'The worker keeps failing at this workflow: read its log. Its LABOPS_ENCRYPTION_KEYS may lack the key ' +
        'of this client, its version may differ, or the history cannot be replayed. The workflow continues once that is corrected',
      options,
    );
  }
}

/**
 * Temporal cannot be reached, or not with this address, these credentials or this namespace. The message says which.
 */
export class TemporalUnreachable extends failure(
  'TemporalUnreachable',
  'Read the message; `labops --help` lists the settings of the connection.',
) {
  static override readonly advises = true;
}

/** Temporal refuses the call itself, for example because the search attributes are not registered in the namespace. */
export class TemporalRefused extends failure(
  'TemporalRefused',
  'Read the message. If search attributes are missing, start the worker, or restart it: it registers them, or says why it cannot.',
) {
  static override readonly advises = true;
}

/** The call is larger than Temporal takes, encoded as it would be sent. Nothing was sent. */
export class CallTooLarge extends failure('CallTooLarge', 'Shorten what the call carries: its texts and lists.') {
  /** The size of the call's arguments, encoded and encrypted. */
  readonly bytes: number;

  constructor(bytes: number, mostBytes: number) {
    super(`The call has ${bytes} bytes, and at most ${mostBytes} are sent to Temporal: nothing was sent`);
    this.bytes = bytes;
  }
}

/** The worker answered with a failure that this client does not know. */
export class UnexpectedFailure extends failure(
  'UnexpectedFailure',
  "Use one version for client and worker; `labops --version` shows the client's.",
) {
  static override readonly advises = true;
}

export type RefusalClass = new (message: string, details?: Partial<FailureDetails>) => Refusal;

/** The errors of one area: client errors by the failure types of its workflows and activities. */
export interface ErrorMap {
  /** The input or its policy breaks a rule. */
  invalid?: RefusalClass;
  /** The run ended between accepting a command and carrying it out. */
  ended?: RefusalClass;
  refusals: Readonly<Record<string, RefusalClass>>;
  notFound: new (message: string) => LabOperationsError;
  /** The workflow was terminated, timed out or cancelled by an operator. */
  interrupted: new (message: string) => LabOperationsError;
}

/** The same for every area. */
const commonRefusals: Readonly<Record<string, RefusalClass>> = {
  Unauthorized: ServiceAccessDenied,
  FeatureNotEnabled,
  EncryptionRequired,
  ServiceUnavailable: ServiceDown,
  ServiceUnreachable: ServiceDown,
  TooManyRequests: ServiceDown,
  AnswerLost: ServiceDown,
  AnswerUnreadable: ServiceDown,
  CommandTimedOut: ServiceDown,
  // An attempt was delayed for too long to send anything.
  AttemptOutdated: ServiceDown,
};

/** The client error for a failed workflow, update or query. Other errors are returned unchanged. */
export function toClientError(error: unknown, errors: ErrorMap): unknown {
  const { notFound, interrupted } = errors;
  if (isUnreadable(error)) return new EncryptionKeysMissing(undefined, { cause: error });
  if (error instanceof WorkflowNotFoundError) return new notFound(`${error.workflowId} does not exist`);
  if (error instanceof QueryNotRegisteredError || error instanceof QueryRejectedError) {
    return unexpected(error.name, error);
  }
  if (!(error instanceof WorkflowUpdateFailedError) && !(error instanceof WorkflowFailedError)) return error;
  const { cause } = error;
  if (isUnreadable(cause)) return new EncryptionKeysMissing(undefined, { cause: error });
  if (cause instanceof ApplicationFailure) {
    const known = classOf(cause.type ?? '', errors);
    const [details] = cause.details ?? [];
    if (known) return new known(cause.message, details as Partial<FailureDetails> | undefined);
    return unexpected(cause.type ?? 'without a type', error);
  }
  const reason = cause?.message ?? 'no reason is given';
  if (error instanceof WorkflowFailedError) return new interrupted(`${error.message}: ${reason}`);
  if (cause instanceof CancelledFailure)
    return new interrupted(`The command was cancelled with its workflow: ${reason}`);
  return unexpected(cause?.name ?? 'without a cause', error);
}

function unexpected(failure: string, cause: Error): UnexpectedFailure {
  const message = `The worker answered with a failure that this client does not know (${failure})`;
  return new UnexpectedFailure(`${message}: use the same version of client and worker`, { cause });
}

/** The SDK's own message; a test checks it. */
function isUnreadable(error: unknown): boolean {
  return error instanceof ValueError && error.message === `Unknown encoding: ${encryptedEncoding}`;
}

function classOf(type: string, { refusals, invalid, ended }: ErrorMap): RefusalClass | undefined {
  const known: Readonly<Record<string, RefusalClass>> = {
    ...commonRefusals,
    ...(invalid && { InvalidCommand: invalid, PolicyInvalid: invalid, ReferenceInvalid: invalid }),
    ...(ended && { AcceptedUpdateCompletedWorkflow: ended }),
    ...refusals,
  };
  return Object.hasOwn(known, type) ? known[type] : undefined;
}
