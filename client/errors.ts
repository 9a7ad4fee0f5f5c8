import {
  ApplicationFailure,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { ValueError } from '@temporalio/common';
import type { FailureDetails } from '../workflows/failure-details.js';
import { encryptedEncoding } from './encryption/payload-codec.js';

/*
 * The product's words for what went wrong. Every error that a caller can do something about has a class of its own;
 * its docstring says when it is thrown and what helps. Here is what all areas share; each area has an errors.ts of its own.
 */

/** Base of everything below. */
export class LabOperationsError extends Error {
  override readonly name: string = 'LabOperationsError';
}

/** A field and what is wrong with it: a rule of ours, or the service's own sentence. Never the value. */
export interface RefusedField {
  field: string;
  message: string;
}

/** Something was refused for reasons that its fields name. */
export class Refusal extends LabOperationsError {
  readonly fields: readonly RefusedField[];
  /** The service's HTTP status, where it was the service that refused. */
  readonly status: number | undefined;

  constructor(message: string, details: Partial<FailureDetails> = {}) {
    super(message);
    this.fields = details.fields ?? [];
    this.status = details.status;
  }
}

/** The worker's key for the lab service is missing or wrong: check SERVICE_API_KEY, SERVICE_BRAND and the environment. */
export class ServiceAccessDenied extends Refusal {
  override readonly name = 'ServiceAccessDenied';
}

/** The team is not enabled for this feature of the lab service; its operator has to enable it. */
export class FeatureNotEnabled extends Refusal {
  override readonly name = 'FeatureNotEnabled';
}

/** The lab service could not be reached or did not answer in time. Nothing is lost: send the same command again. */
export class ServiceDown extends Refusal {
  override readonly name = 'ServiceDown';
}

/** Lab values and users are read from the service itself: give `service` to `LabOperations`. */
export class ServiceNotConfigured extends LabOperationsError {
  override readonly name = 'ServiceNotConfigured';
}

/** What Temporal holds is encrypted, and the client has no keys: see `labDataConverter`. */
export class EncryptionKeysMissing extends LabOperationsError {
  override readonly name = 'EncryptionKeysMissing';

  constructor(options?: ErrorOptions) {
    super(
      'What Temporal holds is encrypted and this client has no keys: give the Temporal Client ' +
        "`dataConverter: labDataConverter(parseKeyRing(…))` with the worker's LABOPS_ENCRYPTION_KEYS",
      options,
    );
  }
}

export type RefusalClass = new (message: string, details?: Partial<FailureDetails>) => Refusal;

/** The words of one area: what the failure types of its workflows and activities are called in the product. */
export interface Words {
  refusals: Readonly<Record<string, RefusalClass>>;
  notFound: new (message: string) => LabOperationsError;
  /** The workflow was terminated, timed out or cancelled by an operator. */
  interrupted: new (message: string) => LabOperationsError;
}

/** The same for every area. */
const commonRefusals: Readonly<Record<string, RefusalClass>> = {
  Unauthorized: ServiceAccessDenied,
  FeatureNotEnabled,
  ServiceUnavailable: ServiceDown,
  ServiceUnreachable: ServiceDown,
  TooManyRequests: ServiceDown,
  AnswerLost: ServiceDown,
  AnswerUnreadable: ServiceDown,
  CommandTimedOut: ServiceDown,
};

/** Turns what Temporal's client rejects with into the product's words; what it has no word for stays as it is. */
export function inProductWords(error: unknown, { refusals, notFound, interrupted }: Words): unknown {
  // The SDK's own words; a test holds them.
  const unreadable = error instanceof ValueError && error.message === `Unknown encoding: ${encryptedEncoding}`;
  if (unreadable) return new EncryptionKeysMissing({ cause: error });
  if (error instanceof WorkflowNotFoundError) return new notFound(`${error.workflowId} does not exist`);
  if (!(error instanceof WorkflowUpdateFailedError) && !(error instanceof WorkflowFailedError)) return error;
  const { cause } = error;
  if (cause instanceof ApplicationFailure) {
    const known = classOf(cause.type ?? '', refusals);
    const [details] = cause.details ?? [];
    return known ? new known(cause.message, details as Partial<FailureDetails> | undefined) : error;
  }
  return error instanceof WorkflowFailedError ? new interrupted(`${error.message}: ${cause?.message ?? ''}`) : error;
}

function classOf(type: string, refusals: Words['refusals']): RefusalClass | undefined {
  if (Object.hasOwn(refusals, type)) return refusals[type];
  return Object.hasOwn(commonRefusals, type) ? commonRefusals[type] : undefined;
}
