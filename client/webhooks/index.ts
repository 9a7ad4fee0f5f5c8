/** Receives the lab service's webhooks: verified, each becomes a signal to its workflow. */
export { createWebhookHandler, type WebhookHandler, type WebhookHandlerOptions } from './handler.js';
export type { AnsweredRequest, RequestObserver, WebhookLogger } from './endpoint.js';
export type { DeliveredMessages, HealthDataSink, RejectedEventReceived, RejectedEventSink } from './sinks.js';
export type { WebhookRequest } from './verify.js';
export { WebhookSecretInvalid } from '../../service/webhooks/signature.js';
