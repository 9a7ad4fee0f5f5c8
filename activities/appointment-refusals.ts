import { heartbeat } from '@temporalio/activity';
import { NotFound, ServiceError, ServiceRefused, SlotUnavailable } from '../service/errors.js';
import type { LabService } from '../service/lab-service.js';
import { snapshotOf } from '../service/order-snapshot.js';
import { effectOn } from './appointment-reading.js';

/**
 * A conflict over a slot that only the status speaks of is one where the order may wait for a draw at home. With one that
 * is over, or known to be collected otherwise, no slot would help, and the refusal is what it is. Where the order cannot be
 * read, or its collection method is not known, another choice does no harm.
 *
 * @param timeoutMs milliseconds that the look at the order may take
 */
export async function translateRefusal(
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
    return effectOn(snapshotOf(await service.orders.get(orderId, { timeoutMs }))) === 'open';
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return !(error instanceof NotFound);
  }
}
