import { setTimeout as sleep } from 'node:timers/promises';
import { labTestIds } from '../../../sandbox/lab-service/seed.js';
import { bookAppointmentId } from '../../../protocol/ids.js';
import { until } from '../stage.js';
import type { Story } from './story.js';

export const appointments: readonly Story[] = [
  /** Booked, moved, cancelled, asked for once more, and drawn. */
  async function appointmentDrawn(stage) {
    const handle = await stage.visit();
    const { slots } = await handle.slots();
    const [first, second] = slots.map(({ id: slotId }) => ({ slotId }));
    await handle.choose(first ?? { slotId: '' });
    await handle.reschedule(second ?? { slotId: '' });
    await handle.cancel({ rebook: true });
    await handle.request({ provider: 'invented_draws' });
    await stage.sandbox.advanceClock('31m');
    await until(handle, ({ phase }) => phase === 'confirmed');
    await stage.sandbox.moveAppointment(handle.orderId, 'in_progress');
    await stage.sandbox.moveAppointment(handle.orderId, 'completed');
    await handle.result();
    return { 'appointment-drawn': bookAppointmentId(handle.orderId) };
  },

  /** The provider is silent, is read, declines; and then the product cancels. */
  async function appointmentDeclined(stage) {
    const handle = await stage.visit({
      confirmation: 'later',
      confirmationWait: '1m',
      firstPoll: '1s',
      choiceWait: '1h',
    });
    const { slots } = await handle.slots();
    await handle.choose({ slotId: slots[2]?.id ?? '' });
    await until(handle, ({ timeline }) => timeline.length > 0);
    await sleep(1_500);
    await stage.sandbox.moveAppointment(handle.orderId, 'cancelled');
    await until(handle, ({ phase }) => phase === 'awaiting_choice');
    await handle.cancel();
    await handle.result();
    return { 'appointment-declined': bookAppointmentId(handle.orderId) };
  },

  /** Made elsewhere, and nobody here chose. */
  async function appointmentAdopted(stage) {
    const wanted = await stage.visit();
    const { slots } = await wanted.slots();
    await wanted.choose({ slotId: slots[4]?.id ?? '' });
    const workflow = stage.temporal.workflow.getHandle(bookAppointmentId(wanted.orderId));
    await workflow.cancel();
    await wanted.result();
    await stage.sandbox.moveAppointment(wanted.orderId, 'in_progress');
    await until(wanted, ({ phase }) => phase === 'in_progress');
    await stage.sandbox.moveAppointment(wanted.orderId, 'completed');
    await wanted.result();
    return { 'appointment-adopted': bookAppointmentId(wanted.orderId) };
  },

  /** At a service centre: booked, confirmed by a read, moved, and left when its order is cancelled, until it is cancelled too. */
  async function appointmentWalkedIn(stage) {
    const handle = await stage.visit({ firstPoll: '1s', longestPoll: '1s' }, labTestIds.walkIn);
    const { slots } = await handle.slots({ zipCode: '62704' });
    await handle.choose({ slotId: slots[0]?.id ?? '' });
    await stage.sandbox.advanceClock('31m');
    await until(handle, ({ phase }) => phase === 'confirmed');
    await handle.reschedule({ slotId: slots[5]?.id ?? '' });
    await stage.sandbox.move(handle.orderId, 'cancelled');
    await until(handle, ({ attention }) => attention.length > 0);
    await handle.cancel();
    await handle.result();
    return { 'appointment-walked-in': bookAppointmentId(handle.orderId) };
  },
];
