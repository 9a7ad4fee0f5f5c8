import { lowLevel } from '../lab-service/lifecycle.js';
import { labTestIds } from '../lab-service/seed.js';
import type { KitOrderHandle } from '../../client/index.js';
import { address, registrationOf } from './persons.js';
import { withResults } from './stories/journeys.js';
import { watching } from './played-order.js';
import type { Scenery } from './stage.js';

/** Leaves an order that needs a person, for those who try the command line and the Web UI. */
export async function leaveLostOrder({ operations, control, calendar }: Scenery): Promise<KitOrderHandle> {
  const { user } = await control.createUser();
  const order = { user_id: user.user_id, lab_test_id: labTestIds.kit, shipping_details: address };
  // In compressed days the order would be given up half a minute later, before anybody could look at it.
  const policy = { ...calendar.policy({}), decisionWait: '30d' } as const;
  const handle = await operations.orders.place({ reference: 'demo-left-over', kind: 'unregistered', order, policy });
  const orderId = await handle.orderId();
  for (const status of ['transit_customer', 'lost']) await control.move(orderId, status);
  for await (const { attention } of handle.watch({ ...watching, deadline: '1 minute' })) {
    if (attention.length > 0) break;
  }
  return handle;
}

/** If the operator decides on a replacement, it travels, its customer registers it, and it has results. Ends with the order. */
export async function playReplacement(
  handle: KitOrderHandle,
  { control }: Pick<Scenery, 'control'>,
  signal: AbortSignal,
): Promise<void> {
  const playing = new Set<string>();
  for await (const state of handle.watch({ minInterval: '0.25s', maxInterval: '1s', signal })) {
    if (state.phase === 'placing') continue;
    const { orderId, registered, chain, timeline } = state;
    if (chain.at(-1)?.origin !== 'replacement') continue;
    if (!playing.has(orderId)) await control.playStory(orderId, withResults);
    playing.add(orderId);
    const hasKit = timeline.some((entry) => entry.orderId === orderId && lowLevel(entry.status) === 'with_customer');
    if (!hasKit || registered) continue;
    const { kit_sample_id: sampleId } = await control.order(orderId);
    await handle.register(registrationOf(sampleId ?? ''), { orderId });
  }
}
