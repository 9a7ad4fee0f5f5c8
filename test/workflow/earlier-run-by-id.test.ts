import { expect, test } from 'vitest';
import { setStage } from './story.js';

/* The server that skips time cannot search for workflows at all: what these runs know of earlier ones, they know by ID. */
const stage = setStage();

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
