import { describe, expect, test } from 'vitest';
import { setStage } from './story.js';

const stage = setStage();
const unheard = (status: string) => ({ status, webhook: false });

test('a lost webhook is only a slow one: at the deadline the order is read, and nobody is asked', async () => {
  const kit = await stage.place();
  await kit.goes(unheard('transit_customer'));
  await kit.shows({ phase: 'awaiting_registration' });
  await stage.skip('6 days');
  await kit.shows({ phase: 'in_transit_to_customer', attention: [] });
  await kit.tells('phase_changed awaiting_registration', 'phase_changed in_transit_to_customer');
});

describe('an order that stands still', () => {
  const inTransit = ['transit_customer'];
  const delivered = [...inTransit, 'with_customer'];
  const sentBack = [...delivered, 'transit_lab'];
  test.each([
    ['shipping_overdue', [], '6 days'],
    ['delivery_overdue', inTransit, '11 days'],
    ['return_overdue', delivered, '15 days'],
    ['transit_to_lab_overdue', sentBack, '11 days'],
    ['results_overdue', [...sentBack, 'delivered_to_lab'], '15 days'],
  ] as const)('asks a person: %s', async (reason, moves, wait) => {
    const kit = await stage.place({ kind: 'with_patient' });
    await kit.goes(...moves);
    await stage.skip(wait);
    await kit.asksFor(reason);
    expect(kit.notifications.at(-1)).toMatchObject({ type: 'attention_raised', data: { reason } });
  });

  test('is read again every day, and once it moved the question is withdrawn', async () => {
    const kit = await stage.place();
    await stage.skip('6 days');
    await kit.asksFor('shipping_overdue');
    await kit.goes(unheard('transit_customer'));
    await stage.skip('2 days');
    await kit.shows({ phase: 'in_transit_to_customer', attention: [] });
    await kit.tells(
      'phase_changed awaiting_registration',
      'attention_raised shipping_overdue',
      'attention_cleared shipping_overdue',
      'phase_changed in_transit_to_customer',
    );
  });

  test('is given up after another sixty days, and says so', async () => {
    const kit = await stage.place({ kind: 'with_patient' });
    await stage.skip('64 days');
    await kit.asksFor('shipping_overdue');
    await stage.skip('2 days');
    expect(await kit.ends()).toMatchObject({ outcome: 'unresolved', orderId: kit.rootOrderId });
    await kit.tells('phase_changed preparing', 'attention_raised shipping_overdue', 'ended unresolved');
  });

  test('asks a person also when the service cannot be reached', async () => {
    const kit = await stage.place();
    await stage.sandbox.addFault({ method: 'GET', path: '/v3/order/*', action: { kind: 'refuse' } });
    await stage.skip('6 days');
    await kit.asksFor('shipping_overdue');
  });
});

test('an order that the service no longer knows ends as gone, and says so', async () => {
  const kit = await stage.place();
  await stage.sandbox.deleteOrder(kit.rootOrderId);
  await stage.skip('6 days');
  expect(await kit.ends()).toMatchObject({ outcome: 'order_gone', orderId: kit.rootOrderId });
  await kit.tells('phase_changed awaiting_registration', 'ended order_gone');
});
