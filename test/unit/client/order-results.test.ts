import { Client, Connection } from '@temporalio/client';
import { expect, test } from 'vitest';
import { OrderHandle } from '../../../client/order/order-handle.js';
import { TemporalCalls } from '../../../client/workflow-calls.js';
import type { ChainLink } from '../../../protocol/order/state.js';
import { answering, serviceAt } from '../service/recording-server.js';

/* The lab values of the order that a handle stands for, read from the service. */

const initial = { orderId: 'order-1', origin: 'initial', phase: 'failed', status: 'invented' } as const;
const successor = { orderId: 'order-2', phase: 'completed', status: 'invented', replaces: 'order-1' } as const;

/** The paths that are read for the results of a chain's last order, which the service shows like this, without results yet for some. */
async function pathsReadFor(
  chain: readonly ChainLink[],
  shown: object,
  withoutResults: readonly string[] = [],
): Promise<(string | undefined)[]> {
  const { baseUrl, requests } = await answering(({ url = '' }) =>
    withoutResults.includes(url) ? { status: 404 } : { body: url.endsWith('/result') ? {} : shown },
  );
  const client = new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) });
  const workflow = {
    workflowId: 'kit-order/order-1',
    describe: async () => ({ status: { name: 'RUNNING' } }),
    query: async () => ({ orderId: chain.at(-1)?.orderId, chain }),
  };
  Object.assign(client.workflow, { getHandle: () => workflow });
  const access = { calls: new TemporalCalls(client, { taskQueue: 'invented' }), service: serviceAt(baseUrl) };
  await new OrderHandle(access, { rootOrderId: 'order-1' }).results();
  return requests.map(({ url }) => url);
}

const inTransaction = { id: 'order-2', order_transaction: { id: 'transaction-1' } };

test('the results of a redraw are those of its transaction: its own are only what was missing', async () => {
  const paths = await pathsReadFor([initial, { ...successor, origin: 'redraw' }], inTransaction);
  expect(paths).toEqual(['/v3/order/order-2', '/v3/order_transaction/transaction-1/result']);
});

const replacement: ChainLink = { ...successor, origin: 'replacement' };
const redraw: ChainLink = { ...successor, origin: 'redraw' };
const ofSecond = '/v3/order/order-2/result';

test.each<[string, ChainLink[], object, string[]]>([
  ['an order without a redraw', [initial], { id: 'order-1' }, ['/v3/order/order-1/result']],
  ['a replacement, which has a transaction of its own', [initial, replacement], inTransaction, [ofSecond]],
  ['a redraw that shows no transaction', [initial, redraw], { id: 'order-2' }, ['/v3/order/order-2', ofSecond]],
])('the results of %s are its own', async (_what, chain, shown, paths) => {
  expect(await pathsReadFor(chain, shown)).toEqual(paths);
});

test('a kit that was replaced and is completed all the same has the results, as long as the current order has none', async () => {
  const ofFirst = '/v3/order/order-1/result';
  const chain = [{ ...initial, phase: 'completed' } as const, { ...replacement, phase: 'preparing' } as const];
  expect(await pathsReadFor(chain, inTransaction, [ofSecond])).toEqual([ofSecond, ofFirst]);
  expect(await pathsReadFor(chain, inTransaction)).toEqual([ofSecond]);
});
