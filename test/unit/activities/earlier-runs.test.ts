import type { Client } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import type { ActivityDependencies } from '../../../activities/dependencies.js';
import { earlierRunsOf } from '../../../activities/order/earlier-orders.js';
import { readSubmission } from '../../../activities/report/submissions.js';
import { runningWorkActivities } from '../../../activities/deletion/running-work.js';
import { lastEndedOf, lastResultOf, searchAttempts } from '../../../activities/workflow-runs.js';
import type { EarlierRun } from '../../../protocol/signal-or-start.js';

/** A Temporal of which nothing else is known. */
function temporalWith(workflow: object): Client {
  const withDeadline = async (_deadline: number, call: () => Promise<unknown>) => call();
  return { workflow, withDeadline } as unknown as Client;
}

const run = { workflowId: 'invented', runId: 'run-1', status: { name: 'COMPLETED' }, startTime: new Date(0) };

/** Its list is of this run. */
async function* list() {
  yield run;
}

const searchless = temporalWith({
  list() {
    throw new Error('The search is away');
  },
});

const lastResult = (attempt: number, earlier?: EarlierRun): Promise<unknown> =>
  new MockActivityEnvironment({ attempt }).run(() => lastResultOf(searchless, 'kit-order/invented', earlier));

test('a search that does not answer is tried again for some minutes, then a run goes on without it', async () => {
  for (const attempt of [1, searchAttempts - 1])
    await expect(lastResult(attempt)).rejects.toThrow('The search is away');
  await expect(lastResult(searchAttempts)).resolves.toBeUndefined();
});

test('a search that a proxy refuses does not stand for one that finds nothing: a second kit could be ordered', async () => {
  // What gRPC makes of a 404 before Temporal.
  const refusal = { code: 12, details: 'Received HTTP status code 404', metadata: {} };
  const temporal = temporalWith({
    list() {
      throw Object.assign(new Error('12 UNIMPLEMENTED'), refusal);
    },
  });
  await expect(earlierRunsOf({ temporal } as ActivityDependencies, 'reference-1')).rejects.toThrow('UNIMPLEMENTED');
});

test('a run that was the first of its ID searches for nothing', async () => {
  await expect(lastResult(1, {})).resolves.toBeUndefined();
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
  const temporal = temporalWith({ getHandle, list });
  const follows = async (earlier: EarlierRun) => {
    const last = new MockActivityEnvironment().run(() => lastEndedOf(temporal, 'kit-order/invented', earlier));
    return (await (last as ReturnType<typeof lastEndedOf>)).followsBrokenRun === true;
  };
  expect(await follows({ runId: 'run-2' })).toBe(broken);
  expect(await follows({})).toBe(false);
  expect(asked).toEqual(['run-2']);
});

/** A Temporal with one run of everything, which has ended with this result. */
const endedWith = (result: object) => temporalWith({ list, getHandle: () => ({ result: async () => result }) });

const readers: readonly (readonly [string, object, (temporal: Client) => Promise<unknown>, object])[] = [
  [
    'a submission',
    { jobId: 'job-1', lostUploads: [], adopted: false },
    (temporal) => readSubmission(temporal, run as never),
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
