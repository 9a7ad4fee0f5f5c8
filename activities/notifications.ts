import { ApplicationFailure, activityInfo, heartbeat, log } from '@temporalio/activity';
import { ServiceError, ServiceRefused, TooManyRequests } from '../service/errors.js';
import type { LabService } from '../service/lab-service.js';
import { sign } from '../service/webhook-signature.js';
import type { Notification } from '../workflows/notifications.js';
import type { ActivityDependencies } from './activities.js';
import { asFailures } from './failures.js';

/** The product's endpoint for notifications. */
export interface NotificationTarget {
  url: string;
  /** `whsec_…`: signs every notification as Standard Webhooks. */
  secret: string;
}

/** A structured-mode CloudEvent, version 1.0. */
interface CloudEvent {
  specversion: '1.0';
  id: string;
  source: string;
  type: string;
  subject: string;
  time: string;
  datacontenttype: 'application/json';
  data: Record<string, unknown>;
}

/** For one call of the portal or the target. The target's is what the service itself allows a webhook receiver. */
const callMs = 15_000;

/** What was delivered must be told before the activity's time is up, or all of it is sent again. */
const enoughMs = 60_000;

/** From this attempt on a reminder goes out without its link: one that cannot be made must not hold back results. */
const attemptsForLink = 5;

export function notificationActivities({ service, target }: Pick<ActivityDependencies, 'service' | 'target'>) {
  return {
    /**
     * Delivers notifications in their order and answers with the ids that arrived. Fails only if not even the first
     * did, so that what arrived is not sent again.
     */
    async notify(notifications: Notification[]): Promise<{ delivered: string[] }> {
      const delivered: string[] = [];
      const enoughAt = Date.now() + enoughMs;
      for (const notification of notifications) {
        if (delivered.length > 0 && Date.now() > enoughAt) break;
        heartbeat();
        try {
          if (target) await deliver(target, await eventOf(service, notification));
        } catch (error) {
          if (delivered.length === 0) throw error;
          log.warn('notification not delivered yet', { notification: notification.id, error });
          break;
        }
        delivered.push(notification.id);
      }
      return { delivered };
    },
  };
}

async function eventOf(service: LabService, notification: Notification): Promise<CloudEvent> {
  const { id, at, source, type, subject, data, portalLink } = notification;
  return {
    specversion: '1.0',
    id,
    source,
    type: `labops.${type}`,
    subject,
    time: at,
    datacontenttype: 'application/json',
    data: { ...snakeCased(data), ...(portalLink && (await linkTo(service, portalLink))) },
  };
}

/**
 * A link is a credential: it is made where it is sent and nowhere kept. A user without demographics, or a team without
 * the portal, gets the reminder without a link and with the reason.
 */
async function linkTo(
  service: LabService,
  { userId, orderId }: { userId: string; orderId: string },
): Promise<Record<string, unknown>> {
  return asFailures('ServiceRefused', async () => {
    try {
      const request = { context: 'communications', orderId };
      const link = await service.portal.createUrl(userId, request, { timeoutMs: callMs });
      return { portal_url: link.url, portal_url_expires_in: link.expires_in ?? null };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const isFinal = error instanceof ServiceRefused && !(error instanceof TooManyRequests);
      if (!isFinal && activityInfo().attempt < attemptsForLink) throw error;
      return { portal_url: null, portal_url_refused: error.name };
    }
  });
}

async function deliver({ url, secret }: NotificationTarget, event: CloudEvent): Promise<void> {
  const body = JSON.stringify(event);
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const response = await fetch(url, {
    method: 'POST',
    body,
    redirect: 'error',
    signal: AbortSignal.timeout(callMs),
    headers: {
      'content-type': 'application/cloudevents+json',
      'webhook-id': event.id,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': sign({ id: event.id, timestampSeconds, body, secret }),
    },
  });
  await response.body?.cancel();
  if (response.ok) return;
  const { attempt } = activityInfo();
  throw ApplicationFailure.retryable(
    `The target answered ${response.status} (attempt ${attempt})`,
    'NotificationRefused',
  );
}

/** The wire of notifications is JSON for any language: snake_case, as the service's own webhooks are. */
function snakeCased(data: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`),
      value,
    ]),
  );
}
