import { randomUUID } from 'node:crypto';
import { probeBody } from '../../client/notifications/answers.js';
import { fetchThroughProxy, proxyFor, throughWhich } from '../../service/http/proxy.config.js';
import { sign } from '../../service/webhooks/signature.js';
import type { WorkerConfig } from '../settings/config.js';
import { answerWithinMs, fault, ok, reasonOf, type Verdict, warning } from './findings.js';

type Notify = WorkerConfig['notify'];
type Target = Exclude<Notify, 'off' | undefined>;

/**
 * Two requests that no receiver takes for a notification: one without a signature, which must be refused; then one with a
 * signature, whose body is not an event. Its answer shows if the receiver knows the secret.
 */
export async function notificationTarget(notify: Notify): Promise<Verdict> {
  if (notify === 'off') return ok('No notifications are sent (NOTIFICATIONS=off).');
  if (!notify) {
    return warning(
      'NOTIFY_URL is not set here: a worker with these settings delivers no notifications.',
      "Set the worker's NOTIFY_URL and NOTIFY_SECRET here; if it has none, set them there, too, or NOTIFICATIONS=off to send none.",
    );
  }
  try {
    const status = await post(notify, {});
    return verdictOf(status) ?? (await secretVerdict(notify));
  } catch (error) {
    const remedy = 'Start the receiver, or correct NOTIFY_URL or the way to it (DNS, TLS, firewall).';
    return fault(
      `The receiver of notifications cannot be reached${throughWhich(proxyFor(notify.url))} (${reasonOf(error)}).`,
      remedy,
    );
  }
}

/** @param status the answer to a request without a signature; undefined: as it should be */
function verdictOf(status: number): Verdict | undefined {
  if (status >= 500) {
    return fault(
      `The receiver of notifications answered ${status}.`,
      "Look into the receiver's log; deliveries are retried.",
    );
  }
  if (status === 404 || status === 405 || (status >= 300 && status < 400)) {
    const remedy = 'Set NOTIFY_URL to the exact address of the handler; redirects are not followed.';
    return fault(`The receiver of notifications answered ${status}: there is no handler at NOTIFY_URL.`, remedy);
  }
  if (status < 300) {
    const remedy =
      "Let it verify signatures: with the client's createNotificationHandler, or by the Standard Webhooks.";
    return warning(`The receiver of notifications answered ${status} to a request without a signature.`, remedy);
  }
  return undefined;
}

async function secretVerdict(target: Target): Promise<Verdict> {
  const id = `doctor-${randomUUID()}`;
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const status = await post(target, {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': sign({ id, timestampSeconds, body: probeBody, secret: target.secret }),
  });
  if (status !== 401 && status !== 403) return ok('The receiver of notifications answers and checks signatures.');
  return fault(
    `The receiver of notifications refused our signature with ${status}.`,
    'Give it the NOTIFY_SECRET of the worker, and synchronise its clock.',
  );
}

async function post({ url }: Target, headers: Record<string, string>): Promise<number> {
  const signal = AbortSignal.timeout(answerWithinMs / 2);
  const all = { 'content-type': 'text/plain', ...headers };
  const response = await fetchThroughProxy(url, {
    method: 'POST',
    body: probeBody,
    redirect: 'manual',
    signal,
    headers: all,
  });
  await response.body?.cancel();
  return response.status;
}
