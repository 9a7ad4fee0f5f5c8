import { expect, test } from 'vitest';
import { LeavingUser } from './leaving-user.js';
import { Visit } from './visit.js';
import { bookingRequestedSignal } from '../../protocol/appointment/messages.js';
import { deleteUserId, parsingJobId, submitReportId } from '../../protocol/ids.js';
import { eventually } from '../rig/eventually.js';
import { follow, start, submission, submit, uploadPath, writeReport } from './report.js';
import { samplePdf } from '../../sandbox/sample-report.js';
import { setStage } from './story.js';
import { withoutRepeats } from './kit.js';

/* The full server, which cuts histories: so few events that a story continues in a new run. The other workflows' runs go on in lives. */

const stage = setStage({ eventsPerRun: 20 });

async function runId(workflowId: string): Promise<string> {
  return (await stage.temporal.workflow.getHandle(workflowId).describe()).runId;
}

test('an appointment with a long history continues in a new run with everything it knew', async () => {
  const visit = await Visit.start(stage, { policy: { choiceWait: '2d' } });
  const workflow = stage.temporal.workflow.getHandle(visit.workflowId);
  const first = (await workflow.describe()).runId;
  const slot = await visit.choose();
  for (let n = 0; n < 10; n += 1) {
    await workflow.signal(bookingRequestedSignal, {});
    await visit.expectState({ phase: 'confirmed' });
  }
  await eventually(async () => expect((await workflow.describe()).runId).not.toBe(first));
  const other = await visit.slot(5);
  expect(await visit.handle.reschedule({ slotId: other.id })).toMatchObject({ appointment: { startAt: other.start } });
  await visit.move('in_progress');
  await visit.expectState({ phase: 'in_progress' });
  await visit.move('completed');
  const result = await visit.handle.result();
  expect(result).toMatchObject({ outcome: 'completed', policy: { choiceWait: 172_800_000 } });
  // The first webhook of a booking may come before its answer.
  const answered = result.timeline.map(({ what }) => what).filter((what) => !what.startsWith('pending'));
  expect(answered).toEqual([
    `confirmed, for ${slot.start}`,
    `confirmed, for ${other.start}`,
    `in_progress, for ${other.start}`,
    `completed, for ${other.start}`,
  ]);
  // If a run ends while it notifies, the next one notifies again.
  expect(withoutRepeats(visit.notifications).map(({ type, data }) => data['phase'] ?? type)).toEqual([
    ...['confirmed', 'confirmed', 'in_progress', 'appointment.ended'],
  ]);
});

test('a deletion that is requested very often continues in new runs, notifies once and can be undone', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const handle = await leavingUser.requestDeletion();
  // If a run ends while it notifies, the next one notifies again.
  await leavingUser.expectNotifications('deletion_scheduled');
  const workflow = stage.temporal.workflow.getHandle(deleteUserId(leavingUser.userId));
  const { runId: first } = await workflow.describe();
  const { graceUntil } = await handle.state();
  for (let n = 0; n < 12; n += 1) {
    const again = await leavingUser.requestDeletion();
    expect(again.requested).toMatchObject({ phase: 'grace', graceUntil });
  }
  await eventually(async () => expect((await workflow.describe()).runId).not.toBe(first));
  expect(await handle.state()).toMatchObject({ phase: 'grace', graceUntil });
  expect(await handle.undo()).toMatchObject({
    outcome: 'undone',
    undo: { lostConnections: ['invented_watch', 'invented_ring'] },
  });
  expect(await handle.result()).toMatchObject({ outcome: 'undone' });
  await leavingUser.expectNotifications('deletion_scheduled', 'deletion_undone');
  expect(await leavingUser.readUser()).toBe('present');
});

test('a job with a long history continues in a new run with everything it knew', async () => {
  const report = await submit(stage);
  const first = await runId(parsingJobId(report.jobId));
  await report.move('started', 'pending_review');
  const statuses = ['quality_hold_a', 'quality_hold_b', 'quality_hold_c', 'quality_hold_d', 'quality_hold_e'];
  await report.move(...statuses);
  await eventually(async () => expect(await runId(parsingJobId(report.jobId))).not.toBe(first));
  await report.move({ status: 'completed', results: 'sample' });
  const result = await report.result();
  expect(result).toMatchObject({ outcome: 'completed', reference: report.handle.reference });
  const seen = ['upload_pending', 'started', 'pending_review', ...statuses, 'completed'];
  expect(result.timeline.map(({ status }) => status)).toEqual(seen);
  // If a run ends while it notifies, the next one notifies again.
  expect(withoutRepeats(report.notifications).map(({ type }) => type)).toEqual([
    ...['phase_changed', 'review_needed', 'completed'],
  ]);
});

test('a submission that fails often continues in a new run, and its reference still names one report', async () => {
  const report = samplePdf(['labops-sandbox: stuck']);
  const large = Buffer.concat([report, Buffer.alloc(8_000_000, '%')]);
  const given = await submission(stage, { file: { path: await writeReport(stage, large) } });
  await stage.sandbox.addFault({ method: 'POST', path: uploadPath, times: 3, action: { kind: 'refuse' } });
  const handle = await start(stage, given);
  const first = await runId(submitReportId(given.reference));
  const { jobId } = await follow(stage, handle);
  expect(await runId(submitReportId(given.reference))).not.toBe(first);
  expect(await (await stage.product.reports.submit(given)).jobId()).toBe(jobId);
  expect(await stage.sandbox.jobs()).toHaveLength(1);
});
