/** Receives the lab service's webhooks: verified, each becomes a signal to its workflow. */
export { createWebhookHandler, type WebhookHandler, type WebhookHandlerOptions } from './handler.js';
export type { AnsweredRequest, RequestObserver, WebhookLogger, WebhookRequest } from './endpoint.js';
export type { TakenMessages } from './destinations.js';
export type { HealthDataSink } from './health-data-events.js';
export type { RejectedEventReceived, RejectedEventSink } from './rejected-events.js';
export { WebhookSecretInvalid } from '../../service/webhooks/signature.js';
