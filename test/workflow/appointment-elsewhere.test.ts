import { beforeEach, expect, test } from 'vitest';
import type { AppointmentSnapshot } from '../../service/appointment-snapshot.js';
import { appointmentChangedSignal, bookAppointmentName } from '../../protocol/appointment/messages.js';
import { bookAppointmentStart } from '../../protocol/appointment/start.js';
import { taskQueue } from '../rig/environments.js';
import { Visit } from './visit.js';
import { setStage } from './story.js';

/* Appointments at a service centre of a team that the service does not let book there: only webhooks report them. */

const stage = setStage();

beforeEach(() => stage.sandbox.changeSettings({ closedFeatures: ['walkIns'] }));

/** A webhook's data: the appointment with its statuses so far, in two days. */
async function sendWebhook(orderId: string, ...statuses: string[]): Promise<Visit> {
  await stage.syncClock();
  const { now } = await stage.sandbox.clock();
  const startAt = new Date(Date.parse(now) + 2 * 86_400_000).toISOString();
  const snapshot: AppointmentSnapshot = {
    ...{ appointmentId: 'centre-1', orderId, type: 'patient_service_center', startAt },
    status: statuses.at(-1) ?? '',
    events: statuses.map((status, n) => ({ at: new Date(Date.parse(now) + n).toISOString(), status })),
  };
  await stage.temporal.workflow.signalWithStart(bookAppointmentName, {
    ...bookAppointmentStart(orderId, snapshot),
    taskQueue,
    signal: appointmentChangedSignal,
    signalArgs: [snapshot],
  });
  return Visit.adopted(stage, orderId);
}

test('an appointment counts as completed when only the order shows the draw', async () => {
  const orderId = await Visit.newWalkIn(stage);
  const visit = await sendWebhook(orderId, 'confirmed');
  await visit.expectNotifications('phase_changed confirmed');
  await stage.sandbox.move(orderId, 'completed');
  await stage.skip('10 days');
  const result = await visit.result();
  expect(result).toMatchObject({ outcome: 'completed' });
  expect(result).not.toHaveProperty('order');
  await visit.expectNotifications('phase_changed confirmed', 'ended completed');
  expect(visit.notifications.at(-1)?.data).not.toHaveProperty('order');
});

test('an appointment that is cancelled ends as cancelled, and its webhook may arrive twice', async () => {
  const orderId = await Visit.newWalkIn(stage);
  const visit = await sendWebhook(orderId, 'confirmed');
  await visit.expectNotifications('phase_changed confirmed');
  await sendWebhook(orderId, 'confirmed', 'cancelled');
  expect(await visit.result()).toMatchObject({ outcome: 'cancelled' });
  await sendWebhook(orderId, 'confirmed', 'cancelled');
  expect(await visit.result()).toMatchObject({ outcome: 'cancelled' });
  // This server cannot list earlier runs: a repeated notification has the same id.
  const ended = visit.notifications.filter(({ type }) => type === 'appointment.ended');
  expect(new Set(ended.map(({ id }) => id)).size).toBe(1);
});
