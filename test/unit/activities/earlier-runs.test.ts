import type { Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import { readSubmission } from '../../../activities/report/submissions.js';
import { runningWorkActivities } from '../../../activities/deletion/running-work.js';
import { lastEndedOf, lastResultOf, searchAttempts } from '../../../activities/workflow-runs.js';
import type { EarlierRun } from '../../../protocol/signal-or-start.js';

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

test.each([
  ['COMPLETED', false],
  ['TERMINATED', true],
  ['CANCELED', true],
  ['FAILED', true],
])('a run that is %s had not come to its own end: %s', async (name, broken) => {
  const asked: (string | undefined)[] = [];
  const getHandle = (_id: string, runId?: string) => ({
    describe: async () => (asked.push(runId), { status: { name } }),
  });
  const temporal = {
    withDeadline: async (_deadline: number, call: () => Promise<unknown>) => call(),
    workflow: {
      getHandle,
      async *list() {
        yield {
          workflowId: 'kit-order/invented',
          runId: 'run-1',
          status: { name: 'COMPLETED' },
          startTime: new Date(0),
        };
      },
    },
  } as unknown as Client;
  const follows = async (earlier: EarlierRun) => {
    const last = new MockActivityEnvironment().run(() => lastEndedOf(temporal, 'kit-order/invented', earlier));
    return (await (last as ReturnType<typeof lastEndedOf>)).followsBrokenRun === true;
  };
  expect(await follows({ runId: 'run-2' })).toBe(broken);
  expect(await follows({})).toBe(false);
  expect(asked).toEqual(['run-2']);
});

/** A Temporal with one run of everything, which has ended with this result. */
function endedWith(result: object): Client {
  const run = { workflowId: 'invented', runId: 'run-1', status: { name: 'COMPLETED' }, startTime: new Date(0) };
  return {
    workflow: {
      async *list() {
        yield run;
      },
      getHandle: () => ({ result: async () => result }),
    },
  } as unknown as Client;
}

const readers: readonly (readonly [string, object, (temporal: Client) => Promise<unknown>, object])[] = [
  [
    'a submission',
    { jobId: 'job-1', lostUploads: [], adopted: false },
    async (temporal) => {
      for await (const run of temporal.workflow.list()) return readSubmission(temporal, run);
    },
    { isRunning: false, jobId: 'job-1', lostUploads: [] },
  ],
  [
    'a deletion',
    { outcome: 'undone' },
    (temporal) => runningWorkActivities({ temporal, target: 'off' } as never).findEarlierDeletion('user-1'),
    { outcome: 'undone' },
  ],
];

describe.each(readers)('the result of %s', (what, result, read, known) => {
  test('is read, with a version and from before there were any', async () => {
    for (const version of [undefined, 1]) expect(await read(endedWith({ ...result, version }))).toEqual(known);
  });

  test('waits for a later release if that wrote it: what it says may have moved', async () => {
    const failure: unknown = await read(endedWith({ ...result, version: 2 })).catch((error: unknown) => error);
    expect(failure).toMatchObject({ type: 'StateTooNew', nonRetryable: false });
    expect(String(failure)).toContain(`The result of ${what} has version 2, and this release knows 1`);
  });
});
