import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ActivityObserver } from '../../activities/dependencies.js';
import { type AnswerName, answers } from '../../client/webhooks/answers.js';
import type { RequestObserver } from '../../client/webhooks/endpoint.js';
import type { ReconcileCounts } from '../../protocol/reconcile.js';
import type { CallObserver } from '../../service/http/http.js';

/*
 * A process's own metrics: each part of it makes those that it reports. Labels are bounded sets: no id, nothing personal. A
 * counter whose labels are known exists from the start: `increase()` does not see the first event of a series that is new.
 */

/** @param labels of every metric of our own */
export function createRegistry(labels: Record<string, string>): Registry {
  const registry = new Registry();
  registry.setDefaultLabels(labels);
  // Ten times a second shows a process that is stuck; the default, a hundred times, is a cost of its own.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
  return registry;
}

/** For the calls of the lab service. */
export function observeCalls(registry: Registry): CallObserver {
  const seconds = new Histogram({
    name: 'labops_service_call_seconds',
    help: 'Calls of the lab service. `status`: the HTTP status, or the error (docs/errors.md) if there is none, or `aborted`.',
    labelNames: ['route', 'status'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [registry],
  });
  return ({ method, path, result, milliseconds }) => {
    seconds.observe({ route: `${method} ${path}`, status: String(result) }, milliseconds / 1000);
  };
}

/** The result of a webhook, more coarsely than its answer. */
type WebhookResult = 'taken' | 'repeated' | 'set_aside' | 'let_go' | 'refused' | 'failed';

const taken: ReadonlySet<AnswerName> = new Set(['delivered', 'health_data_accepted', 'health_data_unwanted']);
const setAside: ReadonlySet<AnswerName> = new Set(['body_set_aside', 'event_set_aside', 'health_data_set_aside']);

export function resultOf(answer: AnswerName): WebhookResult {
  const { status } = answers[answer];
  if (status >= 500) return 'failed';
  if (status >= 400) return 'refused';
  if (answer === 'repeated') return 'repeated';
  if (setAside.has(answer)) return 'set_aside';
  return taken.has(answer) ? 'taken' : 'let_go';
}

/** For the answers of the webhook handler (`answered`), and webhooks that never reach it (`strayed`). */
export function observeWebhooks(registry: Registry): { answered: RequestObserver<AnswerName>; strayed: () => void } {
  const requests = new Counter({
    name: 'labops_webhooks_total',
    help: 'Webhooks by answer. `result`: `taken`, `repeated`, `set_aside` (among the rejected events), `let_go` (204, nothing kept), `refused` (4xx), `failed` (5xx: the service tries again).',
    labelNames: ['answer', 'result'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'labops_webhook_seconds',
    help: 'From a webhook’s headers to its answer.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const lag = new Histogram({
    name: 'labops_webhook_lag_seconds',
    help: 'From the change at the service to the signal in Temporal, for `order`, `critical_result` and `appointment`; other events name no time.',
    labelNames: ['kind'],
    buckets: [1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400, 172_800],
    registers: [registry],
  });
  const count = (answer: AnswerName, times = 1) => requests.inc({ answer, result: resultOf(answer) }, times);
  for (const answer of Object.keys(answers) as AnswerName[]) count(answer, 0);
  const stray = (times: number) =>
    requests.inc({ answer: 'wrong_path', result: 'refused' satisfies WebhookResult }, times);
  stray(0);
  for (const kind of ['order', 'critical_result', 'appointment']) lag.zero({ kind });
  return {
    answered({ answer, also, milliseconds, kind, lagMilliseconds }) {
      count(answer);
      if (also !== undefined) count(also);
      seconds.observe(milliseconds / 1000);
      if (kind !== undefined && lagMilliseconds !== undefined) lag.observe({ kind }, lagMilliseconds / 1000);
    },
    strayed: () => stray(1),
  };
}

/** For the worker's activities. */
export function observeActivities(registry: Registry): ActivityObserver {
  const notifications = new Counter({
    name: 'labops_notifications_total',
    help: 'Attempts to deliver a notification: `delivered`, `refused` for good, `failed` and tried again. Notifications that are dropped as outdated, and attempts that wait for a paused receiver, are not counted.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const lag = new Histogram({
    name: 'labops_notification_lag_seconds',
    help: 'From what a notification is about to its delivery.',
    buckets: [1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400, 604_800],
    registers: [registry],
  });
  const reconciled = new Counter({
    name: 'labops_reconciled_total',
    help: 'What reconciliation found: `listed`, `notified`, `finished`, `critical`, `passed_over`; `reopened` (ends, of running workflows too) and `match_reviews` count what webhooks had missed. `notified` includes orders whose webhooks did come; `finished`: the end was known.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of ['delivered', 'refused', 'failed']) notifications.inc({ outcome }, 0);
  for (const outcome of Object.values(reconciledOutcomes)) reconciled.inc({ outcome }, 0);
  return {
    notificationSent(outcome, sinceMilliseconds) {
      notifications.inc({ outcome });
      if (sinceMilliseconds !== undefined) lag.observe(Math.max(0, sinceMilliseconds / 1000));
    },
    reconciled(counts) {
      for (const [name, count] of Object.entries(counts)) {
        const outcome = reconciledOutcomes[name as keyof typeof reconciledOutcomes];
        reconciled.inc({ outcome }, count);
      }
    },
  };
}

/** The label for each count. */
const reconciledOutcomes: Readonly<Record<keyof ReconcileCounts, string>> = {
  listed: 'listed',
  notified: 'notified',
  finished: 'finished',
  reopened: 'reopened',
  passedOver: 'passed_over',
  critical: 'critical',
  matchReviews: 'match_reviews',
};

/** For the answers of the codec server. */
export function observeConversions(registry: Registry): (direction: 'encode' | 'decode', status: number) => void {
  const requests = new Counter({
    name: 'labops_codec_requests_total',
    help: 'Requests of the codec server, by direction and HTTP status.',
    labelNames: ['direction', 'status'],
    registers: [registry],
  });
  for (const direction of ['encode', 'decode']) requests.inc({ direction, status: '200' }, 0);
  return (direction, status) => requests.inc({ direction, status: String(status) });
}

/**
 * For the writer of the audit trail.
 * @param oldestMilliseconds since when the oldest row waits; 0 if none does
 */
export function observeAudit(registry: Registry, oldestMilliseconds: () => number): { lost: (rows: number) => void } {
  const lost = new Counter({
    name: 'labops_audit_lost_total',
    help: 'Rows of the audit trail that could not be written: the database did not answer for too long, or until the process ended.',
    registers: [registry],
  });
  new Gauge({
    name: 'labops_audit_waiting_seconds',
    help: 'For how long the oldest row of the audit trail has waited to be written; usually less than a second.',
    registers: [registry],
    collect() {
      this.set(oldestMilliseconds() / 1000);
    },
  });
  return { lost: (rows) => lost.inc(rows) };
}
