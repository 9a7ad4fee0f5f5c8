import baseline from '../../proof/bench/baseline.json' with { type: 'json' };
import { expect, inject, test } from 'vitest';
import { readFile } from 'node:fs/promises';
import { UserLink } from './user-link.js';
import { Visit } from './visit.js';
import { costOf } from '../../proof/bench/histories.js';
import { jobChangedSignal } from '../../protocol/report/messages.js';
import { parsingJobId } from '../../protocol/ids.js';
import { playProject } from '../../proof/bench/lives.js';
import { setStage } from './story.js';
import { submit } from './report.js';
import { taskQueue } from '../rig/environments.js';

/*
 * Every history event and every billable action is paid for, for each order. The measure is the plainest workflow that
 * could do the same: a signal for each thing that happens, an ordinary activity for each call, and a timer set again at
 * every wait.
 */

// The full server: the one that skips time writes a task into the history for every query of the test.
const stage = setStage({ notifies: false, eventsPerRun: 10_000 });

type EventName =
  | 'workflowExecutionSignaled'
  | 'workflowExecutionUpdateAccepted'
  | 'activityTaskScheduled'
  | 'timerStarted'
  | 'upsertWorkflowSearchAttributes';

async function historyOf(workflowId: string) {
  const { events } = await stage.temporal.workflow.getHandle(workflowId).fetchHistory();
  const all = events ?? [];
  const count = (name: EventName) => all.filter((event) => event[`${name}EventAttributes`] != null).length;
  return { events: all.length, count };
}

/** Expects no more events and billable actions than the plainest workflow needs for what was received and done. */
async function expectNoDearer(workflowId: string) {
  const { events, count } = await historyOf(workflowId);
  const updates = count('workflowExecutionUpdateAccepted');
  const received = count('workflowExecutionSignaled') + updates;
  const calls = count('activityTaskScheduled');
  const plainest = {
    // The start with its task, and the end; six for what is received (its task, and a timer set and cancelled), and
    // that an update is completed ...
    events: 5 + 6 * received + updates + 6 * calls,
    // ... and one action each for the start, what is received, its timer, and a call.
    actions: 1 + 2 * received + calls,
  };
  const actions = 1 + received + calls + count('timerStarted');
  expect(events).toBeLessThanOrEqual(plainest.events);
  expect(actions).toBeLessThanOrEqual(plainest.actions);
  return { count, calls };
}

test('a link with a code costs no more than the plainest workflow would', async () => {
  await stage.sandbox.changeSettings({ connectionWebhooks: false });
  const link = await UserLink.start(stage);
  await link.logIn('mfa-sms');
  expect(await link.handle.submitMfaCode({ code: '123456' })).toMatchObject({ outcome: 'connected' });
  await link.handle.result();
  const { count, calls } = await expectNoDearer(link.workflowId);
  expect(count('workflowExecutionSignaled')).toBe(0);
  // The token; and the code together with the read for its connection.
  expect(calls).toBe(2);
  // One for the password, one for the code.
  expect(count('timerStarted')).toBe(2);
  expect(count('upsertWorkflowSearchAttributes')).toBe(['awaiting_code', 'connected'].length);
});

test('an appointment from the choice to the draw costs no more than the plainest workflow would', async () => {
  const visit = await Visit.start(stage);
  await visit.choose();
  await stage.sandbox.settleWebhooks();
  await visit.move('in_progress');
  await visit.expectState({ phase: 'in_progress' });
  await visit.move('completed');
  expect(await visit.result()).toMatchObject({ outcome: 'completed' });
  const { count, calls } = await expectNoDearer(visit.workflowId);
  // The appointment, the slots, the booking, and what a webhook reported as the end: no other webhook is followed by a read.
  expect(calls).toBe(4);
  // Without reminders there is one for the choice, one for the visit, and one for its end.
  expect(count('timerStarted')).toBeLessThanOrEqual(3);
  expect(count('upsertWorkflowSearchAttributes')).toBeLessThanOrEqual(4);
});

/** Ids and numbers in payloads differ in length from run to run. */
const tolerance = 0.02;

test('the order that `npm run bench` measures costs what its baseline says', async () => {
  await stage.sandbox.changeSettings({ webhookUrl: '' });
  const newUser = async () => (await stage.sandbox.createUser()).user.user_id;
  const side = { labs: stage.product, temporal: stage.temporal, taskQueue };
  const life = await playProject({ sandbox: stage.sandbox, newUser }, side);
  const { events, actions, bytes } = await costOf(stage.temporal, life);
  expect({ events, actions }).toEqual({ events: baseline.events, actions: baseline.actions });
  expectNear(bytes, baseline.bytes);
});

test('the code of the workflow bundle is as large as the baseline says', async () => {
  const [code = ''] = (await readFile(inject('workflowBundlePath'), 'utf8')).split('//# sourceMappingURL');
  expectNear(code.length, baseline.bundleBytes);
});

/** If a change is worth it, enter the new number in proof/bench/baseline.json. */
function expectNear(actual: number, expected: number): void {
  expect(actual).toBeGreaterThan(expected * (1 - tolerance));
  expect(actual).toBeLessThan(expected * (1 + tolerance));
}

test('a report that is followed by webhooks costs its signals, one timer at a time, and no call', async () => {
  const report = await submit(stage);
  await report.move('started', 'processing');
  const workflow = stage.temporal.workflow.getHandle(parsingJobId(report.jobId));
  for (let n = 0; n < 5; n += 1) await workflow.signal(jobChangedSignal, { jobId: report.jobId, status: 'started' });
  await report.move({ status: 'completed', results: 'sample' });
  await report.result();
  const { count } = await historyOf(workflow.workflowId);
  expect(count('activityTaskScheduled')).toBe(0);
  // One for the hand-over at most, and one for each thing that was new.
  expect(count('timerStarted')).toBeLessThanOrEqual(4);
  // Once per phase: parsing, completed.
  expect(count('upsertWorkflowSearchAttributes')).toBeLessThanOrEqual(3);
});
