/** For the tests of a product that mounts the handlers: webhooks and notifications, signed as their senders sign them. */
export { signWebhook, type SignedWebhook } from './webhooks/sign.js';
