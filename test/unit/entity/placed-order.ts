import type { OrderPolicy } from '../../../protocol/order/policy.js';
import type { Answers } from '../life.js';
import { life, type OrderLife } from '../order/lives.js';

/** An order that was just placed: its first notification is that it is being prepared. */
export const placed = (answers: Answers = {}, policy: OrderPolicy = {}, notifies = true): Promise<OrderLife> =>
  life(['ordered'], policy, { handOverNotifications: null, ...answers }, { notifies });
