import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  Client,
  isGrpcCancelledError,
  isGrpcDeadlineError,
  QueryNotRegisteredError,
  ServiceError,
  WorkflowFailedError,
  type WorkflowHandle,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import ms from 'ms';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { createPlacingCheck, type RequireNotStopped } from '../../activities/placing-stop.js';
import { createActivities } from '../../activities/activities.js';
import { createReportFiles } from '../../activities/report-file/report-files.js';
import { LabOperations } from '../../client/lab-operations.js';
import { createWebhookHandler } from '../../client/webhooks/handler.js';
import { sandboxControl, type SandboxControl } from '../../sandbox/control.js';
import { labTestIds } from '../../sandbox/lab-service/seed.js';
import { startLabService } from '../../sandbox/lab-service/server.js';
import { withoutSearch } from '../../sandbox/temporal/test-server.js';
import { createLabService, type LabService } from '../../service/lab-service.js';
import type { HealthDataStore } from '../../store/health-data-store.js';
import { healthDataSinks, workerStore } from '../../workers/health-data.js';
import type { QueueOptions } from '../../workers/worker/queues.js';
import { kitOrderId, placeKitOrderId } from '../../protocol/ids.js';
import {
  acknowledgeCriticalResultUpdate,
  resolveProblemUpdate,
  stateQuery,
  type AcknowledgeCriticalResultCommand,
} from '../../protocol/order/messages.js';
import type { OrderState } from '../../protocol/order/state.js';
import type { PlaceKitOrderInput } from '../../protocol/order/placing-messages.js';
import type { OrderPolicy } from '../../protocol/order/policy.js';
import type { Duration } from '../../protocol/time.js';
import { devServer, namespace, taskQueue, testServer, type Rig } from '../rig/environments.js';
import { secret, serve } from '../unit/webhooks/sending.js';
import { TestStore } from './test-store.js';
import { eventually } from '../rig/eventually.js';
import { Kit } from './kit.js';
import { startNotificationReceiver, type NotificationReceiver } from '../rig/notification-receiver.js';
import { consents, importFor, patientAddress, patientDetails, shippingDetails } from '../rig/cast.js';

/*
 * The stage of the stories: a Temporal server whose time only `skip` moves, the product's worker, the lab service's
 * stand-in with its signed webhooks, the webhook handler and the product's receiver of notifications. Everything talks
 * over real HTTP and gRPC; nothing is replaced.
 */

const apiKey = 'sk_test_invented';

/** Options of `place` and `input`; each has a default. */
export interface KitOptions {
  reference?: string;
  /** A new one with demographics when left out. */
  userId?: string;
  kind?: PlaceKitOrderInput['kind'];
  policy?: OrderPolicy;
}

export interface StageOptions {
  /**
   * True if the product has an endpoint for notifications; otherwise the worker states that it has none. Default true.
   */
  notifies?: boolean;
  /** True if notifications carry the user's `client_user_id`. Default false, as in the worker. */
  namesClientUser?: boolean;
  /**
   * True if ingress and worker have a store for health data; otherwise the worker states that there is none. Default
   * false.
   */
  keepsHealthData?: boolean;
  /**
   * After how many events of its history a workflow continues in a new run. The full server then takes the place of the
   * one that skips time, which cuts no history that short and forgets answers when it cuts: `skip` takes its time.
   */
  eventsPerRun?: number;
  /**
   * Real time on the full server: for behaviour that the server that skips time does not have, such as the retry state
   * of timeouts.
   */
  fullServer?: boolean;
  /** True if the worker keeps no workflow in memory, so it meets each message as a worker does that has just started. */
  isCold?: boolean;
}

/** Histories have it in many places: as it is, test/workflow/cost.test.ts does not depend on the machine's name. */
const identity = '12345@story';

/** In real time. */
const soonMs = 3_000;
const standstillMs = 30_000;
const longestStepMs = 180_000;
/** Most stories are cleared away in a second. */
const clearingMs = 60_000;

/** How long it is until the next Wednesday, 15:00 UTC, when the stories begin: dates and business days depend on it. */
function untilTheBeginning(now: number): number {
  const week = ms('7d');
  // The epoch began on a Thursday.
  const beginning = ms('6d') + ms('15h');
  return (((beginning - now) % week) + week) % week;
}

/** Sets the stage for a test file: call it once at the top. What a story leaves behind is cleared away after it. */
export function setStage(options: StageOptions = {}): Stage {
  const { eventsPerRun, fullServer = eventsPerRun !== undefined } = options;
  const threshold = `limit.historyCount.suggestContinueAsNew=${eventsPerRun}`;
  const serverArguments = eventsPerRun === undefined ? [] : ['--dynamic-config-value', threshold];
  const rig = fullServer ? devServer({ serverArguments }) : testServer();
  const stage = new Stage(() => rig.env);
  const open = () => stage.open({ ...options, fullServer }, (more, queues) => rig.startWorker(more, queues));
  beforeAll(open);
  afterEach(async ({ task }) => {
    if (fullServer) {
      await stage.clear();
      return;
    }
    // The errors of the try before are kept: they do not count if this one has passed.
    const errors = task.result?.state === 'fail' ? (task.result.errors ?? []) : [];
    const failed = (how: string) => errors.some(({ message }) => message.startsWith(how));
    const hasStoodStill = failed(stoodStill) || (failed('Test timed out') && !(await stage.skipsTime()));
    if (!hasStoodStill && (await stage.clearInTime())) return;
    stage.leaveBehind();
    await rig.renew();
    await open();
    throw new ServerStoodStill();
  });
  afterAll(() => stage.close());
  return stage;
}

/** What the configuration of the stories asks for before it plays a story again: see `vitest.config.ts`. */
const stoodStill = 'The server that skips time has stood still';

class ServerStoodStill extends Error {
  constructor() {
    super(`${stoodStill}: the story is played again on a new one`);
  }
}

type Environment = ReturnType<typeof testServer>['env'];

export class Stage {
  temporal!: Client;
  product!: LabOperations;
  service!: LabService;
  sandbox!: SandboxControl;
  receiver!: NotificationReceiver;
  /** The folder that reports' files lie in. */
  reportRoot!: string;
  /** Where health data are kept, if they are. */
  testStore: TestStore | undefined;
  private readonly environment: () => Environment;
  private readonly references: string[] = [];
  private readonly endings: (() => Promise<void>)[] = [];
  private readonly closing: (() => Promise<void>)[] = [];
  private worker: RunningWorker | undefined;
  private startAnother!: (queues?: QueueOptions) => Promise<RunningWorker>;
  private startForgetful!: (connection: NativeConnection) => Promise<RunningWorker>;

  constructor(environment: () => Environment) {
    this.environment = environment;
  }

  async open(options: StageOptions, startWorker: Rig['startWorker']) {
    const { notifies = true, namesClientUser = false, keepsHealthData = false } = options;
    // The environment's own client skips time whenever a result is awaited; here only `skip` does.
    this.temporal = new Client({ connection: this.environment().connection, namespace, identity });
    this.receiver = await startNotificationReceiver(secret);
    this.testStore = keepsHealthData ? await TestStore.open() : undefined;
    const { access } = this.testStore ?? {};
    const sinks = access ? healthDataSinks(access) : {};
    const handler = createWebhookHandler({
      temporal: this.temporal,
      secrets: [secret],
      taskQueue,
      logger: false,
      ...sinks,
    });
    const ingress = await serve(handler);
    const settings = {
      webhookUrl: `http://127.0.0.1:${ingress.port}/webhooks`,
      webhookSecrets: [secret],
      anySampleId: false,
    };
    const lab = await startLabService({ port: 0, apiKey, settings });
    this.sandbox = sandboxControl(lab.url);
    this.service = createLabService({ baseUrl: lab.url, apiKey });
    // A story may skip weeks while a call waits: the time of the test is the limit.
    this.product = new LabOperations(this.temporal, {
      taskQueue,
      service: { baseUrl: lab.url, apiKey },
      deadline: 'none',
    });
    const { service, receiver } = this;
    const temporal = options.fullServer ? this.temporal : withoutSearch(this.temporal);
    this.reportRoot = await mkdtemp(join(tmpdir(), 'lab-reports-'));
    const reportFiles = createReportFiles({ root: this.reportRoot, allowedHosts: ['127.0.0.1'] });
    const common = {
      ...{ service, temporal, taskQueue, reportFiles, echoesPassthrough: true, erasesHistories: true, encrypts: false },
      // It remembers for 15 seconds of real time, in which a story skips weeks.
      requireNotStopped: (...attempt: Parameters<RequireNotStopped>) =>
        createPlacingCheck(temporal, taskQueue)(...attempt),
    };
    const activities = createActivities({
      ...common,
      // The pause of a receiver that does not answer is real time, which a story skips.
      target: notifies ? { url: receiver.url, secret, namesClientUser, pauseMs: 0 } : 'off',
      workerStore: access ? workerStore(access, temporal, { taskQueue, installation: service.installation }) : 'off',
    });
    const cache = { identity, ...(options.isCold && { maxCachedWorkflows: 0 }) };
    this.startAnother = (queues) => startWorker({ ...cache, activities }, queues);
    this.startForgetful = (connection) => startWorker({ connection, activities: createActivities(common) });
    if (!options.fullServer) await this.skipExactly(untilTheBeginning(await this.environment().currentTimeMs()));
    await this.startWorker();
    this.closing.push(
      () => this.stopWorker(),
      () => this.product.close(),
      () => service.close(),
      () => lab.close(),
      () => ingress.close(),
      () => receiver.close(),
      async () => this.testStore?.close(),
      () => rm(this.reportRoot, { recursive: true }),
    );
  }

  /** @param queues default: all */
  async startWorker(queues?: QueueOptions): Promise<void> {
    this.worker ??= await this.startAnother(queues);
  }

  /** Stops all work until `startWorker`. */
  async stopWorker(): Promise<void> {
    await this.worker?.stop();
    this.worker = undefined;
  }

  /** Another worker on the same queue, without NOTIFY_URL and DATABASE_URL. It ends with the story. */
  async startForgetfulWorker(): Promise<RunningWorker> {
    // One connection does not serve two workers of a queue.
    const connection = await NativeConnection.connect({ address: this.environment().address });
    const worker = await this.startForgetful(connection);
    let stopped: Promise<void> | undefined;
    const stop = () => (stopped ??= worker.stop().then(() => connection.close()));
    this.endings.push(stop);
    return { stop };
  }

  get store(): HealthDataStore {
    if (!this.testStore) throw new Error('This stage has no store.');
    return this.testStore.store;
  }

  async close(): Promise<void> {
    for (const close of this.closing) await close();
  }

  /** Leaves everything to itself: without its server it cannot be ended. */
  leaveBehind(): void {
    this.worker = undefined;
    for (const list of [this.closing, this.endings, this.references]) list.length = 0;
  }

  /** False if the server has lost a workflow (see `skip`): it then waits for its task forever, and skips no time. */
  async skipsTime(): Promise<boolean> {
    return this.passes(ms('1s'), standstillMs);
  }

  /**
   * Clears away; false if that would take forever, because the server has lost a workflow (see `skip`). Such a server
   * may go on skipping time: then a busy machine gets three times as long.
   */
  async clearInTime(): Promise<boolean> {
    const clearing = this.clear().then(() => true);
    const within = (milliseconds: number) => Promise.race([clearing, pause(milliseconds, false)]);
    return (await within(clearingMs)) || ((await this.skipsTime()) && (await within(2 * clearingMs)));
  }

  /**
   * Ends every order, so nothing of one story happens in the next. Nothing is terminated: the test server would wait
   * forever for the terminated workflow's task or activity, and never skip time again.
   */
  async clear(): Promise<void> {
    this.receiver.isDown = false;
    this.receiver.refuses = () => false;
    this.receiver.product = undefined;
    if (this.testStore) this.testStore.isDown = false;
    await this.sandbox.removeFaults();
    for (const end of this.endings.splice(0)) await end();
    // Some stories are about a placement that fails, or that is refused before it starts.
    for (const reference of this.references.splice(0)) await this.awaitEnd(placeKitOrderId(reference));
    for (const { order } of await this.sandbox.orders()) await this.abandon(order.id);
    await this.sandbox.reset();
    this.receiver.attempts = 0;
    this.receiver.accepted.length = 0;
    this.receiver.refused.length = 0;
  }

  /** Registers how to end a workflow of this story that is not an order; called when the story is over. */
  onClear(end: () => Promise<void>): void {
    this.endings.push(end);
  }

  /** Lets time pass until a workflow ends, and returns its result. */
  async finish<Result>(workflowId: string): Promise<Result> {
    return this.environment().client.workflow.getHandle(workflowId).result() as Promise<Result>;
  }

  /** Cancels a workflow that is still running, and waits until it has ended. The deletion of its user may have erased it since. */
  async cancelIfRunning(workflowId: string): Promise<void> {
    const workflow = this.temporal.workflow.getHandle(workflowId);
    try {
      if ((await workflow.describe()).status.name !== 'RUNNING') return;
      await workflow.cancel();
      await this.end(workflowId);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }

  /** Waits until a workflow ends that may fail, or that was never started. */
  async awaitEnd(workflowId: string): Promise<void> {
    try {
      await this.end(workflowId);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError || error instanceof WorkflowFailedError)) throw error;
    }
  }

  /**
   * Waits until a workflow ends, in real time if that is enough: nearly all that are told to end do so at once. Even to ask for
   * the result of one that has ended lets the server skip to the next timer, of any workflow, which would fire in the moment in
   * which the next command comes: see `skip`.
   */
  private async end(workflowId: string): Promise<void> {
    try {
      const { workflow } = this.temporal;
      await this.temporal.withDeadline(Date.now() + soonMs, () => workflow.getHandle(workflowId).result());
    } catch (error) {
      const cause = error instanceof ServiceError ? error.cause : error;
      if (!isGrpcDeadlineError(cause) && !isGrpcCancelledError(cause)) throw error;
      await this.finish(workflowId);
    }
  }

  async newUser(): Promise<string> {
    return (await this.sandbox.createUser()).user.user_id;
  }

  /** A product backend's input to `orders.place`. */
  async input(options: KitOptions = {}): Promise<PlaceKitOrderInput> {
    const { kind = 'unregistered', policy } = options;
    const reference = options.reference ?? `story-${randomUUID()}`;
    this.references.push(reference);
    await this.syncClock();
    const userId = options.userId ?? (await this.newUser());
    const more = { reference, ...(policy && { policy }) };
    if (kind === 'import') return { ...more, kind, order: importFor(userId, `SAMPLE-${randomUUID()}`) };
    const common = { user_id: userId, lab_test_id: labTestIds.kit };
    if (kind === 'unregistered') return { ...more, kind, order: { ...common, shipping_details: shippingDetails } };
    const patient = { patient_details: patientDetails, patient_address: patientAddress, consents };
    return { ...more, kind, order: { ...common, ...patient } };
  }

  /** Places a kit through the public client; returns when its workflow follows it. */
  async place(options: KitOptions = {}): Promise<Kit> {
    const handle = await this.product.orders.place(await this.input(options));
    const kit = new Kit(this, handle, await handle.orderId());
    await kit.expectState({ reference: handle.reference ?? '' });
    return kit;
  }

  /** The chain of an order that nobody placed through `place`. */
  async follow(orderId: string): Promise<Kit> {
    return new Kit(this, await this.product.orders.getHandle({ orderId }), orderId);
  }

  /**
   * Lets time pass for the workflows and, in steps of a day, for the lab service; for a minute and more slightly longer
   * than requested. Spans are round, those of policies too, so timers would be due in the middle of the story: the
   * server that skips time loses a workflow that cancels a timer in the moment in which it fires, and skips no time any
   * more: it takes the workflow's task for completed, drops the command and what had happened meanwhile, and never schedules another. An
   * activity that is cancelled as it ends has the same effect. Nothing here avoids that, but before an alarm, which cancels a delivery, a
   * story waits (`Kit.untilIdle`).
   */
  async skip(span: Duration | number): Promise<void> {
    const asked = typeof span === 'number' ? span : ms(span);
    await this.skipExactly(asked < ms('1 minute') ? asked : asked + ms('2s'));
  }

  /** The same to the millisecond. */
  async skipExactly(milliseconds: number): Promise<void> {
    const day = ms('1d');
    // The part of a day comes first, so the steps do not end at round times either.
    const steps = [milliseconds % day, ...Array<number>(Math.floor(milliseconds / day)).fill(day)];
    for (const step of steps.filter((each) => each > 0)) {
      // A server that lets a day pass in minutes is busy; one that has not by then never does.
      if (!(await this.passes(step, longestStepMs))) throw new ServerStoodStill();
      await this.syncClock();
    }
  }

  /** True if the server lets so much time pass within a real time. */
  private async passes(milliseconds: number, withinMs: number): Promise<boolean> {
    const passed = this.environment()
      .sleep(milliseconds)
      .then(() => true);
    return Promise.race([passed, pause(withinMs, false, { ref: false })]);
  }

  /** The time that the workflows live in, in milliseconds since the epoch. */
  now(): Promise<number> {
    return this.environment().currentTimeMs();
  }

  /** The lab service's events get the time that the workflows live in. */
  async syncClock(): Promise<void> {
    await this.sandbox.setClock(new Date(await this.now()));
  }

  /** How often the service received such a request. */
  async countRequests(method: string, path: string): Promise<number> {
    return (await this.sandbox.requests({ method, path })).length;
  }

  /** Waits until the service was asked at least so often. */
  async expectRequests(method: string, path: string, count = 1): Promise<void> {
    await eventually(async () => expect(await this.countRequests(method, path)).toBeGreaterThanOrEqual(count));
  }

  private async abandon(orderId: string): Promise<void> {
    const order = this.temporal.workflow.getHandle(kitOrderId(orderId));
    try {
      // One that an operator ended in the middle of a workflow task answers no query any more.
      if ((await order.describe()).status.name !== 'RUNNING') return;
      await this.acknowledgeCritical(orderId);
      const { orderId: current } = await stateOf(order);
      const abandon = { decision: 'abandon', orderId: current, insteadOf: 'wait' } as const;
      await order.startUpdate(resolveProblemUpdate, { args: [abandon], waitForStage: 'ACCEPTED' });
      await this.end(kitOrderId(orderId));
    } catch (error) {
      // It has ended, is about to, or belongs to another order's workflow.
      if (!(error instanceof WorkflowNotFoundError || error instanceof WorkflowUpdateFailedError)) throw error;
    }
  }

  /** Nothing else lets an order with a critical result end. */
  private async acknowledgeCritical(orderId: string): Promise<void> {
    const order = this.temporal.workflow.getHandle(kitOrderId(orderId));
    const answer = { by: 'the-end-of-the-story', outcome: 'confirmed' } as const;
    try {
      const { criticalResult } = await stateOf(order);
      if (criticalResult?.isOpen !== true) return;
      const args: [AcknowledgeCriticalResultCommand] = [
        { ...answer, orderId: criticalResult.orderId, alarm: criticalResult.alarm },
      ];
      await order.executeUpdate(acknowledgeCriticalResultUpdate, { args });
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError || error instanceof WorkflowUpdateFailedError)) throw error;
    }
  }
}

/** A worker that reads the history for a query may find that the workflow has moved on: it is asked again, as the client does. */
async function stateOf(order: WorkflowHandle): Promise<OrderState> {
  const answer = await eventually(async () => {
    try {
      return { state: await order.query(stateQuery) };
    } catch (error) {
      if (error instanceof QueryNotRegisteredError) throw error;
      return { error };
    }
  });
  if ('error' in answer) throw answer.error;
  return answer.state;
}

export interface RunningWorker {
  stop(): Promise<void>;
}
