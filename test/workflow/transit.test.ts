import { describe, expect, test } from 'vitest';
import { followed } from '../rig/followed.js';
import { setStage } from './story.js';

const stage = setStage();
const createPath = '/v3/order/testkit';

describe('a problem on the way to the customer', () => {
  test('a problem on the way to the customer that heals needs no attention', async () => {
    const kit = await stage.place();
    await kit.move('transit_customer');
    await stage.skip('2 days');
    await kit.move({ status: 'problem_in_transit_customer', status_detail: 'address_unknown' });
    const problem = { status: 'collecting_sample.testkit.problem_in_transit_customer', detail: 'address_unknown' };
    await kit.expectState({ phase: 'in_transit_to_customer', problem: expect.objectContaining(problem) as never });
    await stage.skip('3 days');
    await kit.move('out_for_delivery', 'with_customer');
    expect((await followed(kit.handle)).problem).toBeUndefined();
    await stage.skip('1 day');
    await kit.expectNotifications(
      'phase_changed awaiting_registration',
      'phase_changed in_transit_to_customer',
      'phase_changed in_transit_to_customer',
      'phase_changed in_transit_to_customer',
      'phase_changed awaiting_registration',
    );
    expect(kit.notifications.slice(1, 4).map(({ data }) => data['problem'])).toEqual([
      undefined,
      problem.status,
      undefined,
    ]);
  });

  test('a problem on the way to the customer that lasts longer than its limit needs attention', async () => {
    const kit = await stage.place();
    await kit.move('transit_customer', 'problem_in_transit_customer');
    await stage.skip('8 days');
    await kit.expectAttention('problem_persists');
    await kit.move('with_customer');
    await kit.expectAttention();
  });

  test('a problem on the way to the customer that lasts longer than its limit leads to a new kit if the policy says so', async () => {
    const kit = await stage.place({ policy: { onProblem: 'replace' } });
    await kit.move('transit_customer', 'problem_in_transit_customer');
    await stage.skip('8 days');
    const { chain } = await kit.expectState({ phase: 'awaiting_registration', attention: [] });
    expect(chain).toMatchObject([
      { orderId: kit.rootOrderId, replacedBy: chain[1]?.orderId },
      { origin: 'replacement', replaces: kit.rootOrderId },
    ]);
  });

  test('a problem on the way to the customer that lasts longer than its limit ends the order if the policy says so', async () => {
    const kit = await stage.place({ policy: { onProblem: 'fail' } });
    await kit.move('transit_customer', 'problem_in_transit_customer');
    await stage.skip('8 days');
    expect(await kit.result()).toMatchObject({ outcome: 'failed' });
    expect(kit.notifications.at(-1)).toMatchObject({ type: 'ended', data: { outcome: 'failed' } });
  });
});

test('a kit with a problem on its way to the lab that is then lost is replaced, and the replacement brings the result', async () => {
  const kit = await stage.place({ policy: { onLost: 'replace' } });
  await kit.register();
  await kit.move('transit_customer', 'with_customer', 'transit_lab', 'problem_in_transit_lab');
  await stage.skip('6 days');
  await kit.move('lost');
  const { orderId, chain } = await kit.expectState({ phase: 'awaiting_registration', registered: false });
  expect(orderId).not.toBe(kit.rootOrderId);
  expect(chain).toMatchObject([
    { orderId: kit.rootOrderId, origin: 'initial', phase: 'failed', replacedBy: orderId },
    { orderId, origin: 'replacement', replaces: kit.rootOrderId },
  ]);
  const { order, passthrough } = await stage.sandbox.order(orderId);
  expect(order).toMatchObject({ shipping_details: { first_line: '77 Fictional Avenue', zip: '62701' } });
  expect(passthrough).toBe(`labops/default:${kit.rootOrderId}:${kit.handle.reference}:2`);
  await kit.register();
  await kit.move('transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed');
  expect(await kit.result()).toMatchObject({ outcome: 'completed', orderId, rootOrderId: kit.rootOrderId });
  expect(kit.notifications.find(({ type }) => type === 'replacement')).toMatchObject({
    subject: orderId,
    data: { replaces: kit.rootOrderId },
  });
});

describe('a lost kit that reaches the lab after all', () => {
  test('settles the open decision, and is followed to its result', async () => {
    const kit = await stage.place();
    await kit.move('transit_customer', 'with_customer', 'transit_lab', 'lost');
    await kit.expectAttention('decision_needed');
    await stage.skip('4 days');
    await kit.move('delivered_to_lab');
    await kit.expectState({ phase: 'at_lab', attention: [] });
    await kit.move('completed');
    expect(await kit.result()).toMatchObject({ outcome: 'completed', orderId: kit.rootOrderId });
  });

  test('needs attention while its replacement is under way', async () => {
    const kit = await stage.place({ policy: { onLost: 'replace' } });
    await kit.move('transit_customer', 'with_customer', 'transit_lab', 'lost');
    const { orderId } = await kit.expectState({ phase: 'awaiting_registration' });
    await kit.moveOrder(kit.rootOrderId, 'delivered_to_lab');
    await kit.expectAttention('late_arrival');
    await kit.expectState({ orderId, phase: 'awaiting_registration' });
    await kit.moveOrder(kit.rootOrderId, 'completed');
    await kit.handle.cancel();
    expect(await kit.result()).toMatchObject({ outcome: 'completed', orderId: kit.rootOrderId });
    expect(await stage.countRequests('POST', `/v3/order/${orderId}/cancel`)).toBe(1);
  });
});

test.each(['failure_to_deliver_to_customer', 'failure_to_deliver_to_lab'])(
  'on %s a person decides, here for a new kit',
  async (status) => {
    const kit = await stage.place();
    await kit.move('transit_customer');
    await stage.skip('4 days');
    await kit.move(status);
    await kit.expectAttention('decision_needed');
    await kit.expectState({
      phase: 'failed',
      waiting: expect.objectContaining({ for: expect.stringContaining('decision') as string }) as never,
    });
    const replaced = await kit.handle.resolveProblem('replace', { orderId: kit.rootOrderId });
    expect(replaced).toMatchObject({ phase: 'awaiting_registration', attention: [] });
    expect(await stage.countRequests('POST', createPath)).toBe(2);
  },
);

test('an unknown status keeps its top-level meaning and breaks nothing', async () => {
  const kit = await stage.place({ kind: 'with_patient' });
  await kit.move('transit_customer', 'collecting_sample.testkit.held_by_customs');
  const state = await kit.expectState({
    phase: 'in_transit_to_customer',
    status: 'collecting_sample.testkit.held_by_customs',
  });
  expect(state.timeline.at(-1)).toMatchObject({ status: 'collecting_sample.testkit.held_by_customs' });
  await kit.move('on_hold.testkit.sanctified');
  await kit.expectState({ phase: 'in_transit_to_customer', status: 'on_hold.testkit.sanctified', attention: [] });
  await kit.move('with_customer', 'transit_lab', 'delivered_to_lab', 'completed');
  expect(await kit.result()).toMatchObject({ outcome: 'completed' });
});
