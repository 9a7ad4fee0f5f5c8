import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkflowExecutionInfo } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest';
import {
  labDataConverter,
  LabOperations,
  parseKeyRing,
  type OrderHandle,
  type OrderPolicy,
  type ServiceDescription,
} from '../../client/index.js';
import { sandboxControl, type SandboxControl, type RevealedOrder } from '../../sandbox/control.js';
import { freePort } from '../../sandbox/temporal/ports.js';
import { kitOrderId } from '../../protocol/ids.js';
import { devServer, type Rig } from '../rig/environments.js';
import { patienceMs } from '../rig/patience.js';
import { isIdle } from '../rig/idle.js';
import { startBuilt } from '../rig/built.js';
import type { StartedProcess } from '../rig/processes.js';
import { kitFor } from '../rig/cast.js';
import { startNotificationReceiver, type NotificationReceiver } from '../rig/notification-receiver.js';

/** Made for these tests; no service has them. */
const apiKey = 'sk_test_invented';
const webhookSecret = `whsec_${Buffer.from('an-invented-webhook-key-32-bytes').toString('base64')}`;
const notifySecret = `whsec_${Buffer.from('an-invented-notify-key--32-bytes').toString('base64')}`;
/** What the worker manages the organisation with. */
export const managementKey = 'mk_test_invented';
/** A key that was replaced. */
export const oldKey = `old:${Buffer.from('an-invented-earlier-key-32-bytes').toString('base64')}`;
/** The keys of a stack that names no others. */
export const encryptionKeys = `invented:${Buffer.from('an-invented-payload-key-32-bytes').toString('base64')},${oldKey}`;

export interface StackOptions {
  /** Added to the worker's environment. */
  worker?: Record<string, string | undefined>;
  /** True if the worker has a target for notifications. Default true. */
  notifies?: boolean;
  /** The keys of worker, ingress and client, in a stack that is then the file's own; `''`: nothing is encrypted. Default: `encryptionKeys`. */
  keys?: string;
  /** True if the file needs a stack that nobody used before: it counts what is there, or moves the service's clock. */
  own?: boolean;
  /** The shape of the deployment, which worker, ingress, sandbox and client read from a file; the stack is then the file's own. */
  described?: Described;
  /** More arguments for the Temporal server, which is then the file's own. */
  serverArguments?: readonly string[];
}

interface Described {
  description: ServiceDescription;
  /** What comes before every path of the service. */
  basePath: string;
}

/** Everything of a deployment, each part its own process: Temporal, the service's stand-in, the ingress, the worker. */
export interface Stack {
  readonly rig: Rig;
  /** The keys of worker, ingress and client. */
  readonly keys: string;
  /** What a client with these keys is given; empty without any. */
  readonly dataConverter: DataConverter;
  readonly labs: LabOperations;
  readonly sandbox: SandboxControl;
  readonly ingress: StartedProcess;
  readonly ingressUrl: string;
  readonly worker: StartedProcess;
  /** What the service's stand-in has written. */
  readonly sandboxOutput: string;
  readonly receiver: NotificationReceiver;
  /** Address and key of the service, for what another system does there. */
  readonly service: { url: string; apiKey: string };
  /** What the service's webhooks are signed with. */
  readonly webhookSecret: string;
  /** The folder that the worker reads the files of reports from. Other files of tests use it, too. */
  readonly reportRoot: string;
  /** What the worker is started with. */
  readonly workerEnv: Record<string, string | undefined>;
  /** Another worker, which is `worker` from then on. What is given is added to its environment. */
  startWorker(env?: Record<string, string>): Promise<void>;
  /** Another ingress beside the first, with other settings. */
  startIngress(env: Record<string, string>): Promise<string>;
  /** Places an order for a new user and waits until it is there. */
  place(policy?: OrderPolicy): Promise<Placed>;
  /** A new user's id. */
  newUser(): Promise<string>;
  /** The orders of a user at the service. */
  ordersOf(userId: string): Promise<RevealedOrder[]>;
  /** How many creations reached the service since the test began. */
  creations(): Promise<number>;
  /** Waits until the order waits for nothing but time or messages. */
  untilIdle(rootOrderId: string): Promise<void>;
  /** The names of the activities that a run of `kitOrder` scheduled, in their order. */
  activitiesOf(rootOrderId: string): Promise<string[]>;
  /** The runs of a root order, ended or not, once visibility has caught up with all that ended. */
  runsOf(rootOrderId: string): Promise<WorkflowExecutionInfo[]>;
  /** Waits until a workflow's end can be found by searching: it lags by moments. */
  untilListedAsEnded(rootOrderId: string, runs?: number): Promise<void>;
}

export interface Placed {
  handle: OrderHandle;
  orderId: string;
  userId: string;
  reference: string;
}

/**
 * Call it at the top of a test file. Files share a stack, which stands until this process ends: a test touches only what it has made.
 * Between tests the stand-in forgets its faults and webhook endpoints, not its orders. After a file all workflows that it left open are terminated; before
 * the next one the stand-in has its settings again, and the worker is replaced if it has ended or has other settings.
 */
export function stack(options: StackOptions = {}): Stack {
  const { serverArguments = [], keys = encryptionKeys } = options;
  const standing = standingName(options);
  const dataConverter: DataConverter = keys === '' ? {} : labDataConverter(parseKeyRing(keys));
  const rig = devServer({ client: { dataConverter }, serverArguments, ...(standing !== undefined && { standing }) });
  let parts: Parts | undefined;
  let labs: LabOperations | undefined;
  const up = (): Parts => {
    if (!parts) throw new Error('The processes of this file are started before its tests: use them inside them.');
    return parts;
  };
  const envOfWorker = () => workerEnv(up(), rig, options);
  const startWorker = async (env: Record<string, string> = {}): Promise<void> => {
    const all = { ...envOfWorker(), ...env };
    const worker = await start('workers/worker.ts', all, /worker started/);
    Object.assign(up(), { worker, workerHas: JSON.stringify(all) });
    void worker.exit.then(() => up().worker === worker && delete up().workerHas);
  };

  beforeAll(async () => {
    const found = standing === undefined ? undefined : standingParts.get(standing);
    parts = found ?? (await startParts(rig, options));
    const { sandboxUrl, settings, receiver, ingress, sandbox, worker } = parts;
    labs = labOperations(rig, parts);
    for (const program of [receiver, ingress, sandbox, worker]) program?.forget();
    await sandboxControl(sandboxUrl).changeSettings(settings);
    if (parts.workerHas !== JSON.stringify(envOfWorker())) {
      await worker?.stop();
      await startWorker();
      if (onTopology) {
        const first = up().worker as StartedProcess;
        await startWorker();
        up().worker = together(first, up().worker as StartedProcess);
      }
    }
    if (standing !== undefined) standingParts.set(standing, parts);
  });
  afterEach(async () => {
    const control = sandboxControl(up().sandboxUrl);
    await control.removeFaults();
    await control.removeWebhookFaults();
    await control.removeEndpoints();
    await control.releaseWebhooks();
    await control.clearRequests();
  });
  afterAll(async () => {
    if (!parts) return;
    const { worker, ingress, sandbox, receiver } = parts;
    if (standing === undefined) {
      await Promise.all([worker, ingress, sandbox].map(async (program) => program?.stop()));
      await receiver.close();
    } else {
      await terminateAll(rig);
      receiver.expectGenuine();
    }
    await labs?.close();
  });

  return {
    rig,
    keys,
    dataConverter,
    webhookSecret,
    get labs() {
      if (!labs) throw new Error('The client of this file is made before its tests: use it inside them.');
      return labs;
    },
    get sandbox() {
      return sandboxControl(up().sandboxUrl);
    },
    get ingress() {
      return up().ingress;
    },
    get ingressUrl() {
      return up().settings.webhookUrl;
    },
    get worker() {
      return up().worker as StartedProcess;
    },
    get sandboxOutput() {
      return up().sandbox.output();
    },
    get receiver() {
      return up().receiver;
    },
    get service() {
      return { url: up().sandboxUrl, apiKey };
    },
    reportRoot: reportRoot(),
    get workerEnv() {
      return { ...common, ...envOfWorker() };
    },
    startWorker,
    startIngress: async (env) =>
      addressIn(await startIngress(rig, { LABOPS_ENCRYPTION_KEYS: keys, ...env }, false), listening),
    async place(policy) {
      const userId = await this.newUser();
      const reference = `story-${randomUUID()}`;
      const handle = await this.labs.orders.place(kitFor(userId, reference, policy));
      return { handle, orderId: await handle.orderId(), userId, reference };
    },
    newUser: async () => (await sandboxControl(up().sandboxUrl).createUser()).user.user_id,
    async ordersOf(userId) {
      return (await this.sandbox.orders()).filter(({ order }) => order.user_id === userId);
    },
    async creations() {
      return (await this.sandbox.requests({ method: 'POST', path: '/v3/order/testkit' })).length;
    },
    async untilIdle(rootOrderId) {
      await expect.poll(() => isIdle(rig.client, kitOrderId(rootOrderId)), patience).toBe(true);
    },
    async activitiesOf(rootOrderId) {
      const { events } = await rig.client.workflow.getHandle(kitOrderId(rootOrderId)).fetchHistory();
      return (events ?? []).flatMap(
        ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? [],
      );
    },
    async runsOf(rootOrderId) {
      const runs: WorkflowExecutionInfo[] = [];
      const query = `WorkflowId = '${kitOrderId(rootOrderId)}'`;
      for await (const run of rig.client.workflow.list({ query })) runs.push(run);
      return runs;
    },
    async untilListedAsEnded(rootOrderId, runs = 1) {
      const ended = async () => (await this.runsOf(rootOrderId)).filter(({ closeTime }) => closeTime).length;
      await expect.poll(ended, patience).toBe(runs);
    },
  };
}

/** How long a story may wait for what should come at once, on a busy machine. */
export const patience = { timeout: patienceMs, interval: 50 };

interface Parts {
  /** The settings of a deployment that is described; else its address. */
  deployment: Record<string, string>;
  receiver: NotificationReceiver;
  ingress: StartedProcess;
  sandbox: StartedProcess;
  sandboxUrl: string;
  /** What the stand-in has when a file begins. */
  settings: Awaited<ReturnType<SandboxControl['settings']>>;
  worker?: StartedProcess;
  /** The settings of the worker, as long as it runs. */
  workerHas?: string;
}

const standingParts = new Map<string, Parts>();

/** The name of the stack that the file shares with others, if it does. */
function standingName({ own = false, described, serverArguments, keys }: StackOptions): string | undefined {
  return own || described || serverArguments || keys !== undefined ? undefined : 'lab-operations-stories';
}

async function startParts(rig: Rig, { keys = encryptionKeys, described }: StackOptions): Promise<Parts> {
  await mkdir(reportRoot(), { recursive: true });
  const receiver = await startNotificationReceiver(notifySecret);
  const port = described ? await freePort() : 0;
  const file = described && (await writtenDescription(described, port));
  const description: Record<string, string> = file
    ? { SERVICE_DESCRIPTION: file, SERVICE_ENVIRONMENT: 'sandbox-eu' }
    : {};
  const ofSandbox = {
    ...sandboxEnv,
    ...description,
    SANDBOX_PORT: String(port),
    SERVICE_MANAGEMENT_KEY: managementKey,
  };
  const [ingress, sandbox] = await Promise.all([
    startIngress(rig, { ...description, LABOPS_ENCRYPTION_KEYS: keys }),
    start('sandbox/main.ts', ofSandbox, /sandbox: (http\S+?),/),
  ]);
  const sandboxUrl = addressIn(sandbox, /sandbox: (http\S+?),/);
  const settings = await sandboxControl(sandboxUrl).changeSettings(settingsFor(ingress));
  const deployment = described ? description : { SERVICE_BASE_URL: sandboxUrl };
  return { deployment, receiver, ingress, sandbox, sandboxUrl, settings };
}

async function writtenDescription({ description, basePath }: Described, port: number): Promise<string> {
  const addresses = {
    'production-us': 'https://lab.invalid',
    'sandbox-eu': `http://127.0.0.1:${port}${basePath}`,
  };
  const file = join(inject('runFolder'), `deployment-${randomUUID()}.json`);
  await writeFile(file, JSON.stringify({ ...description, addresses }));
  return file;
}

const reportRoot = (): string => join(inject('runFolder'), 'reports');

/** Also what a workflow starts meanwhile. The answer is not decoded: a test may have used keys of its own. */
async function terminateAll({ client, namespace }: Rig): Promise<void> {
  const query = "ExecutionStatus = 'Running'";
  for (;;) {
    const { executions } = await client.workflowService.listWorkflowExecutions({ namespace, query });
    if (executions.length === 0) return;
    const ids = executions.map(({ execution }) => execution?.workflowId ?? '');
    // One that has just ended is not found.
    await Promise.allSettled(ids.map((workflowId) => client.workflow.getHandle(workflowId).terminate()));
  }
}

const listening = /"url":"(http[^"]+)"/;

function addressIn(program: StartedProcess, pattern: RegExp): string {
  const [, address] = pattern.exec(program.output()) ?? [];
  if (address === undefined) throw new Error(`The process did not say where it listens:\n${program.output()}`);
  return address;
}

/** The settings of this machine must not affect a story. */
const unset = {
  ...{ SERVICE_ENVIRONMENT: undefined, NOTIFY_URL: undefined, NOTIFY_SECRET: undefined },
  ...{ NOTIFICATIONS: undefined, DATABASE_URL: undefined, HEALTH_DATA: 'off' },
  LABOPS_ENCRYPTION_KEYS: undefined,
};
const common = {
  ...unset,
  SERVICE_API_KEY: apiKey,
  WEBHOOK_SECRETS: webhookSecret,
  SHUTDOWN_GRACE_SECONDS: '2',
  INGRESS_DRAIN_SECONDS: '0',
};
const sandboxEnv = { ...common, SANDBOX_WEBHOOK_URL: '' };

async function start(
  file: string,
  env: Record<string, string | undefined>,
  ready: RegExp,
  stands = true,
): Promise<StartedProcess> {
  return startBuilt(file, { env: { ...common, LOG_LEVEL: 'debug', ...env }, ready, stands });
}

async function startIngress(rig: Rig, env: Record<string, string | undefined>, stands = true): Promise<StartedProcess> {
  const own = { TEMPORAL_ADDRESS: rig.address, TASK_QUEUE: rig.taskQueue };
  return start(
    'workers/ingress.ts',
    { ...own, INGRESS_HOST: '127.0.0.1', INGRESS_PORT: '0', ...env },
    listening,
    stands,
  );
}

function workerEnv({ deployment, receiver }: Parts, rig: Rig, options: StackOptions) {
  const { worker, notifies = true, keys = encryptionKeys } = options;
  return {
    LABOPS_ENCRYPTION_KEYS: keys,
    SERVICE_MANAGEMENT_KEY: managementKey,
    TEMPORAL_ADDRESS: rig.address,
    TASK_QUEUE: rig.taskQueue,
    ...deployment,
    REPORT_ROOT: reportRoot(),
    // On the hour a pass would report what stories must not receive.
    RECONCILE_EVERY_MINUTES: '0',
    ...(notifies ? { NOTIFY_URL: receiver.url, NOTIFY_SECRET: notifySecret } : { NOTIFICATIONS: 'off' }),
    ...worker,
  };
}

/** `npm run topology`: two workers, as in production, and what a story does to the worker it does to both. */
const onTopology = process.env['TOPOLOGY_SERVER'] !== undefined;

function together(worker: StartedProcess, second: StartedProcess): StartedProcess {
  return {
    ...worker,
    output: () => worker.output() + second.output(),
    stop: async (signal) => {
      const [exit] = await Promise.all([worker, second].map((each) => each.stop(signal)));
      return exit ?? worker.exit;
    },
  };
}

/** A day of the stand-in lasts long enough that no retry of a webhook meddles with a story. */
function settingsFor(ingress: StartedProcess) {
  return { webhookUrl: addressIn(ingress, listening), daySeconds: 86_400 };
}

function labOperations(rig: Rig, { deployment, sandboxUrl: baseUrl }: Parts): LabOperations {
  const { SERVICE_DESCRIPTION: file, SERVICE_ENVIRONMENT: environment = '' } = deployment;
  const description = () => JSON.parse(readFileSync(file ?? '', 'utf8')) as ServiceDescription;
  const service = file === undefined ? { baseUrl, apiKey } : { description: description(), environment, apiKey };
  return new LabOperations(rig.client, { taskQueue: rig.taskQueue, service, deadline: 'none' });
}
