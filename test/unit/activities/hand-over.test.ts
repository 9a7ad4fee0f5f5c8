import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { Info } from '@temporalio/activity';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { placingActivities, type CreateKitOrder, type PlacedOrder } from '../../../activities/placing.js';
import type { ActivityDependencies } from '../../../activities/dependencies.js';
import { sandboxControl, type SandboxControl } from '../../../sandbox/control.js';
import { labTestIds } from '../../../sandbox/lab-service/seed.js';
import { startLabService, type LabService as StandIn } from '../../../sandbox/lab-service/server.js';
import { createLabService, type LabService } from '../../../service/lab-service.js';
import { resolveOrderPolicy } from '../../../protocol/order/policy.js';
import { shippingDetails } from '../../rig/cast.js';

const apiKey = 'sk_test_invented';
const policy = resolveOrderPolicy();

let standIn: StandIn;
let service: LabService;
let sandbox: SandboxControl;
let userId: string;

beforeAll(async () => {
  standIn = await startLabService({ port: 0, apiKey });
  service = createLabService({ baseUrl: standIn.url, apiKey });
  sandbox = sandboxControl(standIn.url);
});
beforeEach(async () => {
  userId = (await sandbox.createUser()).user.user_id;
});
afterAll(async () => {
  await service.close();
  await standIn.close();
});

/** How many were created for the user. */
const kits = async () => (await sandbox.orders()).filter(({ order }) => order.user_id === userId).length;

interface Started {
  workflowId: string;
  args: unknown[];
  signalArgs: unknown[];
}

/** One attempt to create an order, on a Temporal that has run nothing yet. */
async function create(
  more: Partial<CreateKitOrder> = {},
  take: (start: Started) => void = () => undefined,
  info: Partial<Info> = {},
): Promise<{ placed: PlacedOrder; started: Started[] }> {
  const started: Started[] = [];
  const temporal = {
    withDeadline: async (_deadline: number, call: () => Promise<unknown>) => call(),
    workflow: {
      async *list() {},
      getHandle: (workflowId: string) => ({
        async describe() {
          throw new WorkflowNotFoundError('not found', workflowId, undefined);
        },
      }),
      async signalWithStart(_name: string, start: Started) {
        take(start);
        started.push(start);
      },
    },
  } as unknown as Client;
  const dependencies = { service, temporal, taskQueue: 'lab', echoesPassthrough: true, target: 'off' };
  const activities = placingActivities(dependencies as ActivityDependencies);
  const { creationTimeout, creationSettling } = policy;
  const order = { user_id: userId, lab_test_id: labTestIds.kit, shipping_details: shippingDetails };
  const input: CreateKitOrder = {
    ...{ request: { kind: 'unregistered', order }, reference: `reference-${userId}`, since: new Date().toISOString() },
    ...{ triedBefore: false, creationTimeout, creationSettling, policy },
    ...more,
  };
  const hour = 3_600_000;
  const times = { scheduledTimestampMs: Date.now(), startToCloseTimeoutMs: hour, scheduleToCloseTimeoutMs: hour };
  const environment = new MockActivityEnvironment({ ...times, ...info });
  const placed = (await environment.run(() => activities.createKitOrder(input))) as PlacedOrder;
  return { placed, started };
}

test('the attempt that creates an order hands it over in one call', async () => {
  const { placed, started } = await create();
  const { orderId } = placed.snapshot;
  expect(placed).toMatchObject({ adopted: false, handedOver: true });
  expect(started).toMatchObject([
    {
      workflowId: `kit-order/${orderId}`,
      args: [{ rootOrderId: orderId, earlierRun: {} }],
      signalArgs: [{ reference: `reference-${userId}`, policy, labTestId: labTestIds.kit, notifies: false }],
    },
  ]);
});

test('an order that Temporal does not take is left to its placing, and is not created again', async () => {
  const { placed } = await create({}, () => {
    throw new Error('Temporal is away');
  });
  expect(placed).toMatchObject({ adopted: false });
  expect(placed).not.toHaveProperty('handedOver');
  expect(await kits()).toBe(1);
});

test('an order that was there already is left to its placing, which looks for earlier runs', async () => {
  await create();
  const { placed, started } = await create({ triedBefore: true });
  expect(placed).toMatchObject({ adopted: true });
  expect(placed).not.toHaveProperty('handedOver');
  expect(started).toEqual([]);
});

test('a placing of an earlier release, which sends no policy, hands its order over itself', async () => {
  const { placed, started } = await create({ policy: undefined as never });
  expect(placed).not.toHaveProperty('handedOver');
  expect(started).toEqual([]);
});

describe('an operator who resets the activity, whose attempts then count from 1 again', () => {
  const before = { scheduledTimestampMs: Date.now() - 60_000, currentAttemptScheduledTimestampMs: Date.now() };

  test.each<[string, Partial<Info>]>([
    ['with the details of its heartbeats', { heartbeatDetails: { all: true } }],
    ['without them', before],
  ])('%s gets no second kit: the order is found by the attempt after the pause', async (_how, info) => {
    await create();
    await expect(create({}, undefined, { attempt: 1, ...info })).rejects.toMatchObject({
      type: 'AttemptReset',
      nonRetryable: false,
      nextRetryDelay: policy.creationSettling,
    });
    const { placed } = await create({}, undefined, { ...info, attempt: 2 });
    expect(placed).toMatchObject({ adopted: true });
    expect(await kits()).toBe(1);
  });
});
