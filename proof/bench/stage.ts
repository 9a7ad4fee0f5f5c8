import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { labDataConverter } from '../../client/encryption/payload-codec.js';
import { parseKeyRing } from '../../client/encryption/key-ring.js';
import { LabOperations } from '../../client/lab-operations.js';
import { searchAttributeKeys } from '../../protocol/search-attributes.js';
import { sandboxControl, type SandboxControl } from '../../sandbox/control.js';
import { startDevServer, type DevServer } from '../../sandbox/temporal/dev-server.js';
import { buildPrograms } from '../../tools/programs.js';
import { serveHttp } from '../../sandbox/temporal/ports.js';
import { projectFolder, startProcess, type StartedProcess } from '../../test/rig/processes.js';

/* Everything that a measure needs, on the loopback interface: Temporal, the lab service's stand-in, and workers. */

const apiKey = 'sk_test_invented';
const notifySecret = `whsec_${Buffer.from('an-invented-notify-key--32-bytes').toString('base64')}`;
const encryptionKeys = `bench:${randomBytes(32).toString('base64')}`;

export interface Encrypted {
  encrypted?: boolean;
}

export interface WorkerOptions extends Encrypted {
  /** True if the worker notifies a receiver, which takes everything at once. */
  notifies?: boolean;
  /** The address of another receiver. */
  receiverUrl?: string;
  /** Default: one of its own. */
  taskQueue?: string;
  /** Added to the environment, such as MAX_CACHED_WORKFLOWS. */
  env?: Environment;
}

/** A worker process with the client that talks to its workflows. */
export interface Side {
  process: StartedProcess;
  taskQueue: string;
  temporal: Client;
  labs: LabOperations;
}

export interface Stage {
  server: DevServer;
  sandbox: SandboxControl;
  service: { baseUrl: string; apiKey: string };
  /** The folder of this run. */
  folder: string;
  startProject(options?: WorkerOptions): Promise<Side>;
  startBare(options?: WorkerOptions): Promise<Side>;
  client(options?: Encrypted): Client;
  /** A program of dist/, as in production. */
  startBuilt(file: string, env: Record<string, string | undefined>, ready: RegExp): Promise<StartedProcess>;
  newUser(): Promise<string>;
  stopWorkers(): Promise<void>;
  close(): Promise<void>;
}

/** The workflow bundle of `npm run build`. */
export const prebuiltFile = join(projectFolder, 'dist', 'workflow-bundle.js');

/** A program of this folder, bundled as those of production are. */
export const builtFileOf = (name: 'bare-worker' | 'bare-ingress' | 'collector') => `bench/proof/bench/${name}.js`;

/** The settings of this machine must not affect a measurement. */
const unset = {
  ...{ SERVICE_ENVIRONMENT: undefined, NOTIFY_URL: undefined, NOTIFY_SECRET: undefined, NODE_ENV: undefined },
  ...{ DATABASE_URL: undefined, LABOPS_ENCRYPTION_KEYS: undefined, METRICS_PORT: undefined },
};

export async function openStage(): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'lab-operations-bench-'));
  const server = await startDevServer({ searchAttributes: searchAttributeKeys });
  const sandboxProcess = await startProcess(process.execPath, ['dist/sandbox/main.js'], {
    env: { ...unset, SANDBOX_PORT: '0', SANDBOX_WEBHOOK_URL: '', SERVICE_API_KEY: apiKey },
    ready: /sandbox: http\S+?,/,
  });
  const [, baseUrl = ''] = /sandbox: (http\S+?),/.exec(sandboxProcess.output()) ?? [];
  const sandbox = sandboxControl(baseUrl);
  // A product's endpoint for notifications that takes everything.
  const receiver = await serveHttp((request, response) =>
    request.on('end', () => response.writeHead(204).end()).resume(),
  );
  const connection = await Connection.connect({ address: server.address });
  const service = { baseUrl, apiKey };
  const programs = ['bare-worker', 'bare-ingress', 'collector'].map((name) => `proof/bench/${name}.ts`);
  await buildPrograms(join(projectFolder, 'dist', 'bench'), programs);
  const bareBundle = await bundle(folder, 'bare-order.ts');
  const common = { ...unset, TEMPORAL_ADDRESS: server.address, SERVICE_BASE_URL: baseUrl, SERVICE_API_KEY: apiKey };
  const clientOf = ({ encrypted = false }: Encrypted = {}) =>
    new Client({ connection, ...(encrypted && { dataConverter: labDataConverter(parseKeyRing(encryptionKeys)) }) });
  const workers: StartedProcess[] = [];
  let sides = 0;
  const sideOf = async (kind: string, options: WorkerOptions, start: (env: Environment) => Promise<StartedProcess>) => {
    sides += 1;
    const { taskQueue = `${kind}-${sides}` } = options;
    const keys = options.encrypted === true ? { LABOPS_ENCRYPTION_KEYS: encryptionKeys } : {};
    const started = await start({ ...common, ...keys, ...options.env, TASK_QUEUE: taskQueue });
    workers.push(started);
    const temporal = clientOf(options);
    const labs = new LabOperations(temporal, { taskQueue, service, deadline: 'none', encryption: 'optional' });
    return { process: started, taskQueue, temporal, labs };
  };
  const startBuilt: Stage['startBuilt'] = (file, env, ready) =>
    startProcess(process.execPath, [join('dist', file)], { env: { ...common, ...env }, ready, readyWithinMs: 240_000 });
  return {
    ...{ server, sandbox, service, folder, startBuilt },
    client: clientOf,
    startProject: (options = {}) =>
      sideOf('project', options, (env) =>
        startBuilt(
          'workers/worker.js',
          projectEnv(env, { receiverUrl: `${receiver.url}/notifications`, ...options }),
          /worker started/,
        ),
      ),
    startBare: (options = {}) =>
      sideOf('bare', options, (env) =>
        startBuilt(builtFileOf('bare-worker'), { BARE_BUNDLE: bareBundle, ...env }, /bare worker started/),
      ),
    stopWorkers: async () => void (await Promise.all(workers.splice(0).map((worker) => worker.stop()))),
    newUser: async () => (await sandbox.createUser()).user.user_id,
    async close() {
      await connection.close();
      await receiver.close();
      await sandboxProcess.stop();
      await server.stop();
      await rm(folder, { recursive: true });
    },
  };
}

type Environment = Record<string, string | undefined>;

function projectEnv(env: Environment, { notifies = false, receiverUrl }: WorkerOptions): Environment {
  const target = notifies ? { NOTIFY_URL: receiverUrl, NOTIFY_SECRET: notifySecret } : { NOTIFICATIONS: 'off' };
  const quiet = { RECONCILE_EVERY_MINUTES: '0', HEALTH_DATA: 'off', SHUTDOWN_GRACE_SECONDS: '2' };
  return { LOG_LEVEL: 'info', ...quiet, ...env, ...target };
}

/** Bundles the workflows of a file of this folder; returns the bundle's path. */
export async function bundle(folder: string, file: string): Promise<string> {
  const workflowsPath = join(projectFolder, 'proof', 'bench', file);
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
  const path = join(folder, file.replace(/(?:-order)?\.ts$/, '-bundle.js'));
  await writeFile(path, code);
  return path;
}
