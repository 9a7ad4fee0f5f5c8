/** Receives the worker's notifications. It loads neither Temporal's client nor anything else outside Node. */
export {
  createNotificationHandler,
  type NotificationHandler,
  type NotificationHandlerOptions,
  type NotificationHandlers,
  type NotificationOf,
} from './handler.js';
export type {
  CloudEvent,
  NotificationEvent,
  NotificationType,
  PortalLinkData,
} from '../../protocol/notifications/events.js';
export type { WebhookLogger } from '../webhooks/endpoint.js';
export type { WebhookRequest } from '../webhooks/verify.js';
export { WebhookSecretInvalid } from '../../service/webhooks/signature.js';
