import type { PlayedOrder } from '../played-order.js';
import { NotAsTold, type Stage, type Story } from '../stage.js';
import { toCustomer, toLab } from './journeys.js';

/** The product's id of the person: names stay out of acknowledgements. */
const nurse = 'nurse-17';

export const criticalResult: Story = {
  label: 'critical',
  colour: 'yellow',
  promise: 'One value cannot wait for the others. The product is reminded until a person acknowledges it.',
  async play(stage) {
    // Every hour by default, which is less than a moment of a story.
    const order = await stage.place({ criticalResultReminder: '1d' });
    await order.goes([...toCustomer, ...toLab]);
    await order.comesTo('with_customer');
    stage.acts('the customer registers the kit');
    await order.register();
    await order.comesTo('delivered_to_lab');
    await stage.control.reportCritical(order.orderId, { status: 'partial' });
    const { id: partial } = await order.told('critical_result', ({ data }) => data.status === 'partial');
    await order.told('critical_result_reminder');
    await acknowledge(
      stage,
      order,
      partial,
      'reaches the physician, who repeats the value, and acknowledges the result',
    );
    await order.goes([{ after: '1d', status: 'completed', interpretation: 'critical' }]);
    const { id: final } = await order.told('critical_result', ({ data }) => data.status === 'final');
    await order.told('result');
    const { outcome: early, attention } = await stateOf(order);
    stage.check('the order waits for a person', early === 'completed' && attention.length === 1);
    await acknowledge(stage, order, final, 'calls again about the final result, and acknowledges it');
    const { outcome, criticalResults } = await order.end();
    const versions = criticalResults.flatMap(({ acknowledgements }) => acknowledgements).length;
    stage.check('the order is completed', outcome === 'completed');
    stage.check('both versions were acknowledged', versions === 2 && criticalResults.every(({ isOpen }) => !isOpen));
    return 'completed: both versions of the critical result acknowledged by a person';
  },
};

async function acknowledge(stage: Stage, order: PlayedOrder, alarm: string, how: string): Promise<void> {
  stage.acts(`${nurse} ${how}`);
  const { orderId } = order;
  const state = await order.handle.acknowledgeCriticalResult({ orderId, alarm, by: nurse, outcome: 'confirmed' });
  stage.check('nothing needs a person any more', state.attention.length === 0);
}

async function stateOf({ handle }: PlayedOrder) {
  const state = await handle.state();
  if (state.phase === 'placing') throw new NotAsTold('it should be that the order was placed');
  return state;
}
