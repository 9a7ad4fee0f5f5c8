import { heartbeat } from '@temporalio/activity';
import { NotFound, ServiceError, ServiceRefused, SlotUnavailable } from '../service/errors.js';
import type { LabService } from '../service/lab-service.js';
import { snapshotOf } from '../service/order-snapshot.js';
import type { Order } from '../service/orders.js';
import { orderSays } from '../workflows/appointment/lifecycle.js';
import { readStatus, standingOf } from '../workflows/order/lifecycle.js';

/**
 * A conflict over a slot that only the status speaks of is one where the order waits for a draw at home. With any other
 * order no slot would help, and the refusal is what it is. Where the order cannot be read, another choice does no harm.
 *
 * @param timeoutMs milliseconds that the look at the order may take
 */
export async function meaningOfRefusal(
  service: LabService,
  orderId: string,
  error: unknown,
  timeoutMs: number,
): Promise<unknown> {
  if (!(error instanceof SlotUnavailable) || error.isStated) return error;
  heartbeat();
  if (await mayBeDrawn(service, orderId, timeoutMs)) return error;
  const { reason, fields } = error;
  return new ServiceRefused(error, { ...(reason !== undefined && { reason }), fields: [...fields] });
}

async function mayBeDrawn(service: LabService, orderId: string, timeoutMs: number): Promise<boolean> {
  try {
    const order = await service.orders.get(orderId, { timeoutMs });
    const { events, status } = snapshotOf(order);
    const { phase, last } = standingOf(events, status);
    return orderSays(phase, readStatus(last?.status ?? '').low) === 'open' && isDrawnAtHome(order);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return !(error instanceof NotFound);
  }
}

/** An order that does not say how it is collected may be. */
function isDrawnAtHome({ details, lab_test: labTest }: Order): boolean {
  const method = details?.type ?? labTest?.method;
  return method == null || method === 'at_home_phlebotomy';
}
