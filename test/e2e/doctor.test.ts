import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createNotificationHandler } from '../../client/notifications/index.js';
import { inventedOrgId } from '../../sandbox/lab-service/webhook-endpoints.js';
import { inventedTeamId } from '../../sandbox/lab-service/seed.js';
import { reconcileOrdersName, reconcileScheduleId } from '../../protocol/reconcile.js';
import { createLabService, type LabService } from '../../service/lab-service.js';
import { freePort, serveHttp } from '../../sandbox/temporal/ports.js';
import { readDoctorConfig } from '../../workers/doctor/config.js';
import { examine } from '../../workers/doctor.js';
import type { Finding } from '../../workers/doctor/findings.js';
import { type Ran, runProcess, workerCommand } from './labops.js';
import { managementKey, patience, stack } from './stack.js';

type Env = Record<string, string | undefined>;

const newKeys = () => `invented:${randomBytes(32).toString('base64')}`;
const lab = stack({
  keys: newKeys(),
  worker: { LABOPS_ENCRYPTION: 'required', RECONCILE_EVERY_MINUTES: '60' },
});

const place = { orgId: inventedOrgId, teamId: inventedTeamId, environment: 'sandbox' };
const placed = { LABOPS_ORG_ID: inventedOrgId, LABOPS_TEAM_ID: inventedTeamId, LABOPS_ENVIRONMENT: 'sandbox' };

let service: LabService;
let endpointId: string;
let receiverUrl: string;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  service = createLabService({ baseUrl: lab.service.url, apiKey: lab.service.apiKey, managementKey });
  closing.push(() => service.close());
  // Not the one of the stack: that holds that the worker sends nothing which a product would refuse.
  const handler = createNotificationHandler({ secrets: [lab.workerEnv['NOTIFY_SECRET'] ?? ''], on: {}, logger: false });
  receiverUrl = await serve((request, response) => void handler.node(request, response));
});
/** The stand-in forgets it after each test. */
beforeEach(async () => {
  const endpoint = { url: lab.ingressUrl, secret: lab.webhookSecret };
  ({ id: endpointId } = await service.management.webhooks.create(place, endpoint));
});
afterAll(async () => {
  await Promise.all(closing.map((close) => close()));
});

async function serve(...listener: Parameters<typeof serveHttp>): Promise<string> {
  const { url, close } = await serveHttp(...listener);
  closing.push(close);
  return url;
}

const settings = (env: Env = {}): Env => ({ ...lab.workerEnv, NOTIFY_URL: receiverUrl, ...placed, ...env });

/** The text of a check whose call had no answer in time. No fault that is planted here lets a call hang, so the machine was busy. */
const late = /no answer within|deadline|timeout|connect to Temporal server/i;

/** Does it again if a machine under load has kept an answer back for seconds. */
async function inTime<Answer>(ask: () => Promise<Answer>, isLate: (answer: Answer) => boolean): Promise<Answer> {
  for (let again = 4; ; again -= 1) {
    const answer = await ask();
    if (again === 0 || !isLate(answer)) return answer;
  }
}

/** @param expected findings that the test expects although they match `late` */
const findings = (env?: Env, expected = /^$/) =>
  inTime(
    () => examine(readDoctorConfig(settings(env))),
    (all) => all.some(({ status, found: said }) => status !== 'ok' && late.test(said) && !expected.test(said)),
  );
const found = (all: readonly Finding[], check: string) => all.find((finding) => finding.check === check);
const faults = (all: readonly Finding[]) => all.filter(({ status }) => status === 'fault');

const inTimeRan = (run: () => Promise<Ran>) => inTime(run, ({ stdout }) => late.test(stdout));

/** The lists of Temporal lag by moments. */
async function untilAnOrderIsListed(): Promise<void> {
  await lab.place();
  await expect.poll(async () => found(await findings(), 'encryption')?.found, patience).toMatch(/can be decrypted/);
}

test('a healthy deployment has no fault, one line for each check, and none of its secrets in it', async () => {
  await untilAnOrderIsListed();
  const { code, stdout, stderr } = await inTimeRan(() => runProcess(['doctor'], { env: settings() }));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^ok +Temporal +It answers at /m);
  expect(stdout).not.toMatch(/^fault/m);
  expect(stdout).toMatch(/^0 faults, \d+ warnings?\.\n$/m);
  const env = settings();
  for (const name of ['SERVICE_API_KEY', 'NOTIFY_SECRET', 'WEBHOOK_SECRETS', 'LABOPS_ENCRYPTION_KEYS']) {
    expect(stdout).not.toContain(env[name]);
  }
  const inJson = await inTimeRan(() => workerCommand(['doctor', '-o', 'json'], settings()));
  const answer = JSON.parse(inJson.stdout) as { faults: number; findings: Finding[] };
  expect(answer.faults).toBe(0);
  const kept = answer.findings.filter(({ status }) => status !== 'ok').map(({ check }) => check);
  // A dev server retains workflows for a day, and no codec server runs here.
  expect(kept).toEqual(['retention', 'codec server']);
});

test('a deployment with a fault makes it exit with 1', async () => {
  const env = settings({ SERVICE_API_KEY: 'sk_test_other' });
  const wrong = await inTimeRan(() => workerCommand(['doctor'], env));
  expect(wrong.code).toBe(1);
  expect(wrong.stdout).toMatch(/^fault +lab service +.*SERVICE_API_KEY/m);
  expect(wrong.stdout).not.toContain('sk_test_other');
});

interface Planted {
  /** The check that finds it, what it says, and the remedy. */
  check: string;
  says: RegExp;
  remedy: RegExp;
  env?: () => Env | Promise<Env>;
  plant?: () => Promise<unknown>;
  undo?: () => Promise<unknown>;
}

const schedule = () => lab.rig.client.schedule.getHandle(reconcileScheduleId(lab.rig.taskQueue));
const closedPort = async () => `127.0.0.1:${await freePort()}`;

/** A namespace that nothing is registered in. */
async function bareNamespace(): Promise<Env> {
  const namespace = 'bare';
  const { workflowService } = lab.rig.client.connection;
  const workflowExecutionRetentionPeriod = { seconds: 86_400 as never };
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  const taskQueue = { name: lab.rig.taskQueue };
  // Temporal's parts get to know it one after the other.
  const isKnown = () =>
    Promise.all([
      workflowService.countWorkflowExecutions({ namespace }),
      workflowService.describeTaskQueue({ namespace, taskQueue }),
    ]).then(
      () => true,
      () => false,
    );
  await expect.poll(isKnown, patience).toBe(true);
  return { TEMPORAL_NAMESPACE: namespace };
}

/** A task queue whose last pass somebody has terminated. */
async function terminatedPass(): Promise<Env> {
  const taskQueue = 'idle';
  const { client } = lab.rig;
  const handle = await client.schedule.create({
    scheduleId: reconcileScheduleId(taskQueue),
    spec: {},
    action: { type: 'startWorkflow', workflowType: reconcileOrdersName, workflowId: 'invented-pass', taskQueue },
  });
  closing.push(() => handle.delete());
  await handle.trigger();
  const passes = async () =>
    (await handle.describe()).info.recentActions.map(({ action }) => action.workflow.workflowId);
  await expect.poll(passes, patience).toHaveLength(1);
  await Promise.all((await passes()).map((workflowId) => client.workflow.getHandle(workflowId).terminate()));
  return { TASK_QUEUE: taskQueue };
}

/** The service as it looks to a machine whose clock is three minutes ahead. */
async function slowService(): Promise<Env> {
  const url = await serve((_request, response) => {
    response.setHeader('date', new Date(Date.now() - 180_000).toUTCString());
    response.writeHead(404).end();
  });
  return { SERVICE_BASE_URL: url };
}

const planted: Record<string, Planted> = {
  'a setting that is missing': {
    ...{ check: 'settings', says: /^SERVICE_API_KEY is missing/, remedy: /./ },
    env: () => ({ SERVICE_API_KEY: undefined }),
  },
  'a namespace that does not exist': {
    ...{ check: 'namespace', says: /namespace missing does not exist/, remedy: /TEMPORAL_NAMESPACE.*namespace create/ },
    env: () => ({ TEMPORAL_NAMESPACE: 'missing' }),
  },
  'missing search attributes': {
    ...{
      check: 'search attributes',
      says: /lacks search attributes \(LabReference/,
      remedy: /search-attribute create/,
    },
    env: bareNamespace,
  },
  'a retention that is too short for the settings': {
    ...{
      check: 'retention',
      says: /1 day, and SERVICE_ECHOES_PASSTHROUGH=false/,
      remedy: /namespace update .*--retention/,
    },
    env: () => ({ SERVICE_ECHOES_PASSTHROUGH: 'false' }),
  },
  'other encryption keys': {
    ...{ check: 'encryption', says: /names key "invented" does not decrypt/, remedy: /LABOPS_ENCRYPTION_KEYS/ },
    env: () => ({ LABOPS_ENCRYPTION_KEYS: newKeys() }),
    plant: untilAnOrderIsListed,
  },
  'no encryption keys': {
    ...{
      check: 'encryption',
      says: /A worker encrypts, but no keys are set here: \d+@/,
      remedy: /LABOPS_ENCRYPTION_KEYS/,
    },
    env: () => ({ LABOPS_ENCRYPTION_KEYS: undefined, LABOPS_ENCRYPTION: 'optional' }),
  },
  'a clock that is wrong': {
    ...{ check: 'clock', says: /1[78]\d seconds ahead of/, remedy: /NTP/ },
    env: slowService,
  },
  'a database that is stopped': {
    ...{ check: 'database', says: /cannot be used \(.*ECONNREFUSED/, remedy: /DATABASE_URL/ },
    env: async () => ({ HEALTH_DATA: undefined, DATABASE_URL: `postgres://lab@${await closedPort()}/lab` }),
  },
  'a schedule that is paused': {
    ...{ check: 'reconciliation', says: /is paused/, remedy: /schedule toggle --unpause/ },
    plant: () => schedule().pause(),
    undo: () => schedule().unpause(),
  },
  'a pass that did not end well': {
    ...{
      check: 'reconciliation',
      says: /last pass of the reconciliation was terminated/,
      remedy: /workflow show .*invented-pass/,
    },
    env: terminatedPass,
  },
  'a schedule that is missing, and no worker': {
    ...{ check: 'workers', says: /No worker polls nobody, nobody\/background/, remedy: /TASK_QUEUE/ },
    env: () => ({ TASK_QUEUE: 'nobody' }),
  },
  'a key that the service does not take': {
    ...{ check: 'lab service', says: /does not take the key/, remedy: /SERVICE_API_KEY/ },
    env: () => ({ SERVICE_API_KEY: 'sk_test_other' }),
  },
  'lists of orders and users at other paths': {
    ...{
      check: 'lab service',
      says: /^The list of orders is not at \/v9\/orders \(404\)\. The list of users is not at/,
    },
    remedy: /^Set SERVICE_ORDERS_PATH=\/orders and SERVICE_USERS_PATH=\/v2\/user\/, /,
    env: () => ({ SERVICE_ORDERS_PATH: '/v9/orders', SERVICE_USERS_PATH: '/v9/users' }),
  },
  'an endpoint for webhooks that is disabled': {
    ...{ check: 'webhook endpoint', says: /is disabled/, remedy: /labops webhooks enable/ },
    plant: () => service.management.webhooks.update(place, endpointId, { disabled: true }),
    undo: () => service.management.webhooks.update(place, endpointId, { disabled: false }),
  },
  'a webhook secret that the ingress does not have': {
    ...{ check: 'webhook endpoint', says: /secret of no enabled endpoint/, remedy: /WEBHOOK_SECRETS/ },
    env: () => ({ WEBHOOK_SECRETS: `whsec_${randomBytes(32).toString('base64')}` }),
  },
  'a receiver that is down': {
    ...{ check: 'notifications', says: /cannot be reached \(ECONNREFUSED\)/, remedy: /NOTIFY_URL/ },
    env: async () => ({ NOTIFY_URL: `http://${await closedPort()}/` }),
  },
  'a receiver with another secret': {
    ...{ check: 'notifications', says: /refused our signature with 401/, remedy: /NOTIFY_SECRET/ },
    env: () => ({ NOTIFY_SECRET: `whsec_${randomBytes(32).toString('base64')}` }),
  },
  'a deployment without a current version': {
    ...{ check: 'release', says: /has no current version/, remedy: /set-current-version/ },
    env: () => ({ TEMPORAL_DEPLOYMENT_NAME: 'invented', TEMPORAL_WORKER_BUILD_ID: 'build-1' }),
  },
};

/** What a fault brings with it, beside the check that names it. */
const consequences: Record<string, readonly string[]> = {
  'missing search attributes': ['reconciliation', 'workers'],
  'a clock that is wrong': ['lab service', 'webhook endpoint'],
  'a pass that did not end well': ['workers'],
  'a schedule that is missing, and no worker': ['reconciliation'],
};

test.each(Object.entries(planted))(
  '%s is named with its remedy',
  async (name, { check, says, remedy, env, ...how }) => {
    const changed = await env?.();
    await how.plant?.();
    try {
      const all = await findings(changed, says);
      expect(found(all, check)).toEqual({
        check,
        status: 'fault',
        found: expect.stringMatching(says) as string,
        remedy: expect.stringMatching(remedy) as string,
      });
      const others = faults(all).filter((finding) => finding.check !== check);
      expect(others.map((finding) => finding.check)).toEqual(consequences[name] ?? []);
    } finally {
      await how.undo?.();
    }
  },
);

test('a wrong address of Temporal is named with its remedy; a check whose ground is gone says why it was not made, and the others are made', async () => {
  const all = await findings({ TEMPORAL_ADDRESS: await closedPort() }, /cannot be reached at 127/);
  const remedy = expect.stringContaining('TEMPORAL_ADDRESS') as string;
  expect(faults(all)).toMatchObject([{ check: 'Temporal', remedy }]);
  const why = 'Not checked, because Temporal cannot be reached.';
  expect(found(all, 'encryption')).toMatchObject({ status: 'not_checked', found: why });
  expect(found(all, 'lab service')?.status).toBe('ok');
});
