import type { OrderPolicy } from '../../../protocol/order/policy.js';
import { kitOrder } from '../../../workflows/order/workflow.js';
import { kitOf, start } from '../order/histories.js';
import { Life, type Answers } from '../life.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

export const orderId = '00000000-0000-4000-8000-00000000000a';
export const opening = { workflow: kitOrder, type: 'kitOrder', workflowId: `kit-order/${orderId}`, now: start };

export const shownAt = (statuses: readonly string[]) => ({ ...kitOf(orderId, statuses), userId: 'user-1' });

/** An order that was just placed: its first notification is that it is being prepared. */
export async function placed(answers: Answers = {}, policy: OrderPolicy = {}, notifies = true): Promise<Life> {
  const life = new Life(opening, { handOverNotifications: null, readOrder: shownAt(['ordered']), ...answers });
  const snapshot = shownAt(['ordered']);
  const argument = { reference: 'ref-1', policy: resolvePolicy('order', policy), adopted: false, notifies, snapshot };
  return life.start({ rootOrderId: orderId }, { name: 'orderPlaced', argument });
}

export async function reported(life: Life, statuses: readonly string[]): Promise<void> {
  life.answers['readOrder'] = shownAt(statuses);
  await life.signal('orderChanged', shownAt(statuses));
}
