import { WorkflowNotFoundError } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { adoptingActivities } from '../../../../activities/order/adopting.js';
import type { ActivityDependencies } from '../../../../activities/dependencies.js';
import { resolvePolicy } from '../../../../protocol/policy/policies.js';
import { answering, serviceAt } from '../../service/recording-server.js';

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
