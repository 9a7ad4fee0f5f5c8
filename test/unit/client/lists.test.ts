import { Client, Connection } from '@temporalio/client';
import { expect, test } from 'vitest';
import { LabOperations } from '../../../client/index.js';

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

test.each(areas)('the list of %s refuses a field that it does not know, and what is no object', async (area) => {
  const of = (filter: unknown) => lists[area].list(filter as object).next();
  await expect(of({ user_id: 'user-1' })).rejects.toMatchObject({
    fields: [{ field: 'user_id', message: 'is not known here' }],
  });
  for (const filter of ['user-1', null, ['user-1']]) {
    await expect(of(filter)).rejects.toMatchObject({ fields: [{ field: 'filter', message: 'must be an object' }] });
  }
});

test.each(["x' OR LabPhase != '", '', 5])('the list of orders refuses the user %j', async (userId) => {
  const listing = lab.orders.list({ userId: userId as string });
  await expect(listing.next()).rejects.toMatchObject({ fields: [{ field: 'userId' }] });
});
