import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { searchAttributeKeys } from '../../protocol/search-attributes.js';
import { startDevServer, type DevServer } from '../temporal/dev-server.js';
import { findDevServer } from '../temporal/find.js';
import { freePort, isFree, loopback } from '../temporal/ports.js';
import { startProgram, type Program, type ProgramFailed } from '../temporal/programs.js';
import type { Closing } from './closing.js';
import { newSecret } from '../lab-service/webhook-endpoints.js';
import { ports, type DemoConfig, type Ports } from './config.js';
import { NotificationReceiver } from './notifications.js';

const projectFolder = fileURLToPath(new URL('../..', import.meta.url));

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

/** Starts all of them. The receiver is a part of the product, which the demo plays; the others are processes of their own. */
export async function startServers(
  config: DemoConfig,
  logFolder: string,
  closing: Closing,
  say: (text: string) => void,
): Promise<Servers> {
  const chosen = await choosePorts(config);
  const secrets = { serviceApiKey: `sk_${randomBytes(18).toString('hex')}`, webhook: newSecret(), notify: newSecret() };
  const encryptionKeys = `demo:${randomBytes(32).toString('base64')}`;
  const receiver = closing.use(
    () => new NotificationReceiver(secrets.notify),
    (started) => started.close(),
  );
  const notifyUrl = await receiver.start();
  const temporal = await startTemporal(chosen, logFolder, closing, say);
  const reportRoot = join(logFolder, 'reports');
  await mkdir(reportRoot);
  const environment = {
    ...config.inherited,
    ...(await environmentOf(config, chosen, logFolder)),
    REPORT_ROOT: reportRoot,
    TEMPORAL_ADDRESS: temporal.address,
    SERVICE_API_KEY: secrets.serviceApiKey,
    LABOPS_ENCRYPTION_KEYS: encryptionKeys,
    WEBHOOK_SECRETS: secrets.webhook,
    NOTIFY_URL: notifyUrl,
    NOTIFY_SECRET: secrets.notify,
  };
  const programs = startPrograms(config, environment, logFolder, closing, say);
  await Promise.all(programs.map(({ ready }) => ready));
  return {
    temporalAddress: temporal.address,
    uiUrl: `http://${loopback}:${chosen.ui}`,
    codecUrl: codecUrl(chosen),
    encryptionKeys,
    sandboxUrl: `http://${loopback}:${chosen.sandbox}`,
    ingressUrl: `http://${loopback}:${chosen.ingress}`,
    healthDataUrl: config.split?.healthDataUrl ?? `http://${loopback}:${chosen.healthData}`,
    serviceApiKey: secrets.serviceApiKey,
    reportRoot,
    receiver,
    failed: Promise.race([temporal.ended, ...programs.map(({ ended }) => ended)]),
  };
}

/** The programs of this project. */
function startPrograms(
  { split, programs }: DemoConfig,
  environment: Record<string, string>,
  logFolder: string,
  closing: Closing,
  say: (text: string) => void,
): Program[] {
  const parts = split ? 'two workers, the ingress' : 'the worker with the ingress';
  say(`starting the lab service sandbox, ${parts}, and the codec server`);
  const workers: Part[] = split
    ? [
        ['worker', 'workers/worker.ts', /worker started/],
        ['second worker', 'workers/worker.ts', /worker started/],
        ['ingress', 'workers/ingress.ts', /ingress started/],
      ]
    : [['worker', 'workers/single-process.ts', /worker and ingress started/]];
  const all: Part[] = [
    ['sandbox', 'sandbox/main.ts', /control interface below/],
    ...workers,
    ['codec server', 'workers/codec-server.ts', /codec server started/],
  ];
  return closing.use(
    () => all.map((part) => startPart(part, programs, environment, logFolder)),
    async (started) => {
      await Promise.all(started.map((program) => program.stop()));
    },
  );
}

/** `ready` is what it writes once it is ready. */
type Part = [name: string, file: string, ready: RegExp];

/** Before anything is started, because programs report a busy port late, and without the setting that changes it. */
async function choosePorts(config: DemoConfig): Promise<Ports> {
  const chosen = { ...config.ports };
  const busy: string[] = [];
  for (const name of Object.keys(ports) as (keyof Ports)[]) {
    const port = chosen[name];
    const [purpose, setting] = ports[name];
    if (port === 0) chosen[name] = await freePort();
    else if (!(await isFree(port))) {
      busy.push(
        `Port ${port} for ${purpose} is in use by another program: end that program, or set ${setting} to a free port (${setting}=0 takes any).`,
      );
    }
  }
  if (busy.length > 0) throw new PortsBusy(busy.join('\n'));
  return chosen;
}

async function startTemporal(
  chosen: Ports,
  logFolder: string,
  closing: Closing,
  say: (text: string) => void,
): Promise<DevServer> {
  const program = await findDevServer();
  say('starting Temporal with its Web UI');
  const logFile = join(logFolder, 'temporal.log');
  const log = createWriteStream(logFile);
  return closing.use(
    () =>
      startDevServer({
        program,
        port: chosen.temporal,
        uiPort: chosen.ui,
        searchAttributes: searchAttributeKeys,
        extraArgs: ['--ui-codec-endpoint', codecUrl(chosen)],
        log: (text) => log.write(text),
        advice: adviceOf(logFile),
      }),
    async (starting) => {
      // One that did not start has left nothing to stop.
      const server = await starting.catch(() => undefined);
      await server?.stop();
      log.end();
    },
  );
}

function adviceOf(logFile: string): string {
  return `Its whole log: ${logFile}`;
}

function codecUrl({ codec }: Ports): string {
  return `http://${loopback}:${codec}`;
}

/** The settings that the programs share. */
async function environmentOf(config: DemoConfig, chosen: Ports, logFolder: string): Promise<Record<string, string>> {
  // The user's own profiles may hold the key of a real namespace.
  const profiles = join(logFolder, 'temporal.toml');
  await writeFile(profiles, '[profile.default]\n');
  return {
    TEMPORAL_CONFIG_FILE: profiles,
    SERVICE_BASE_URL: `http://${loopback}:${chosen.sandbox}`,
    SANDBOX_HOST: loopback,
    SANDBOX_PORT: String(chosen.sandbox),
    SANDBOX_DAY_SECONDS: String(config.daySeconds),
    CODEC_PORT: String(chosen.codec),
    CODEC_ALLOWED_ORIGINS: [loopback, 'localhost'].map((host) => `http://${host}:${chosen.ui}`).join(','),
    INGRESS_HOST: loopback,
    INGRESS_PORT: String(chosen.ingress),
    ...(config.split
      ? { DATABASE_URL: config.split.databaseUrl }
      : // A database that needs no installing: worker and ingress share it, as one process.
        { HEALTH_DATA_DIRECTORY: join(logFolder, 'health-data'), HEALTH_DATA_PORT: String(chosen.healthData) }),
    INGRESS_DRAIN_SECONDS: '0',
    LOG_LEVEL: 'info',
    // Nothing that is under way when the demo ends is worth a longer wait.
    SHUTDOWN_GRACE_SECONDS: '2',
  };
}

/** One of the project's programs, from the folder in which they are built, or from the sources. It is ready once it has written this. */
function startPart(
  [name, file, ready]: Part,
  programs: string | undefined,
  environment: Record<string, string>,
  logFolder: string,
): Program {
  const logFile = join(logFolder, `${name}.log`);
  const log = createWriteStream(logFile);
  let written = '';
  let started = false;
  const program = startProgram({
    name: `The ${name}`,
    program: process.execPath,
    args: programs === undefined ? ['--import', 'tsx', file] : [join(programs, file.replace(/\.ts$/, '.js'))],
    cwd: projectFolder,
    environment,
    ready: async () => {
      started = ready.test(written);
      if (!started) throw new Error(`it has not written ${ready}`);
    },
    orderlyEnd: true,
    log: (text) => {
      log.write(text);
      if (!started) written += text;
    },
    advice: adviceOf(logFile),
  });
  void program.ended.then(() => log.end());
  return program;
}
