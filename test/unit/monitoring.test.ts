import { execFile } from 'node:child_process';
import { readFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Client, ScheduleNotFoundError } from '@temporalio/client';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { answers } from '../../client/webhooks/answers.js';
import {
  observeActivities,
  observeCalls,
  observeWebhooks,
  createRegistry,
  resultOf,
} from '../../workers/monitoring/metrics.js';
import { watchReconciliation } from '../../workers/monitoring/last-reconciliation.js';
import { startMonitoring } from '../../workers/monitoring/server.js';
import { temporalHealth } from '../../workers/monitoring/health.js';
import { readIngressConfig } from '../../workers/settings/config.js';
import { startIngress } from '../../workers/ingress.js';
import { ownMetrics } from '../../tools/metrics-page.js';
import { findPromtool } from '../alerts/prometheus.js';
import { closedPort, secret, signed } from './webhooks/sending.js';
import {
  alertQuestions,
  namesIn,
  panelQuestions,
  rulesPath,
  rulesTestPath,
  samplesOf,
  valueOf,
} from '../rig/monitoring.js';

/** Of a target that the Prometheus operator finds. */
const labelsOfTargets = new Set(['container', 'endpoint', 'instance', 'job', 'namespace', 'pod', 'service']);

const run = promisify(execFile);
const page = await readFile(new URL('../../docs/monitoring.md', import.meta.url), 'utf8');
const promtool = await findPromtool();
if (promtool === undefined) {
  process.stdout.write(
    "The alert rules are not run: that needs Prometheus' promtool on PATH, or `npm run alerts` once.\n",
  );
}

interface RulesTest {
  alert_rule_test: { alertname: string; exp_alerts: unknown[] }[];
}

test('every alert has a heading in the docs, and names it as its runbook', async () => {
  const alerts = (await alertQuestions()).map(({ name }) => name);
  const rules = await readFile(rulesPath, 'utf8');
  expect(alerts.length).toBeGreaterThan(10);
  expect([...page.matchAll(/^### (Labops\w+)$/gm)].map(([, name]) => name)).toEqual(alerts);
  expect(
    [...rules.matchAll(/runbook_url: '\{\{ \$externalLabels\.labops_docs \}\}docs\/monitoring\.md#(\w+)/g)].map(
      ([, anchor]) => anchor,
    ),
  ).toEqual(alerts.map((name) => name.toLowerCase()));
});

test('the docs name the alerts that page somebody', async () => {
  const rules = await readFile(rulesPath, 'utf8');
  const critical = rules.split('- alert: ').filter((rule) => /severity: critical/.test(rule));
  const [paging = ''] = /^Page somebody for .*$/m.exec(page) ?? [];
  expect(paging.match(/Labops\w+/g)).toEqual(critical.map((rule) => rule.split('\n', 1).join('')));
});

/** A program's monitoring, with what was logged. */
async function monitored() {
  const lines: string[] = [];
  const log = pino({}, { write: (line) => void lines.push(line) });
  const monitoring = await startMonitoring({ host: '127.0.0.1', port: 0 }, log);
  onTestFinished(async () => monitoring?.close());
  return { lines, log, monitoring };
}

test('the answer to a probe that fails shows nothing of the error, which is in the log', async () => {
  const { lines, monitoring } = await monitored();
  monitoring?.watch({ ready: () => Promise.reject(new Error('invented-key is not valid')) });
  const { metricsUrl } = JSON.parse(lines[0] ?? '') as { metricsUrl: string };
  const answer = await fetch(new URL('/ready', metricsUrl));
  expect(answer.status).toBe(500);
  expect(await answer.text()).toMatch(/the log says why/);
  expect(lines.join('')).toContain('invented-key');
});

test('a webhook to another path is logged and counted as refused: its endpoint has a wrong address', async () => {
  const { lines, log, monitoring } = await monitored();
  const settings = { INGRESS_HOST: '127.0.0.1', INGRESS_PORT: '0', INGRESS_DRAIN_SECONDS: '0' };
  const temporal = { TEMPORAL_ADDRESS: `127.0.0.1:${await closedPort()}` };
  const config = readIngressConfig({ WEBHOOK_SECRETS: secret, ...settings, ...temporal });
  const ingress = await startIngress(config, log, { monitoring });
  onTestFinished(() => ingress.close());
  const answer = await fetch(`${ingress.url}/webhooks/?patient=invented`, signed('{}'));
  expect([answer.status, await answer.text()]).toEqual([404, '{"message":"There is nothing here"}']);
  expect((await fetch(`${ingress.url}/favicon.ico`)).status).toBe(404);
  const samples = samplesOf((await monitoring?.registry.metrics()) ?? '');
  expect(valueOf(samples, 'labops_webhooks_total', { answer: 'wrong_path', result: 'refused' })).toBe(1);
  expect(lines.filter((line) => /another path/.test(line))).toEqual([expect.stringContaining('"level":40')]);
  expect(lines.join('')).not.toContain('patient');
});

test('the panels of a task queue also show its side queues, which have activities and no workflows', async () => {
  const ofActivities = /temporal_(num_pollers|activity_\w+|worker_task_slots_\w+)\{task_queue=~"([^"]+)"/;
  const found = (await panelQuestions('labs')).flatMap(({ name, expression }) => {
    const [, , matcher] = ofActivities.exec(expression) ?? [];
    return matcher === undefined ? [] : [{ name, matches: new RegExp(`^(?:${matcher})$`) }];
  });
  expect(found).toHaveLength(4);
  for (const { name, matches } of found) {
    const shown = ['labs', 'labs/background', 'labs2', 'other/background'].filter((queue) => matches.test(queue));
    expect(shown, name).toEqual(['labs', 'labs/background']);
  }
});

test('rules and panels name metrics', async () => {
  for (const question of [...(await alertQuestions()), ...(await panelQuestions())]) {
    expect(namesIn(question), question.name).not.toEqual([]);
  }
});

test('no metric of our own has a label that the Prometheus operator sets: it would get another name', async () => {
  expect(ownMetrics().length).toBeGreaterThan(15);
  const labels = ownMetrics().flatMap(({ labelNames }) => labelNames);
  expect(labels.filter((label) => labelsOfTargets.has(label))).toEqual([]);
});

test('every alert has a unit test in which it fires', async () => {
  const { tests } = parse(await readFile(rulesTestPath, 'utf8')) as { tests: RulesTest[] };
  const fired = tests.flatMap(({ alert_rule_test: checks }) =>
    checks.filter(({ exp_alerts: expected }) => expected.length > 0).map(({ alertname }) => alertname),
  );
  expect(new Set(fired)).toEqual(new Set((await alertQuestions()).map(({ name }) => name)));
});

test.runIf(promtool)("rules and panels pass Prometheus' own check, and the rules their unit tests", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'labops-rules-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const rules = (await panelQuestions()).map(({ expression: expr }, index) => ({ record: `panel:${index}`, expr }));
  const file = join(folder, 'panels.json');
  await writeFile(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
  await run(promtool ?? '', ['check', 'rules', rulesPath, file]);
  await run(promtool ?? '', ['test', 'rules', rulesTestPath]);
});

test("an answer's result follows from its status, and those of a 204 say what became of the event", () => {
  const names = Object.keys(answers) as (keyof typeof answers)[];
  const withStatus = (least: number, most: number) =>
    names.filter((name) => answers[name].status >= least && answers[name].status <= most).map(resultOf);
  expect(new Set(withStatus(500, 599))).toEqual(new Set(['failed']));
  expect(new Set(withStatus(400, 499))).toEqual(new Set(['refused']));
  expect(new Set(withStatus(200, 299))).toEqual(new Set(['taken', 'repeated', 'set_aside', 'let_go']));
  const kept = (['delivered', 'event_set_aside', 'not_handled'] as const).map(resultOf);
  expect(kept).toEqual(['taken', 'set_aside', 'let_go']);
});

test('counters are there before anything happens, because increase() does not see a first event', async () => {
  const registry = createRegistry({ task_queue: 'labs' });
  observeWebhooks(registry);
  observeActivities(registry);
  const samples = samplesOf(await registry.metrics());
  expect(valueOf(samples, 'labops_webhooks_total', { answer: 'delivered', task_queue: 'labs' })).toBe(0);
  expect(valueOf(samples, 'labops_notifications_total', { outcome: 'failed' })).toBe(0);
  expect(valueOf(samples, 'labops_reconciled_total', { outcome: 'match_reviews' })).toBe(0);
  expect(valueOf(samples, 'labops_webhook_lag_seconds_count', { kind: 'order' })).toBe(0);
});

test('what parts report is counted in seconds, by bounded labels', async () => {
  const registry = createRegistry({});
  observeCalls(registry)({ method: 'GET', path: '/v3/order/{order_id}', result: 'AnswerLost', milliseconds: 1500 });
  const { answered: webhook } = observeWebhooks(registry);
  webhook({ answer: 'health_data_accepted', also: 'delivered', status: 204, milliseconds: 20, kind: 'connection' });
  webhook({ answer: 'delivered', status: 204, milliseconds: 20, kind: 'order', lagMilliseconds: 4_000 });
  const activities = observeActivities(registry);
  activities.notificationSent('delivered', 60_000);
  activities.reconciled({ listed: 3, reopened: 1 });
  const samples = samplesOf(await registry.metrics());
  const call = { route: 'GET /v3/order/{order_id}', status: 'AnswerLost' };
  expect(valueOf(samples, 'labops_service_call_seconds_sum', call)).toBeCloseTo(1.5);
  expect(valueOf(samples, 'labops_webhooks_total', { answer: 'delivered', result: 'taken' })).toBe(2);
  expect(valueOf(samples, 'labops_webhook_lag_seconds_sum', { kind: 'order' })).toBe(4);
  expect(valueOf(samples, 'labops_notification_lag_seconds_sum')).toBe(60);
  expect(valueOf(samples, 'labops_reconciled_total', { outcome: 'reopened' })).toBe(1);
});

test.each([
  [true, 1],
  [false, 0],
])('a missing schedule counts as created at the start if reconciliation is on: %s', async (isOn, count) => {
  const client = {
    options: { namespace: 'default' },
    withDeadline: (_deadline: number, ask: () => Promise<unknown>) => ask(),
    schedule: { getHandle: () => ({ describe: () => Promise.reject(new ScheduleNotFoundError('deleted', 'id')) }) },
    workflowService: { listWorkflowExecutions: () => Promise.resolve({ executions: [] }) },
  } as unknown as Client;
  const registry = createRegistry({});
  const before = Math.floor(Date.now() / 1000);
  await watchReconciliation(registry, { client, taskQueue: 'labs', log: { warn: () => expect.unreachable() }, isOn })();
  const shown = await registry.getSingleMetric('labops_last_reconciliation_timestamp_seconds')?.get();
  expect(shown?.values.filter(({ value }) => value >= before)).toHaveLength(count);
});

test('a header that cannot be sent makes Temporal unusable, and neither answer nor log shows it', async () => {
  // gRPC's own sentence about such a header.
  const refuse = () =>
    Promise.reject(new Error('Metadata string value "Bearer invented-key" contains illegal characters'));
  const connection = {
    withDeadline: async (_deadline: number, call: () => Promise<unknown>) => call(),
    workflowService: { describeNamespace: refuse },
  };
  const logged: unknown[] = [];
  const log = { warn: (...line: unknown[]) => logged.push(line) };
  const isReady = temporalHealth(connection as never, {
    ...{ process: 'ingress', address: 'temporal:7233', namespace: 'default' },
    log: log as never,
  });
  expect(await isReady()).toBe(false);
  expect(JSON.stringify(logged)).toContain('the ingress is not ready');
  expect(JSON.stringify(logged)).not.toContain('invented-key');
});
