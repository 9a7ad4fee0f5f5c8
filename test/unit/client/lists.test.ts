import { Client, Connection } from '@temporalio/client';
import { expect, test } from 'vitest';
import { LabOperations } from '../../../client/index.js';
import { KitOrderHandle } from '../../../client/orders/order-handle.js';

const lab = new LabOperations(new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) }));

const lists = {
  orders: lab.orders,
  links: lab.links,
  reports: lab.reports,
  appointments: lab.appointments,
  matchReviews: lab.matchReviews,
};

const areas = Object.keys(lists) as (keyof typeof lists)[];
const fields = ['userId', 'phase', 'attention'] as const;

test.each(areas.flatMap((area) => fields.map((field) => ({ area, field }))))(
  'the list of $area refuses a filter whose $field is undefined: it would be wider than asked for',
  async ({ area, field }) => {
    const listing = lists[area].list({ [field]: undefined });
    await expect(listing.next()).rejects.toMatchObject({
      fields: [{ field, message: 'is undefined: leave it out to list without this condition' }],
    });
  },
);

test.each(areas)('the list of %s refuses an unknown field, and a filter that is not an object', async (area) => {
  const of = (filter: unknown) => lists[area].list(filter as object).next();
  await expect(of({ user_id: 'user-1' })).rejects.toMatchObject({
    message: 'The filter is not valid: user_id is not known here',
    fields: [{ field: 'user_id', message: 'is not known here' }],
  });
  for (const filter of ['user-1', null, ['user-1']]) {
    await expect(of(filter)).rejects.toMatchObject({ fields: [{ field: 'filter', message: 'must be an object' }] });
  }
});

const everybody = [
  {},
  { ended: true },
  { ended: false },
  { all: false },
  { all: 'yes' },
  { all: true, userId: 'user-1' },
];
test.each(areas.flatMap((area) => everybody.map((filter) => ({ area, filter }))))(
  'the list of $area does not list everybody’s work unless that is requested explicitly: $filter',
  async ({ area, filter }) => {
    const message = "must have userId, phase or attention, or { all: true } for everybody's work";
    await expect(lists[area].list(filter as object).next()).rejects.toMatchObject({
      fields: [{ field: 'filter', message }],
    });
  },
);

test.each(areas)('the list of %s asks Temporal for everybody’s work if that is requested', async (area) => {
  const asked = lists[area].list({ all: true, ended: true }, { deadline: '50ms' }).next();
  await expect(asked).rejects.toMatchObject({
    name: expect.stringMatching(/^(TimedOut|TemporalUnreachable)$/) as string,
  });
});

test.each(["x' OR LabPhase != '", '', 5])('the list of orders refuses the user %j', async (userId) => {
  const listing = lab.orders.list({ userId: userId as string });
  await expect(listing.next()).rejects.toMatchObject({ fields: [{ field: 'userId' }] });
});

/* A caller in plain JavaScript is checked by no compiler. */

test.each<[string, () => Promise<unknown>, object]>([
  ['an order by nothing', () => lab.orders.get(undefined as never), { name: 'OrderInvalid' }],
  ['an order by a bare reference', () => lab.orders.get('order-1' as never), { name: 'OrderInvalid' }],
  [
    'an order by an id that was never set',
    () => lab.orders.get({ orderId: undefined } as never),
    { name: 'OrderInvalid' },
  ],
  ['a report by nothing', () => lab.reports.get(null as never), { name: 'ReportInvalid' }],
  ['service centres near nothing', () => lab.appointments.sites(null as never), { name: 'ReadInvalid' }],
  ['orders of everybody', () => lab.orders.search({}).next(), { name: 'ReadInvalid', fields: [{ field: 'search' }] }],
  ['orders by a bare user id', () => lab.orders.search('user-1' as never).next(), { name: 'ReadInvalid' }],
  [
    'users by their own reference',
    () => lab.users.list({ client_user_id: 'x' } as never).next(),
    { name: 'ReadInvalid' },
  ],
  ['lab tests by null', () => lab.catalogue.labTests(null as never).next(), { name: 'ReadInvalid' }],
  ['notifications of nothing', () => lab.notifications.state(undefined as never), { name: 'NotificationNotFound' }],
  ['notifications of a text', () => lab.notifications.resend('x'.repeat(100_000)), { name: 'NotificationNotFound' }],
])('%s cannot be read, and the error says so', async (_what, call, error) => {
  await expect(async () => call()).rejects.toMatchObject(error);
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

const unknown = (field: string) => ({
  fields: expect.arrayContaining([{ field, message: 'is not known here' }]) as unknown,
});

test.each<[string, () => Promise<unknown>, string]>([
  ['the cancellation of an order', () => order.cancel({ order_id: 'order-2' } as never), 'order_id'],
  ['the cancellation of a bare id', () => order.cancel('2' as never), '0'],
  [
    'a dry run',
    () => lab.orders.setPolicy({ all: true }, { onLost: 'ask' }, { dryrun: true } as never).next(),
    'dryrun',
  ],
  ['a placing', () => lab.orders.place({ reference: 'order-1', polcy: {} } as never), 'polcy'],
  ['a report', () => lab.reports.submit({ reference: 'report-1', polcy: {} } as never), 'polcy'],
  ['an appointment', () => lab.appointments.start({ orderId: 'order-1', polcy: {} } as never), 'polcy'],
  ['a match review', () => lab.matchReviews.start({ rawResultId: 'result-1', polcy: {} } as never), 'polcy'],
])('%s with an unknown field is refused, and nothing is done', async (_what, call, field) => {
  await expect(async () => call()).rejects.toMatchObject(unknown(field));
});
