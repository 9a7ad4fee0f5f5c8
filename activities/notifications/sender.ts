import { ApplicationFailure, activityInfo } from '@temporalio/activity';
import { type Dispatcher, request } from 'undici';
import type { CloudEvent } from '../../protocol/notifications/events.js';
import { proxyAgentFor, proxyFor, throughWhich } from '../../service/http/proxy.config.js';
import { sign } from '../../service/webhooks/signature.js';

/** The product's endpoint for notifications. */
export interface NotificationTarget {
  url: string;
  /** `whsec_…`: signs every notification as Standard Webhooks. */
  secret: string;
  /** How many days a notification is tried after its workflow has ended. Default 30. */
  retryDays?: number;
  /** True if notifications carry the user's `client_user_id`. Default false: it costs a read per user. */
  namesClientUser?: boolean;
  /** How long nothing is sent to an endpoint that fails again and again, in milliseconds. Default 10,000. */
  pauseMs?: number;
}

/** How long a call of the target may take, in milliseconds: as long as the service allows a webhook receiver. */
export const callMs = 15_000;

/** Deliveries in a row that fail before the endpoint gets a pause: fewer may be one instance that is being replaced. */
const failuresBeforePause = 5;

export const receiverPausedType = 'ReceiverPaused';

/**
 * The outcome of a call; everything else is an error, and the notification is sent again. A refused notification waits for an operator in
 * `deliverNotifications` (`workflows/notifications/delivery.ts`). `answer`: the name of the client's answer.
 */
export type Sent = { as: 'delivered' } | { as: 'refused'; status: number; answer?: string };

export interface NotificationSender {
  /** @throws ApplicationFailure `ReceiverPaused` while nothing may be sent. Ask before anything is read for a notification. */
  readonly requireOpen: () => void;
  readonly send: (event: CloudEvent) => Promise<Sent>;
}

/**
 * An endpoint that fails or hangs holds up one delivery at a time: after five failures in a row this process fails the others at
 * once, and lets one through after the pause to see whether it answers again. What failed is retried as after any other failure.
 */
export function senderTo(target: NotificationTarget): NotificationSender {
  const { pauseMs = 10_000 } = target;
  let failures = 0;
  let pausedUntil = 0;
  let isTried = false;
  const isPaused = () => failures >= failuresBeforePause;
  const requireOpen = (): void => {
    if (isPaused() && (isTried || Date.now() < pausedUntil)) throw paused();
  };
  return {
    requireOpen,
    send: async (event) => {
      if (!sendableId.test(event.id)) return { as: 'refused', status: unsendableStatus };
      requireOpen();
      const tries = isPaused();
      isTried ||= tries;
      try {
        const sent = await deliver(target, event);
        failures = 0;
        return sent;
      } catch (error) {
        failures += 1;
        // Not for one that began before the pause: calls that hang would prolong it.
        if (tries || failures === failuresBeforePause) pausedUntil = Date.now() + pauseMs;
        throw error;
      } finally {
        if (tries) isTried = false;
      }
    },
  };
}

function paused(): ApplicationFailure {
  return ApplicationFailure.create({
    message:
      'Deliveries to NOTIFY_URL failed several times in a row, so they pause for a moment: check the receiver. This delivery is retried',
    type: receiverPausedType,
  });
}

/** An id is a header. One that cannot be sent would be retried forever, and hold up all that come after it. */
const sendableId = /^[\x21-\x7e]{1,512}$/;

/** The answer of a receiver that cannot read it. */
const unsendableStatus = 400;

async function deliver({ url, secret }: NotificationTarget, event: CloudEvent): Promise<Sent> {
  const body = JSON.stringify(event);
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const agent = proxyAgentFor(url);
  // Redirects are not followed: the signature is for this receiver.
  const reply = await request(url, {
    method: 'POST',
    body,
    signal: AbortSignal.timeout(callMs),
    ...(agent && { dispatcher: agent }),
    headers: {
      'content-type': 'application/cloudevents+json',
      'user-agent': 'lab-operations',
      'webhook-id': event.id,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': sign({ id: event.id, timestampSeconds, body, secret }),
    },
  }).catch((error: unknown) => {
    throw unreached(url, error);
  });
  const { statusCode: status } = reply;
  if (status >= 200 && status < 300) {
    // Not awaited: a body without an end would hold this slot.
    void reply.body.dump();
    return { as: 'delivered' };
  }
  const answer = await nameOfAnswer(reply);
  // A refusal that a later attempt cannot change: any 4xx but a timeout, a conflict, "too early" and "too many".
  if (status >= 400 && status < 500 && ![408, 409, 425, 429].includes(status))
    return { as: 'refused', status, ...(answer !== undefined && { answer }) };
  const { attempt } = activityInfo();
  const advice =
    status >= 300 && status < 400
      ? 'redirects are not followed: set NOTIFY_URL to the address that it leads to'
      : "read the receiver's log";
  const pause = retryAfterMs(reply.headers['retry-after']);
  throw ApplicationFailure.create({
    message: `NOTIFY_URL answered ${answer === undefined ? status : `${status} ${answer}`} (attempt ${attempt}): ${advice}. The delivery is retried`,
    type: 'NotificationRefused',
    // Also for the workflow, if these attempts have no time left for the pause.
    ...(pause !== undefined && { nextRetryDelay: pause, details: [{ fields: [], retryAfterMs: pause }] }),
  });
}

/** The reason of a failure behind a proxy is its innermost cause. */
function unreached(url: string, error: unknown): ApplicationFailure {
  let inner = error as { cause?: unknown; code?: unknown; message: string };
  while (inner.cause instanceof Error) inner = inner.cause;
  const reason = typeof inner.code === 'string' ? inner.code : inner.message;
  const way = `NOTIFY_URL cannot be reached${throughWhich(proxyFor(url))} (${reason})`;
  return ApplicationFailure.create({
    message: `${way}: start the receiver, or correct the address or the way to it (DNS, TLS, proxy, firewall). The delivery is retried`,
    type: 'ReceiverUnreachable',
  });
}

/**
 * The name by which the client's notification handler refuses: `signature_mismatch`. Another receiver's body stays unread or is
 * not repeated, because it may quote the notification.
 */
async function nameOfAnswer({ headers, body }: Dispatcher.ResponseData): Promise<string | undefined> {
  if (!(Number(headers['content-length']) <= longestAnswer)) {
    await body.dump();
    return undefined;
  }
  const text = await body.text().catch(() => '');
  return /^\{"error":"([a-z_]{1,40})","message":/.exec(text)?.[1];
}

/** Bytes; the client's answers have a few hundred. */
const longestAnswer = 1024;

/** The longest pause that a receiver may request. */
const longestPauseMs = 60 * 60_000;

/** In milliseconds. The header's value is seconds or a date. */
function retryAfterMs(value: string | string[] | undefined): number | undefined {
  if (typeof value !== 'string') return undefined;
  const pause = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return pause > 0 ? Math.min(pause, longestPauseMs) : undefined;
}
