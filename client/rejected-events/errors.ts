import { LabOperationsError, Refusal, type Words } from '../errors.js';

/** A field of the command breaks a rule; nothing was done. */
export class RejectedEventsInvalid extends Refusal {
  override readonly name = 'RejectedEventsInvalid';
}

/** There is no such event: it was never rejected, or its user was deleted. */
export class RejectedEventNotFound extends Refusal {
  override readonly name = 'RejectedEventNotFound';
}

/** The event was replayed or discarded already; what it held is no longer kept. */
export class RejectedEventSettled extends Refusal {
  override readonly name = 'RejectedEventSettled';
}

/** The worker keeps no health data and no rejected events: set DATABASE_URL for worker and ingress. */
export class StoreNotConfigured extends Refusal {
  override readonly name = 'StoreNotConfigured';
}

/** The worker's database did not answer. Send the same command again: what was done before is not done twice. */
export class StoreUnavailable extends Refusal {
  override readonly name = 'StoreUnavailable';
}

/** The run was ended by an operator, or no worker took it within ten minutes. */
export class RejectedEventsInterrupted extends LabOperationsError {
  override readonly name = 'RejectedEventsInterrupted';
}

/** What the failures of commands on rejected events are called in the product. */
export const rejectedEventWords: Words = {
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
