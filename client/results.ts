import type { LabService } from '../service/lab-service.js';
import { NotFound } from '../service/errors.js';
import { unsigned } from '../service/installation.js';
import type { Results } from '../service/order/order.js';
import { readPassthrough } from '../protocol/order/root-order.js';
import type { CallOptions } from './call-options.js';
import { ReadInvalid } from './errors.js';
import { joinFaults, namedThing, referenceFaults } from './input-faults.js';
import { OrderNotFound } from './order/errors.js';
import { orderCalls } from './order/order-handle.js';
import { isOf } from './order/order-finder.js';
import { askService, type ServiceAccess } from './service-calls.js';

/**
 * Whose lab values: one order's, a transaction's (an order with its redraws), or a reference's: then of its
 * newest order with results, and its redraws. The last needs a lab service that returns `passthrough`, and the user whose order
 * it is now: a registration can have changed that.
 */
export type WhichResults = { orderId: string } | { transactionId: string } | { reference: string; userId: string };

/**
 * Lab values, straight from the lab service: they are never in Temporal, and can be read as long as the service keeps them,
 * with or without a worker. Needs `service` in `LabOperations`. In addition to the errors listed, every method rejects with
 * TimedOut and the service's own errors.
 */
export class ResultOperations {
  readonly #access: ServiceAccess;

  constructor(access: ServiceAccess) {
    this.#access = access;
  }

  /**
   * The values with their ranges and interpretation, and in `metadata` what the report says of patient, laboratory and dates.
   * `metadata.status` is `final` or `partial`. `NotFound` until there are results. Deadline: 30 seconds.
   *
   * @throws ReadInvalid if it is not clear whose results are meant
   * @throws OrderNotFound if none of the user's orders has the reference
   * @throws ServiceNotConfigured
   */
  async read(which: WhichResults, options: CallOptions = {}): Promise<Results> {
    const { orderId, transactionId, ...found } = namedThing(which, [
      ['orderId'],
      ['transactionId'],
      ['reference', 'userId'],
    ] as const);
    const { reference = '', userId = '' } = found;
    const isByReference = orderId === undefined && transactionId === undefined;
    const faults = isByReference ? referenceFaults(reference) : [];
    if (faults.length > 0) throw new ReadInvalid(`What to read: ${joinFaults(faults)}`, { fields: faults });
    return askService(this.#access, orderCalls.reading, options, async (service, abort) => {
      if (orderId !== undefined) return service.orders.results(orderId, abort);
      if (transactionId !== undefined) return service.orders.transactionResults(transactionId, abort);
      return resultsOfReference(service, reference, userId, abort);
    });
  }
}

/** The replacements of an order have its reference, too, and an order that was replaced may arrive nevertheless. */
async function resultsOfReference(
  { orders, installation }: LabService,
  reference: string,
  userId: string,
  abort: { signal: AbortSignal },
): Promise<Results> {
  const read = new Set<string>();
  let missing: NotFound | undefined;
  // The newest first.
  for await (const order of orders.list({ userId }, abort)) {
    if (!isOf(order, userId) || readPassthrough(unsigned(order.passthrough, installation))?.reference !== reference)
      continue;
    const transactionId = order.order_transaction?.id;
    const key = transactionId ?? order.id;
    if (read.has(key)) continue;
    read.add(key);
    try {
      if (transactionId == null) return await orders.results(order.id, abort);
      return await orders.transactionResults(transactionId, abort);
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      missing ??= error;
    }
  }
  if (missing) throw missing;
  throw new OrderNotFound(
    `No order of this user has the reference ${reference}; if the lab service does not return passthrough, give the order's id`,
  );
}
