import { Client, Connection } from '@temporalio/client';
import { expect, test } from 'vitest';
import { LabOperations } from '../../../client/index.js';
import { KitOrderHandle } from '../../../client/orders/order-handle.js';

const lab = new LabOperations(new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) }));

const areas = ['orders', 'links', 'reports', 'appointments', 'matchReviews'] as const;
const fields = ['userId', 'phase', 'attention'] as const;

test.each(areas.flatMap((area) => fields.map((field) => ({ area, field }))))(
  'the list of $area refuses a filter whose $field is undefined: it would be wider than asked for',
  async ({ area, field }) => {
    const listing = lab[area].list({ [field]: undefined });
    await expect(listing.next()).rejects.toMatchObject({
      fields: [{ field, message: 'is undefined: leave it out to list without this condition' }],
    });
  },
);

test.each(areas)('the list of %s refuses an unknown field, and a filter that is not an object', async (area) => {
  const of = (filter: unknown) => lab[area].list(filter as object).next();
  await expect(of({ user_id: 'user-1' })).rejects.toMatchObject({
    message: 'The filter is not valid: user_id is not known here',
    fields: [{ field: 'user_id', message: 'is not known here' }],
  });
  for (const filter of ['user-1', null, ['user-1']]) {
    await expect(of(filter)).rejects.toMatchObject({ fields: [{ field: 'filter', message: 'must be an object' }] });
  }
});

const everybody = [{}, { ended: true }, { ended: false }, { all: false }, { all: 'yes' }, { all: true, userId: 'u' }];

test.each(areas.flatMap((area) => everybody.map((filter) => ({ area, filter }))))(
  'the list of $area does not list everybody’s work unless that is requested explicitly: $filter',
  async ({ area, filter }) => {
    const message = "must have userId, phase or attention, or { all: true } for everybody's work";
    await expect(lab[area].list(filter as object).next()).rejects.toMatchObject({
      fields: [{ field: 'filter', message }],
    });
  },
);

test.each(areas)('the list of %s asks Temporal for everybody’s work if that is requested', async (area) => {
  const asked = lab[area].list({ all: true, ended: true }, { deadline: '50ms' }).next();
  await expect(asked).rejects.toMatchObject({
    name: expect.stringMatching(/^(TimedOut|TemporalUnreachable)$/) as string,
  });
});

test.each(["x' OR LabPhase != '", '', 5])('the list of orders refuses the user %j', async (userId) => {
  const listing = lab.orders.list({ userId: userId as string });
  await expect(listing.next()).rejects.toMatchObject({ fields: [{ field: 'userId' }] });
});

/* A caller in plain JavaScript is checked by no compiler. */

const { appointments, catalogue, notifications, orders, reports, users } = lab;
const nothing = undefined as never;
const referenced = { client_user_id: 'x' } as never;

test.each<[string, string, () => Promise<unknown>]>([
  ['an order by nothing', 'OrderInvalid', () => orders.get(nothing)],
  ['an order by a bare reference', 'OrderInvalid', () => orders.get('order-1' as never)],
  ['an order by an id that was never set', 'OrderInvalid', () => orders.get({ orderId: nothing })],
  ['a report by nothing', 'ReportInvalid', () => reports.get(null as never)],
  ['service centres near nothing', 'ReadInvalid', () => appointments.sites(null as never)],
  ['orders of everybody', 'ReadInvalid', () => orders.search({}).next()],
  ['orders by a bare user id', 'ReadInvalid', () => orders.search('user-1' as never).next()],
  ['users by their own reference', 'ReadInvalid', () => users.list(referenced).next()],
  ['lab tests by null', 'ReadInvalid', () => catalogue.labTests(null as never).next()],
  ['notifications of nothing', 'NotificationNotFound', () => notifications.state(nothing)],
  ['notifications of a text', 'NotificationNotFound', () => notifications.resend('x'.repeat(100_000))],
])('%s cannot be read, and the error says so: %s', async (_what, name, call) => {
  await expect(async () => call()).rejects.toMatchObject({ name });
});

test('a search of orders names what it lacks', async () => {
  await expect(async () => orders.search({}).next()).rejects.toMatchObject({ fields: [{ field: 'search' }] });
});

test('no notifications wait under an ID that no workflow of ours can have', async () => {
  expect(await lab.notifications.isWaiting('kit-order/é')).toBe(false);
});

test.each([null, '', 'soon', true, 0, 5000, '5000', '5 ', Number.NaN, {}, '0s'])(
  'a deadline of %j is refused with what it must be',
  async (deadline) => {
    const call = lab.orders.get({ reference: 'order-1' }, { deadline: deadline as never });
    await expect(call).rejects.toThrow(
      /^A deadline must be 'none', a duration with its unit, such as '5s', of at least 1ms, not /,
    );
  },
);

const order = new KitOrderHandle(undefined as never, { rootOrderId: 'order-1' });
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
