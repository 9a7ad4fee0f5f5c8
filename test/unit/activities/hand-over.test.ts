import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { placingActivities, type CreateKitOrder, type PlacedOrder } from '../../../activities/placing.js';
import type { ActivityDependencies } from '../../../activities/dependencies.js';
import { sandboxControl, type SandboxControl } from '../../../sandbox/control.js';
import { LAB_TEST_IDS } from '../../../sandbox/lab-service/seed.js';
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

interface Started {
  workflowId: string;
  args: unknown[];
  signalArgs: unknown[];
}

/** One attempt to create an order, on a Temporal that has run nothing yet. */
async function create(
  more: Partial<CreateKitOrder> = {},
  take: (start: Started) => void = () => undefined,
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
  const order = { user_id: userId, lab_test_id: LAB_TEST_IDS.kit, shipping_details: shippingDetails };
  const input: CreateKitOrder = {
    ...{ request: { kind: 'unregistered', order }, reference: `reference-${userId}`, since: new Date().toISOString() },
    ...{ triedBefore: false, creationTimeout, creationSettling, policy },
    ...more,
  };
  const hour = 3_600_000;
  const times = { scheduledTimestampMs: Date.now(), startToCloseTimeoutMs: hour, scheduleToCloseTimeoutMs: hour };
  const placed = (await new MockActivityEnvironment(times).run(() => activities.createKitOrder(input))) as PlacedOrder;
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
      signalArgs: [{ reference: `reference-${userId}`, policy, labTestId: LAB_TEST_IDS.kit, notifies: false }],
    },
  ]);
});

test('an order that Temporal does not take is left to its placing, and is not created again', async () => {
  const { placed } = await create({}, () => {
    throw new Error('Temporal is away');
  });
  expect(placed).toMatchObject({ adopted: false });
  expect(placed).not.toHaveProperty('handedOver');
  expect((await sandbox.orders()).filter(({ order }) => order.user_id === userId)).toHaveLength(1);
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
