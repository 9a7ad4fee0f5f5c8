import type { LabService } from '../../service/lab-service.js';
import type { Order } from '../../service/orders.js';
import type { Results } from '../../service/results.js';
import { readPassthrough } from '../../protocol/order/root-order.js';
import type { CallOptions } from '../call-options.js';
import { OrderInvalid, OrderNotFound, orderErrorMap } from '../orders/errors.js';
import { askService, type ServiceAccess } from '../service-calls.js';
import { underWay } from '../workflow-calls.js';

/**
 * Whose lab values: those of one order; of a transaction, which is an order with its redraws; or of the newest order that
 * was placed for a reference, with its redraws. The last needs a lab service that returns `passthrough`, and the user whose
 * order it is now: a registration can have changed that.
 */
export type WhichResults = { orderId: string } | { transactionId: string } | { reference: string; userId: string };

const isReading = { words: orderErrorMap, underWay: underWay.reading };

/**
 * Lab values, straight from the lab service: they are never in Temporal, and can be read as long as the service keeps them,
 * with or without a worker. Needs `service` in `LabOperations`. In addition to the errors listed, every method rejects with
 * TimedOut and the service's own errors.
 */
export class ResultOperations {
  private readonly access: ServiceAccess;

  constructor(access: ServiceAccess) {
    this.access = access;
  }

  /**
   * The values with their ranges and interpretation, and in `metadata` what the report says of patient, laboratory and dates.
   * `metadata.status` is `final` or `partial`. `NotFound` until there are results. Deadline: 30 seconds.
   *
   * @throws OrderInvalid if it is not clear whose results are meant
   * @throws OrderNotFound if none of the user's orders has the reference
   * @throws ServiceNotConfigured
   */
  async of(which: WhichResults, options: CallOptions = {}): Promise<Results> {
    check(which);
    return askService(this.access, isReading, options, async (service, ends) => {
      if ('orderId' in which) return service.orders.results(which.orderId, ends);
      if ('transactionId' in which) return service.orders.transactionResults(which.transactionId, ends);
      const { id, order_transaction: transaction } = await newestOrder(service, which, ends);
      if (transaction?.id == null) return service.orders.results(id, ends);
      return service.orders.transactionResults(transaction.id, ends);
    });
  }
}

/** The replacements of an order have its reference too; the service lists the newest first. */
async function newestOrder(
  service: LabService,
  { reference, userId }: { reference: string; userId: string },
  ends: { signal: AbortSignal },
): Promise<Order> {
  for await (const order of service.orders.list({ userId }, ends)) {
    if (readPassthrough(order.passthrough ?? undefined)?.reference === reference) return order;
  }
  throw new OrderNotFound(
    `No order of this user has the reference ${reference}; if the lab service does not return passthrough, give the order's id`,
  );
}

/** A caller in plain JavaScript is checked by no compiler; without a user, the orders of all users would be looked through. */
function check(which: WhichResults): void {
  const names = Object.entries(which).flatMap(([name, value]) => (typeof value === 'string' && value ? [name] : []));
  if (['orderId', 'transactionId', 'reference, userId'].includes(names.toSorted().join(', '))) return;
  const message = 'must be an orderId, a transactionId, or a reference with its userId';
  throw new OrderInvalid(`Whose results are meant is not clear: it ${message}`, {
    fields: [{ field: 'which', message }],
  });
}
