import { expect, test } from 'vitest';
import { samplePdf } from '../../sandbox/sample-report.js';
import { parsingJobId, submitReportId } from '../../protocol/ids.js';
import { eventually } from '../rig/eventually.js';
import { withoutRepeats } from './kit.js';
import { follow, start, submission, submit, uploadPath, writeReport } from './report.js';
import { setStage } from './story.js';

// So few that a story continues in a new run several times.
const stage = setStage({ eventsPerRun: 20 });

async function runId(workflowId: string): Promise<string> {
  return (await stage.temporal.workflow.getHandle(workflowId).describe()).runId;
}

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
