import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import ms, { type StringValue } from 'ms';
import { pino } from 'pino';
import {
  LabOperations,
  type AppointmentPolicy,
  type OrderHandle,
  type LinkHandle,
  type LinkPolicy,
  type OrderPolicy,
  type ReportPolicy,
} from '../../client/index.js';
import { sandboxControl } from '../../sandbox/control.js';
import { startLabService } from '../../sandbox/lab-service/server.js';
import { samplePdf } from '../../sandbox/sample-report.js';
import { startDevServer } from '../../sandbox/temporal/dev-server.js';
import { startTestServer, withoutSearch } from '../../sandbox/temporal/test-server.js';
import { openStore } from '../../store/health-data-store.js';
import { createActivities } from '../../activities/activities.js';
import { activityDependencies } from '../../workers/worker/activity-dependencies.js';
import { workflowBundle } from '../../workers/bundle.js';
import { dataConverterOf } from '../../workers/encryption.js';
import { readIngressConfig, readWorkerConfig, type WorkerConfig } from '../../workers/settings/config.js';
import { startIngress } from '../../workers/ingress.js';
import { createWorkers, runWorkers, shutDown } from '../../workers/worker/queues.js';
import { startWorker } from '../../workers/worker.js';
import { createLabService, type LabService } from '../../service/lab-service.js';
import { eventually } from '../rig/eventually.js';
import { following } from '../rig/followed.js';
import { linkProviderId } from '../../protocol/ids.js';
import { searchAttributeKeys } from '../../protocol/search-attributes.js';
import { kitFor, visitFor } from '../rig/cast.js';
import { inventedKeys } from './keys.js';
import { startNotificationReceiver } from '../rig/notification-receiver.js';

/** Where the recorded stories are played: real servers in one process, with a target for notifications. */
export type Stage = Awaited<ReturnType<typeof openStage>>;

const apiKey = 'sk_test_invented';
const managementKey = 'mk_test_invented';
const secret = `whsec_${Buffer.from('an-invented-key-with-32-bytes-01').toString('base64')}`;

export interface StageOptions {
  /** After how many events of its history a workflow continues in a new run. Default: the server's own limit. */
  eventsPerRun?: number;
  /** True: the server whose time only `skip` moves, which can neither list nor count workflows. */
  skipsTime?: boolean;
  /** True: the worker keeps no workflow in memory, so it meets each message as a worker does that has just started. */
  isCold?: boolean;
  /** True: ingress, worker and client have `inventedKeys`, and the worker requires encryption. */
  isEncrypted?: boolean;
}

async function skippingServer() {
  const { environment, stop } = await startTestServer({ searchAttributes: searchAttributeKeys });
  return {
    address: environment.address,
    sleep: (milliseconds: number) => environment.sleep(milliseconds),
    now: () => environment.currentTimeMs(),
    stop,
  };
}

async function fullServer(eventsPerRun: number | undefined) {
  const threshold = `limit.historyCount.suggestContinueAsNew=${eventsPerRun}`;
  const server = await startDevServer({
    searchAttributes: searchAttributeKeys,
    ...(eventsPerRun !== undefined && { extraArgs: ['--dynamic-config-value', threshold] }),
  });
  return { address: server.address, sleep, now: () => Promise.resolve(Date.now()), stop: () => server.stop() };
}

export async function openStage({
  eventsPerRun,
  skipsTime = false,
  isCold = false,
  isEncrypted = false,
}: StageOptions = {}) {
  const server = skipsTime ? await skippingServer() : await fullServer(eventsPerRun);
  const receiver = await startNotificationReceiver(secret);
  const log = pino({ level: 'silent' });
  const common = {
    TEMPORAL_ADDRESS: server.address,
    TASK_QUEUE: 'lab-operations',
    ...(isEncrypted && { LABOPS_ENCRYPTION_KEYS: inventedKeys, LABOPS_ENCRYPTION: 'required' }),
  };
  const storeFolder = await mkdtemp(join(tmpdir(), 'lab-store-'));
  const store = await openStore({ directory: join(storeFolder, 'data') });
  const ingress = await startIngress(
    readIngressConfig({
      ...common,
      WEBHOOK_SECRETS: secret,
      INGRESS_HOST: '127.0.0.1',
      INGRESS_PORT: '0',
      INGRESS_DRAIN_SECONDS: '0',
    }),
    log,
    { opened: store },
  );
  const settings = { webhookUrl: `${ingress.url}/webhooks`, webhookSecrets: [secret] };
  const service = await startLabService({ port: 0, apiKey, managementKey, settings });
  const target = { NOTIFY_URL: receiver.url, NOTIFY_SECRET: secret };
  const reportRoot = await mkdtemp(join(tmpdir(), 'lab-reports-'));
  await writeFile(join(reportRoot, 'report.pdf'), samplePdf(['labops-sandbox: stuck']));
  const where = {
    SERVICE_BASE_URL: service.url,
    SERVICE_API_KEY: apiKey,
    SERVICE_MANAGEMENT_KEY: managementKey,
    REPORT_ROOT: reportRoot,
    ...(skipsTime && { HEALTH_DATA: 'off' }),
  };
  const config = readWorkerConfig({ ...common, ...target, ...where });
  const connection = await Connection.connect({ address: server.address });
  const temporal = new Client({ connection, ...dataConverterOf(config.keyRing, log) });
  // The product's worker wants a server that can count workflows.
  const worker = skipsTime
    ? await startBareWorker(config, withoutSearch(temporal))
    : await startWorker({ ...config, ...(isCold && { maxCachedWorkflows: 0 }) }, log, { opened: store });
  const labs = new LabOperations(temporal, { deadline: 'none' });
  const sandbox = sandboxControl(service.url);
  const browser = createLabService({ baseUrl: service.url, apiKey });
  // The lab service's events get the time that the workflows live in.
  const syncClock = async () => void (await sandbox.setClock(new Date(await server.now()).toISOString()));
  if (skipsTime) await syncClock();
  return {
    temporal,
    labs,
    sandbox,
    /** What ingress and worker keep health data and rejected events in. */
    store,
    receiver,
    place: async (policy?: OrderPolicy) => {
      const { user } = await sandbox.createUser();
      const handle = await labs.orders.place(kitFor(user.user_id, `recorded-${randomUUID()}`, policy));
      return { handle, orderId: await handle.orderId() };
    },
    /** Lets time pass for the workflows and the lab service. */
    skip: async (span: StringValue) => {
      // A moment longer: a timer that is due in the middle of the story can be lost by the server.
      for (let left = ms(span) + 2_000; left > 0; left -= ms('1d')) {
        await server.sleep(Math.min(left, ms('1d')));
        await syncClock();
      }
    },
    /** Moves an order and waits each time until its workflow has received it. */
    move: async (handle: OrderHandle, orderId: string, statuses: readonly string[]) => {
      if (skipsTime) await syncClock();
      for (const status of statuses) {
        const { events } = (await sandbox.move(orderId, status)).order;
        await until(following(handle), (state) => state.timeline.some(({ eventId }) => eventId === events.at(-1)?.id));
      }
    },
    /** Starts a link of a new user with a provider of the sandbox. */
    link: async (policy?: LinkPolicy) => {
      const { user } = await sandbox.createUser();
      const start = { userId: user.user_id, provider: 'invented_watch', ...(policy && { policy }) };
      return played(await labs.links.start(start), browser);
    },
    /** Submits a small report; the sandbox leaves its job to the story. */
    submit: async (policy?: ReportPolicy) => {
      const { user } = await sandbox.createUser();
      return labs.reports.submit({
        reference: `recorded-${randomUUID()}`,
        userId: user.user_id,
        file: { path: 'report.pdf' },
        ...(policy && { policy }),
      });
    },
    /** Starts an appointment for a new order that is drawn at home, or by another lab test. */
    visit: async (policy?: AppointmentPolicy, labTestId?: string) => {
      const { user } = await sandbox.createUser();
      const request = visitFor(user.user_id);
      const { order } = await browser.orders.create({
        ...request,
        ...(labTestId !== undefined && { lab_test_id: labTestId }),
      });
      return labs.appointments.start({ orderId: order.id, ...(policy && { policy }) });
    },
    /** Works on another task queue as though payloads were encrypted, so a history with credentials can be read. */
    workAsThoughEncrypted: (taskQueue: string) =>
      startBareWorker({ ...config, taskQueue }, temporal, { encrypts: true }),
    close: async () => {
      await browser.close();
      await worker.stop();
      await ingress.close();
      await service.close();
      await receiver.close();
      await connection.close();
      await server.stop();
      await store.close();
      await rm(storeFolder, { recursive: true });
      await rm(reportRoot, { recursive: true });
    },
  };
}

/** A worker without what the product's own does before it starts. */
async function startBareWorker(
  config: WorkerConfig,
  temporal: Client,
  other: { encrypts?: boolean } = {},
): Promise<{ stop(): Promise<void> }> {
  const { taskQueue } = config;
  const connection = await NativeConnection.connect({ address: config.temporal.address });
  const dependencies = {
    ...activityDependencies(config, temporal, pino({ level: 'silent' }), { store: undefined }),
    ...other,
  };
  const workers = await createWorkers({
    ...{ connection, taskQueue, activities: createActivities(dependencies) },
    workflowBundle: await workflowBundle('readable'),
  });
  const ended = runWorkers(workers);
  return {
    stop: async () => {
      shutDown(workers);
      await ended;
      await dependencies.service.close();
      await connection.close();
    },
  };
}

/** A link, and the browser of its user. */
function played(handle: LinkHandle, browser: LabService) {
  /** The user logs in, and nobody reports the answer. */
  const enterPassword = async (username: string) => {
    const { linkToken } = await handle.url();
    return browser.links.submitPassword(handle.provider, linkToken, { username, password: 'invented-password' });
  };
  return {
    handle,
    workflowId: linkProviderId(handle.userId, handle.provider),
    enterPassword,
    /** The user logs in, and the product reports the answer. */
    logIn: async (username: string) => void (await handle.reportLinkResult(await enterPassword(username))),
  };
}

export async function until<State>(
  handle: { state(): Promise<State> },
  holds: (state: State) => boolean,
): Promise<State> {
  return eventually(async () => {
    const state = await handle.state();
    if (!holds(state)) throw new Error(`It never got there: ${JSON.stringify(state)}`);
    return state;
  });
}
