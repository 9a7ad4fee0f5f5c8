import { randomBytes } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import {
  createLabService,
  labDataConverter,
  LabOperations,
  parseKeyRing,
  reconnection,
  type LabService,
} from '../../client/index.js';
import { throughProxy } from '../../client/temporal-connection.js';
import { searchAttributeKeys } from '../../protocol/search-attributes.js';
import { withoutDeployment } from '../../sandbox/config.js';
import { sandboxControl, type SandboxControl } from '../../sandbox/control.js';
import { startDevServer } from '../../sandbox/temporal/dev-server.js';
import { freePort, loopback } from '../../sandbox/temporal/ports.js';
import { startServer, type Program } from '../../sandbox/temporal/programs.js';
import { startNotificationReceiver, type NotificationReceiver } from '../../test/rig/notification-receiver.js';
import { openHealthData, type HealthData } from './health-data.js';
import { logOf, partOf, type Part } from './part.js';
import { parts, type Clocks, type PartName, type WayName } from './schedule.js';
import { startWay, type Way } from './way.js';

/** In memory where the machine has such a folder: it outlives every process, and a run does not wait for the disk. */
const fastFolder = '/dev/shm';

/** A new empty folder for a run. */
export async function newFolder(seed: number): Promise<string> {
  return mkdtemp(join(existsSync(fastFolder) ? fastFolder : tmpdir(), `faults-${seed}-`));
}

export interface StageOptions {
  /** The compiled project. */
  buildFolder: string;
  /** An empty folder for Temporal's database, logs and reports. */
  folder: string;
  /** The `temporal` program. */
  temporal: string;
  clocks: Clocks;
  /** Of PostgreSQL, empty; without it nobody keeps health data. */
  databaseUrl: string | undefined;
}

/** A whole deployment whose parts reach each other through proxies only, and the product that uses it. */
export interface Stage {
  parts: Record<PartName, Part>;
  ways: Record<WayName, Way>;
  receiver: NotificationReceiver;
  /** Commands of the outside world; they and everything else below go past the proxies. */
  control: SandboxControl;
  /** The service as a browser or a dashboard reaches it. */
  service: LabService;
  /** The product's client, through its proxy. */
  operations: LabOperations;
  /** Temporal itself, past the proxies. */
  temporal: Client;
  reportRoot: string;
  health: HealthData | undefined;
  /** The log of each part. */
  logs: Record<string, string>;
  /** How the sandbox ended, if it ended by itself. */
  sandboxEnd(): string | undefined;
  close(): Promise<void>;
}

/** A setting of PostgreSQL: two workers and two ingresses have up to twenty each. */
export const manyConnections = { max_connections: 100 };

/** The stand-in's day: a webhook is tried again after 5 minutes in life, and after 4 seconds here. */
const daySeconds = 1_200;
/** So far behind is the service's clock: the reconciliation leaves the last ten minutes to webhooks. */
export const behindMs = 2 * 60 * 60_000;
const namespace = 'default';
const taskQueue = 'lab-operations';

export async function openStage(options: StageOptions): Promise<Stage> {
  const foundation = await layFoundation(options);
  const { ports, secrets, keys, receiver, ways } = foundation;
  const all = partsOn(foundation, options);
  const sandbox = await launch(foundation, 'sandbox', 'sandbox/main.js', /a day lasts/, {
    SANDBOX_PORT: String(ports.sandbox),
    SANDBOX_DAY_SECONDS: String(daySeconds),
    SANDBOX_WEBHOOK_URL: `http://${loopback}:${ways['service to ingresses'].port}/webhooks`,
  });
  const ends: string[] = [];
  let isOpen = true;
  void sandbox.ended.then((end) => isOpen && ends.push(end.message));
  await all.temporal.start();
  const others = parts.filter((name) => name !== 'temporal').map((name) => all[name]);
  await Promise.all(others.map(async (part) => part.start()));
  const sandboxUrl = `http://${loopback}:${ports.sandbox}`;
  const control = sandboxControl(sandboxUrl);
  await control.setClock(new Date(Date.now() - behindMs).toISOString());
  const service = { baseUrl: sandboxUrl, apiKey: secrets.apiKey };
  const through = await connected(ways['product to temporal'].port, keys);
  const temporal = await connected(ports.temporal, keys);
  const operations = new LabOperations(through, { taskQueue, service });
  const browser = createLabService(service);
  const { reportRoot, logs } = foundation;
  const health = options.databaseUrl === undefined ? undefined : openHealthData(options.databaseUrl);
  return {
    ...{ parts: all, ways, receiver, control, service: browser, operations, temporal, reportRoot, health, logs },
    sandboxEnd: () => ends[0],
    close: async () => {
      isOpen = false;
      await Promise.all([operations.close(), browser.close(), health?.close()]);
      await Promise.all([through.connection.close(), temporal.connection.close()]);
      await Promise.all([...others.map(async (part) => part.stop()), sandbox.stop()]);
      await all.temporal.stop();
      await Promise.all(Object.values(ways).map(async (way) => way.close()));
      await receiver.close();
    },
  };
}

/** What every part needs to be started. */
interface Foundation {
  buildFolder: string;
  folder: string;
  reportRoot: string;
  secrets: Secrets;
  keys: string;
  ports: Ports;
  databaseUrl: string | undefined;
  receiver: NotificationReceiver;
  ways: Record<WayName, Way>;
  logs: Record<string, string>;
}

interface Ports {
  temporal: number;
  sandbox: number;
  ingresses: [number, number];
}

async function layFoundation({ buildFolder, folder, databaseUrl }: StageOptions): Promise<Foundation> {
  const secrets = { apiKey: secret('sk_test_'), webhook: signingSecret(), notify: signingSecret() };
  const keys = `faults:${randomBytes(32).toString('base64')}`;
  const ingresses: [number, number] = [await freePort(), await freePort()];
  const ports = { temporal: await freePort(), sandbox: await freePort(), ingresses };
  const reportRoot = join(folder, 'reports');
  await mkdir(reportRoot, { recursive: true });
  await writeFile(join(folder, 'temporal.toml'), '[profile.default]\n');
  const receiver = await startNotificationReceiver(secrets.notify);
  // Without a database nobody takes these ways.
  const database = databaseUrl === undefined ? [] : [portOf(databaseUrl)];
  const ways = await startWays(ports, portOf(receiver.url), database);
  return { ...{ buildFolder, folder, reportRoot, secrets, keys, ports, databaseUrl, receiver, ways }, logs: {} };
}

function partsOn(foundation: Foundation, { temporal: program, clocks }: StageOptions): Record<PartName, Part> {
  const { folder, ports } = foundation;
  const [first, second] = ports.ingresses;
  const log = createWriteStream(join(folder, 'temporal.log'), { flags: 'a' });
  const temporal = async () =>
    startDevServer({
      ...{ program, namespace, port: ports.temporal, dbFilename: join(folder, 'temporal.db') },
      ...{ searchAttributes: searchAttributeKeys, log: (text: string) => log.write(text) },
    });
  const worker = (name: 'worker-1' | 'worker-2') => async () =>
    launch(foundation, name, 'workers/worker.js', /worker started/, workerSettings(foundation, name), clocks[name]);
  const ingress = (name: 'ingress-1' | 'ingress-2', port: number) => async () =>
    launch(foundation, name, 'workers/ingress.js', /"url":"http/, ingressSettings(foundation, port), clocks[name]);
  return {
    temporal: partOf('temporal', temporal),
    'worker-1': partOf('worker-1', worker('worker-1')),
    'worker-2': partOf('worker-2', worker('worker-2')),
    'ingress-1': partOf('ingress-1', ingress('ingress-1', first)),
    'ingress-2': partOf('ingress-2', ingress('ingress-2', second)),
  };
}

async function launch(
  foundation: Foundation,
  name: string,
  file: string,
  ready: RegExp,
  its: Record<string, string>,
  aheadMs = 0,
): Promise<Program> {
  const { buildFolder, folder, logs } = foundation;
  const path = join(folder, `${name}.log`);
  logs[name] = path;
  const log = logOf(path, ready);
  const environment = { ...withoutDeployment(process.env), ...commonSettings(foundation), ...its };
  const started = await startServer({
    ...{
      name: `The part ${name}`,
      program: process.execPath,
      args: [...clockAhead(aheadMs), join(buildFolder, file)],
      environment,
    },
    ...{ orderlyEnd: true, ready: log.requireReady, log: log.write, advice: `Its log: ${path}` },
  });
  void started.ended.then(log.close);
  return started;
}

/** Node's options for a process whose clock differs. What is measured in spans of time stays right, as on a real machine. */
function clockAhead(milliseconds: number): string[] {
  const code = `
    const Real = Date;
    const now = () => Real.now() + ${milliseconds};
    globalThis.Date = new Proxy(Real, {
      get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
      construct: (target, given, called) => Reflect.construct(target, given.length === 0 ? [now()] : given, called),
    });`;
  return ['--import', `data:text/javascript,${encodeURIComponent(code)}`];
}

async function connected(port: number, keys: string): Promise<Client> {
  const connection = await Connection.connect(
    throughProxy({ address: `${loopback}:${port}`, connectTimeout: '30 seconds', ...reconnection }),
  );
  return new Client({ connection, namespace, dataConverter: labDataConverter(parseKeyRing(keys)) });
}

async function startWays(ports: Ports, receiver: number, database: number[]): Promise<Record<WayName, Way>> {
  return {
    'worker-1 to temporal': await startWay([ports.temporal]),
    'worker-2 to temporal': await startWay([ports.temporal]),
    'ingresses to temporal': await startWay([ports.temporal]),
    'product to temporal': await startWay([ports.temporal]),
    'workers to service': await startWay([ports.sandbox]),
    'service to ingresses': await startWay(ports.ingresses),
    'workers to product': await startWay([receiver]),
    'workers to database': await startWay(database),
    'ingresses to database': await startWay(database),
  };
}

type Secrets = Record<'apiKey' | 'webhook' | 'notify', string>;

function commonSettings({ folder, secrets, keys }: Foundation): Record<string, string> {
  return {
    TEMPORAL_CONFIG_FILE: join(folder, 'temporal.toml'),
    TASK_QUEUE: taskQueue,
    SERVICE_API_KEY: secrets.apiKey,
    WEBHOOK_SECRETS: secrets.webhook,
    NOTIFY_SECRET: secrets.notify,
    LABOPS_ENCRYPTION_KEYS: keys,
    LOG_LEVEL: 'info',
    SHUTDOWN_GRACE_SECONDS: '2',
  };
}

function workerSettings({ ways, reportRoot, databaseUrl }: Foundation, name: 'worker-1' | 'worker-2') {
  return {
    TEMPORAL_ADDRESS: `${loopback}:${ways[`${name} to temporal`].port}`,
    SERVICE_BASE_URL: `http://${loopback}:${ways['workers to service'].port}`,
    // A connection that hangs is given up soon.
    SERVICE_TIMEOUT_SECONDS: '5',
    NOTIFY_URL: `http://${loopback}:${ways['workers to product'].port}/notifications`,
    REPORT_ROOT: reportRoot,
    // The run asks for its own passes, more often than the schedule may.
    RECONCILE_EVERY_MINUTES: '0',
    ...healthData(databaseUrl, ways['workers to database']),
  };
}

function ingressSettings({ ways, databaseUrl }: Foundation, port: number) {
  return {
    TEMPORAL_ADDRESS: `${loopback}:${ways['ingresses to temporal'].port}`,
    INGRESS_HOST: loopback,
    INGRESS_PORT: String(port),
    INGRESS_DRAIN_SECONDS: '0',
    ...healthData(databaseUrl, ways['ingresses to database']),
  };
}

function healthData(databaseUrl: string | undefined, way: Way): Record<string, string> {
  if (databaseUrl === undefined) return { HEALTH_DATA: 'off' };
  const url = new URL(databaseUrl);
  url.port = String(way.port);
  return { DATABASE_URL: url.href };
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

function secret(prefix: string): string {
  return `${prefix}${randomBytes(18).toString('hex')}`;
}

function signingSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}
