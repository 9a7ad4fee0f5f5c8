import type { Json } from './order-body.js';
import type { CriticalResult } from './orders.js';
import { TEAM_ID } from './seed.js';
import type { Settings } from './settings.js';
import type { Order } from './state.js';
import { timestamp } from './time.js';

/** A critical result as the documented webhook carries it: no id, no events, no values. */
export function criticalResultBody(order: Order, result: CriticalResult, now: number, settings: Settings): Json {
  const at = (time: number): string => timestamp(time, settings.naiveTimestamps);
  return {
    order_id: order.id,
    sample_id: order.sampleId ?? order.kitSampleId ?? '',
    status: result.status,
    ...(result.interpretation === null ? {} : { interpretation: result.interpretation }),
    team_id: TEAM_ID,
    user_id: order.userId,
    created_at: at(order.resultsAt ?? now),
    updated_at: at(now),
  };
}
