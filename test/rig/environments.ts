import './runtime.js';
import type { Client } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import type { WorkerOptions } from '@temporalio/worker';
import { afterAll, beforeAll, inject } from 'vitest';
import { type DevServer, startDevServer } from '../../sandbox/temporal/dev-server.js';
import { startTestServer } from '../../sandbox/temporal/test-server.js';
import { auditSinks } from '../../workers/audit-writer.js';
import { createWorkers, type QueueOptions, runWorkers, shutDown } from '../../workers/worker/queues.js';
import { searchAttributeKeys } from '../../protocol/search-attributes.js';

/** What a test's client and worker have beside the defaults, such as a data converter. */
type ClientOptions = NonNullable<NonNullable<Parameters<typeof TestWorkflowEnvironment.createLocal>[0]>['client']>;

export interface RigOptions {
  client?: ClientOptions;
  /** Starts one worker for the whole file with these activities; without it the file starts its own. */
  activities?: object;
  /** Other options of that worker. */
  worker?: Partial<WorkerOptions>;
  /** More arguments for the dev server, such as `--dynamic-config-value` and a pair. */
  serverArguments?: readonly string[];
  /** The name of a dev server that stands until this process ends: files that give the same name share it. Its task queue has that name. */
  standing?: string;
}

/** One Temporal server for one test file, started before its tests and ended after them. */
export interface Rig {
  readonly env: TestWorkflowEnvironment;
  readonly client: Client;
  /** `host:port`, for processes under test. */
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  /** A worker with the suite's workflow bundle, ended after the file's tests unless it was stopped before. */
  startWorker(options?: Partial<WorkerOptions>, queues?: QueueOptions): Promise<RunningWorker>;
  /** Starts another server in the place of one that no longer answers, which is killed. The workers go with it. */
  renew(): Promise<void>;
}

interface RunningWorker {
  /** Drains, and fails when the worker failed. */
  stop(): Promise<void>;
}

export const namespace = 'default';
export const taskQueue = 'lab-operations-test';

/** The full server: visibility, schedules, real time. Call it at the top of a test file or of a `describe`. */
export function devServer(options: RigOptions = {}): Rig {
  const { standing } = options;
  return rig(options, async () => {
    const server = (standing !== undefined && standingServers.get(standing)) || (await startServer(options));
    if (standing !== undefined) standingServers.set(standing, server);
    const connecting = TestWorkflowEnvironment.createFromExistingServer({
      address: server.address,
      namespace,
      ...(options.client && { client: options.client }),
    });
    // A server that has ended says more than a connection that did not come.
    const ended = server.ended.then((reason): never => {
      throw reason;
    });
    const env = await Promise.race([connecting, ended]);
    const end = async (): Promise<void> => {
      await env.teardown();
      if (standing === undefined) await server.stop();
    };
    return { env, end, kill: () => server.stop() };
  });
}

const standingServers = new Map<string, DevServer>();

async function startServer({ serverArguments = [] }: RigOptions): Promise<DevServer> {
  return startDevServer({
    program: inject('devServerProgram'),
    searchAttributes: searchAttributeKeys,
    extraArgs: serverArguments,
  });
}

/**
 * The server that skips time: only while a workflow's `result` is awaited, and in `env.sleep`. It can neither list nor
 * count workflows. Call it at the top of a test file or of a `describe`.
 */
export function testServer(options: RigOptions = {}): Rig {
  return rig(options, async () => {
    const {
      environment: env,
      stop,
      kill,
    } = await startTestServer({
      program: inject('testServerProgram'),
      searchAttributes: searchAttributeKeys,
      ...(options.client && { client: options.client }),
    });
    return { env, end: stop, kill };
  });
}

interface Started {
  env: TestWorkflowEnvironment;
  end: () => Promise<void>;
  kill: () => Promise<void>;
}

function rig(options: RigOptions, start: () => Promise<Started>): Rig {
  let started: Started | undefined;
  const workers = new Set<RunningWorker>();
  const env = (): TestWorkflowEnvironment => {
    if (!started) throw new Error('The Temporal server of this file is started before its tests: use it inside them.');
    return started.env;
  };
  const startWorker: Rig['startWorker'] = async (worker = {}, queues = {}) => {
    const queue = { taskQueue: options.standing ?? taskQueue };
    const running = await run({ ...queue, ...options.worker, ...worker }, queues, env());
    const stop = (): Promise<void> => {
      workers.delete(running);
      return running.stop();
    };
    workers.add(running);
    return { ...running, stop };
  };
  beforeAll(async () => {
    started = await start();
    if (options.activities) await startWorker({ activities: options.activities });
  });
  afterAll(async () => {
    try {
      await Promise.all([...workers].map((worker) => worker.stop()));
    } finally {
      await started?.end();
    }
  });
  const renew = async (): Promise<void> => {
    // To stop them would take a server that answers.
    workers.clear();
    await started?.kill();
    started = await start();
  };
  return {
    get env() {
      return env();
    },
    get client() {
      return env().client;
    },
    get address() {
      return env().address;
    },
    namespace,
    taskQueue: options.standing ?? taskQueue,
    startWorker,
    renew,
  };
}

async function run(
  options: Partial<WorkerOptions>,
  queues: QueueOptions,
  env: TestWorkflowEnvironment,
): Promise<RunningWorker> {
  const defaults = {
    connection: env.nativeConnection,
    namespace,
    taskQueue,
    workflowBundle: { codePath: inject('workflowBundlePath') },
  };
  // As every worker has it: without it the SDK logs an error for each command.
  const sinks = { ...auditSinks(), ...options.sinks };
  const workers = await createWorkers({ ...defaults, ...options, sinks }, queues);
  // It is awaited when the worker is stopped; until then its failure must not count as unhandled.
  const ended = runWorkers(workers).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  return {
    stop: async () => {
      shutDown(workers);
      const failed = await ended;
      if (failed) throw new Error('The worker of this test failed.', { cause: failed.error });
    },
  };
}
