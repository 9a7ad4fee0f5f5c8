import { expect, test } from 'vitest';
import { bookAppointmentId } from '../../protocol/ids.js';
import { labTestIds } from '../../sandbox/lab-service/seed.js';
import { personal } from '../rig/cast.js';
import { textOf } from '../workflow/recorded.js';
import { stack } from './stack.js';

const lab = stack();

test('an appointment goes from the choice to the draw, and neither history nor logs name the place or the person', async () => {
  const { order } = await lab.sandbox.createOrder({ lab_test_id: labTestIds.atHomePhlebotomy });
  const handle = await lab.labs.appointments.start({ orderId: order.id });
  const { slots } = await handle.slots();
  expect(await handle.choose({ slotId: slots.at(-1)?.id ?? '' })).toMatchObject({ phase: 'confirmed' });
  await lab.sandbox.moveAppointment(handle.orderId, 'in_progress');
  await lab.sandbox.moveAppointment(handle.orderId, 'completed');
  expect(await handle.result()).toMatchObject({ outcome: 'completed', appointment: { startAt: slots.at(-1)?.start } });
  const workflow = lab.rig.client.workflow.getHandle(bookAppointmentId(handle.orderId));
  const history = textOf((await workflow.fetchHistory()).events);
  for (const text of [history, lab.worker.output(), lab.ingress.output()]) {
    expect(text).toContain(handle.orderId);
    // Dates of appointments are not dates of birth.
    expect(text.replaceAll(/20\d\d-\d\d-\d\d/g, '').match(personal)).toBeNull();
    expect(text).not.toMatch(/\bbk_[\w-]{16}/);
  }
});
