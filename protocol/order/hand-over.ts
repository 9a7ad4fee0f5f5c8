import type { OrderPlaced } from './messages.js';
import type { KitRequest } from './placing-messages.js';

/** The facts about a placed order that its workflow is given; the worker adds `notifies`. */
export type HandOver = Omit<OrderPlaced, 'notifies'>;

type Placed = Pick<HandOver, 'reference' | 'policy' | 'snapshot' | 'adopted'>;

/** Takes the test and the account from the request, because the service does not always show them again. */
export function handOverOf(order: KitRequest['order'], { reference, policy, snapshot, adopted }: Placed): HandOver {
  const labTestId = 'lab_test_id' in order ? order.lab_test_id : undefined;
  const labAccountId = labAccountOf(order);
  return {
    reference,
    policy,
    snapshot,
    adopted,
    ...(labTestId != null && { labTestId }),
    ...(labAccountId != null && { labAccountId }),
  };
}

/** A set of tests may name the account itself. */
function labAccountOf(order: KitRequest['order']): string | null | undefined {
  return order.lab_account_id ?? ('order_set' in order ? order.order_set?.lab_account_id : undefined);
}
