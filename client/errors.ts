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
import {
  type ErrorDetails,
  invalid,
  type LabOperationsError,
  misconfigured,
  unavailable,
} from '../service/lab-operations-error.js';
import { FeatureNotEnabled } from '../service/errors.js';
import { encryptedEncoding } from './encryption/payload-codec.js';

/*
 * The errors that all areas share, and the client error for each failure of a workflow; each area has an errors.ts of its own. A cause is
 * kept only if it holds no sentence of the lab service: those may quote a person, and logs show causes.
 */

/** The lab service does not accept the worker's key: it is missing, wrong, or for another environment. */
export class ServiceAccessDenied extends misconfigured(
  'ServiceAccessDenied',
  "Check the worker's SERVICE_API_KEY, SERVICE_BRAND and SERVICE_BASE_URL.",
) {}

/** The lab service could not be reached or did not answer in time. Nothing is lost. */
export class ServiceDown extends unavailable('ServiceDown', 'Send the same command again.') {}

/** An operator has stopped placing; the message says why. Nothing was ordered or booked. */
export class PlacingStopped extends unavailable(
  'PlacingStopped',
  'Send the same command again once placing is resumed (`lab.placing.resume`; labops: `placing resume`).',
) {}

/**
 * Nothing was done. Either the input was not encrypted and the worker requires encryption, or it was encrypted with another
 * key, or the answer would be a credential that anybody could read in Temporal because payloads are not encrypted.
 */
export class EncryptionRequired extends misconfigured(
  'EncryptionRequired',
  'Give worker and client the same LABOPS_ENCRYPTION_KEYS.',
) {}

/** A read of the lab service names nothing, or more than one thing, or has a filter that is not valid. Nothing was read. */
export class ReadInvalid extends invalid('ReadInvalid') {}

/** The call goes to the lab service itself, and this client does not know where that is. */
export class ServiceNotConfigured extends misconfigured(
  'ServiceNotConfigured',
  'Pass `service` to `LabOperations.connect` or to the constructor.',
) {}

/** The worker encrypts, or encryption is required, and this client has no keys. */
export class EncryptionKeysMissing extends misconfigured(
  'EncryptionKeysMissing',
  "Set LABOPS_ENCRYPTION_KEYS to the worker's keys; in code: `new Client({ dataConverter: labDataConverter(parseKeyRing(keys)) })`.",
) {
  static override readonly advises = true;

  constructor(problem = 'The data in Temporal is encrypted and this client has no keys', details?: ErrorDetails) {
    super(
      `${problem}: set LABOPS_ENCRYPTION_KEYS to the worker's keys, or give the Temporal Client ` +
        '`dataConverter: labDataConverter(parseKeyRing(keys))`',
      details,
    );
  }
}

/** The call's deadline has passed: 30 seconds unless you gave another. The message says what continues nevertheless. */
export class TimedOut extends unavailable(
  'TimedOut',
  'Ask again, or wait longer with `deadline` (labops: `--timeout`).',
) {
  /** The reasons why a person should look at the workflow that the call waited for, such as `placing_delayed`. */
  readonly attention: string[];

  constructor(message: string, attention: string[] = [], details?: ErrorDetails) {
    super(message, details);
    this.attention = attention;
  }
}

/** No worker polls the task queue. What was started is carried out as soon as there is one. */
export class NoWorker extends unavailable(
  'NoWorker',
  "Start a worker. Its TASK_QUEUE must equal the client's `taskQueue` (labops: `--task-queue` or TASK_QUEUE).",
) {
  static override readonly advises = true;
  readonly taskQueue: string;

  constructor(taskQueue: string, underWay: string, details?: ErrorDetails) {
    const remedy = `start the worker, or correct its TASK_QUEUE or the client's \`taskQueue\`. ${underWay}`.trim();
    super(`No worker polls the task queue ${taskQueue}: ${remedy}`, details);
    this.taskQueue = taskQueue;
  }
}

/** A worker is running but fails at the workflow again and again, for a reason that only its log says. */
export class WorkerFailing extends unavailable(
  'WorkerFailing',
  "Read the worker's log, and compare its LABOPS_ENCRYPTION_KEYS and version with the client's.",
) {
  static override readonly advises = true;

  constructor(details?: ErrorDetails) {
    super(
      'The worker keeps failing at this workflow: read its log. Its LABOPS_ENCRYPTION_KEYS may lack the key ' +
        'of this client, its version may differ, or the history cannot be replayed. The workflow continues once that is corrected',
      details,
    );
  }
}

/** Temporal cannot be reached at this address, or is too busy. The message says which. */
export class TemporalUnreachable extends unavailable(
  'TemporalUnreachable',
  'Read the message; `labops --help` lists the settings of the connection.',
) {
  static override readonly advises = true;
}

/**
 * Temporal refuses the call itself: the credentials are not valid, the namespace does not exist, or the search attributes are not
 * registered in it.
 */
export class TemporalRefused extends misconfigured(
  'TemporalRefused',
  'Read the message. If search attributes are missing, start the worker, or restart it: it registers them, or says why it cannot.',
) {
  static override readonly advises = true;
}

/** The call is larger than Temporal takes, encoded as it would be sent. Nothing was sent. */
export class CallTooLarge extends invalid('CallTooLarge', 'Shorten what the call carries: its texts and lists.') {
  /** The size of the call's arguments, encoded and encrypted. */
  readonly bytes: number;

  constructor(bytes: number, mostBytes: number) {
    super(`The call has ${bytes} bytes, and at most ${mostBytes} are sent to Temporal: nothing was sent`);
    this.bytes = bytes;
  }
}

/** The worker answered with a failure that this client does not know. */
export class UnexpectedFailure extends misconfigured(
  'UnexpectedFailure',
  "Use one version for client and worker; `labops --version` shows the client's.",
) {
  static override readonly advises = true;
}

export type RefusalClass = new (message: string, details?: Partial<FailureDetails>) => LabOperationsError;

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

/** As a worker passes it on: the message begins with the method and the path of its call. */
class FeatureNotEnabledForWorker extends FeatureNotEnabled {
  constructor(message: string, { status = 403, ...refusal }: Partial<FailureDetails> = {}) {
    const [, method = '', path = ''] = /^([A-Z]+) (\/\S*)/.exec(message) ?? [];
    super({ method, path, status }, { fields: [], ...refusal });
    this.message = message;
  }
}

/** The same for every area. */
export const commonErrorMap: Readonly<Record<string, RefusalClass>> = {
  Unauthorized: ServiceAccessDenied,
  FeatureNotEnabled: FeatureNotEnabledForWorker,
  EncryptionRequired,
  PlacingStopped,
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
    ...commonErrorMap,
    ...(invalid && { InvalidCommand: invalid, PolicyInvalid: invalid, ReferenceInvalid: invalid }),
    ...(ended && { AcceptedUpdateCompletedWorkflow: ended }),
    ...refusals,
  };
  return Object.hasOwn(known, type) ? known[type] : undefined;
}
