import { type Story, StoryFailed, type Stage } from '../stage.js';
import { readValues, registerOnArrival, toCustomer, toLab, withResults } from './journeys.js';
import type { PlayedOrder } from '../played-order.js';

export const lostKit: Story = {
  label: 'lost',
  colour: 'red',
  promise:
    'A kit gets stuck in the post, then lost. An operator decides to wait, then to replace it. It stays one order.',
  async play(stage) {
    const order = await stage.place({ problemLimit: '2d' });
    await order.plays([
      { after: '1d', status: 'transit_customer' },
      { after: '1d', status: 'problem_in_transit_customer' },
    ]);
    await order.notifications.first('attention_raised', ({ data }) => data.reason === 'problem_persists');
    stage.acts('the operator decides: wait');
    await order.handle.resolveProblem({ orderId: order.orderId, decision: 'wait' });
    await order.plays([{ after: '1d', status: 'lost' }]);
    await order.notifications.first('attention_raised', ({ data }) => data.reason === 'decision_needed');
    await order.reaches('lost');
    stage.acts('the operator decides: replace');
    const { orderId: replacement } = await order.handle.resolveProblem({ orderId: order.orderId, decision: 'replace' });
    stage.check('there is another kit', replacement !== order.orderId);
    await order.plays(withResults, replacement);
    await order.reaches('with_customer', replacement);
    stage.acts('the customer registers the second kit');
    await order.register((same) => same, replacement);
    const { outcome, orderId, chain } = await order.end();
    stage.check('the order is completed by the replacement', outcome === 'completed' && orderId === replacement);
    const [first, second] = chain;
    stage.check('both kits are linked', first?.replacedBy === replacement && second?.replaces === order.orderId);
    stage.check('the second is a replacement', chain.length === 2 && second?.origin === 'replacement');
    stage.check('the product was notified of it', order.notifications.has('replacement'));
    return 'completed by the second kit, in one chain: lost → replacement';
  },
};

export const redrawnSample: Story = {
  label: 'redraw',
  colour: 'cyan',
  promise: 'The lab cannot use the sample and sends another kit by itself. The same workflow follows it.',
  async play(stage) {
    const order = await stage.place({ redrawWait: '5d', onSampleError: 'ask' });
    await order.plays([
      ...toCustomer,
      ...toLab,
      { after: '1d', status: 'sample_error', status_detail: 'sample_hemolyzed' },
      { after: '1d', creates: 'redraw' },
    ]);
    await registerOnArrival(stage, order);
    const { orderId: redraw } = await order.until(({ chain }) => chain.length === 2);
    stage.acts('the lab has created a redraw order, whose patient is already known');
    await order.plays(withResults, redraw);
    const { outcome, orderId, chain } = await order.end();
    stage.check('the order is completed by the redraw', outcome === 'completed' && orderId === redraw);
    stage.check('the chain is initial, redraw', chain.map(({ origin }) => origin).join() === 'initial,redraw');
    return 'completed by the second sample, in one chain: sample error → redraw';
  },
};

export const correctedResult: Story = {
  label: 'corrected',
  colour: 'magenta',
  promise: 'The lab corrects the results days later. The ended order is reopened, and the product is notified.',
  async play(stage) {
    const order = await stage.place();
    await order.plays(withResults);
    await registerOnArrival(stage, order);
    const { interpretation: before } = await order.end();
    stage.check('the first results are normal', before === 'normal');
    stage.acts(`the workflow has ended; the product reads ${await readValues(stage, order)}`);
    await order.plays([{ after: '2d', status: 'corrected', interpretation: 'abnormal' }]);
    const { data } = await order.notifications.first('correction');
    const { outcome, interpretation } = await order.end();
    stage.check('the product is notified of abnormal results', data.interpretation === 'abnormal');
    stage.check('the corrected results are abnormal', outcome === 'completed' && interpretation === 'abnormal');
    return `corrected: ${await readValues(stage, order)}`;
  },
};

export const lostAnswer: Story = {
  label: 'one kit',
  colour: 'yellow',
  promise: 'The lab makes a kit, but its answer is lost. Trying again blindly would send two kits.',
  async play(stage) {
    const order = await stage.place({}, { lostAnswer: true });
    stage.acts('the workflow waited, read the customer’s orders and found the kit');
    const kits = await stage.control.orders();
    const { order: made } = await stage.control.order(order.orderId);
    const ofCustomer = kits.filter(({ order: { user_id: userId } }) => userId === made.user_id);
    stage.check('the customer gets one kit', ofCustomer.length === 1);
    stage.acts(`the product placed 1 order, and the lab made ${ofCustomer.length} kit`);
    await order.plays(withResults);
    await registerOnArrival(stage, order);
    const { outcome, chain } = await order.end();
    stage.check('the order is completed with one kit', outcome === 'completed' && chain.length === 1);
    return 'completed with exactly one kit';
  },
};

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
    await registerOnArrival(stage, order);
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
