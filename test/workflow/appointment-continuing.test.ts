import { expect, test } from 'vitest';
import { resolveDeletionPolicy } from '../../protocol/deletion/policy.js';
import { bookAppointmentId } from '../../protocol/ids.js';
import { bookingRequestedSignal } from '../../protocol/appointment/messages.js';
import { labUserIdKey } from '../../protocol/search-attributes.js';
import { Visit } from './visit.js';
import { eventually } from '../rig/eventually.js';
import { withoutRepeats } from './kit.js';
import { LeavingUser } from './leaving-user.js';
import { setStage } from './story.js';

/* The full server: it lists workflows, and cuts histories. So few events that a story continues in a new run. */
const stage = setStage({ eventsPerRun: 20 });

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

test('an appointment is running work of its user: a deletion cancels it if the policy says so', async () => {
  const visit = await Visit.start(stage);
  await visit.choose();
  const userId = (await visit.expectState({ phase: 'confirmed' })).userId ?? '';
  const query = `${labUserIdKey.name} = '${userId}' AND ExecutionStatus = 'Running'`;
  await eventually(async () => expect((await stage.temporal.workflow.count(query)).count).toBe(2));
  const leavingUser = new LeavingUser(stage, { user_id: userId, client_user_id: 'invented' });
  const policy = { ...resolveDeletionPolicy({ onRunningWork: 'cancel' }), grace: 1_000 };
  const handle = await leavingUser.requestDeletion({ policy });
  const { work } = await handle.result();
  const found = work.find(({ workflowId }) => workflowId === bookAppointmentId(visit.orderId));
  // Its order is cancelled at the same time, and cancels the appointment too if it is faster.
  expect(['cancelled', 'ended']).toContain(found?.fate);
  expect(await stage.service.appointments.get(visit.orderId)).toMatchObject({ status: 'cancelled' });
});
