import type { Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { lastResultOf, searchAttempts } from '../../../activities/workflow-runs.js';
import type { EarlierRun } from '../../../protocol/earlier-run.js';

/** A Temporal whose search is away, as everything is that this client cannot do. */
const searchless = {
  withDeadline: async (_deadline: number, call: () => Promise<unknown>) => call(),
  workflow: {
    list() {
      throw new Error('The search is away');
    },
  },
} as unknown as Client;

async function lastResult({ attempt, earlier }: { attempt: number; earlier?: EarlierRun }): Promise<unknown> {
  const environment = new MockActivityEnvironment({ attempt });
  return environment.run(() => lastResultOf(searchless, 'kit-order/invented', earlier));
}

test('a search that does not answer is tried again for some minutes, then a run goes on without it', async () => {
  await expect(lastResult({ attempt: 1 })).rejects.toThrow('The search is away');
  await expect(lastResult({ attempt: searchAttempts - 1 })).rejects.toThrow('The search is away');
  await expect(lastResult({ attempt: searchAttempts })).resolves.toBeUndefined();
});

test('a run that was the first of its ID searches for nothing', async () => {
  await expect(lastResult({ attempt: 1, earlier: {} })).resolves.toBeUndefined();
});
