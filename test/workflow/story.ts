import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, WorkflowFailedError, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import type { WorkerOptions } from '@temporalio/worker';
import ms from 'ms';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { createActivities } from '../../activities/activities.js';
import { createReportFiles } from '../../activities/report-file/report-files.js';
import { LabOperations } from '../../client/lab-operations.js';
import { createWebhookHandler } from '../../client/webhooks/handler.js';
import { SandboxControl } from '../../sandbox/control.js';
import { LAB_TEST_IDS } from '../../sandbox/lab-service/seed.js';
import { startLabService } from '../../sandbox/lab-service/server.js';
import { createLabService, type LabService } from '../../service/lab-service.js';
import { healthDataSinks } from '../../workers/health-data.js';
import { keptData } from '../../workers/replaying.js';
import { kitOrderId, placeKitOrderId } from '../../workflows/order/address.js';
import { resolveProblemUpdate, type PlaceKitOrderInput } from '../../workflows/order/messages.js';
import type { OrderPolicy } from '../../workflows/order/policy.js';
import type { Duration } from '../../workflows/policy-settings.js';
import { devServer, namespace, taskQueue, testServer } from '../rig/environments.js';
import { secret, serve } from '../unit/webhooks/sending.js';
import { KeptStore } from './kept-store.js';
import { eventually } from '../rig/eventually.js';
import { Kit } from './kit.js';
import { startNotificationReceiver, type NotificationReceiver } from './notification-receiver.js';
import { consents, patientAddress, patientDetails, physician, shippingDetails } from './persons.js';

/*
 * The stage of the stories: a Temporal server whose time only `skip` moves, the product's worker, the lab service's
 * stand-in with its signed webhooks, the webhook handler and the product's receiver of notifications. Everything talks
 * over real HTTP and gRPC; nothing is replaced.
 */

const apiKey = 'sk_test_invented';

/** What `place` and `input` take; everything that is left out is usual. */
export interface KitOptions {
  reference?: string;
  /** A new one with demographics when left out. */
  userId?: string;
  kind?: PlaceKitOrderInput['kind'];
  labAccountId?: string;
  /** Only for a patient who is known. */
  withPhysician?: boolean;
  policy?: OrderPolicy;
}

export interface StageOptions {
  /** Whether the service shows an order's passthrough again. Default true. */
  echoesPassthrough?: boolean;
  /** Whether the product has an endpoint for notifications. Default true. */
  notifies?: boolean;
  /** Whether ingress and worker have a store for health data. Default false. */
  keepsHealthData?: boolean;
  /**
   * After how many events of its history a workflow is to go on in a new run. The full server then takes the place of
   * the one that skips time, which cuts no history that short and forgets answers when it cuts: `skip` takes its time.
   */
  eventsPerRun?: number;
  /** In the place of the worker's own: for what the server that skips time does not have, such as visibility. */
  activities?: object;
}

/** Sets the stage for a test file: call it once at the top. What a story leaves behind is cleared away after it. */
export function setStage(options: StageOptions = {}): Stage {
  const { eventsPerRun } = options;
  const threshold = `limit.historyCount.suggestContinueAsNew=${eventsPerRun}`;
  const rig =
    eventsPerRun === undefined ? testServer() : devServer({ serverArguments: ['--dynamic-config-value', threshold] });
  const stage = new Stage(() => rig.env);
  beforeAll(async () => {
    await stage.open(options, (more) => rig.startWorker(more));
  });
  afterEach(() => stage.clear());
  afterAll(() => stage.close());
  return stage;
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
  kept: KeptStore | undefined;
  private readonly environment: () => Environment;
  private readonly references: string[] = [];
  private readonly endings: (() => Promise<void>)[] = [];
  private readonly closing: (() => Promise<void>)[] = [];
  private worker: RunningWorker | undefined;
  private startAnother!: (options?: Partial<WorkerOptions>) => Promise<RunningWorker>;

  constructor(environment: () => Environment) {
    this.environment = environment;
  }

  async open(
    { echoesPassthrough = true, notifies = true, keepsHealthData = false, activities: others = {} }: StageOptions,
    startWorker: (options: Partial<WorkerOptions>) => Promise<RunningWorker>,
  ) {
    // The environment's own client skips time whenever a result is awaited; here only `skip` does.
    this.temporal = new Client({ connection: this.environment().connection, namespace });
    this.receiver = await startNotificationReceiver(secret);
    this.kept = keepsHealthData ? await KeptStore.open() : undefined;
    const { access } = this.kept ?? {};
    const sinks = access ? healthDataSinks(access) : {};
    const handler = createWebhookHandler({ temporal: this.temporal, secrets: [secret], taskQueue, ...sinks });
    const ingress = await serve(handler);
    const settings = {
      webhookUrl: `http://127.0.0.1:${ingress.port}/webhooks`,
      webhookSecrets: [secret],
      anySampleId: false,
      echoPassthrough: echoesPassthrough,
    };
    const lab = await startLabService({ port: 0, apiKey, settings });
    this.sandbox = new SandboxControl(lab.url);
    this.service = createLabService({ baseUrl: lab.url, apiKey });
    this.product = new LabOperations(this.temporal, { taskQueue, service: { baseUrl: lab.url, apiKey } });
    const { service, temporal, receiver } = this;
    this.reportRoot = await mkdtemp(join(tmpdir(), 'lab-reports-'));
    const reportFiles = createReportFiles({ root: this.reportRoot, allowedHosts: ['127.0.0.1'] });
    const target = notifies ? { target: { url: receiver.url, secret } } : {};
    const activities = createActivities({
      ...{ service, temporal, taskQueue, echoesPassthrough, reportFiles, encrypts: false },
      ...target,
      ...(access && { kept: keptData(access, temporal, taskQueue) }),
    });
    this.startAnother = (more = {}) => startWorker({ activities: { ...activities, ...others }, ...more });
    await this.startWorker();
    this.closing.push(
      () => this.stopWorker(),
      () => this.product.close(),
      () => service.close(),
      () => lab.close(),
      () => ingress.close(),
      () => receiver.close(),
      async () => this.kept?.close(),
      () => rm(this.reportRoot, { recursive: true }),
    );
  }

  async startWorker(): Promise<void> {
    this.worker ??= await this.startAnother();
  }

  /** Nobody works any more, until `startWorker`. */
  async stopWorker(): Promise<void> {
    await this.worker?.stop();
    this.worker = undefined;
  }

  async close(): Promise<void> {
    for (const close of this.closing) await close();
  }

  /**
   * Brings every order to its end, so that nothing of one story happens in the next. Nothing is terminated: the test
   * server would wait for the terminated workflow's task or activity for ever, and skip no time any more.
   */
  async clear(): Promise<void> {
    this.receiver.isDown = false;
    if (this.kept) this.kept.isDown = false;
    await this.sandbox.removeFaults();
    for (const end of this.endings.splice(0)) await end();
    // Some stories are about a placement that fails, or that is refused before it starts.
    for (const reference of this.references.splice(0)) await this.awaitEnd(placeKitOrderId(reference));
    for (const { order } of await this.sandbox.orders()) await this.abandon(order.id);
    await this.sandbox.reset();
    this.receiver.attempts = 0;
    this.receiver.accepted.length = 0;
  }

  /** Says how a workflow of this story that is no order comes to its end, for when the story is over. */
  endsBy(end: () => Promise<void>): void {
    this.endings.push(end);
  }

  /** Lets a workflow come to its end, however long that takes, and answers with its result. */
  async finish<Result>(workflowId: string): Promise<Result> {
    return this.environment().client.workflow.getHandle(workflowId).result() as Promise<Result>;
  }

  /** The same for one that may fail, or that was never started. */
  async awaitEnd(workflowId: string): Promise<void> {
    try {
      await this.environment().client.workflow.getHandle(workflowId).result();
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError || error instanceof WorkflowFailedError)) throw error;
    }
  }

  async newUser(demographics = true): Promise<string> {
    return (await this.sandbox.createUser({ demographics })).user.user_id;
  }

  /** What a product backend gives to `orders.place`. */
  async input(options: KitOptions = {}): Promise<PlaceKitOrderInput> {
    const { kind = 'unregistered', labAccountId, policy, withPhysician = false } = options;
    const reference = options.reference ?? `story-${randomUUID()}`;
    this.references.push(reference);
    await this.syncClock();
    const common = {
      user_id: options.userId ?? (await this.newUser()),
      lab_test_id: LAB_TEST_IDS.kit,
      ...(labAccountId !== undefined && { lab_account_id: labAccountId }),
    };
    const more = { reference, ...(policy && { policy }) };
    if (kind === 'unregistered') return { ...more, kind, order: { ...common, shipping_details: shippingDetails } };
    const patient = { patient_details: patientDetails, patient_address: patientAddress, consents };
    return { ...more, kind, order: { ...common, ...patient, ...(withPhysician && { physician }) } };
  }

  /** Places a kit through the public client; returns when its workflow follows it. */
  async place(options: KitOptions = {}): Promise<Kit> {
    const handle = await this.product.orders.place(await this.input(options));
    const kit = new Kit(this, handle, await handle.orderId());
    await kit.shows({ reference: handle.reference ?? '' });
    return kit;
  }

  /** The chain of an order that nobody placed through `place`. */
  async follow(orderId: string): Promise<Kit> {
    return new Kit(this, await this.product.orders.get({ orderId }), orderId);
  }

  /**
   * Lets time pass for the workflows and, in steps of a day, for the lab service; of a minute and more a little longer
   * than asked. Spans are round, those of policies too, so that timers would be due while the story goes on: the server
   * that skips time loses a workflow that cancels a timer in the moment in which it fires, and skips no time any more.
   */
  async skip(span: Duration): Promise<void> {
    const asked = typeof span === 'number' ? span : ms(span);
    await this.skipExactly(asked < ms('1 minute') ? asked : asked + ms('2s'));
  }

  /** The same to the millisecond. */
  async skipExactly(milliseconds: number): Promise<void> {
    const day = ms('1d');
    // What is no whole day comes first, so that the steps do not end at round times either.
    const steps = [milliseconds % day, ...Array<number>(Math.floor(milliseconds / day)).fill(day)];
    for (const step of steps.filter((each) => each > 0)) {
      await this.environment().sleep(step);
      await this.syncClock();
    }
  }

  /** The lab service's events get the time that the workflows live in. */
  async syncClock(): Promise<void> {
    await this.sandbox.setClock(new Date(await this.environment().currentTimeMs()));
  }

  /** How often the service was asked to do this. */
  async countRequests(method: string, path: string): Promise<number> {
    return (await this.sandbox.requests({ method, path })).length;
  }

  /** Waits until the service was asked so often, or more often. */
  async seesRequests(method: string, path: string, count = 1): Promise<void> {
    await eventually(async () => expect(await this.countRequests(method, path)).toBeGreaterThanOrEqual(count));
  }

  private async abandon(orderId: string): Promise<void> {
    const order = this.environment().client.workflow.getHandle(kitOrderId(orderId));
    try {
      await order.startUpdate(resolveProblemUpdate, { args: [{ decision: 'abandon' }], waitForStage: 'ACCEPTED' });
      await order.result();
    } catch (error) {
      // It has ended, is about to, or belongs to another order's workflow.
      if (!(error instanceof WorkflowNotFoundError || error instanceof WorkflowUpdateFailedError)) throw error;
    }
  }
}

interface RunningWorker {
  stop(): Promise<void>;
}
