import { invalid, misconfigured, notFound, refused, unavailable } from '../../service/lab-operations-error.js';
import { type ErrorMap } from '../errors.js';

/** A field of an operator's call breaks a rule. Nothing was done. */
export class OperatorCallInvalid extends invalid('OperatorCallInvalid') {}

/** The workflow of an operator's call was terminated or cancelled, or no worker took it in time; the message says which. */
export class OperatorCallInterrupted extends unavailable(
  'OperatorCallInterrupted',
  'Check that a worker polls the task queue, then send the command again.',
) {}

/** The lab service refused the command on a webhook endpoint, for the reason in the message. */
export class WebhookRefused extends refused('WebhookRefused', 'Fix what the message names.') {}

/** This team and environment have no endpoint with this id. */
export class WebhookNotFound extends notFound('WebhookNotFound', 'List the endpoints.') {}

/** The worker has no management key, which is not the same as a team API key. */
export class ManagementKeyMissing extends misconfigured(
  'ManagementKeyMissing',
  "Set the worker's SERVICE_MANAGEMENT_KEY and restart it.",
) {}

/** The worker's management key is wrong, or is not for this organisation or team. */
export class ManagementKeyRefused extends misconfigured(
  'ManagementKeyRefused',
  "Check the worker's SERVICE_MANAGEMENT_KEY, and the ids of organisation and team.",
) {}

/** No rejected event has this id: it was never rejected, or its user was deleted. */
export class RejectedEventNotFound extends notFound('RejectedEventNotFound', 'List the rejected events.') {}

/** The event was already replayed or discarded, or has expired; its content is no longer kept. */
export class RejectedEventSettled extends refused(
  'RejectedEventSettled',
  'Nothing to do: the list shows what became of it.',
) {}

/** The worker keeps no health data and no rejected events. */
export class StoreNotConfigured extends misconfigured(
  'StoreNotConfigured',
  'Set DATABASE_URL for every worker and ingress, unless they keep nothing on purpose (HEALTH_DATA=off).',
) {}

/** The worker has no endpoint to send notifications to. */
export class NotificationsNotConfigured extends misconfigured(
  'NotificationsNotConfigured',
  'Set NOTIFY_URL and NOTIFY_SECRET for every worker.',
) {}

/** The worker's database did not answer. Nothing is done twice. */
export class StoreUnavailable extends unavailable('StoreUnavailable', 'Send the same command again.') {}

/** The client error for each failure type of an operator's calls. */
export const operatorErrorMap: ErrorMap = {
  notFound: OperatorCallInterrupted,
  invalid: OperatorCallInvalid,
  interrupted: OperatorCallInterrupted,
  refusals: {
    WebhookRefused,
    WebhookNotFound,
    ManagementKeyMissing,
    Unauthorized: ManagementKeyRefused,
    RejectedEventNotFound,
    RejectedEventSettled,
    StoreNotConfigured,
    NotificationsNotConfigured,
    StoreUnavailable,
  },
};
