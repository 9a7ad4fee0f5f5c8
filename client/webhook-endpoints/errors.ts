import { LabOperationsError, Refusal, type Words } from '../errors.js';

/** The place, the address or an id breaks a rule that is known here; nothing was done. */
export class WebhookInvalid extends Refusal {
  override readonly name = 'WebhookInvalid';
}

/** The service refused the command, for the reason in the message. */
export class WebhookRefused extends Refusal {
  override readonly name = 'WebhookRefused';
}

/** There is no endpoint with this id in this team and environment. */
export class WebhookNotFound extends Refusal {
  override readonly name = 'WebhookNotFound';
}

/** The worker has no management key, which is no team API key: set SERVICE_MANAGEMENT_KEY for it. */
export class ManagementKeyMissing extends Refusal {
  override readonly name = 'ManagementKeyMissing';
}

/** The worker's management key is wrong, or does not reach this organisation or team: check SERVICE_MANAGEMENT_KEY and the ids. */
export class ManagementKeyRefused extends Refusal {
  override readonly name = 'ManagementKeyRefused';
}

/**
 * What was asked for is a credential, and payloads are not encrypted: it would be readable in Temporal. Give worker and
 * client encryption keys.
 */
export class EncryptionRequired extends Refusal {
  override readonly name = 'EncryptionRequired';
}

/** The workflow was terminated or cancelled, or no worker carried it out in time; the message says which. */
export class WebhooksInterrupted extends LabOperationsError {
  override readonly name = 'WebhooksInterrupted';
}

/** What the failures of the management of webhook endpoints are called in the product. */
export const webhookWords: Words = {
  notFound: WebhookNotFound,
  interrupted: WebhooksInterrupted,
  refusals: {
    InvalidCommand: WebhookInvalid,
    WebhookRefused,
    WebhookNotFound,
    ManagementKeyMissing,
    Unauthorized: ManagementKeyRefused,
    EncryptionRequired,
  },
};
