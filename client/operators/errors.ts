import { LabOperationsError, Refusal, type ErrorMap } from '../errors.js';

/** A field of an operator's call breaks a rule. Nothing was done. */
export class OperatorCallInvalid extends Refusal {
  static readonly remedy = 'Fix the fields named in the error.';
  override readonly name = 'OperatorCallInvalid';
}

/** The workflow of an operator's call was terminated or cancelled, or no worker took it in time; the message says which. */
export class OperatorCallInterrupted extends LabOperationsError {
  static readonly remedy = 'Check that a worker polls the task queue, then send the command again.';
  override readonly name = 'OperatorCallInterrupted';
}

/** The lab service refused the command on a webhook endpoint, for the reason in the message. */
export class WebhookRefused extends Refusal {
  static readonly remedy = 'Fix what the message names.';
  override readonly name = 'WebhookRefused';
}

/** This team and environment have no endpoint with this id. */
export class WebhookNotFound extends Refusal {
  static readonly remedy = 'List the endpoints.';
  override readonly name = 'WebhookNotFound';
}

/** The worker has no management key, which is not the same as a team API key. */
export class ManagementKeyMissing extends Refusal {
  static readonly remedy = "Set the worker's SERVICE_MANAGEMENT_KEY and restart it.";
  override readonly name = 'ManagementKeyMissing';
}

/** The worker's management key is wrong, or is not for this organisation or team. */
export class ManagementKeyRefused extends Refusal {
  static readonly remedy = "Check the worker's SERVICE_MANAGEMENT_KEY, and the ids of organisation and team.";
  override readonly name = 'ManagementKeyRefused';
}

/** There is no rejected event with this id: it was never rejected, or its user was deleted. */
export class RejectedEventNotFound extends Refusal {
  static readonly remedy = 'List the rejected events.';
  override readonly name = 'RejectedEventNotFound';
}

/** The event was already replayed or discarded, or has expired; its content is no longer kept. */
export class RejectedEventSettled extends Refusal {
  static readonly remedy = 'Nothing to do: the list shows what became of it.';
  override readonly name = 'RejectedEventSettled';
}

/** The worker keeps no health data and no rejected events. */
export class StoreNotConfigured extends Refusal {
  static readonly remedy =
    'Set DATABASE_URL for every worker and ingress, unless they keep nothing on purpose (HEALTH_DATA=off).';
  override readonly name = 'StoreNotConfigured';
}

/** The worker's database did not answer. Nothing is done twice. */
export class StoreUnavailable extends Refusal {
  static readonly remedy = 'Send the same command again.';
  override readonly name = 'StoreUnavailable';
}

/** The client error for each failure type of an operator's calls. */
export const operatorErrorMap: ErrorMap = {
  notFound: OperatorCallInterrupted,
  interrupted: OperatorCallInterrupted,
  refusals: {
    InvalidCommand: OperatorCallInvalid,
    WebhookRefused,
    WebhookNotFound,
    ManagementKeyMissing,
    Unauthorized: ManagementKeyRefused,
    RejectedEventNotFound,
    RejectedEventSettled,
    StoreNotConfigured,
    StoreUnavailable,
  },
};
