import { MockActivityEnvironment } from '@temporalio/testing';
import { WorkflowNotFoundError, WorkflowUpdateFailedError, type Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import { runningWorkActivities } from '../../../../activities/deletion/running-work.js';
import { allWorkIdsOf } from '../../../../activities/deletion/erasure.js';
import { notAccepted } from '../../../../protocol/failure-details.js';
import { kitOrderId, parsingJobId } from '../../../../protocol/ids.js';
import {
  labAttentionKey,
  labOrderIdKey,
  labPhaseKey,
  labTransactionIdKey,
} from '../../../../protocol/search-attributes.js';

const userId = '00000000-0000-4000-8000-00000000000a';
const id = '00000000-0000-4000-8000-000000000001';

/** Temporal with these workflows, whose commands are answered by workflow ID. */
function temporalWith(runs: object[], answers: Record<string, () => unknown> = {}) {
  const [sent, queries]: [string[], string[]] = [[], []];
  const getHandle = (workflowId: string) => ({
    executeUpdate: async (name: string, { args: [command] }: { args: [{ by?: string }] }) => {
      sent.push(`${workflowId} ${name} by ${command.by}`);
      return answers[workflowId]?.();
    },
    query: async () => answers[workflowId]?.(),
    describe: async () => runs.find((each) => 'workflowId' in each && each.workflowId === workflowId) ?? gone(),
    result: async () => answers[`result of ${workflowId}`]?.(),
  });
  const list = ({ query }: { query: string }) => {
    queries.push(query);
    return runs;
  };
  const temporal = { workflow: { list, getHandle }, withDeadline: (_at: number, call: () => unknown) => call() };
  return { temporal: temporal as unknown as Client, sent, queries };
}

const attributes = (pairs: [{ name: string }, unknown][]) => ({
  get: (key: { name: string }) => pairs.find(([{ name }]) => name === key.name)?.[1],
});
const run = (type: string, workflowId: string, phase?: string, attention: string[] = []) => ({
  ...{ type, workflowId, runId: 'run', status: { name: 'RUNNING' } },
  typedSearchAttributes: attributes([
    ...(phase === undefined ? [] : [[labPhaseKey, phase] as [{ name: string }, unknown]]),
    [labAttentionKey, attention],
  ]),
});

test('running work is a user’s own, in either letter case of the id, without what only waits for a receiver, but with an open critical result', async () => {
  const orders = ['completed', 'forwarded'].map((phase) => run('kitOrder', 'x', phase));
  const linked = run('linkProvider', 'x', 'connected');
  const ended = [...orders, linked, run('parsingJob', 'x', 'superseded'), run('bookAppointment', 'x', 'expired')];
  const alarmed = run('kitOrder', 'd', 'completed', ['critical_result', 'late_arrival']);
  const open = [run('kitOrder', 'a', 'failed'), run('parsingJob', 'b', 'parsing'), run('submitReport', 'c'), alarmed];
  const { temporal, queries } = temporalWith([...open, ...ended]);
  const activities = runningWorkActivities({ temporal, target: 'off' });
  const { work } = await activities.findRunningWork(userId.toUpperCase());
  expect(work).toEqual(open.map(({ type, workflowId }) => ({ workflowId, name: type })));
  expect(queries).toEqual([expect.stringMatching(`^LabUserId = '${userId}' AND ExecutionStatus = 'Running' AND `)]);
  const names = ['kitOrder', 'placeKitOrder', 'linkProvider', 'submitReport', 'parsingJob', 'bookAppointment'];
  for (const name of names) expect(queries[0]).toContain(`'${name}'`);
  expect(await activities.findRunningWork("x' OR LabUserId != '")).toMatchObject({ work: [] });
});

const fails = (type: string) => () => {
  throw new WorkflowUpdateFailedError('failed', ApplicationFailure.nonRetryable('invented', type));
};
const gone = () => {
  throw new WorkflowNotFoundError('gone', 'work', undefined);
};

const made = (what: string) => () => ({ outcome: what === 'job' ? 'uploaded' : 'placed', [`${what}Id`]: id });
const ofJob = [`${parsingJobId(id)} cancel by agent-4`];
const ofOrder = [`${kitOrderId(id)} cancel by agent-4`];
const goesOn = () => ({ phase: 'in_transit_to_customer' });

test.each<[string, string, () => unknown, object, string[]]>([
  ['is cancelled', 'kitOrder', () => ({ outcome: 'cancelled' }), { fate: 'cancelled' }, []],
  ['has another kit under way', 'kitOrder', goesOn, { fate: 'not_cancelled', reason: 'OrderGoesOn' }, []],
  ['is no longer followed', 'parsingJob', () => ({}), { fate: 'cancelled', reason: 'NoLongerFollowed' }, []],
  ['is not cancelled', 'kitOrder', fails('CancelRefused'), { fate: 'not_cancelled', reason: 'CancelRefused' }, []],
  ['has ended', 'linkProvider', fails('LinkEnded'), { fate: 'ended' }, []],
  ['is gone', 'bookAppointment', gone, { fate: 'ended' }, []],
  ['has just made its job', 'submitReport', made('job'), { fate: 'cancelled', reason: 'NoLongerFollowed' }, ofJob],
  ['has just made its order', 'placeKitOrder', made('order'), { fate: 'cancelled' }, ofOrder],
  ['has no such command', 'deleteUser', gone, { fate: 'not_cancelled', reason: 'NoCancelCommand' }, []],
])('work that %s (%s)', async (_what, name, answer, fate, then) => {
  const { temporal, sent } = temporalWith([], { work: answer, [kitOrderId(id)]: () => ({ outcome: 'cancelled' }) });
  const activities = runningWorkActivities({ temporal, target: 'off' });
  expect(await activities.cancelWork({ workflowId: 'work', name, by: 'agent-4' })).toEqual(fate);
  expect(sent.slice(0, 1)).toEqual(name === 'deleteUser' ? [] : ['work cancel by agent-4']);
  expect(sent.slice(1)).toEqual(then);
});

test.each<[string, () => unknown, whileOpen: string, acknowledged: string]>([
  ['has ended', fails('OrderEnded'), 'not_cancelled CriticalResultOpen', 'ended'],
  ['is cancelled', () => ({ outcome: 'cancelled' }), 'cancelled CriticalResultOpen', 'cancelled'],
  ['goes on', goesOn, 'not_cancelled OrderGoesOn', 'not_cancelled OrderGoesOn'],
])('an order that %s is reported with its critical result until that is acknowledged', async (...given) => {
  const [, answer, whileOpen, acknowledged] = given;
  const alarmed = run('kitOrder', 'work', 'completed', ['critical_result']);
  const fateIn = async (runs: object[]) => {
    const { temporal } = temporalWith(runs, { work: answer });
    const activities = runningWorkActivities({ temporal, target: 'off' });
    return Object.values(await activities.cancelWork({ workflowId: 'work', name: 'kitOrder' })).join(' ');
  };
  expect(await fateIn([alarmed])).toBe(whileOpen);
  for (const over of [run('kitOrder', 'work', 'completed'), { ...alarmed, status: { name: 'COMPLETED' } }])
    expect(await fateIn([over])).toBe(acknowledged);
});

test('a command that its workflow had no room for is sent again by the next attempt', async () => {
  const refusal = ApplicationFailure.nonRetryable('invented', 'ServiceUnavailable', {
    fields: [],
    reason: notAccepted,
  });
  const full = () => {
    throw new WorkflowUpdateFailedError('failed', refusal);
  };
  const { temporal } = temporalWith([], { work: full });
  const cancelling = runningWorkActivities({ temporal, target: 'off' }).cancelWork({
    ...{ workflowId: 'work', name: 'placeKitOrder', by: 'agent-4' },
  });
  await expect(cancelling).rejects.toMatchObject({ type: 'ServiceUnavailable', nonRetryable: false });
});

test('a user’s work has the ids of orders, transactions, jobs and appointments; work that never answers is left out in the end', async () => {
  const typedSearchAttributes = attributes([
    [labOrderIdKey, [id, 'id-2']],
    [labTransactionIdKey, 'transaction-1'],
  ]);
  const order = { ...run('kitOrder', kitOrderId(id)), typedSearchAttributes };
  const [shown, silent] = ['appointment/a', 'appointment/b'].map((workflowId) => run('bookAppointment', workflowId));
  const ended = { ...run('bookAppointment', 'appointment/c'), status: { name: 'COMPLETED' } };
  const runs = [order, run('parsingJob', parsingJobId('job-1')), shown ?? {}, ended, silent ?? {}];
  const { temporal } = temporalWith(runs, {
    'appointment/a': () => ({ appointment: { appointmentId: 'visit-1' } }),
    'appointment/b': gone,
    'result of appointment/c': () => ({ appointment: { appointmentId: 'visit-2' } }),
  });
  const ids = (attempt: number) => new MockActivityEnvironment({ attempt }).run(() => allWorkIdsOf(temporal, userId));
  await expect(ids(1)).rejects.toThrow('gone');
  expect(await ids(3)).toEqual([id, 'id-2', 'transaction-1', 'job-1', 'visit-1', 'visit-2']);
});
