import { ApplicationFailure, activityInfo, cancellationSignal, heartbeat, log } from '@temporalio/activity';
import {
  deliverNotificationsStart,
  notificationsLeftSignal,
  defaultRetryDays,
  type NotificationsLeft,
  type RefusedNotification,
  isUrgent,
  type Notification,
} from '../../protocol/notifications/delivery.js';
import { deliverNotificationsId } from '../../protocol/ids.js';
import type { ActivityDependencies } from '../dependencies.js';
import { isOutdated } from '../link/connections.js';
import { eventOf, eventSources, type EventSources } from './cloud-event.js';
import { senderTo, receiverPausedType, type NotificationSender, type Sent } from './sender.js';
import { described } from '../workflow-runs.js';

/** One batch of a workflow's notifications, in their order. */
export interface NotifyCall {
  notifications: Notification[];
}

export interface NotifyOutcome {
  /** Ids of those that arrived. */
  delivered: string[];
  /** Those that the receiver refused for good. */
  refused: RefusedNotification[];
  /** All of them were handed to `deliverNotifications`. */
  handedOver: boolean;
}

/** Deliveries must be reported before the activity times out; otherwise all of them are sent again. */
const enoughMs = 60_000;

/**
 * True unless the deployment states that it sends none. A worker that merely lacks the target does not decide for all
 * workflows.
 */
export function hasEndpoint(target: ActivityDependencies['target']): boolean {
  return target !== 'off';
}

export function notificationActivities(
  dependencies: Pick<ActivityDependencies, 'service' | 'target' | 'temporal' | 'taskQueue' | 'observer'>,
) {
  const { service, target, observer } = dependencies;
  const sender = typeof target === 'object' ? senderTo(target) : undefined;
  const sources = eventSources(service, typeof target === 'object' && target.namesClientUser === true);
  return {
    /**
     * Delivers notifications in order, behind those that `deliverNotifications` has of the same workflow, and reports which arrived and which the receiver refused for good. Fails only if
     * the first did not arrive, so those that arrived are not sent again. A worker without a target never reports a
     * delivery: the outbox was filled because another worker has one.
     */
    async notify({ notifications }: NotifyCall): Promise<NotifyOutcome> {
      const outcome: NotifyOutcome = { delivered: [], refused: [], handedOver: false };
      if (await areBehind(dependencies, notifications)) {
        await handOver(dependencies, { notifications, refused: [] });
        return { ...outcome, handedOver: true };
      }
      if (target === 'off' && notifications.every(({ dropIfOff }) => dropIfOff)) {
        return { ...outcome, delivered: notifications.map(({ id }) => id) };
      }
      if (!sender) throw withoutTarget();
      const enoughAt = Date.now() + enoughMs;
      for (const [index, notification] of inTurn(notifications).entries()) {
        // What is being sent may be what an operator has just discarded.
        if (index > 0 && (Date.now() > enoughAt || cancellationSignal().aborted)) break;
        // The start of the activity counts as the first heartbeat.
        if (index > 0) heartbeat();
        try {
          const sent = await sendOne(sender, sources, notification);
          if (sent.as === 'refused') outcome.refused.push(refusedWith(sent, notification));
          else outcome.delivered.push(notification.id);
          if (sent.as === 'refused') observer?.notificationSent('refused');
          if (sent.as === 'delivered')
            observer?.notificationSent('delivered', Date.now() - Date.parse(notification.at));
        } catch (error) {
          if (!isPostponed(error)) observer?.notificationSent('failed');
          if (index === 0) throw error;
          log.warn('notification not delivered yet', { notification: notification.id, error });
          break;
        }
      }
      return outcome;
    },

    /** Hands undelivered notifications of a workflow to `deliver-notifications/<its ID>`, which keeps trying. */
    async handOverNotifications({ isPromised, ...left }: NotificationsLeft & { isPromised: boolean }): Promise<void> {
      // No worker has reported a receiver, and this deployment states that it has none: drop them.
      if (!isPromised && target === 'off') return;
      await handOver(dependencies, left);
    },
  };
}

/** In order, until the receiver has failed again and again to take the first. */
function inTurn(notifications: readonly Notification[]): readonly Notification[] {
  if (activityInfo().attempt < attemptsBeforeAlarm) return notifications;
  return [...notifications.filter(isUrgent), ...notifications.filter((each) => !isUrgent(each))];
}

const attemptsBeforeAlarm = 4;

/** Nothing was sent, on purpose. */
function isPostponed(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === receiverPausedType;
}

/** `dropped`: it need not arrive any more. */
async function sendOne(
  sender: NotificationSender,
  sources: EventSources,
  notification: Notification,
): Promise<Sent | { as: 'dropped' }> {
  sender.requireOpen();
  if (await isOutdated(sources.service, notification)) {
    log.info('notification dropped: the connection works again', { notification: notification.id });
    return { as: 'dropped' };
  }
  const event = await eventOf(sources, notification);
  // Reading for the event may have taken a while.
  heartbeat();
  const sent = await sender.send(event);
  sources.links.delete(notification.id);
  return sent;
}

/** Nobody sends it again by itself: the log is the first place where somebody looks for it. */
function refusedWith(
  { status, answer }: Extract<Sent, { as: 'refused' }>,
  notification: Notification,
): RefusedNotification {
  const { id, type, source } = notification;
  log.warn('notification refused by the receiver: it waits for `labops notifications resend` or `discard`', {
    notification: id,
    type: `labops.${type}`,
    source,
    status,
    answer,
  });
  return { notification, status };
}

export async function handOver(
  { temporal, taskQueue, target }: Pick<ActivityDependencies, 'temporal' | 'taskQueue' | 'target'>,
  left: NotificationsLeft,
): Promise<void> {
  const first = left.notifications[0] ?? left.refused[0]?.notification;
  if (!first) return;
  const { retryDays = defaultRetryDays } = typeof target === 'object' ? target : {};
  const start = deliverNotificationsStart(first, retryDays * 24 * 60 * 60_000);
  await temporal.workflow.signalWithStart(start.name, {
    ...start,
    taskQueue,
    signal: notificationsLeftSignal,
    signalArgs: [left],
  });
}

/** True if `deliverNotifications` has earlier ones of the same workflow: later ones must not overtake them. */
async function areBehind(
  { temporal }: Pick<ActivityDependencies, 'temporal'>,
  [first]: readonly Notification[],
): Promise<boolean> {
  if (!first) return false;
  const delivery = deliverNotificationsId(first.source);
  if (activityInfo().workflowExecution?.workflowId === delivery) return false;
  return (await described(temporal, delivery))?.status.name === 'RUNNING';
}

export function withoutTarget(): ApplicationFailure {
  return ApplicationFailure.retryable(
    'This worker has no endpoint for notifications: set NOTIFY_URL and NOTIFY_SECRET for every worker of the task queue',
    'NotificationsNotConfigured',
    { fields: [] },
  );
}
