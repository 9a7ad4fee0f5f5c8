import type { Info } from '@temporalio/activity';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ActivityDependencies } from '../../../../activities/dependencies.js';
import { createPlacingCheck } from '../../../../activities/placing-stop.js';
import { placingActivities, type CreateKitOrder, type PlacedOrder } from '../../../../activities/order/placing.js';
import { labReferenceKey, labUserIdKey } from '../../../../protocol/search-attributes.js';
import { sandboxControl, type SandboxControl } from '../../../../sandbox/control.js';
import { labAccountIds, labTestIds } from '../../../../sandbox/lab-service/seed.js';
import { startLabService, type LabService as StandIn } from '../../../../sandbox/lab-service/server.js';
import { createLabService, type LabService } from '../../../../service/lab-service.js';
import { importFor, patientAddress, patientDetails, physician, shippingDetails } from '../../../rig/cast.js';
import { resolvePolicy } from '../../../../protocol/policy/policies.js';

const apiKey = 'sk_test_invented';
const policy = resolvePolicy('order');
const createPath = '/v3/order/testkit';
const deployment = { taskQueue: 'lab', echoesPassthrough: true, target: 'off' };

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
afterEach(async () => {
  await sandbox.removeFaults();
  await sandbox.clearRequests();
});
afterAll(async () => {
  await service.close();
  await standIn.close();
});

/** How many were created for the user. */
const kits = async () => (await sandbox.orders()).filter(({ order }) => order.user_id === userId).length;
const posts = async (path: string) => (await sandbox.requests({ method: 'POST', path })).length;
/** The next answer to a request, or every one. */
const answering = (method: 'GET' | 'POST', path: string, status: number, body: unknown, more: object = { times: 1 }) =>
  sandbox.addFault({ method, path, action: { kind: 'answer', status, body: body as object }, ...more });

const patient = { patient_details: patientDetails, patient_address: patientAddress };
const kitOrder = <More extends object>(more: More) => ({ user_id: userId, lab_test_id: labTestIds.kit, ...more });

interface Started {
  workflowId: string;
  args: unknown[];
  signalArgs: unknown[];
}

interface Circumstances {
  take?: (start: Started) => void;
  info?: Partial<Info>;
  /** Runs that Temporal lists. */
  runs?: object[];
  /** Answers what the workflow of a stop is. */
  describeStop?: () => Promise<object>;
}

/** One attempt to create an order. Temporal has run nothing yet, if nothing else is said. */
async function create(
  more: Partial<CreateKitOrder> = {},
  { take = () => undefined, info = {}, runs = [], describeStop }: Circumstances = {},
): Promise<{ placed: PlacedOrder; started: Started[] }> {
  const started: Started[] = [];
  const notFound = (workflowId: string) => Promise.reject(new WorkflowNotFoundError('none', workflowId, undefined));
  const workflow = {
    async *list() {
      yield* runs;
    },
    getHandle: (workflowId: string) => ({
      describe: () => (workflowId === 'placing-stop/lab' && describeStop ? describeStop() : notFound(workflowId)),
      signal: async () => undefined,
    }),
    async signalWithStart(_name: string, start: Started) {
      take(start);
      started.push(start);
    },
  };
  const withDeadline = async (_deadline: number, call: () => Promise<unknown>) => call();
  const temporal = { withDeadline, workflow } as unknown as Client;
  const requireNotStopped = createPlacingCheck(temporal, 'lab');
  const dependencies = { ...deployment, service, temporal, requireNotStopped };
  const activities = placingActivities(dependencies as ActivityDependencies);
  const { creationTimeout, creationSettling } = policy;
  const order = kitOrder({ shipping_details: shippingDetails });
  const input: CreateKitOrder = {
    ...{ request: { kind: 'unregistered', order }, reference: `reference-${userId}`, since: new Date().toISOString() },
    ...{ triedBefore: false, creationTimeout, creationSettling, policy },
    ...more,
  };
  const hour = 3_600_000;
  const times = { scheduledTimestampMs: Date.now(), startToCloseTimeoutMs: hour, scheduleToCloseTimeoutMs: hour };
  const environment = new MockActivityEnvironment({ ...times, ...info });
  const placed: PlacedOrder = await environment.run(() => activities.createKitOrder(input));
  return { placed, started };
}

/** The attempt after one whose answer was lost. */
const again = async (more: Partial<CreateKitOrder> = {}) =>
  (await create(more, { info: { attempt: 2, heartbeatDetails: { all: true } } })).placed;

test('the attempt that creates an order hands it over in one call', async () => {
  const { placed, started } = await create();
  const { orderId } = placed.snapshot;
  expect(placed).toMatchObject({ adopted: false, handedOver: true });
  const args = [{ rootOrderId: orderId, earlierRun: {} }];
  const signalArgs = [{ reference: `reference-${userId}`, policy, labTestId: labTestIds.kit, notifies: false }];
  expect(started).toMatchObject([{ workflowId: `kit-order/${orderId}`, args, signalArgs }]);
});

describe('while placing is stopped', () => {
  const describeStop = async () => ({
    status: { name: 'RUNNING' },
    startTime: new Date(0),
    memo: { reason: 'recalled' },
  });

  test.each(['unregistered', 'with_patient', 'import'] as const)('an order of kind %s is not created', async (kind) => {
    const orders = {
      unregistered: kitOrder({ shipping_details: shippingDetails }),
      with_patient: kitOrder(patient),
      import: importFor(userId, `SAMPLE-${userId}`),
    };
    const request = { kind, order: orders[kind] } as CreateKitOrder['request'];
    await expect(create({ request }, { describeStop })).rejects.toMatchObject({
      ...{ type: 'PlacingStopped', nonRetryable: true },
      details: [{ stopReason: 'recalled', nothingSent: true }],
    });
    const retry = { describeStop, info: { attempt: 2, heartbeatDetails: { all: true } } };
    await expect(create({ request }, retry)).rejects.toMatchObject({
      details: [{ fields: [], stopReason: 'recalled' }],
    });
    expect(await sandbox.requests({ method: 'POST' })).toEqual([]);
  });

  test('an order that an earlier attempt has created is found all the same', async () => {
    const { placed } = await create();
    const found = await create({ triedBefore: true }, { describeStop });
    expect(found.placed).toMatchObject({ adopted: true, snapshot: { orderId: placed.snapshot.orderId } });
  });
});

const isAway = () => {
  throw new Error('Temporal is away');
};

test.each<[what: string, adopted: boolean, more: Partial<CreateKitOrder>, circumstances?: Circumstances]>([
  ['an order that Temporal does not take', false, {}, { take: isAway }],
  ['an order that was there already, whose earlier runs are to be found,', true, { triedBefore: true }],
  ['the order of an earlier release, whose placing sends no policy,', false, { policy: undefined as never }],
])('%s is left to its placing, and is not created again', async (_what, adopted, more, circumstances) => {
  if (adopted) await create();
  const { placed, started } = await create(more, circumstances);
  expect(placed).toMatchObject({ adopted });
  expect(placed).not.toHaveProperty('handedOver');
  expect(started).toEqual([]);
  expect(await kits()).toBe(1);
});

const before = { scheduledTimestampMs: Date.now() - 60_000, currentAttemptScheduledTimestampMs: Date.now() };

test.each<[string, Partial<Info>]>([
  ['with the details of its heartbeats', { heartbeatDetails: { all: true } }],
  ['without them', before],
])(
  'an operator who resets the activity, whose attempts then count from 1 again, %s gets no second kit: the order is found by the attempt after the pause',
  async (_how, info) => {
    await create();
    await expect(create({}, { info: { attempt: 1, ...info } })).rejects.toMatchObject({
      type: 'AttemptReset',
      nonRetryable: false,
      nextRetryDelay: policy.creationSettling,
    });
    const { placed } = await create({}, { info: { ...info, attempt: 2 } });
    expect(placed).toMatchObject({ adopted: true });
    expect(await kits()).toBe(1);
  },
);

describe('the search for an order that a lost answer created', () => {
  test.each([
    ['a sentence', '404 page not found', 404],
    ['a message', { message: 'no Route matched with those values' }, 404],
    ['a status of its own', 'Not acceptable', 406],
  ])('is repeated if a proxy answers it with %s', async (_what, body, status) => {
    await answering('GET', '/orders', status, body);
    await expect(again()).rejects.toMatchObject({ type: 'AnswerUnreadable', nonRetryable: false });
    expect(await posts(createPath)).toBe(0);
  });

  const named = [{ type: 'uuid_parsing', loc: ['query', 'user_id'], msg: 'Invented: not a UUID' }];
  test.each([
    ['names a field', 422, named],
    ['names a field', 400, named],
    ['is a sentence', 422, 'Invalid format for parameter user_id: invalid UUID length: 3'],
  ])(
    'refuses the placing if its refusal %s (%i), but only the search once something is sent',
    async (_how, status, detail) => {
      await answering('GET', '/orders', status, { detail }, {});
      await expect(create()).rejects.toMatchObject({ type: 'OrderRefused', nonRetryable: true });
      await expect(create({ triedBefore: true })).rejects.toMatchObject({ type: 'SearchRefused', nonRetryable: true });
      expect(await posts(createPath)).toBe(0);
    },
  );
});

describe('a creation that is repeated, because the list does not show the first one yet', () => {
  const nothing = { orders: [], total: 0, page: 1, size: 50 };

  test.each([
    ['unregistered', createPath, 409],
    ['import', '/v3/order/import', 400],
    ['import', '/v3/order/import', 422],
  ] as const)('%s on %s and refused with %i is that one, if the list shows it then', async (kind, path, status) => {
    const request = kind === 'import' ? { request: { kind, order: importFor(userId, `SAMPLE-${userId}`) } } : {};
    const { placed } = await create(request);
    await answering('GET', '/orders', 200, nothing);
    await answering('POST', path, status, { detail: 'Already there' });
    expect(await again(request)).toMatchObject({ adopted: true, snapshot: { orderId: placed.snapshot.orderId } });
    expect(await kits()).toBe(1);
    expect(await posts(path)).toBe(2);
  });

  test('and refused with 409 may be there although the list never shows it; any other refusal counts', async () => {
    await answering('GET', '/orders', 200, nothing, {});
    await answering('POST', createPath, 409, { detail: 'Duplicate' });
    await expect(again()).rejects.toMatchObject({ type: 'AnswerLost', nonRetryable: false });
    await answering('POST', createPath, 400, { detail: 'Out of stock' });
    await expect(again()).rejects.toMatchObject({ type: 'OrderRefused', nonRetryable: true });
  });
});

describe('an order', () => {
  const withPatient = (more: object) =>
    ({ request: { kind: 'with_patient', order: kitOrder({ ...patient, ...more }) } }) as Partial<CreateKitOrder>;

  test('of a user whom the service does not know is refused with that field', async () => {
    userId = '00000000-0000-4000-8000-00000000dead';
    await expect(create()).rejects.toMatchObject({
      type: 'OrderRefused',
      details: [{ status: 404, fields: [{ field: 'user_id', message: 'is not known to the lab service' }] }],
    });
  });

  test('that breaks a rule is refused before anything is read', async () => {
    const order = kitOrder({ shipping_details: { ...shippingDetails, zip: '' } });
    const refused = { type: 'OrderRefused', details: [{ fields: [{ field: 'shipping_details.zip' }] }] };
    await expect(create({ request: { kind: 'unregistered', order } })).rejects.toMatchObject(refused);
    expect(await sandbox.requests({})).toEqual([]);
  });

  const answers = (answer: string) => ({
    lab_test_id: labTestIds.otherKit,
    aoe_answers: [{ marker_id: 14, question_id: 501, answer }],
  });

  test('with a wrong answer to a question of its test is refused before the call, without the answer', async () => {
    const refusal: unknown = await create(withPatient(answers('noon-invented'))).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ type: 'OrderRefused', details: [{ fields: [{ field: 'aoe_answers.0.answer' }] }] });
    expect(String(refusal)).toContain('question 501 of marker 14 must be one of AM, PM');
    expect(String(refusal)).not.toContain('invented');
    expect(await posts('/v3/order')).toBe(0);
  });

  test('with the right answer is placed, also if its test cannot be read; one without answers costs no such read', async () => {
    const path = `/v3/lab_tests/${labTestIds.otherKit}`;
    await create(withPatient(answers('AM')));
    await answering('GET', path, 404, 'no upstream');
    await create({ ...withPatient(answers('AM')), reference: 'another' });
    expect(await sandbox.requests({ method: 'GET', path })).toHaveLength(2);
    await create({ ...withPatient({}), reference: 'without-answers' });
    expect(await sandbox.requests({ method: 'GET', path: `/v3/lab_tests/${labTestIds.kit}` })).toEqual([]);
  });

  const account = { lab_account_id: labAccountIds.orderDelegated };
  test.each([
    ['the order', account],
    ['its set of tests', { lab_test_id: null, order_set: { lab_test_ids: [labTestIds.kit], ...account } }],
  ])('on an account that needs a physician, named by %s, is refused without one and placed with one', async (_, on) => {
    const refused = { type: 'PhysicianRequired', details: [{ fields: [{ field: 'physician' }] }] };
    await expect(create(withPatient(on))).rejects.toMatchObject(refused);
    expect(await posts('/v3/order')).toBe(0);
    const { started } = await create(withPatient({ ...on, physician }));
    expect(started).toMatchObject([{ signalArgs: [{ labAccountId: labAccountIds.orderDelegated }] }]);
  });

  test.each([
    ['is refused', 403, { detail: 'Forbidden' }],
    ['is not found', 404, 'no such upstream'],
    ['is a bare list', 200, []],
    ['cannot be read', 200, 'utter nonsense'],
  ])('is left to the service when the list of accounts %s', async (_how, status, body) => {
    await answering('GET', '/v3/lab_test/lab_account', status, body);
    const on = withPatient({ lab_account_id: labAccountIds.orderDelegated });
    await expect(create(on)).rejects.toMatchObject({ type: 'OrderRefused' });
    expect(await posts('/v3/order')).toBe(1);
  });
});

describe('a reference that Temporal knows', () => {
  const attributes = (values: Record<string, unknown>) => ({ get: ({ name }: { name: string }) => values[name] });
  const follower = (orderId: string, owner: string) => ({
    ...{ workflowId: `kit-order/${orderId}`, runId: 'run-1', startTime: new Date(), status: { name: 'RUNNING' } },
    typedSearchAttributes: attributes({ [labUserIdKey.name]: owner, [labReferenceKey.name]: 'any' }),
  });
  const known = (orderId: string, owner = userId) => ({ runs: [follower(orderId, owner)] });

  test('by a workflow that follows its order orders no second kit, also if that was registered to another user or cannot be read', async () => {
    const { placed } = await create({ reference: 'first' });
    const { orderId } = placed.snapshot;
    const adopted = { adopted: true, snapshot: { orderId } };
    expect((await create({}, known(orderId))).placed).toMatchObject(adopted);
    const { kit_sample_id: printed } = await sandbox.order(orderId);
    const { user } = await sandbox.createUser();
    const registration = { sample_id: printed ?? '', user_id: user.user_id, ...patient, consents: [] };
    await service.orders.register(registration);
    expect((await create({}, known(orderId))).placed).toMatchObject(adopted);
    await answering('GET', `/v3/order/${orderId}`, 422, { detail: 'invented: not a UUID' });
    expect((await create({}, known(orderId))).placed).toMatchObject({ ...adopted, snapshot: { events: [] } });
    expect(await posts(createPath)).toBe(1);
  });

  test('by a workflow that follows another user’s order is refused', async () => {
    const { placed } = await create({ reference: 'first' });
    userId = (await sandbox.createUser()).user.user_id;
    const refused = { type: 'OrderRefused', details: [{ fields: [{ field: 'reference' }] }] };
    await expect(create({}, known(placed.snapshot.orderId, 'user-1'))).rejects.toMatchObject(refused);
  });

  test('by an order of another lab test is refused, whether a workflow follows that or only the service shows it', async () => {
    const { placed } = await create();
    const order = kitOrder({ lab_test_id: labTestIds.otherKit, shipping_details: shippingDetails });
    const request = { kind: 'unregistered', order } as const;
    const refused = { type: 'OrderRefused', nonRetryable: true, details: [{ fields: [{ field: 'reference' }] }] };
    await expect(create({ request }, known(placed.snapshot.orderId))).rejects.toMatchObject(refused);
    const terminated = placing({ status: { name: 'TERMINATED' }, closeTime: new Date(0) });
    const info = { currentAttemptScheduledTimestampMs: Date.now() };
    await expect(create({ request }, { ...terminated, info })).rejects.toMatchObject(refused);
    expect(await kits()).toBe(1);
  });

  const placing = (more: object) => ({
    runs: [{ workflowId: `place-kit-order/reference-${userId}`, runId: 'run-1', startTime: new Date(0), ...more }],
  });

  test.each([
    [40_000, 40_000],
    [310_000, 60_000],
  ])(
    'by a placing that was terminated waits until a creation has settled that it sent before it learned of that, with heartbeats within %i ms',
    async (heartbeatTimeoutMs, noticedAfterMs) => {
      const closeTime = new Date();
      const terminated = placing({ status: { name: 'TERMINATED' }, closeTime });
      const info = { currentAttemptScheduledTimestampMs: closeTime.getTime(), heartbeatTimeoutMs };
      const nextRetryDelay = policy.creationSettling + noticedAfterMs;
      const unsettled = { type: 'EarlierPlacingUnsettled', nonRetryable: false, nextRetryDelay };
      await expect(create({}, { ...terminated, info })).rejects.toMatchObject(unsettled);
      expect(await posts(createPath)).toBe(0);
    },
  );

  test.each([
    ['at once', 0],
    ['a week later', 7],
  ])(
    'by an earlier placing, which failed because the service does not show our passthrough, orders no second kit %s',
    async (_when, days) => {
      await sandbox.changeSettings({ echoPassthrough: false });
      await create();
      const startTime = new Date();
      const failed = placing({ status: { name: 'FAILED' }, startTime, closeTime: startTime });
      const since = new Date(Date.now() + days * 86_400_000).toISOString();
      await expect(create({ since }, failed)).rejects.toMatchObject({ type: 'AmbiguousOrder' });
      await sandbox.changeSettings({ echoPassthrough: true });
      expect(await kits()).toBe(1);
    },
  );
});
