import { LabOperationsError, Refusal, type ErrorMap } from '../errors.js';
import type { FailureDetails } from '../../protocol/failure-details.js';

/** Temporal knows no link of this user with this provider. It may be older than the namespace's retention. */
export class LinkNotFound extends LabOperationsError {
  static readonly remedy = 'Check the user and the provider.';
  override readonly name = 'LinkNotFound';
}

/** A field of the start, a report or the policy breaks a rule. Nothing was changed. */
export class LinkInvalid extends Refusal {
  static readonly remedy = 'Fix the fields named in the error.';
  override readonly name = 'LinkInvalid';
}

/**
 * The code is blank or too long. It was not sent and costs no attempt.
 */
export class InvalidCode extends Refusal {
  static readonly remedy = 'Ask the user for the code again.';
  override readonly name = 'InvalidCode';
}

/**
 * The lab service refused the call itself, for example because it does not know the user or the provider. A link that
 * already exists continues.
 */
export class LinkRefused extends Refusal {
  static readonly remedy = 'Check the user and the provider.';
  override readonly name = 'LinkRefused';
}

/** The code ended the link for good. `errorType` has the reason, the service's or one of ours (docs/messages.md). */
export class LinkFailed extends Refusal {
  static readonly remedy = 'Start a new link.';
  override readonly name = 'LinkFailed';
  readonly errorType: string;

  constructor(message: string, details: Partial<FailureDetails> = {}) {
    super(message, details);
    this.errorType = details.reason ?? 'unknown';
  }
}

/** The link has ended and takes no more commands. */
export class LinkEnded extends Refusal {
  static readonly remedy = 'Start a new link, unless this one is connected.';
  override readonly name = 'LinkEnded';
}

/** The link's workflow was terminated or timed out; the message says which. */
export class LinkInterrupted extends LabOperationsError {
  static readonly remedy = 'Start a new link.';
  override readonly name = 'LinkInterrupted';
}

/** The client error for each failure type of the link workflow. */
export const linkErrorMap: ErrorMap = {
  notFound: LinkNotFound,
  interrupted: LinkInterrupted,
  refusals: {
    InvalidCommand: LinkInvalid,
    PolicyInvalid: LinkInvalid,
    InvalidCode,
    LinkRefused,
    LinkFailed,
    LinkEnded,
    // The run ended between accepting a command and carrying it out.
    AcceptedUpdateCompletedWorkflow: LinkEnded,
  },
};
