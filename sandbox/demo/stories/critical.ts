import type { PlayedOrder } from '../played-order.js';
import { StoryFailed, type Stage, type Story } from '../stage.js';
import { toCustomer, toLab } from './journeys.js';

/** The product's id of the person: names stay out of acknowledgements. */
const nurse = 'nurse-17';

export const criticalResult: Story = {
  label: 'critical',
  colour: 'yellow',
  promise:
    'A value is critical before the results are complete. The product is reminded until a person acknowledges it.',
  async play(stage) {
    // The default is an hour, which is too short for a story.
    const order = await stage.place({ criticalResultReminder: '1d' });
    await order.plays([...toCustomer, ...toLab]);
    await order.reaches('with_customer');
    stage.acts('the customer registers the kit');
    await order.register();
    await order.reaches('delivered_to_lab');
    await stage.control.reportCritical(order.orderId, { status: 'partial' });
    const { id: partial } = await order.notifications.first('critical_result', ({ data }) => data.status === 'partial');
    await order.notifications.first('critical_result_reminder');
    await acknowledge(
      stage,
      order,
      partial,
      'calls the physician, who reads the value back, and acknowledges the result',
    );
    await order.plays([{ after: '1d', status: 'completed', interpretation: 'critical' }]);
    const { id: final } = await order.notifications.first('critical_result', ({ data }) => data.status === 'final');
    await order.notifications.first('result');
    const { outcome: early, attention } = await stateOf(order);
    stage.check('the order waits for a person', early === 'completed' && attention.length === 1);
    await acknowledge(stage, order, final, 'calls again about the final result, and acknowledges it');
    const { outcome, criticalResults } = await order.end();
    const versions = criticalResults.flatMap(({ acknowledgements }) => acknowledgements).length;
    stage.check('the order is completed', outcome === 'completed');
    stage.check('both versions were acknowledged', versions === 2 && criticalResults.every(({ isOpen }) => !isOpen));
    return 'completed: a person acknowledged both versions of the critical result';
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
  if (state.phase === 'placing') throw new StoryFailed('the order was not placed');
  return state;
}
