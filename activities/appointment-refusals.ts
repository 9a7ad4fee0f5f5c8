import { heartbeat } from '@temporalio/activity';
import { NotFound, ServiceError, ServiceRefused, SlotUnavailable } from '../service/errors.js';
import type { LabService } from '../service/lab-service.js';
import { snapshotOf } from '../service/order-snapshot.js';
import { effectOn } from './appointment-reading.js';

/**
 * A slot conflict that is recognised only by its status is one only if the order may wait for a draw at home. If the
 * order has ended, or is known to be collected otherwise, no slot would help, and the refusal is reported as it is. If
 * the order cannot be read, or its collection method is not known, offering another choice is harmless.
 *
 * @param timeoutMs milliseconds for reading the order
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
