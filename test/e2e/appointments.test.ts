import { expect, test } from 'vitest';
import { bookAppointmentId } from '../../protocol/ids.js';
import { labTestIds } from '../../sandbox/lab-service/seed.js';
import { personal } from '../rig/cast.js';
import { decryptedHistory } from './raw-history.js';
import { patience, stack } from './stack.js';

const lab = stack();

test('an appointment goes from the choice to the draw, and neither history nor logs name the place or the person', async () => {
  const { order } = await lab.sandbox.createOrder({ lab_test_id: labTestIds.atHomePhlebotomy });
  const handle = await lab.labs.appointments.start({ orderId: order.id });
  const { slots } = await handle.slots();
  expect(await handle.choose({ slotId: slots.at(-1)?.id ?? '' })).toMatchObject({ phase: 'confirmed' });
  await lab.sandbox.moveAppointment(handle.orderId, 'in_progress');
  await lab.sandbox.moveAppointment(handle.orderId, 'completed');
  expect(await handle.result()).toMatchObject({ outcome: 'completed', appointment: { startAt: slots.at(-1)?.start } });
  const history = await decryptedHistory(lab, bookAppointmentId(handle.orderId));
  expect(history).toContain('"phase":"confirmed"');
  for (const text of [history, lab.worker.output(), lab.ingress.output()]) {
    expect(text).toContain(handle.orderId);
    // Dates of appointments are not dates of birth.
    expect(text.replaceAll(/20\d\d-\d\d-\d\d/g, '').match(personal)).toBeNull();
    expect(text).not.toMatch(/\bbk_[\w-]{16}/);
  }
});

test('a webhook that comes after the end finds the same end, and notifies nobody again', async () => {
  const { order } = await lab.sandbox.createOrder({ lab_test_id: labTestIds.atHomePhlebotomy });
  const handle = await lab.labs.appointments.start({ orderId: order.id });
  const { slots } = await handle.slots();
  await handle.choose({ slotId: slots.at(-3)?.id ?? '' });
  // One that came after the end would start another run.
  await lab.sandbox.settleWebhooks();
  await lab.sandbox.addWebhookFault({ event_type: 'labtest.appointment.updated', times: 1, action: { kind: 'hold' } });
  await lab.sandbox.moveAppointment(handle.orderId, 'in_progress');
  await lab.sandbox.moveAppointment(handle.orderId, 'completed');
  const { outcome } = await handle.result();
  expect(outcome).toBe('completed');
  const workflowId = bookAppointmentId(handle.orderId);
  const runs = async () => (await lab.rig.client.workflow.count(`WorkflowId = '${workflowId}'`)).count;
  const ended = `WorkflowId = '${workflowId}' AND ExecutionStatus = 'Completed'`;
  await expect.poll(async () => (await lab.rig.client.workflow.count(ended)).count, patience).toBe(1);
  const notified = () => lab.receiver.aboutAppointmentsOf(handle.orderId).map(({ id }) => id);
  const before = notified();
  await lab.sandbox.releaseWebhooks();
  await expect.poll(runs, patience).toBe(2);
  expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  expect(notified()).toEqual(before);
});
