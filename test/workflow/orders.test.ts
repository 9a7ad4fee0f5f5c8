import { expect, test } from 'vitest';
import { OrderEnded } from '../../client/order/errors.js';
import { followed } from '../rig/followed.js';
import type { Kit } from './kit.js';
import { setStage } from './story.js';

/* Whole orders, from their placing to their end. What is decided on the way is shown by the lives in test/unit/order. */

const stage = setStage();
const toTheLab = ['transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab'] as const;

async function lostKit(): Promise<Kit> {
  const kit = await stage.place();
  await kit.move('transit_customer', 'lost');
  await kit.expectAttention('decision_needed');
  return kit;
}

test('a kit that is registered before it ships is followed to its result', async () => {
  const kit = await stage.place();
  expect(await kit.register()).toMatchObject({ phase: 'preparing', registered: true });
  await stage.skip('1 day');
  await kit.move('transit_customer');
  await stage.skip('2 days');
  await kit.move('with_customer');
  await kit.expectState({ phase: 'with_customer', waiting: { for: 'the sample to be sent back' }, attention: [] });
  await stage.skip('1 day');
  await kit.move('transit_lab');
  await stage.skip('2 days');
  await kit.move('delivered_to_lab');
  await stage.skip('3 days');
  await kit.move({ status: 'completed', interpretation: 'abnormal' });
  expect(await kit.result()).toMatchObject({ outcome: 'completed', interpretation: 'abnormal' });
  await kit.expectNotifications(
    'phase_changed awaiting_registration',
    'phase_changed preparing',
    'phase_changed in_transit_to_customer',
    'phase_changed with_customer',
    'phase_changed in_transit_to_lab',
    'phase_changed at_lab',
    'result',
    'phase_changed completed',
  );
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
  await kit.move(...toTheLab, 'completed');
  expect(await kit.result()).toMatchObject({ outcome: 'completed', orderId, rootOrderId: kit.rootOrderId });
  expect(kit.notifications.find(({ type }) => type === 'replacement')).toMatchObject({
    subject: orderId,
    data: { replaces: kit.rootOrderId },
  });
});

// The server that skips time cannot search for workflows at all: what this run knows of an earlier one, it knows by ID.
test('an order that moves after its end goes on where its last run ended, and announces nothing twice', async () => {
  const kit = await stage.place({ kind: 'with_patient', policy: { deliveryDeadline: '1d', giveUpAfter: '2d' } });
  await kit.move('transit_customer');
  await stage.skip('4 days');
  expect(await kit.result()).toMatchObject({ outcome: 'unresolved' });
  await kit.move('with_customer');
  await kit.expectState({ phase: 'with_customer', attention: [] });
  await kit.expectNotifications(
    'phase_changed preparing',
    'phase_changed in_transit_to_customer',
    'attention_raised delivery_overdue',
    'ended unresolved',
    'attention_cleared delivery_overdue',
    'phase_changed with_customer',
  );
});

/* An answer may be lost after the command was carried out: the client reads from the result that it was. */

test('a command that was carried out answers so from a workflow that has ended, and another one is refused', async () => {
  const kit = await lostKit();
  const { rootOrderId: first } = kit;
  const { orderId } = await kit.handle.replaceKit({ orderId: first });
  const registration = await kit.registration();
  await kit.handle.register({ registration });
  const policy = { returnDeadline: '20d', onLost: 'fail' } as const;
  await kit.handle.setPolicy(policy);
  await kit.move(...toTheLab, 'completed');
  await kit.result();
  expect(await kit.handle.replaceKit({ orderId: first })).toMatchObject({ orderId, outcome: 'completed' });
  await expect(kit.handle.replaceKit({ orderId })).rejects.toThrow(OrderEnded);
  for (const which of [{}, { orderId }])
    expect(await kit.handle.register({ registration, ...which })).toMatchObject({ outcome: 'completed' });
  const other = { ...registration, sample_id: 'NOT-ON-THIS-KIT' };
  await expect(kit.handle.register({ registration: other })).rejects.toThrow(OrderEnded);
  expect(await kit.handle.setPolicy(policy)).not.toHaveProperty('policy');
  await expect(kit.handle.setPolicy({ ...policy, onLost: 'ask' })).rejects.toThrow(OrderEnded);
  await expect(kit.handle.cancel()).rejects.toThrow(OrderEnded);
});

test('a cancellation that is sent again before everybody is notified, or after the end, returns the state', async () => {
  const kit = await stage.place();
  stage.receiver.isDown = true;
  const first = await kit.handle.cancel();
  expect(await kit.handle.cancel({ orderId: kit.rootOrderId })).toEqual(first);
  stage.receiver.isDown = false;
  await kit.result();
  expect(await kit.handle.cancel()).toMatchObject({ phase: 'cancelled', outcome: 'cancelled' });
  expect(await stage.countRequests('POST', `/v3/order/${kit.rootOrderId}/cancel`)).toBe(1);
});

test.each([
  ['wait', '31 days', 'failed', 'abandon'],
  ['abandon', '1 minute', 'abandoned', 'wait'],
] as const)(
  'a decision to %s answers so from a workflow that has ended, and another one is refused',
  async (decision, span, outcome, other) => {
    const kit = await lostKit();
    const { rootOrderId: orderId } = kit;
    await kit.handle.resolveProblem({ orderId, decision });
    await stage.skip(span);
    expect(await kit.result()).toMatchObject({ outcome });
    expect(await kit.handle.resolveProblem({ orderId, decision })).toMatchObject({ outcome });
    await expect(kit.handle.resolveProblem({ orderId, decision: other })).rejects.toThrow(OrderEnded);
    expect((await followed(kit.handle)).outcome).toBe(outcome);
  },
);
