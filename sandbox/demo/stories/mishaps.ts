import type { Story } from '../stage.js';
import { toCustomer, toLab, withResults } from './journeys.js';
import { readValues } from './values.js';

export const lostKit: Story = {
  label: 'lost',
  colour: 'red',
  promise: 'A kit gets stuck, then lost. A person is asked and decides: wait; then: replace. It stays one order.',
  async play(stage) {
    const order = await stage.place({ problemLimit: '2d' });
    await order.goes([
      { after: '1d', status: 'transit_customer' },
      { after: '1d', status: 'problem_in_transit_customer' },
    ]);
    await order.told('attention_raised', ({ data }) => data.reason === 'problem_persists');
    stage.acts('the operator decides: wait');
    await order.handle.resolveProblem('wait', { orderId: order.orderId });
    await order.goes([{ after: '1d', status: 'lost' }]);
    await order.told('attention_raised', ({ data }) => data.reason === 'decision_needed');
    stage.acts('the operator decides: replace');
    const { orderId: replacement } = await order.handle.resolveProblem('replace', { orderId: order.orderId });
    stage.check('there is another kit', replacement !== order.orderId);
    await order.goes(withResults, replacement);
    await order.comesTo('with_customer', replacement);
    stage.acts('the customer registers the second kit');
    await order.register((same) => same, replacement);
    const { outcome, orderId, chain } = await order.end();
    stage.check('the order is completed by the replacement', outcome === 'completed' && orderId === replacement);
    const [first, second] = chain;
    stage.check('both kits are linked', first?.replacedBy === replacement && second?.replaces === order.orderId);
    stage.check('the second is a replacement', chain.length === 2 && second?.origin === 'replacement');
    stage.check('the product was told of it', order.wasTold('replacement'));
    return 'completed by the second kit, one chain: lost → replacement';
  },
};

export const redrawnSample: Story = {
  label: 'redraw',
  colour: 'cyan',
  promise: 'The lab cannot use the sample and sends another kit by itself: it joins the same workflow.',
  async play(stage) {
    const order = await stage.place({ redrawWait: '5d', onSampleError: 'ask' });
    await order.goes([
      ...toCustomer,
      ...toLab,
      { after: '1d', status: 'sample_error', status_detail: 'sample_hemolyzed' },
      { after: '1d', creates: 'redraw' },
    ]);
    await order.comesTo('with_customer');
    stage.acts('the customer registers the kit');
    await order.register();
    const { orderId: redraw } = await order.until(({ chain }) => chain.length === 2);
    stage.acts('the lab has made a redraw order; its patient is known already');
    await order.goes(withResults, redraw);
    const { outcome, orderId, chain } = await order.end();
    stage.check('the order is completed by the redraw', outcome === 'completed' && orderId === redraw);
    stage.check('the chain is initial, redraw', chain.map(({ origin }) => origin).join() === 'initial,redraw');
    return 'completed by the second sample, one chain: sample error → redraw';
  },
};

export const correctedResult: Story = {
  label: 'corrected',
  colour: 'magenta',
  promise: 'Days after the results the lab corrects them: the ended order is reopened, the product is told.',
  async play(stage) {
    const order = await stage.place();
    await order.goes(withResults);
    await order.comesTo('with_customer');
    stage.acts('the customer registers the kit');
    await order.register();
    const { interpretation: before } = await order.end();
    stage.check('the first results are normal', before === 'normal');
    stage.acts(`the workflow has ended; the product reads ${await readValues(stage, order)}`);
    await order.goes([{ after: '2d', status: 'corrected', interpretation: 'abnormal' }]);
    const { data } = await order.told('correction');
    const { outcome, interpretation } = await order.end();
    stage.check('the product is told of abnormal results', data.interpretation === 'abnormal');
    stage.check('the corrected results are abnormal', outcome === 'completed' && interpretation === 'abnormal');
    return `corrected: ${await readValues(stage, order)}`;
  },
};

export const lostAnswer: Story = {
  label: 'one kit',
  colour: 'yellow',
  promise: "The lab's answer to the creation gets lost. Trying again blindly would send two kits.",
  async play(stage) {
    const order = await stage.place({}, { lostAnswer: true });
    stage.acts('the workflow waited, looked among the orders of the customer and found its kit there');
    const kits = await stage.control.orders();
    const { order: made } = await stage.control.order(order.orderId);
    const ofCustomer = kits.filter(({ order: { user_id: userId } }) => userId === made.user_id);
    stage.check('the customer gets one kit', ofCustomer.length === 1);
    stage.acts(`orders of the product: 1, kits that the lab made for it: ${ofCustomer.length}`);
    await order.goes(withResults);
    await order.comesTo('with_customer');
    stage.acts('the customer registers the kit');
    await order.register();
    const { outcome, chain } = await order.end();
    stage.check('the order is completed with one kit', outcome === 'completed' && chain.length === 1);
    return 'completed with exactly one kit';
  },
};
