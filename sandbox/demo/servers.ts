import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { searchAttributeKeys } from '../../protocol/search-attributes.js';
import { startDevServer, type DevServer } from '../temporal/dev-server.js';
import { findDevServer } from '../temporal/find.js';
import { freePort, loopback, PortInUse, requireFree } from '../temporal/ports.js';
import type { Closing } from './closing.js';
import type { DemoConfig } from './config.js';
import { NotificationReceiver } from './notification-receiver.js';
import { ProgramFailed, startProgram, type Program } from './processes.js';

/** A port that the demo needs is in use. The message names each one with the setting that changes it. */
class PortsBusy extends Error {
  override readonly name = 'PortsBusy';
}

/** Everything that the stories are played on. */
export interface Servers {
  temporalAddress: string;
  uiUrl: string;
  /** The codec server, with which the Web UI decrypts histories. */
  codecUrl: string;
  /** The keys that encrypt payloads, made for this run. */
  encryptionKeys: string;
  sandboxUrl: string;
  ingressUrl: string;
  /** The address at which the product reads the stored health data. */
  healthDataUrl: string;
  serviceApiKey: string;
  /** The folder that the worker takes reports' files from. */
  reportRoot: string;
  receiver: NotificationReceiver;
  /** Settles when one of them has ended. */
  failed: Promise<ProgramFailed>;
}

type PortName = 'temporal' | 'ui' | 'codec' | 'sandbox' | 'ingress' | 'healthData';
type Ports = Record<PortName, number>;

/** Starts all of them. The receiver is a part of the product, which the demo plays; the others are processes of their own. */
export async function startServers(
  config: DemoConfig,
  logFolder: string,
  closing: Closing,
  say: (text: string) => void,
): Promise<Servers> {
  const ports = await choosePorts(config);
  const secrets = { serviceApiKey: `sk_${randomBytes(18).toString('hex')}`, webhook: newSecret(), notify: newSecret() };
  const encryptionKeys = `demo:${randomBytes(32).toString('base64')}`;
  const receiver = closing.use(
    () => new NotificationReceiver(secrets.notify),
    (started) => started.close(),
  );
  const notifyUrl = await receiver.start();
  const temporal = await startTemporal(ports, logFolder, closing, say);
  const reportRoot = join(logFolder, 'reports');
  await mkdir(reportRoot);
  const environment = {
    ...config.inherited,
    ...(await environmentOf(config, ports, logFolder)),
    REPORT_ROOT: reportRoot,
    TEMPORAL_ADDRESS: temporal.address,
    SERVICE_API_KEY: secrets.serviceApiKey,
    LABOPS_ENCRYPTION_KEYS: encryptionKeys,
    WEBHOOK_SECRETS: secrets.webhook,
    NOTIFY_URL: notifyUrl,
    NOTIFY_SECRET: secrets.notify,
  };
  say('starting the lab service sandbox, the worker with the ingress, and the codec server');
  const programs = startPrograms(environment, logFolder, closing);
  await Promise.all(programs.map(({ ready }) => ready));
  const temporalEnded = temporal.ended.then(
    () => new ProgramFailed('The Temporal dev server ended by itself', '', join(logFolder, 'temporal.log')),
  );
  return {
    temporalAddress: temporal.address,
    uiUrl: `http://${loopback}:${ports.ui}`,
    codecUrl: codecUrl(ports),
    encryptionKeys,
    sandboxUrl: `http://${loopback}:${ports.sandbox}`,
    ingressUrl: `http://${loopback}:${ports.ingress}`,
    healthDataUrl: `http://${loopback}:${ports.healthData}`,
    serviceApiKey: secrets.serviceApiKey,
    reportRoot,
    receiver,
    failed: Promise.race([temporalEnded, ...programs.map(({ ended }) => ended)]),
  };
}

function newSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}

/** Each port with its purpose and the setting that changes it. */
const purposes: Readonly<Record<PortName, readonly [purpose: string, setting: string]>> = {
  temporal: ['the Temporal dev server', 'DEMO_TEMPORAL_PORT'],
  ui: ["Temporal's Web UI", 'DEMO_UI_PORT'],
  codec: ['the codec server', 'DEMO_CODEC_PORT'],
  sandbox: ["the lab service's stand-in", 'SANDBOX_PORT'],
  ingress: ['the ingress', 'INGRESS_PORT'],
  healthData: ['the reading of health data', 'HEALTH_DATA_PORT'],
};

/** Before anything is started, because programs report a busy port late, and without the setting that changes it. */
async function choosePorts(config: DemoConfig): Promise<Ports> {
  const busy: string[] = [];
  const choose = async (name: PortName, port: number): Promise<number> => {
    if (port === 0) return freePort();
    const [purpose, setting] = purposes[name];
    try {
      await requireFree(port, purpose);
    } catch (error) {
      if (!(error instanceof PortInUse)) throw error;
      busy.push(
        `Port ${port} for ${purpose} is in use by another program: end that program, or set ${setting} to a free port (${setting}=0 takes any).`,
      );
    }
    return port;
  };
  const ports = {
    temporal: await choose('temporal', config.temporalPort),
    ui: await choose('ui', config.uiPort),
    codec: await choose('codec', config.codecPort),
    sandbox: await choose('sandbox', config.sandboxPort),
    ingress: await choose('ingress', config.ingressPort),
    healthData: await choose('healthData', config.healthDataPort),
  };
  if (busy.length > 0) throw new PortsBusy(busy.join('\n'));
  return ports;
}

async function startTemporal(
  ports: Ports,
  logFolder: string,
  closing: Closing,
  say: (text: string) => void,
): Promise<DevServer> {
  const program = await findDevServer();
  say('starting Temporal with its Web UI');
  const log = createWriteStream(join(logFolder, 'temporal.log'));
  return closing.use(
    () =>
      startDevServer({
        program,
        port: ports.temporal,
        uiPort: ports.ui,
        searchAttributes: searchAttributeKeys,
        extraArgs: ['--ui-codec-endpoint', codecUrl(ports)],
        log: (text) => log.write(text),
      }),
    async (starting) => {
      // One that did not start has left nothing to stop.
      const server = await starting.catch(() => undefined);
      await server?.stop();
      log.end();
    },
  );
}

function codecUrl({ codec }: Ports): string {
  return `http://${loopback}:${codec}`;
}

/** The settings that the programs share. */
async function environmentOf(config: DemoConfig, ports: Ports, logFolder: string): Promise<Record<string, string>> {
  // The user's own profiles may hold the key of a real namespace.
  const profiles = join(logFolder, 'temporal.toml');
  await writeFile(profiles, '[profile.default]\n');
  return {
    TEMPORAL_CONFIG_FILE: profiles,
    SERVICE_BASE_URL: `http://${loopback}:${ports.sandbox}`,
    SANDBOX_HOST: loopback,
    SANDBOX_PORT: String(ports.sandbox),
    SANDBOX_DAY_SECONDS: String(config.daySeconds),
    CODEC_PORT: String(ports.codec),
    CODEC_ALLOWED_ORIGINS: [loopback, 'localhost'].map((host) => `http://${host}:${ports.ui}`).join(','),
    INGRESS_HOST: loopback,
    INGRESS_PORT: String(ports.ingress),
    // A database that needs no installing: worker and ingress share it, as one process.
    HEALTH_DATA_DIRECTORY: join(logFolder, 'health-data'),
    HEALTH_DATA_PORT: String(ports.healthData),
    LOG_LEVEL: 'info',
    // Nothing that is under way when the demo ends is worth a longer wait.
    SHUTDOWN_GRACE_SECONDS: '2',
  };
}

function startPrograms(environment: Record<string, string>, logFolder: string, closing: Closing): Program[] {
  const start = (name: string, file: string, ready: RegExp): Program =>
    startProgram({ name, file, environment, logFolder, ready });
  return closing.use(
    () => [
      start('sandbox', 'sandbox/main.ts', /control interface below/),
      start('worker', 'workers/single-process.ts', /worker and ingress started/),
      start('codec server', 'workers/codec-server.ts', /codec server started/),
    ],
    async (programs) => {
      await Promise.all(programs.map((program) => program.stop()));
    },
  );
}
