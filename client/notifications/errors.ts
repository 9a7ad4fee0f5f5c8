import { LabOperationsError, Refusal, type ErrorMap } from '../errors.js';

/** Nothing of this workflow is undelivered, or the notification was delivered or discarded meanwhile. */
export class NotificationNotFound extends Refusal {
  static readonly remedy = 'List the undelivered notifications.';
  override readonly name = 'NotificationNotFound';
}

/** A field of the command breaks a rule. Nothing was done. */
export class NotificationsInvalid extends Refusal {
  static readonly remedy = 'Fix the fields named in the error.';
  override readonly name = 'NotificationsInvalid';
}

/** An operator ended the delivery: the remaining notifications are not sent. */
export class DeliveryInterrupted extends LabOperationsError {
  static readonly remedy = 'Read the state of the order, link, report, appointment or deletion instead.';
  override readonly name = 'DeliveryInterrupted';
}

/** The client error for each failure type of commands on undelivered notifications. */
export const notificationErrorMap: ErrorMap = {
  notFound: NotificationNotFound,
  interrupted: DeliveryInterrupted,
  refusals: { InvalidCommand: NotificationsInvalid, NotificationNotFound },
};
