import { lowLevel } from '../../lab-service/lifecycle.js';
import type { Story } from '../stage.js';
import { drawAtHome, watchWearer, linkWithCode, changedMind, leftForGood, oldReport } from './other-subjects.js';
import { earlyCancel, lateCancel, lateCustomer, refusedName } from './customers.js';
import { readValues, unhurried } from './journeys.js';
import { criticalResult, correctedResult, lostAnswer, lostKit, redrawnSample } from './mishaps.js';

const firstKit: Story = {
  label: 'first kit',
  colour: 'cyan',
  promise: 'The product places an order and registers the kit. A workflow waits for everything else.',
  async play(stage) {
    const order = await stage.place();
    await order.plays(unhurried);
    await order.reaches('with_customer');
    await stage.days(1);
    stage.acts('the customer types in the number on the kit; the product registers it');
    const { registered } = await order.register();
    stage.check('the kit is registered', registered);
    const { outcome, chain, interpretation, timeline } = await order.end();
    stage.check('the order is completed', outcome === 'completed' && interpretation === 'normal');
    stage.check('there was one kit', chain.length === 1);
    const last = timeline.at(-1);
    stage.check('the results came last', last !== undefined && lowLevel(last.status) === 'completed');
    stage.acts('the product reads the values from the lab service; they were never in Temporal');
    return `completed: ${await readValues(stage, order)}`;
  },
};

export interface Act {
  title: string;
  /** Played side by side. */
  stories: readonly Story[];
}

/** One story to learn to read them; then several at once, as in life. */
export const programme: readonly Act[] = [
  { title: 'One kit, from placing to results', stories: [firstKit] },
  {
    title: 'Customers hesitate, mistype and change their minds',
    stories: [lateCustomer, refusedName, earlyCancel, lateCancel],
  },
  {
    title: 'Labs, the post and the network fail, and some results are critical',
    stories: [lostAnswer, lostKit, redrawnSample, correctedResult, criticalResult],
  },
  { title: 'Blood is drawn at home', stories: [drawAtHome] },
  { title: 'A report from another lab', stories: [oldReport] },
  // Alone, because the person who watches may type in it.
  { title: 'A user links a device with a code', stories: [linkWithCode] },
  { title: 'A watch sends health data, and its wearer leaves', stories: [watchWearer] },
  { title: 'Customers leave, and some come back', stories: [changedMind, leftForGood] },
];
