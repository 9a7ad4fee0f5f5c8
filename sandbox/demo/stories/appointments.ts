import { SlotGone } from '../../../client/index.js';
import { NotAsTold, type Story } from '../stage.js';

export const drawAtHome: Story = {
  label: 'visit',
  colour: 'blue',
  inRealTime: true,
  promise: 'Blood is drawn at home. Somebody else is faster at the first slot; the customer takes another one.',
  async play(stage) {
    const visit = await stage.visit();
    const [first, second] = await visit.offered();
    if (!first || !second) throw new NotAsTold('it should be that there are slots to choose from');
    await stage.moment();
    stage.acts('the customer hesitates, and somebody else takes the first slot');
    await stage.takeSlotAway(first);
    const refusal: unknown = await visit.takes(first).catch((error: unknown) => error);
    stage.check('a slot that is gone is not booked', refusal instanceof SlotGone);
    await stage.moment();
    stage.acts('the customer takes the second one');
    const { phase } = await visit.takes(second);
    stage.check('the appointment is confirmed', phase === 'confirmed');
    await stage.moment();
    stage.acts('the phlebotomist rings, and draws blood');
    await stage.control.moveAppointment(visit.handle.orderId, 'in_progress');
    await stage.control.moveAppointment(visit.handle.orderId, 'completed');
    const { outcome, appointment } = await visit.end();
    stage.check('blood was drawn at the second slot', outcome === 'completed' && appointment?.startAt === second.start);
    return 'blood was drawn, by one appointment and no other';
  },
};
