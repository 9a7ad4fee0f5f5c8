import type { NotificationsLeft, RefusedNotification } from '../../protocol/notifications/delivery.js';
import type { Notification } from '../../protocol/notifications/notifications.js';
import { isObject } from '../../protocol/canonical-json.js';

/**
 * Reads notifications that came by signal. What has no id, type and time cannot be delivered and is left out: a signal cannot be
 * refused, and one that fails would stop the delivery of all others. Never throws.
 */
export function readNotificationsLeft(value: unknown): NotificationsLeft & { leftOut: number } {
  const given = isObject(value) ? value : {};
  const [offered, offeredRefused] = [listOf(given['notifications']), listOf(given['refused'])];
  const notifications = offered.filter(isNotification);
  const refused = offeredRefused.filter(
    (each): each is RefusedNotification =>
      isObject(each) && isNotification(each['notification']) && typeof each['status'] === 'number',
  );
  const leftOut = offered.length + offeredRefused.length - notifications.length - refused.length;
  return { notifications, refused, leftOut, ...(given['areEarlier'] === true && { areEarlier: true as const }) };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isNotification(value: unknown): value is Notification {
  if (!isObject(value) || !isObject(value['data'])) return false;
  const texts = [value['id'], value['type'], value['at'], value['source'], value['subject']];
  return texts.every((text) => typeof text === 'string') && !Number.isNaN(Date.parse(String(value['at'])));
}
