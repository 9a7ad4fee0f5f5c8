import { LabOperationsError, Refusal, type Words } from '../errors.js';
import type { FailureDetails } from '../../workflows/failure-details.js';

/** No link of this user with this provider is known to Temporal, or it is older than the namespace's retention. */
export class LinkNotFound extends LabOperationsError {
  override readonly name = 'LinkNotFound';
}

/** The start, a report or the policy breaks a rule that is known here; nothing was changed. */
export class LinkInvalid extends Refusal {
  override readonly name = 'LinkInvalid';
}

/** The code is not 4 to 12 letters or digits. It was not sent and costs no attempt. */
export class InvalidCode extends Refusal {
  override readonly name = 'InvalidCode';
}

/** The service refused the call itself, as it refuses an unknown user or provider. The link goes on if it already stood. */
export class LinkRefused extends Refusal {
  override readonly name = 'LinkRefused';
}

/** The code ended the link for good: `errorType` is the service's, or one of ours (docs/messages.md). Start a new link. */
export class LinkFailed extends Refusal {
  override readonly name = 'LinkFailed';
  readonly errorType: string;

  constructor(message: string, details: Partial<FailureDetails> = {}) {
    super(message, details);
    this.errorType = details.reason ?? 'unknown';
  }
}

/** The link has ended, and takes nothing any more: start a new one, unless it is connected. */
export class LinkEnded extends Refusal {
  override readonly name = 'LinkEnded';
}

/** The workflow was terminated, or timed out; the message says which. */
export class LinkInterrupted extends LabOperationsError {
  override readonly name = 'LinkInterrupted';
}

/** What the failures of the link workflow are called in the product. */
export const linkWords: Words = {
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
