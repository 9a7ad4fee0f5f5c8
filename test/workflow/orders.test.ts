import { expect, test } from 'vitest';
import { OrderEnded } from '../../client/order/errors.js';
import { followed } from '../rig/followed.js';
import type { Kit } from './kit.js';
import { setStage } from './story.js';

/* What of an order only a server shows; whole orders are played by test/e2e. What is decided on the way is shown by the lives in test/unit/order. */

const stage = setStage();
const toTheLab = ['transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab'] as const;

async function lostKit(): Promise<Kit> {
  const kit = await stage.place();
  await kit.move('transit_customer', 'lost');
  await kit.expectAttention('decision_needed');
  return kit;
}

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
