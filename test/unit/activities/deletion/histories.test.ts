import { MockActivityEnvironment } from '@temporalio/testing';
import { WorkflowNotFoundError } from '@temporalio/common';
import { expect, test } from 'vitest';
import { historyActivities, type EndedRun } from '../../../../activities/deletion/histories.js';
import { rejection } from '../../service/recording-server.js';

const userId = '00000000-0000-4000-8000-000000000001';
const another = '00000000-0000-4000-8000-000000000002';

interface Stored {
  workflowId: string;
  type: string;
  /** The users that each run showed, one after the other; the last one is open if `isOpen`. */
  runs: Record<string, string[]>;
  isOpen?: true;
  status?: string;
}

/** A Temporal with these workflows. It refuses to delete with `refusal`, which is gRPC's number. */
function temporalWith(stored: readonly Stored[], refusal?: number) {
  const deleted: EndedRun[] = [];
  const isGone = (runId: string) => deleted.some((run) => run.runId === runId);
  const payload = (user: string) => ({ indexedFields: { LabUserId: { data: Buffer.from(JSON.stringify(user)) } } });
  const handle = (workflowId: string, given?: string) => {
    const workflow = stored.find((each) => each.workflowId === workflowId);
    const runId = given ?? Object.keys(workflow?.runs ?? {}).at(-1);
    if (!workflow || runId === undefined || isGone(runId)) throw new WorkflowNotFoundError('none', workflowId, runId);
    const { type, isOpen, status = 'COMPLETED' } = workflow;
    const closeTime = isOpen ? undefined : new Date('2026-03-01T10:00:00.000Z');
    const standing = { closeTime, status: { name: isOpen ? 'RUNNING' : status } };
    return { workflowId, runId, type, ...standing, users: workflow.runs[runId] };
  };
  const workflow = {
    async *list() {
      for (const { workflowId, type, runs } of stored) {
        for (const [runId, users] of Object.entries(runs))
          if (users.at(-1) === userId) yield { workflowId, type, runId };
      }
    },
    getHandle: (workflowId: string, runId?: string) => ({
      describe: async () => handle(workflowId, runId),
      fetchHistory: async () => {
        const [first, ...more] = (handle(workflowId, runId).users ?? []).map((user) => ({
          searchAttributes: payload(user),
        }));
        const upserts = more.map((upserted) => ({ upsertWorkflowSearchAttributesEventAttributes: upserted }));
        return { events: [{ workflowExecutionStartedEventAttributes: first }, {}, ...upserts] };
      },
    }),
  };
  const workflowService = {
    async deleteWorkflowExecution({ workflowExecution }: { workflowExecution: EndedRun }) {
      if (refusal !== undefined)
        throw Object.assign(new Error(`${refusal} REFUSED: no`), { code: refusal, details: '', metadata: {} });
      deleted.push(workflowExecution);
    },
  };
  const temporal = { options: { namespace: 'default' }, workflow, workflowService };
  const activities = historyActivities({ temporal: temporal as never, erasesHistories: true });
  const within = <T>(work: () => Promise<T>) => new MockActivityEnvironment().run(work);
  return {
    deleted,
    find: () => within(() => activities.findHistories(userId)),
    erase: (runs: EndedRun[]) => within(() => activities.eraseHistories(runs)),
  };
}

const kit = (id: string, runs: Stored['runs'], more: Partial<Stored> = {}): Stored => ({
  ...{ workflowId: `kit-order/${id}`, type: 'kitOrder', runs, ...more },
});

const delivery = (id: string, runs: Stored['runs'], more: Partial<Stored> = {}): Stored => ({
  ...{ workflowId: `deliver-notifications/kit-order/${id}`, type: 'deliverNotifications', runs, ...more },
});

test('every run of the user’s ended workflows is found, and the deliveries that do not say whose they are', async () => {
  const { find } = temporalWith([
    kit('1', { 'run-1': [userId], 'run-2': [userId, userId] }),
    delivery('1', { 'run-3': [] }),
    kit('2', { 'run-4': [userId] }, { status: 'TERMINATED' }),
    kit('3', { 'run-5': [another] }),
  ]);
  const ended = { completedAt: '2026-03-01T10:00:00.000Z' };
  expect(await find()).toEqual({
    runs: [
      { workflowId: 'kit-order/1', runId: 'run-1' },
      { workflowId: 'kit-order/1', runId: 'run-2' },
      { workflowId: 'kit-order/2', runId: 'run-4' },
      { workflowId: 'deliver-notifications/kit-order/1', runId: 'run-3' },
    ],
    // A terminated run says nothing about what it knew.
    workflows: [
      { workflowId: 'kit-order/1', ...ended },
      { workflowId: 'kit-order/2' },
      { workflowId: 'deliver-notifications/kit-order/1', ...ended },
    ],
    left: [],
  });
});

test('no run is found of a workflow that is open, or that was another user’s as well', async () => {
  const { find } = temporalWith([
    kit('1', { 'run-1': [userId], 'run-2': [userId] }, { isOpen: true }),
    kit('2', { 'run-3': [another, userId] }),
    kit('4', { 'run-5': [userId] }),
    delivery('4', { 'run-4': [] }, { isOpen: true }),
  ]);
  expect(await find()).toMatchObject({
    runs: [{ runId: 'run-5' }],
    left: [
      { workflowId: 'kit-order/1', name: 'kitOrder', because: 'open' },
      { workflowId: 'kit-order/2', name: 'kitOrder', because: 'another_user' },
      { workflowId: 'deliver-notifications/kit-order/4', name: 'deliverNotifications', because: 'open' },
    ],
  });
});

test('no run is found of the deliveries of an order that has moved to another user', async () => {
  const { find } = temporalWith([kit('1', { 'run-1': [userId, another] }), delivery('1', { 'run-2': [userId] })]);
  const workflowId = 'deliver-notifications/kit-order/1';
  const left = [{ workflowId, name: 'deliverNotifications', because: 'another_user' }];
  expect(await find()).toEqual({ runs: [], workflows: [], left });
});

test('runs are deleted by both their ids; one that Temporal does not know counts as deleted', async () => {
  const runs = [{ workflowId: 'kit-order/1', runId: 'run-1' }];
  const { erase, deleted } = temporalWith([kit('1', { 'run-1': [userId], 'run-2': [userId] })]);
  await erase(runs);
  expect(deleted).toEqual(runs);
  await expect(temporalWith([], 5).erase(runs)).resolves.toBeUndefined();
});

test('a Temporal that refuses to delete is asked again', async () => {
  const { erase } = temporalWith([kit('1', { 'run-1': [userId] })], 7);
  expect(await rejection(erase([{ workflowId: 'kit-order/1', runId: 'run-1' }]))).toMatchObject({
    ...{ type: 'HistoriesNotErased', nonRetryable: false, message: 'Temporal refused to delete histories: 7 REFUSED' },
  });
});
