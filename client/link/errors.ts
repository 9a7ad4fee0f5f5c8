import { invalid, notFound, refused } from '../../service/lab-operations-error.js';
import { type ErrorMap } from '../errors.js';
import type { FailureDetails } from '../../protocol/failure-details.js';

/** Temporal knows no link of this user with this provider. It may be older than the namespace's retention. */
export class LinkNotFound extends notFound('LinkNotFound', 'Check the user and the provider.') {}

/** A field of the start, a report or the policy breaks a rule. Nothing was changed. */
export class LinkInvalid extends invalid('LinkInvalid') {}

/**
 * The code is blank or too long. It was not sent and costs no attempt.
 */
export class InvalidCode extends invalid('InvalidCode', 'Ask the user for the code again.') {}

/**
 * The lab service refused the call itself, for example because it does not know the user or the provider. A link that
 * already exists continues.
 */
export class LinkRefused extends refused('LinkRefused', 'Check the user and the provider.') {}

/** The code ended the link for good. `errorType` has the reason, the service's or one of ours (docs/messages.md). */
export class LinkFailed extends refused('LinkFailed', 'Start a new link.') {
  readonly errorType: string;

  constructor(message: string, details: Partial<FailureDetails> = {}) {
    super(message, details);
    this.errorType = details.reason ?? 'unknown';
  }
}

/** The link has ended and takes no more commands. */
export class LinkEnded extends refused('LinkEnded', 'Start a new link, unless this one is connected.') {}

/** The link's workflow was terminated or timed out; the message says which. */
export class LinkInterrupted extends refused('LinkInterrupted', 'Start a new link.') {}

/** The client error for each failure type of the link workflow. */
export const linkErrorMap: ErrorMap = {
  notFound: LinkNotFound,
  invalid: LinkInvalid,
  ended: LinkEnded,
  interrupted: LinkInterrupted,
  refusals: {
    InvalidCode,
    LinkRefused,
    LinkFailed,
    LinkEnded,
  },
};
