import { LabOperationsError, Refusal, type ErrorMap } from '../errors.js';

/** A field of the command breaks a rule. Nothing was done. */
export class RejectedEventsInvalid extends Refusal {
  static readonly remedy = 'Fix the fields named in the error.';
  override readonly name = 'RejectedEventsInvalid';
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

/** An operator ended the run, or no worker took it within ten minutes. */
export class RejectedEventsInterrupted extends LabOperationsError {
  static readonly remedy = 'Check that a worker polls the task queue, then send the command again.';
  override readonly name = 'RejectedEventsInterrupted';
}

/** The client error for each failure type of commands on rejected events. */
export const rejectedEventErrorMap: ErrorMap = {
  notFound: RejectedEventNotFound,
  interrupted: RejectedEventsInterrupted,
  refusals: {
    InvalidCommand: RejectedEventsInvalid,
    RejectedEventNotFound,
    RejectedEventSettled,
    StoreNotConfigured,
    StoreUnavailable,
  },
};
