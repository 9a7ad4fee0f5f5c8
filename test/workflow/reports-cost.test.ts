import { expect, test } from 'vitest';
import { jobChangedSignal } from '../../protocol/report/messages.js';
import { parsingJobId } from '../../protocol/ids.js';
import { submit } from './report.js';
import { setStage } from './story.js';

// The full server: the one that skips time writes a task into the history for every query of the test.
const stage = setStage({ notifies: false, eventsPerRun: 10_000 });

test('a report that is followed by webhooks costs its signals, one timer at a time, and no call', async () => {
  const report = await submit(stage);
  await report.move('started', 'processing');
  const workflow = stage.temporal.workflow.getHandle(parsingJobId(report.jobId));
  for (let n = 0; n < 5; n += 1) await workflow.signal(jobChangedSignal, { jobId: report.jobId, status: 'started' });
  await report.move({ status: 'completed', results: 'sample' });
  await report.result();
  const { events = [] } = await workflow.fetchHistory();
  const count = (name: 'activityTaskScheduled' | 'timerStarted' | 'upsertWorkflowSearchAttributes') =>
    (events ?? []).filter((event) => event[`${name}EventAttributes`] != null).length;
  expect(count('activityTaskScheduled')).toBe(0);
  // One for the hand-over at most, and one for each thing that was new.
  expect(count('timerStarted')).toBeLessThanOrEqual(4);
  // Once per phase: parsing, completed.
  expect(count('upsertWorkflowSearchAttributes')).toBeLessThanOrEqual(3);
});
