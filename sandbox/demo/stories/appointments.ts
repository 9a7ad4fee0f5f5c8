import { errors } from '../../../client/index.js';
import { StoryFailed, type Story } from '../stage.js';

export const drawAtHome: Story = {
  label: 'visit',
  colour: 'blue',
  inRealTime: true,
  promise: 'Blood is drawn at home. Another customer books the first slot, so ours chooses the second.',
  async play(stage) {
    const visit = await stage.visit();
    const [first, second] = await visit.slots();
    if (!first || !second) throw new StoryFailed('there are no slots to choose from');
    await stage.moment();
    stage.acts('the customer hesitates, and another customer books the first slot');
    await stage.takeSlotAway(first);
    const refusal: unknown = await visit.choose(first).catch((error: unknown) => error);
    stage.check('a slot that is gone is not booked', refusal instanceof errors.SlotGone);
    await stage.moment();
    stage.acts('the customer chooses the second slot');
    const { phase } = await visit.choose(second);
    stage.check('the appointment is confirmed', phase === 'confirmed');
    await stage.moment();
    stage.acts('the phlebotomist comes and draws blood');
    await stage.control.moveAppointment(visit.handle.orderId, 'in_progress');
    await stage.control.moveAppointment(visit.handle.orderId, 'completed');
    const { outcome, appointment } = await visit.end();
    stage.check('blood was drawn at the second slot', outcome === 'completed' && appointment?.startAt === second.start);
    return 'blood was drawn at the only appointment';
  },
};
