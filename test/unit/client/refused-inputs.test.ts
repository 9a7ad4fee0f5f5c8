import { Client, Connection } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { errors, LabOperations, type PolicyChange } from '../../../client/index.js';
import { OrderHandle } from '../../../client/order/order-handle.js';
import { patientDetails, shippingDetails } from '../../rig/cast.js';
import { rejection } from '../service/recording-server.js';

/** Nothing listens there: whatever is refused here is refused before anything is sent. */
const temporal = new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) });
const lab = new LabOperations(temporal, { deadline: '300ms' });
const { appointments, catalogue, notifications, orders, rejectedEvents, reports, users } = lab;
const nothing = undefined as never;

interface Invalid extends Error {
  readonly fields: readonly { readonly field: string }[];
}

/** The fields that the refusal names. */
async function faultsOf(call: Promise<unknown>, kind: new (...args: never[]) => Invalid): Promise<string[]> {
  const refusal = await rejection(call);
  expect(refusal).toBeInstanceOf(kind);
  return (refusal as Invalid).fields.map(({ field }) => field);
}

describe('a deletion is refused before anything is started', () => {
  const faultsIn = (input: object) => faultsOf(users.requestDeletion(input as never), errors.DeletionInvalid);

  test.each([undefined, null, 7, '', '..', 'a/b', "x' OR '1", 'x'.repeat(129)])('with the user %j', async (userId) => {
    expect(await faultsIn({ userId })).toEqual(['userId']);
    await expect(users.getDeletionHandle({ userId: userId as string })).rejects.toBeInstanceOf(errors.DeletionInvalid);
  });

  test('with all its faults named at once, and with fields that nobody reads, such as a part of the policy', async () => {
    const policy = { onRunningWork: 'shrug', reminderBefore: 'soon', grace: '9d' };
    const faults = await faultsIn({ userId: 7, clientUserId: 8, policy });
    expect(faults).toEqual(['userId', 'clientUserId', 'policy', 'policy', 'policy']);
    expect(await faultsIn({ userId: 'user-1', onRunningWork: 'cancel' })).toEqual(['onRunningWork']);
  });
});

test('without access to the service, everything that is read from it says what is missing', async () => {
  const calls = [
    () => users.read('user-1'),
    () => users.readByClientUserId('client-1'),
    () => users.createOrGet({ client_user_id: 'client-1' }),
    () => users.update('user-1', {}),
    () => users.readDemographics('user-1'),
    () => users.createPortalLink('user-1', { context: 'launch' }),
    async () => users.readAll().next(),
    () => orders.read('order-1'),
    async () => orders.search({ all: true }),
    () => lab.results.read({ orderId: 'order-1' }),
    () => reports.read('job-1'),
    async () => lab.catalogue.labTests(),
    () => lab.documents.requisition('order-1'),
  ];
  for (const call of calls) await expect(call).rejects.toBeInstanceOf(errors.ServiceNotConfigured);
});

describe('a page of a list is refused before anything is read', () => {
  const page = (part: object) => ({ page: { onNext: () => undefined, ...part } as never });

  test.each([
    [{ limit: 0 }, 'limit'],
    [{ limit: 1.5 }, 'limit'],
    [{ limit: 1, after: '' }, 'after'],
    [{ limit: 1, after: 'not/base64url+' }, 'after'],
    [{ limit: 1, after: 'of another list' }, 'after'],
  ])('with %j', async (part, field) => {
    const { NotificationsInvalid, OperatorCallInvalid, OrderInvalid } = errors;
    expect(await faultsOf(orders.list({ all: true }, page(part)).next(), OrderInvalid)).toEqual([field]);
    expect(await faultsOf(notifications.list(page(part)).next(), NotificationsInvalid)).toEqual([field]);
    expect(await faultsOf(rejectedEvents.list({}, page(part)).next(), OperatorCallInvalid)).toEqual([field]);
  });
});

describe('an order is refused before anything is started', () => {
  const kit = { user_id: 'user-1', lab_test_id: 'test-1' };
  const ofKit = { ...kit, shipping_details: shippingDetails };
  const input = { reference: 'order-1', kind: 'unregistered', order: ofKit };
  const faultsIn = (changes: object, options: object = {}) =>
    faultsOf(orders.place({ ...input, ...changes } as never, options), errors.OrderInvalid);

  const references = [undefined, null, 1001, '', 'with space', 'x'.repeat(129), 'a/b'];
  const policies = [{ graceDays: 2 }, { version: 3 }, { version: '1' }, 'default', []];
  test.each<[object, string]>([
    ...references.map((reference): [object, string] => [{ reference }, 'reference']),
    ...[undefined, null, 'text'].map((order): [object, string] => [{ order }, 'order']),
    [{ kind: 'express' }, 'kind'],
    [{ order: { ...ofKit, passthrough: 'mine' } }, 'order.passthrough'],
    [{ order: { ...ofKit, user_id: 'somebody@example.com' } }, 'order.user_id'],
    ...policies.map((policy): [object, string] => [{ policy }, 'policy']),
  ])('with %j', async (changes, field) => {
    expect(new Set(await faultsIn(changes))).toEqual(new Set([field]));
  });

  test('with all its faults named at once', async () => {
    const order = { ...kit, shipping_details: { ...shippingDetails, zip: '' } };
    const policy = { returnDeadline: 'soon', onLost: 'shrug' };
    const faults = await faultsIn({ reference: 7, order, policy });
    expect(faults).toEqual(['reference', 'order.shipping_details.zip', 'policy', 'policy']);
  });

  test.each([
    [{}, 'markers'],
    [[null], 'markers.0'],
    [[{ id: 14, aoe: { questions: [null] } }, { name: 'without an id' }], 'markers.1'],
  ])('with the markers %j', async (markers, field) => {
    expect(await faultsIn({}, { markers })).toEqual([field]);
  });

  const wrongAnswers = [undefined, [], [{ marker_id: 14, question_id: 501, answer: 'noon' }]];
  test.each(wrongAnswers.map((given) => [given]))('with the answers %j to a question of its markers', async (given) => {
    const answers = [{ id: 1, code: 'AM', value: 'Morning' }];
    const markers = [{ id: 14, aoe: { questions: [{ id: 501, required: true, type: 'choice', answers }] } }];
    const { receiver_name: _name, ...patient_address } = shippingDetails;
    const order = { ...kit, patient_details: patientDetails, patient_address, aoe_answers: given };
    const [first] = await faultsIn({ kind: 'with_patient', order }, { markers });
    expect(first).toMatch(/^order\.aoe_answers/);
  });
});

describe('a report is refused before anything is started', () => {
  const submitted = { reference: 'report-1', userId: 'user-1', file: { path: 'report.pdf' } };
  const submit = (changes: object) => reports.submit({ ...submitted, ...changes });

  test.each<[object, string]>([
    ...[undefined, null, 7, '', 'with space', 'a/b'].map((reference): [object, string] => [{ reference }, 'reference']),
    ...[undefined, null, '', '..', "a' OR 'a", 7].map((userId): [object, string] => [{ userId }, 'userId']),
    ...[undefined, null, 'report.pdf', {}].map((file): [object, string] => [{ file }, 'file']),
    [{ file: { path: 'a.pdf', url: 'https://files.example.com/a.pdf' } }, 'file'],
    [{ file: { path: 7 } }, 'file.path'],
    [{ file: { path: 'a.pdf', headersFrom: 'store' } }, 'file.headersFrom'],
    [{ file: { url: 'ftp://files.example.com/a.pdf' } }, 'file.url'],
    [{ file: { url: 'file:///etc/passwd' } }, 'file.url'],
    [{ file: { url: 'https://' } }, 'file.url'],
    [{ file: { url: 'https://files.example.com/a.pdf', headersFrom: '' } }, 'file.headersFrom'],
  ])('with %j', async (changes, field) => {
    expect(await faultsOf(submit(changes), errors.ReportInvalid)).toEqual([field]);
  });

  test('with all its faults named at once', async () => {
    const changes = { reference: '', userId: '', file: {}, needsHumanReview: 'yes', policy: { firstPoll: 'soon' } };
    const faults = await faultsOf(submit(changes), errors.ReportInvalid);
    expect(faults).toEqual(['reference', 'file', 'policy', 'userId', 'needsHumanReview']);
  });

  test.each([
    'https://files.example.com/a.pdf?X-Amz-Signature=abc',
    'https://files.example.com/a.pdf?sig=abc',
    'https://user:password@files.example.com/a.pdf',
  ])('with the signed URL %s, while payloads are not encrypted, without repeating it', async (url) => {
    const refusal = await rejection(submit({ file: { url } }));
    expect(refusal).toBeInstanceOf(errors.SignedUrlRefused);
    expect((refusal as errors.SignedUrlRefused).fields).toMatchObject([{ field: 'file.url' }]);
    expect(String(refusal)).not.toMatch(/abc|password/);
  });
});

test('a link, an appointment or a review is refused before anything is started, with every invalid field named', async () => {
  const page = { redirectUrl: 'nowhere', onError: 'x' };
  const link = { userId: 'a b', provider: '', ...page, policy: { codeWait: 0, unknown: 1 } };
  const visit = { orderId: 'a/b', policy: { confirmationWait: '3d' } };
  const review = { rawResultId: 'a/b' };
  expect(await faultsOf(lab.links.start(link as never), errors.LinkInvalid)).toEqual([
    ...['userId', 'provider', 'redirectUrl', 'onError', 'policy', 'policy'],
  ]);
  const faults = await faultsOf(lab.appointments.start(visit as never), errors.AppointmentInvalid);
  expect(faults).toEqual(['orderId', 'policy']);
  await expect(lab.matchReviews.start(review)).rejects.toBeInstanceOf(errors.MatchReviewInvalid);
  await expect(lab.matchReviews.getHandle(review)).rejects.toBeInstanceOf(errors.MatchReviewNotFound);
  await expect(lab.appointments.getHandle(visit)).rejects.toBeInstanceOf(errors.AppointmentNotFound);
});

test.each([
  [undefined, ['from', 'to']],
  [null, ['from', 'to']],
  [{}, ['from', 'to']],
  [{ from: '2026-01-01' }, ['to']],
  [{ from: '2026-01-01', to: 7 }, ['to']],
  [{ from: 'yesterday', to: '2026-01-01' }, ['from']],
  [{ from: '2026-01-01T10:00:00', to: '2026-01-02' }, ['from']],
  [{ from: '2026-01-01', to: '2026-13-01' }, ['to']],
  [{ from: '2026-01-02', to: '2026-01-01' }, ['from']],
])('a range is refused before anything is started: %j', async (range, fields) => {
  expect(await faultsOf(orders.reconcile(range as never), errors.OrderInvalid)).toEqual(fields);
});

describe('a change of the policy of many orders', () => {
  async function changeAll(selection: unknown, policy: unknown = { shippingDeadline: '8d' }, among = orders) {
    const changes: PolicyChange[] = [];
    try {
      for await (const change of among.setPolicy(selection as never, policy as never)) changes.push(change);
    } catch (error) {
      return { changes, error };
    }
    return { changes, error: undefined };
  }

  test.each<[unknown, string]>([
    ...[undefined, null, {}, { all: false }, { all: undefined }, { all: true, userId: 'user-1' }].map(
      (selection): [unknown, string] => [selection, 'selection'],
    ),
    [{ userId: undefined }, 'userId'],
    [{ phase: null }, 'phase'],
    [{ phase: 'preparing', userId: undefined }, 'userId'],
    [{ all: true, userId: undefined }, 'userId'],
    [{ user: 'user-1' }, 'user'],
    [{ phase: 'preparing', ended: true }, 'ended'],
    // Nothing would be found.
    [{ phase: 'placing' }, 'phase'],
  ])('whose selection may mean every order by mistake, or none, is refused: %j', async (selection, field) => {
    const { error } = await changeAll(selection);
    expect(error).toBeInstanceOf(errors.OrderInvalid);
    expect((error as errors.OrderInvalid).fields.map((fault) => fault.field)).toContain(field);
  });

  const changes = [undefined, null, {}, { shippingDeadline: null }, { graceDays: 2 }, { version: 1 }, 'soon'];
  test.each(changes)(
    'that changes nothing, or no setting, is refused before an order is looked for: %j',
    async (policy) => {
      expect((await changeAll({ all: true }, policy ?? null)).error).toBeInstanceOf(errors.OrderInvalid);
    },
  );

  test('ends at the first order with an error that concerns every order, and names it', async () => {
    const among = Object.assign(new LabOperations(temporal, { deadline: '300ms' }).orders, {
      async *list() {
        for (const rootOrderId of ['order-1', 'order-2']) yield { rootOrderId, reference: `ref-${rootOrderId}` };
      },
    });
    const { changes, error } = await changeAll({ all: true }, undefined, among);
    expect(error).toBeInstanceOf(errors.TemporalUnreachable);
    expect(changes).toEqual([{ rootOrderId: 'order-1', reference: 'ref-order-1', error }]);
  });
});

/* Lists and reads, and what a caller in plain JavaScript gives, whom no compiler checks. */

const areas = ['orders', 'links', 'reports', 'appointments', 'matchReviews'] as const;

const everybody = [{}, { ended: true }, { ended: false }, { all: false }, { all: 'yes' }, { all: true, userId: 'u' }];
const filterFaults: [field: string, message: string, ...filters: unknown[]][] = [
  ...(['userId', 'phase', 'attention'] as const).map((field): [string, string, object] => [
    ...([field, 'is undefined: leave it out to list without this condition', { [field]: undefined }] as const),
  ]),
  ['user_id', 'is not known here', { user_id: 'user-1' }],
  ['filter', 'must be an object', 'user-1', null, ['user-1']],
  ['filter', "must have userId, phase or attention, or { all: true } for everybody's work", ...everybody],
];

test.each(areas.flatMap((area) => filterFaults.map(([field, message, ...given]) => ({ area, field, message, given }))))(
  'the list of $area refuses a filter whose $field $message: nobody gets everybody’s work by mistake',
  async ({ area, field, message, given }) => {
    for (const filter of given)
      await expect(lab[area].list(filter as object).next(), JSON.stringify(filter)).rejects.toMatchObject({
        ...{ message: `The filter is not valid: ${field} ${message}`, fields: [{ field, message }] },
      });
  },
);

test.each(areas)('the list of %s asks Temporal for everybody’s work if that is requested', async (area) => {
  const asked = lab[area].list({ all: true, ended: true }, { deadline: '50ms' }).next();
  const name = expect.stringMatching(/^(TimedOut|TemporalUnreachable)$/) as string;
  await expect(asked).rejects.toMatchObject({ name });
});

test.each(["x' OR LabPhase != '", '', 5])('the list of orders refuses the user %j', async (userId) => {
  const listing = orders.list({ userId: userId as string });
  await expect(listing.next()).rejects.toMatchObject({ fields: [{ field: 'userId' }] });
});

const referenced = { client_user_id: 'x' } as never;

test.each<[string, string, () => Promise<unknown>]>([
  ['an order by nothing', 'OrderInvalid', () => orders.getHandle(nothing)],
  ['an order by a bare reference', 'OrderInvalid', () => orders.getHandle('order-1' as never)],
  ['an order by an id that was never set', 'OrderInvalid', () => orders.getHandle({ orderId: nothing })],
  ['an order by no reference', 'OrderInvalid', () => orders.getHandle({ reference: nothing })],
  ['a report by nothing', 'ReportInvalid', () => reports.getHandle(null as never)],
  ['a report by a reference with a blank', 'ReportInvalid', () => reports.getHandle({ reference: 'a b' })],
  ['service centres near nothing', 'ReadInvalid', () => appointments.sites(null as never)],
  ['orders of everybody', 'ReadInvalid', () => orders.search({}).next()],
  ['orders by a page without a limit', 'OrderInvalid', () => orders.list({ all: true }, { page: {} as never }).next()],
  ['orders by a bare user id', 'ReadInvalid', () => orders.search('user-1' as never).next()],
  ['users by their own reference', 'ReadInvalid', () => users.readAll(referenced).next()],
  ['users by more than a page may have', 'ReadInvalid', () => users.readAll({ pageSize: 501 }).next()],
  ['lab tests by null', 'ReadInvalid', () => catalogue.labTests(null as never).next()],
  ['notifications of nothing', 'NotificationNotFound', () => notifications.state(nothing)],
  ['notifications of a text', 'NotificationNotFound', () => notifications.resend('x'.repeat(100_000))],
])('%s cannot be read, and the error says so: %s', async (_what, name, call) => {
  await expect(async () => call()).rejects.toMatchObject({ name });
});

test('no notifications wait under an ID that no workflow of ours can have', async () => {
  expect(await lab.notifications.isWaiting('kit-order/é')).toBe(false);
});

test.each([null, '', 'soon', true, 0, 5000, '5000', '5 ', Number.NaN, {}, '0s'])(
  'the deadline %j is refused',
  async (given) => {
    const must = /^A deadline must be 'none', a duration with its unit, such as '5s', of at least 1ms, not /;
    const call = orders.getHandle({ reference: 'order-1' }, { deadline: given as never });
    await expect(call).rejects.toThrow(must);
  },
);

const order = new OrderHandle(undefined as never, { rootOrderId: 'order-1' });
const dryrun = { dryrun: true } as never;
const misspelt = { reference: 'a-1', orderId: 'order-1', rawResultId: 'result-1', polcy: {} } as never;

test.each<[string, string, () => Promise<unknown>]>([
  ['the cancellation of an order', 'order_id', () => order.cancel({ order_id: 'order-2' } as never)],
  ['the cancellation of a bare id', '0', () => order.cancel('2' as never)],
  ['a dry run', 'dryrun', () => orders.setPolicy({ all: true }, { onLost: 'ask' }, dryrun).next()],
  ['a placing', 'polcy', () => orders.place(misspelt)],
  ['a report', 'polcy', () => reports.submit(misspelt)],
  ['an appointment', 'polcy', () => appointments.start(misspelt)],
  ['a match review', 'polcy', () => lab.matchReviews.start(misspelt)],
])('%s with the unknown field %s is refused, and nothing is done', async (_what, field, call) => {
  const fields = expect.arrayContaining([{ field, message: 'is not known here' }]) as unknown;
  await expect(async () => call()).rejects.toMatchObject({ fields });
});
