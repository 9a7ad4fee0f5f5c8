import { DAY_MS } from './duration.js';
import type { Lab } from './lab.js';
import { unacceptable } from './problems.js';
import { parseTimestamp } from './timestamps.js';
import { Fields, datetime, uuid } from './validation.js';

/** The documented limit on the window of `POST /v3/order/resend_events`. */
const LONGEST_WINDOW_MS = 60 * DAY_MS;

/**
 * Delivers the latest event of each order again, as a new message: of the orders named, or of those that changed within
 * a window (which ends now and is 60 days long where its bounds are left out). Returns the ids of these orders; unknown
 * ones are ignored (not documented; assumed).
 */
export function resendEvents(lab: Lab, body: unknown): string[] {
  const fields = Fields.ofBody(body);
  const orderIds = fields.optionalStrings('order_ids', uuid);
  const start = fields.optionalString('start_at', datetime);
  const end = fields.optionalString('end_at', datetime);
  fields.finish();
  const endAt = end === null ? lab.clock.now() : parseTimestamp(end);
  const startAt = start === null ? endAt - LONGEST_WINDOW_MS : parseTimestamp(start);
  if (endAt - startAt > LONGEST_WINDOW_MS) {
    throw unacceptable(['body', 'start_at'], 'the window is longer than 60 days', start);
  }
  const orders =
    orderIds === null
      ? [...lab.state.orders.values()].filter(({ updatedAt }) => updatedAt >= startAt && updatedAt <= endAt)
      : orderIds.flatMap((id) => lab.state.orders.get(id) ?? []);
  for (const order of orders) lab.webhooks.announce('labtest.order.updated', order);
  return orders.map(({ id }) => id);
}
