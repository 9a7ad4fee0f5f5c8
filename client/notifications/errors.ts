import { invalid, notFound, refused } from '../../service/lab-operations-error.js';
import { type ErrorMap } from '../errors.js';

/** Nothing of this workflow is undelivered, or the notification was delivered or discarded meanwhile. */
export class NotificationNotFound extends notFound('NotificationNotFound', 'List the undelivered notifications.') {}

/** A field of the command breaks a rule. Nothing was done. */
export class NotificationsInvalid extends invalid('NotificationsInvalid') {}

/** An operator ended the delivery: the remaining notifications are not sent. */
export class DeliveryInterrupted extends refused(
  'DeliveryInterrupted',
  'Read the state of the order, link, report, appointment or deletion instead.',
) {}

/** The client error for each failure type of commands on undelivered notifications. */
export const notificationErrorMap: ErrorMap = {
  notFound: NotificationNotFound,
  invalid: NotificationsInvalid,
  interrupted: DeliveryInterrupted,
  refusals: { NotificationNotFound },
};
