import { pino } from 'pino';
import { expect, test } from 'vitest';
import { StartFailed } from '../../workers/process.js';
import { ensureReconcileSchedule } from '../../workers/reconcile-schedule.js';
import { reconcileScheduleId } from '../../protocol/reconcile.js';
import { devServer } from '../rig/environments.js';

const rig = devServer();
const log = pino({ level: 'silent' });

const ensure = (taskQueue: string, reconcileEveryMinutes = 60) =>
  ensureReconcileSchedule(rig.client, { taskQueue, reconcileEveryMinutes }, log);

async function actionOf(taskQueue: string) {
  const { action, spec } = await rig.client.schedule.getHandle(reconcileScheduleId(taskQueue)).describe();
  return { taskQueue: action.taskQueue, every: spec.intervals?.map(({ every }) => every) };
}

test('each task queue has a schedule of its own: the workers of two accounts do not share one', async () => {
  await ensure('team-us');
  await ensure('team-eu', 30);
  expect(await actionOf('team-us')).toEqual({ taskQueue: 'team-us', every: [3_600_000] });
  expect(await actionOf('team-eu')).toEqual({ taskQueue: 'team-eu', every: [1_800_000] });
  await ensure('team-us', 15);
  expect(await actionOf('team-us')).toEqual({ taskQueue: 'team-us', every: [900_000] });
  await ensure('team-us', 0);
  await ensure('team-us', 0);
  await expect(actionOf('team-us')).rejects.toMatchObject({ name: 'ScheduleNotFoundError' });
  expect(await actionOf('team-eu')).toEqual({ taskQueue: 'team-eu', every: [1_800_000] });
});

test.each([60, 0])(
  'a schedule that points to another task queue is refused at start (every %i minutes)',
  async (every) => {
    const scheduleId = reconcileScheduleId('team-ap');
    await ensure('team-ap');
    await rig.client.schedule.getHandle(scheduleId).update(({ spec, policies, state, action }) => ({
      ...{ spec, policies, state },
      action: { ...action, type: 'startWorkflow', taskQueue: 'team-other' },
    }));
    const refused = ensure('team-ap', every);
    await expect(refused).rejects.toThrow(StartFailed);
    await expect(refused).rejects.toThrow(/reconcile-orders\/team-ap .+ TASK_QUEUE.+temporal schedule delete/);
    expect(await actionOf('team-ap')).toMatchObject({ taskQueue: 'team-other' });
    await rig.client.schedule.getHandle(scheduleId).delete();
  },
);
