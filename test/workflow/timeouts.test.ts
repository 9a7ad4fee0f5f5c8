import ms from 'ms';
import { afterEach, describe, expect, test } from 'vitest';
import { runsOf } from '../../activities/workflow-runs.js';
import { deleteUserId, placeKitOrderId, submitReportId } from '../../protocol/ids.js';
import { resolveReportPolicy } from '../../protocol/report/policy.js';
import {
  submitReportName,
  type SubmitReportInput,
  type SubmitReportResult,
} from '../../protocol/report/submission-messages.js';
import { labAttentionKey } from '../../protocol/search-attributes.js';
import { namespace, taskQueue } from '../rig/environments.js';
import { eventually } from '../rig/eventually.js';
import { LeavingUser } from './leaving-user.js';
import { endSubmission, follow, start, submission, uploadPath } from './report.js';
import { setStage } from './story.js';

/** Only the full server can change the time limits of a pending activity. */
const stage = setStage({ fullServer: true });

/** Ends the time of all attempts of a workflow's pending activity now, or the time until one starts, instead of in an hour. */
async function runOutOfTime(workflowId: string, activity: string, until: 'close' | 'start' = 'close'): Promise<void> {
  const second = { seconds: 1 } as never;
  await stage.temporal.workflowService.updateActivityOptions({
    namespace,
    execution: { workflowId },
    type: activity,
    activityOptions: until === 'close' ? { scheduleToCloseTimeout: second } : { scheduleToStartTimeout: second },
    updateMask: { paths: [`schedule_to_${until}_timeout`] },
  });
}

/** How many activities of a workflow the server has given up. The retry state that it writes beside differs from server to server. */
async function timeoutsOf(workflowId: string): Promise<number> {
  const { events } = await stage.temporal.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).filter((event) => event.activityTaskTimedOutEventAttributes != null).length;
}

/** A request that the service holds back for longer than its caller waits. */
const held = { kind: 'delay', phase: 'before_work', delayMs: 40_000 } as const;

test.each([
  ['request is held back', 'DELETE', undefined],
  ['user cannot be read', 'GET', 'readUser'],
] as const)(
  'a deletion whose %s until the time is up is requested again, and followed',
  async (_why, method, activity) => {
    const leavingUser = await LeavingUser.arrive(stage);
    await stage.sandbox.addFault({ method, path: leavingUser.path, times: 1, action: held });
    const requesting = leavingUser.requestDeletion();
    if (activity !== undefined) {
      await stage.expectRequests(method, leavingUser.path);
      await runOutOfTime(deleteUserId(leavingUser.userId), activity);
    }
    const handle = await requesting;
    expect(handle.requested).toMatchObject({ phase: 'requested' });
    expect(await timeoutsOf(deleteUserId(leavingUser.userId))).toBe(1);
    // The next attempts come after a minute.
    const phase = async () => (await handle.state()).phase;
    await expect.poll(phase, { timeout: 180_000, interval: 500 }).toBe('grace');
    await leavingUser.expectNotifications('deletion_scheduled');
    expect(await handle.undo()).toMatchObject({ outcome: 'undone' });
  },
);

describe('a creation that outlasts its time limit', () => {
  const createPath = '/v3/order/testkit';
  const quick = { creationTimeout: '2s' } as const;

  test('is waited for before any attempt reads whether it happened: one kit', async () => {
    // The next attempt comes after 2 + 3 seconds.
    const slow = { kind: 'delay', phase: 'before_work', delayMs: 4_000 } as const;
    await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: slow });
    const handle = await stage.product.orders.place(await stage.input({ policy: quick }));
    await handle.orderId();
    expect(await stage.sandbox.orders()).toHaveLength(1);
    expect(await stage.countRequests('POST', createPath)).toBe(1);
  });

  test('is waited for, too, when its placement is terminated and placed again at once: one kit', async () => {
    const slow = { kind: 'delay', phase: 'before_work', delayMs: 2_500 } as const;
    await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: slow });
    const input = await stage.input({ policy: quick });
    await stage.product.orders.place(input);
    await stage.expectRequests('POST', createPath);
    const workflowId = placeKitOrderId(input.reference);
    await stage.temporal.workflow.getHandle(workflowId).terminate('an operator took it for stuck');
    await eventually(async () => expect(await runsOf(stage.temporal, workflowId)).toHaveLength(1));
    const again = await stage.product.orders.place(input);
    const orderId = await again.orderId();
    await eventually(async () => {
      const creations = await stage.sandbox.requests({ method: 'POST', path: createPath });
      expect(creations.map(({ outcome }) => outcome)).not.toContain('pending');
    });
    expect(await stage.sandbox.orders()).toMatchObject([{ order: { id: orderId } }]);
  });
});

test('a placement goes on when its time ends while no worker runs', async () => {
  await stage.sandbox.addFault({ path: '/**', action: { kind: 'refuse' } });
  const input = await stage.input();
  await stage.product.orders.place(input);
  const placing = stage.temporal.workflow.getHandle(placeKitOrderId(input.reference));
  await eventually(async () => {
    const { raw } = await placing.describe();
    expect(raw.pendingActivities?.[0]?.lastFailure).toBeTruthy();
  });
  await stage.stopWorker();
  await runOutOfTime(placing.workflowId, 'createKitOrder');
  await eventually(async () => expect(await timeoutsOf(placing.workflowId)).toBe(1));
  await stage.startWorker();
  await eventually(async () => {
    const { status, typedSearchAttributes } = await placing.describe();
    expect(status.name).toBe('RUNNING');
    expect(typedSearchAttributes.get(labAttentionKey)).toEqual(['placing_delayed']);
  });
  // The next attempts come after ten minutes.
  await placing.terminate('the story is over');
});

describe('while no worker takes uploads', () => {
  async function stopUploads(): Promise<void> {
    await stage.stopWorker();
    await stage.startWorker({ polls: ['main', 'background', 'notifications'] });
  }

  async function resumeUploads(): Promise<void> {
    await stage.stopWorker();
    await stage.startWorker();
  }
  afterEach(resumeUploads);

  /** For how many seconds each upload of a submission waits for a worker. */
  async function waitsOf(workflowId: string): Promise<number[]> {
    const { events } = await stage.temporal.workflow.getHandle(workflowId).fetchHistory();
    const scheduled = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: activity }) => activity ?? []);
    const uploads = scheduled.filter(({ activityType }) => activityType?.name === 'uploadReport');
    return uploads.map(({ scheduleToStartTimeout }) => Number(scheduleToStartTimeout?.seconds ?? 0));
  }

  /** Goes on with a submission that began so long ago, and ends the time of its upload. */
  async function waitInVain(began: ms.StringValue): Promise<string> {
    const given = await submission(stage);
    const workflowId = submitReportId(given.reference);
    const carried = { version: 1, lostUploads: [], failures: 0, since: Date.now() - ms(began), looksBack: false };
    const args: [SubmitReportInput] = [{ ...given, policy: resolveReportPolicy(), carried }];
    await stage.temporal.workflow.start(submitReportName, { workflowId, taskQueue, args });
    stage.onClear(() => endSubmission(stage, given.reference));
    await eventually(async () => expect(await waitsOf(workflowId)).toHaveLength(1));
    await runOutOfTime(workflowId, 'uploadReport', 'start');
    return workflowId;
  }

  test('an upload waits an hour for one and has sent nothing then: it is repeated, and done once there is one', async () => {
    await stopUploads();
    const given = await submission(stage);
    const handle = await start(stage, given);
    const workflowId = submitReportId(given.reference);
    await eventually(async () => expect(await waitsOf(workflowId)).toHaveLength(1));
    const [wait = 0] = await waitsOf(workflowId);
    expect(wait).toBeGreaterThan(3_500);
    expect(wait).toBeLessThanOrEqual(3_600);
    await runOutOfTime(workflowId, 'uploadReport', 'start');
    await eventually(async () => expect(await waitsOf(workflowId)).toHaveLength(2));
    await resumeUploads();
    const report = await follow(stage, handle);
    expect(await stage.sandbox.jobs()).toMatchObject([{ id: report.jobId }]);
    const result = (await stage.temporal.workflow.getHandle(workflowId).result()) as SubmitReportResult;
    expect(result).toMatchObject({ adopted: false, lostUploads: [] });
  });

  test('a submission needs attention after an hour', async () => {
    await stopUploads();
    const workflow = stage.temporal.workflow.getHandle(await waitInVain('1 hour'));
    await eventually(async () => {
      const { typedSearchAttributes } = await workflow.describe();
      expect(typedSearchAttributes.get(labAttentionKey)).toEqual(['upload_delayed']);
    });
  });

  test('a submission ends after seven days, and says why', async () => {
    await stopUploads();
    const workflow = stage.temporal.workflow.getHandle(await waitInVain('7 days'));
    await expect(workflow.result()).rejects.toMatchObject({
      cause: { type: 'ReportSubmissionExpired', message: expect.stringMatching(/7 days.*UploadNotStarted/) as string },
    });
    expect(await stage.countRequests('POST', uploadPath)).toBe(0);
  });

  test('a submission whose answer was lost before looks for its job all the same, and adopts it', async () => {
    await stage.sandbox.addFault({ method: 'POST', path: uploadPath, action: { kind: 'drop_response' } });
    // The job is looked for after a quarter of a minute.
    const given = await submission(stage, { policy: { creationTimeout: '10s' } });
    const handle = await start(stage, given);
    await stage.expectRequests('POST', uploadPath);
    await stopUploads();
    const { jobId } = await follow(stage, handle);
    expect(await stage.sandbox.jobs()).toMatchObject([{ id: jobId }]);
    const workflow = stage.temporal.workflow.getHandle(submitReportId(given.reference));
    expect(await workflow.result()).toMatchObject({ adopted: true });
  });
});
