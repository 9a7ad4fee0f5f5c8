import type { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import { sampleOpen } from '../../workers/replay.js';

/** Lists the open workflows of each type in pages, the newest first: `kitOrder/0` is the newest order. */
function holding(open: Record<string, number>): Client {
  const typeIn = (query: string) => /WorkflowType = '(\w+)'/.exec(query)?.[1] ?? '';
  const total = (query: string) => open[typeIn(query)] ?? 0;
  const workflowService = {
    listWorkflowExecutions(request: { query: string; pageSize: number; nextPageToken?: Uint8Array }) {
      const from = Number(Buffer.from(request.nextPageToken ?? []).toString() || 0);
      const until = Math.min(total(request.query), from + request.pageSize);
      const executions = Array.from({ length: until - from }, (_, index) => ({
        execution: { workflowId: `${typeIn(request.query)}/${from + index}`, runId: 'run' },
      }));
      const isLast = until === total(request.query);
      return Promise.resolve({ executions, nextPageToken: isLast ? Buffer.of() : Buffer.from(String(until)) });
    },
  };
  const count = (query: string) => Promise.resolve({ count: total(query) });
  return { options: { namespace: 'default' }, workflow: { count }, workflowService } as unknown as Client;
}

async function sample(open: Record<string, number>, count: number): Promise<Record<string, number[]>> {
  const types = ['kitOrder', 'placeKitOrder', 'linkProvider', 'deleteUser'];
  const sampled = await sampleOpen(holding(open), 'labs', types, count);
  const placesOf = (type: string) => sampled.get(type)?.map(({ workflowId }) => Number(workflowId.split('/')[1])) ?? [];
  return Object.fromEntries(types.map((type) => [type, placesOf(type)]));
}

test('a type takes the shares that others do not need', async () => {
  const sampled = await sample({ kitOrder: 5_000, placeKitOrder: 2, linkProvider: 60 }, 200);
  const sizes = Object.values(sampled).map((places) => places.length);
  expect(sizes).toEqual([138, 2, 60, 0]);
});

test('a sample goes from the newest to the oldest, over all pages', async () => {
  expect(await sample({ kitOrder: 3_501 }, 5)).toMatchObject({ kitOrder: [0, 875, 1750, 2625, 3500] });
  expect(await sample({ kitOrder: 3 }, 5)).toMatchObject({ kitOrder: [0, 1, 2] });
});

test('a sample of one is the oldest workflow, and no sample exceeds its count', async () => {
  expect(await sample({ kitOrder: 1_002, linkProvider: 9 }, 2)).toMatchObject({ kitOrder: [1001], linkProvider: [8] });
  expect(Object.values(await sample({ kitOrder: 9, linkProvider: 9, deleteUser: 9 }, 1)).flat()).toEqual([8]);
});
