import { Client, Connection } from '@temporalio/client';
import { beforeEach, expect, test } from 'vitest';
import {
  LabOperations,
  OrderInvalid,
  TemporalUnreachable,
  type OrderPolicy,
  type OrderSelection,
  type PolicyChange,
} from '../../../client/index.js';

/** Nothing listens there: whatever is refused here is refused before anything is sent. */
const temporal = new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) });
let orders: LabOperations['orders'];

beforeEach(() => {
  orders = new LabOperations(temporal, { deadline: '300ms' }).orders;
});

async function changeAll(
  selection: unknown,
  policy: unknown = { shippingDeadline: '8d' },
): Promise<{ changes: PolicyChange[]; error: unknown }> {
  const changes: PolicyChange[] = [];
  try {
    for await (const change of orders.setPolicy(selection as OrderSelection, policy as OrderPolicy))
      changes.push(change);
  } catch (error) {
    return { changes, error };
  }
  return { changes, error: undefined };
}

test.each<[unknown, string]>([
  [undefined, 'selection'],
  [null, 'selection'],
  [{}, 'selection'],
  [{ all: false }, 'selection'],
  [{ all: undefined }, 'selection'],
  [{ all: true, userId: 'user-1' }, 'selection'],
  [{ userId: undefined }, 'userId'],
  [{ phase: null }, 'phase'],
  [{ phase: 'preparing', userId: undefined }, 'userId'],
  [{ all: true, userId: undefined }, 'userId'],
  [{ user: 'user-1' }, 'user'],
  [{ phase: 'preparing', ended: true }, 'ended'],
])('a selection that may mean every order by mistake is refused: %j', async (selection, field) => {
  const { error } = await changeAll(selection);
  expect(error).toBeInstanceOf(OrderInvalid);
  expect((error as OrderInvalid).fields.map((fault) => fault.field)).toContain(field);
});

test('orders that are being placed cannot be selected: nothing would be found', async () => {
  const { error } = await changeAll({ phase: 'placing' });
  expect(error).toMatchObject({ name: 'OrderInvalid', fields: [{ field: 'phase' }] });
});

test.each([undefined, null, {}, { shippingDeadline: null }, { graceDays: 2 }, { version: 1 }, 'soon'])(
  'a policy that changes nothing, or has what is not a setting, is refused before an order is looked for: %j',
  async (policy) => {
    expect((await changeAll({ all: true }, policy ?? null)).error).toBeInstanceOf(OrderInvalid);
  },
);

test('an error that concerns every order ends it at the first, which is named', async () => {
  Object.assign(orders, {
    async *list() {
      for (const rootOrderId of ['order-1', 'order-2']) yield { rootOrderId, reference: `ref-${rootOrderId}` };
    },
  });
  const { changes, error } = await changeAll({ all: true });
  expect(error).toBeInstanceOf(TemporalUnreachable);
  expect(changes).toEqual([{ rootOrderId: 'order-1', reference: 'ref-order-1', error }]);
});
