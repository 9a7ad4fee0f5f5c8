import type { Story } from '../stage.js';
import { lowLevel } from '../../lab-service/lifecycle.js';
import { unhurried } from './journeys.js';
import { readValues } from './values.js';

export const firstKit: Story = {
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
