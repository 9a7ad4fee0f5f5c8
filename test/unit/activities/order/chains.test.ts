import { WorkflowNotFoundError } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { adoptingActivities } from '../../../../activities/order/adopting.js';
import { chainActivities, type ChainReading } from '../../../../activities/order/chains.js';
import type { ActivityDependencies } from '../../../../activities/dependencies.js';
import { resolvePolicy } from '../../../../protocol/policy/policies.js';
import { writePassthrough } from '../../../../protocol/order/root-order.js';
import { signed, defaultInstallation } from '../../../../service/installation.js';
import { listedWhole } from '../../../../service/order/snapshot.js';
import { answering, serviceAt } from '../../service/recording-server.js';

const named = signed(writePassthrough({ root: 'root', reference: 'invented-1', n: 2 }), defaultInstallation);

/** What a run that a webhook started learns of this order, which names the chain of `root`; that chain lists these. */
async function read(order: object, inChain?: readonly string[], others: object = {}): Promise<ChainReading> {
  const { baseUrl } = await answering(({ url = '' }) => {
    const id = url.split('/').at(-1);
    const shown = id === 'order-1' ? { passthrough: named, ...order } : others;
    return { body: { id, user_id: 'user-1', events: [], ...shown } };
  });
  const describe = async () => {
    if (inChain) return { typedSearchAttributes: { get: () => inChain } };
    throw new WorkflowNotFoundError('none', 'kit-order/root', undefined);
  };
  return readWith(baseUrl, { describe });
}

/** @param handle of whatever workflow Temporal is asked about */
function readWith(baseUrl: string, handle: object = {}): Promise<ChainReading> {
  const temporal = { workflow: { getHandle: () => handle } };
  const dependencies = { service: serviceAt(baseUrl), temporal, target: 'off' } as unknown as ActivityDependencies;
  return new MockActivityEnvironment().run(() => chainActivities(dependencies).readChain('order-1', {}));
}

test('an order of another user belongs to itself, whatever chain its passthrough names', async () => {
  for (const inChain of [undefined, ['root']]) {
    const reading = await read({ user_id: 'user-2' }, inChain);
    expect(reading).toMatchObject({ rootOrderId: 'order-1', isAlone: true, snapshots: [{ orderId: 'order-1' }] });
    // Neither reference nor number: they are another order's.
    expect(JSON.stringify(reading)).not.toContain('invented-1');
  }
});

test.each<[string, object, string[]?]>([
  ['is of the same user', {}],
  ['shows no user', { user_id: null }],
  ['was taken in by the chain, and given to another user since', { user_id: 'user-2' }, ['root', 'order-1']],
])('an order belongs to the chain that its passthrough names if it %s', async (_, order, inChain) => {
  expect(await read(order, inChain)).toMatchObject({ rootOrderId: 'root' });
});

/** What it learns of an order that carries the passthrough of the first order of `user-1`, whose placing ended so. */
async function readCopy(order: object, status: string, placed: string): Promise<ChainReading> {
  const passthrough = signed(writePassthrough({ reference: 'invented-1', n: 1 }), defaultInstallation);
  const { baseUrl } = await answering(() => ({ body: { id: 'order-1', passthrough, events: [], ...order } }));
  const placing = { runId: 'run-1', status: { name: status }, typedSearchAttributes: { get: () => 'user-1' } };
  return readWith(baseUrl, { describe: async () => placing, result: async () => ({ orderId: placed }) });
}

test('an order of another user does not have the reference that it copies from a placed order', async () => {
  const reading = await readCopy({ user_id: 'user-2' }, 'COMPLETED', 'order-2');
  expect(reading).toMatchObject({ rootOrderId: 'order-1', isAlone: true });
  expect(JSON.stringify(reading)).not.toContain('invented-1');
});

test.each<[string, [object, string, string]]>([
  ['is of the user of the placing', [{ user_id: 'user-1' }, 'COMPLETED', 'order-2']],
  ['is the placed order, by a registration another user’s', [{ user_id: 'user-2' }, 'COMPLETED', 'order-1']],
  ['may still be found by its placing', [{ user_id: 'user-2' }, 'RUNNING', '']],
  ['shows no user', [{ user_id: null }, 'COMPLETED', 'order-2']],
])('an order has the reference of its passthrough if it %s', async (_, given) => {
  const reading = await readCopy(...given);
  expect(reading).not.toHaveProperty('isAlone');
  expect(JSON.stringify(reading)).toContain('invented-1');
});

test('an order that cannot be read is read again when the service asks for it', async () => {
  const { baseUrl } = await answering(() => ({ status: 503, headers: { 'retry-after': '21600' }, body: {} }));
  const asked = { type: 'ServiceUnavailable', nextRetryDelay: 21_600_000 };
  await expect(readWith(baseUrl)).rejects.toMatchObject(asked);
});

test('of a transaction of 350 orders those that are read are answered with its list once', async () => {
  const order_transaction = {
    id: 'transaction-1',
    orders: Array.from({ length: 350 }, (_, n) => ({
      id: n === 0 ? 'order-1' : `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
      origin: n === 0 ? 'initial' : 'redraw',
      created_at: new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString(),
    })),
  };
  const { snapshots } = await read({ order_transaction }, undefined, { order_transaction });
  expect(JSON.stringify(snapshots).length).toBeLessThan(100_000);
  const whole = listedWhole(snapshots);
  expect(whole).toHaveLength(40);
  for (const { transaction } of whole) expect(transaction?.orders).toEqual(whole[0]?.transaction?.orders);
  expect(whole[0]?.transaction?.orders).toHaveLength(350);
});

test('that a signal could not be decrypted reaches the chain, whose workflow it starts after the run that has ended', async () => {
  const begun: unknown[] = [];
  const workflow = {
    options: { namespace: 'default' },
    workflowService: {
      describeWorkflowExecution: async () => ({ workflowExecutionInfo: { execution: { runId: 'run-1' } } }),
    },
    getHandle: (workflowId: string) => ({
      async signal() {
        throw new WorkflowNotFoundError('not found', workflowId, undefined);
      },
    }),
    signalWithStart: async (name: string, options: object) => begun.push({ name, ...options }),
  };
  const dependencies = { temporal: { workflow }, taskQueue: 'queue' } as unknown as ActivityDependencies;
  await chainActivities(dependencies).forwardUnreadable({ rootOrderId: 'order-1' });
  const input = { rootOrderId: 'order-1', earlierRun: { runId: 'run-1' } };
  const start = { name: 'kitOrder', workflowId: 'kit-order/order-1', args: [input], signalArgs: [] };
  expect(begun).toMatchObject([{ ...start, signal: { name: 'unreadable' } }]);
});

test('the redraw of a replacement whose own workflow has ended leads to the chain that this one had joined', async () => {
  const [second, redraw] = [{ id: 'second', origin: 'initial' } as const, { id: 'redraw', origin: 'redraw' } as const];
  const order_transaction = { id: 'transaction-2', orders: [second, redraw] };
  const orders = [{ id: 'root' }, { ...second, order_transaction }, { ...redraw, order_transaction }];
  const { baseUrl } = await answering(({ url = '' }) => {
    const order = orders.find(({ id }) => url.endsWith(`/${id}`));
    return { body: { ...order, user_id: 'user-1', events: [] } };
  });
  const forwarded = { outcome: 'forwarded', rootOrderId: 'root' };
  const given: string[] = [];
  const ended = {
    ...{ workflowId: 'kit-order/second', runId: 'run-1', status: { name: 'COMPLETED' }, startTime: new Date(0) },
    typedSearchAttributes: { get: () => undefined },
  };
  const workflow = {
    async *list({ query }: { query: string }) {
      if (query.includes('kit-order/second')) yield ended;
    },
    getHandle: (workflowId: string) => ({
      workflowId,
      result: async () => forwarded,
      query: async () => ({ reference: 'ref-1' }),
      signal: async () => void given.push(workflowId),
      describe: async () => {
        if (workflowId === 'kit-order/second') return ended;
        throw new WorkflowNotFoundError('none', workflowId, undefined);
      },
    }),
  };
  const temporal = { workflow, withDeadline: async (_deadline: number, call: () => Promise<unknown>) => call() };
  const dependencies = { service: serviceAt(baseUrl), temporal, taskQueue: 'invented', target: 'off' };
  const { adoptOrder } = adoptingActivities(dependencies as unknown as ActivityDependencies);
  const input = { orderId: 'redraw', reference: 'ref-1', policy: resolvePolicy('order') };
  expect(await new MockActivityEnvironment().run(() => adoptOrder(input))).toBe('root');
  expect(given).toEqual(['kit-order/root']);
});
