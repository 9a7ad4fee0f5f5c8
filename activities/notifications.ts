import { ApplicationFailure, activityInfo, cancellationSignal, heartbeat, log } from '@temporalio/activity';
import { LRUCache } from 'lru-cache';
import { ServiceError, ServiceRefused, TooManyRequests } from '../service/errors.js';
import type { LabService } from '../service/lab-service.js';
import type { CloudEvent, PortalLinkData } from '../protocol/notification-events.js';
import {
  deliverNotificationsStart,
  notificationsLeftSignal,
  usualRetryDays,
  type NotificationsLeft,
  type RefusedNotification,
} from '../protocol/delivery.js';
import { deliverNotificationsId } from '../protocol/ids.js';
import { isAlarm, type Notification } from '../protocol/notifications.js';
import type { ActivityDependencies } from './dependencies.js';
import { connectionUnsettledType, isOutdated } from './broken-connections.js';
import { createClientUserIds, type ClientUserIdOf } from './client-user-ids.js';
import { callMs, senderTo, receiverPausedType, type NotificationSender, type Sent } from './notification-sender.js';
import { described } from './workflow-runs.js';

/** One batch of a workflow's notifications, in their order. */
interface NotifyCall {
  notifications: Notification[];
  /** `deliverNotifications` may have earlier ones of the same workflow: then these go there, behind them. */
  mayBeBehind: boolean;
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

/** From this attempt on a reminder is sent without its link: a link that cannot be made must not delay results. */
const attemptsForLink = 5;

/** A receiver that is down costs one link in this time instead of one for each attempt. Links live for weeks. */
const linkMs = 6 * 60 * 60_000;

/** An entry takes less than a kilobyte, so all of them stay below 1 MB. */
const mostLinks = 1_000;

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
  const namesClientUser = typeof target === 'object' && target.namesClientUser === true;
  const sources: EventSources = {
    service,
    links: new LRUCache({ max: mostLinks, ttl: linkMs }),
    ...(namesClientUser && { clientUserIdOf: createClientUserIds(service.users) }),
  };
  return {
    /**
     * Delivers notifications in order, and reports which arrived and which the receiver refused for good. Fails only if
     * the first did not arrive, so those that arrived are not sent again. A worker without a target never reports a
     * delivery: the outbox was filled because another worker has one.
     */
    async notify({ notifications, mayBeBehind }: NotifyCall): Promise<NotifyOutcome> {
      const outcome: NotifyOutcome = { delivered: [], refused: [], handedOver: false };
      if (mayBeBehind && (await isDelivering(dependencies, notifications))) {
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

/** In order; but an alarm does not wait behind a notification that the receiver has failed to take again and again. */
function inTurn(notifications: readonly Notification[]): readonly Notification[] {
  if (activityInfo().attempt < attemptsBeforeAlarm) return notifications;
  return [...notifications.filter(isAlarm), ...notifications.filter((each) => !isAlarm(each))];
}

const attemptsBeforeAlarm = 4;

/** Nothing was sent, on purpose. */
function isPostponed(error: unknown): boolean {
  return (
    error instanceof ApplicationFailure && [receiverPausedType, connectionUnsettledType].includes(error.type ?? '')
  );
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

async function handOver(
  { temporal, taskQueue, target }: Pick<ActivityDependencies, 'temporal' | 'taskQueue' | 'target'>,
  left: NotificationsLeft,
): Promise<void> {
  const first = left.notifications[0] ?? left.refused[0]?.notification;
  if (!first) return;
  const { retryDays = usualRetryDays } = typeof target === 'object' ? target : {};
  const start = deliverNotificationsStart(first, retryDays * 24 * 60 * 60_000);
  await temporal.workflow.signalWithStart(start.name, {
    ...start,
    taskQueue,
    signal: notificationsLeftSignal,
    signalArgs: [left],
  });
}

/** True if an earlier run's notifications are still being delivered: later ones must not overtake them. */
async function isDelivering(
  { temporal }: Pick<ActivityDependencies, 'temporal'>,
  [first]: readonly Notification[],
): Promise<boolean> {
  if (!first) return false;
  return (await described(temporal, deliverNotificationsId(first.source)))?.status.name === 'RUNNING';
}

function withoutTarget(): ApplicationFailure {
  return ApplicationFailure.retryable(
    'This worker has no endpoint for notifications: set NOTIFY_URL and NOTIFY_SECRET for every worker of the task queue',
    'NotificationsNotConfigured',
    { fields: [] },
  );
}

/** The sources of what is not in the workflow's notification: it is looked up when the notification is sent, and not stored. */
interface EventSources {
  service: LabService;
  /** Links of notifications that have not arrived yet, by their ids: in memory only. */
  links: LRUCache<string, MadeLink>;
  /** Absent if notifications carry no `client_user_id`. */
  clientUserIdOf?: ClientUserIdOf;
}

async function eventOf(sources: EventSources, notification: Notification): Promise<CloudEvent> {
  const { clientUserIdOf } = sources;
  const { id, at, source, type, subject, data, portalLink } = notification;
  return {
    specversion: '1.0',
    id,
    source,
    type: `labops.${type}`,
    subject,
    time: at,
    datacontenttype: 'application/json',
    data: {
      ...snakeCased(data),
      ...(clientUserIdOf && (await clientUserOf(clientUserIdOf, data['userId']))),
      ...(portalLink && (await linkTo(sources, id, portalLink))),
    },
  };
}

async function clientUserOf(clientUserIdOf: ClientUserIdOf, userId: unknown): Promise<{ client_user_id?: string }> {
  const clientUserId = typeof userId === 'string' ? await clientUserIdOf(userId) : undefined;
  return clientUserId === undefined ? {} : { client_user_id: clientUserId };
}

interface MadeLink {
  url: string;
  /** Milliseconds since the epoch. Absent if the service does not say how long the link lives. */
  endsAt?: number;
}

/**
 * A link is a credential: it is made when it is sent and never stored, only remembered for the next attempts. For a user without demographics, or a team
 * without the portal, the reminder has no link but states the reason.
 */
async function linkTo(
  { service, links }: EventSources,
  id: string,
  { userId, orderId }: { userId: string; orderId: string },
): Promise<PortalLinkData> {
  const made = links.get(id);
  if (made) return sentLink(made);
  try {
    const request = { context: 'communications', orderId };
    const { url, expires_in: life } = await service.portal.createUrl(userId, request, { timeoutMs: callMs });
    const link = { url, ...(life != null && { endsAt: Date.now() + life * 1000 }) };
    // Nobody could use a link at the end of its life.
    links.set(id, link, { ttl: life == null ? linkMs : Math.min(linkMs, Math.max(1, life * 500)) });
    return sentLink(link);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { name, message } = error;
    const isFinal = error instanceof ServiceRefused && !(error instanceof TooManyRequests);
    // A pause that the service asks for must not delay what waits behind the reminder.
    if (!isFinal && activityInfo().attempt < attemptsForLink) throw ApplicationFailure.retryable(message, name);
    return { portal_url: null, portal_url_refused: name };
  }
}

function sentLink({ url, endsAt }: MadeLink): PortalLinkData {
  const expiresIn = endsAt === undefined ? null : Math.round((endsAt - Date.now()) / 1000);
  return { portal_url: url, portal_url_expires_in: expiresIn };
}

/** Converts the names as the types of protocol/notification-events.ts do. */
function snakeCased(data: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`),
      value,
    ]),
  );
}
