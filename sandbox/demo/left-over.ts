import { LAB_TEST_IDS } from '../lab-service/seed.js';
import { shippingDetails } from './persons.js';
import type { Scenery } from './stage.js';

/** Leaves an order that needs a person, for those who try the command line and the Web UI. @returns its id */
export async function leaveLostOrder({ operations, control, calendar }: Scenery): Promise<string> {
  const { user } = await control.createUser();
  const order = { user_id: user.user_id, lab_test_id: LAB_TEST_IDS.kit, shipping_details: shippingDetails };
  // In compressed days the order would be given up half a minute later, before anybody could look at it.
  const policy = { ...calendar.policy({}), decisionWait: '30d' } as const;
  const handle = await operations.orders.place({ reference: 'demo-left-over', kind: 'unregistered', order, policy });
  const orderId = await handle.orderId();
  for (const status of ['transit_customer', 'lost']) await control.move(orderId, status);
  for await (const { attention } of handle.watch({ minInterval: 120, maxInterval: 240, deadline: '1 minute' })) {
    if (attention.length > 0) break;
  }
  return orderId;
}
