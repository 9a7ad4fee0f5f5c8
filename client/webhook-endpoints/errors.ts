import { EncryptionRequired, LabOperationsError, Refusal, type ErrorMap } from '../errors.js';

export { EncryptionRequired };

/** The organisation, team, environment, address or another field breaks a rule. Nothing was done. */
export class WebhookInvalid extends Refusal {
  static readonly remedy = 'Fix the fields named in the error.';
  override readonly name = 'WebhookInvalid';
}

/** The lab service refused the command, for the reason in the message. */
export class WebhookRefused extends Refusal {
  static readonly remedy = 'Fix what the message names.';
  override readonly name = 'WebhookRefused';
}

/** This team and environment have no endpoint with this id. */
export class WebhookNotFound extends Refusal {
  static readonly remedy = 'List the endpoints.';
  override readonly name = 'WebhookNotFound';
}

/**
 * The lab service accepted a change that removes a filter of event types or a rate limit, but kept it. `fields` say what is still
 * there. The rest of the change was accepted.
 */
export class WebhookChangeIgnored extends Refusal {
  static readonly remedy =
    "Name every event type, or give a rate limit that is high enough; or remove them in the lab service's dashboard.";
  override readonly name = 'WebhookChangeIgnored';
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

/** The workflow was terminated or cancelled, or no worker took it within ten minutes; the message says which. */
export class WebhooksInterrupted extends LabOperationsError {
  static readonly remedy = 'Check that a worker polls the task queue, then send the command again.';
  override readonly name = 'WebhooksInterrupted';
}

/** The client error for each failure type of commands on webhook endpoints. */
export const webhookErrorMap: ErrorMap = {
  notFound: WebhookNotFound,
  interrupted: WebhooksInterrupted,
  refusals: {
    InvalidCommand: WebhookInvalid,
    WebhookRefused,
    WebhookNotFound,
    WebhookChangeIgnored,
    ManagementKeyMissing,
    Unauthorized: ManagementKeyRefused,
    EncryptionRequired,
  },
};
