import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { OrderEvent, OrderSnapshot } from '../service/order-snapshot.js';
import { kitOrderId } from '../workflows/order/address.js';
import type { KitOrderResult } from '../workflows/order/messages.js';

/*
 * Whether the end of an order has been heard, when its workflow does not run any more, as it should, or never did. When an
 * event happened tells little of that: it may be dated back, or be listed late, and a run may have ended without it. So
 * the last run is asked what it knew; a new one is started only for an end that none has heard.
 */

/** The last run of an order's workflow, as far as the namespace retains it. */
export type LastRun =
  /** It ended by itself, and knew these events. */
  | { ended: 'by_itself'; timeline: KitOrderResult['timeline'] }
  /** Somebody ended it, or it failed. */
  | { ended: 'otherwise'; at: Date }
  /** It was started a moment ago. */
  | { ended?: undefined };

export async function lastRunOf(temporal: Client, rootOrderId: string): Promise<LastRun | undefined> {
  const workflowId = kitOrderId(rootOrderId);
  try {
    const { runId, status, closeTime } = await temporal.workflow.getHandle(workflowId).describe();
    if (closeTime === undefined) return {};
    if (status.name !== 'COMPLETED') return { ended: 'otherwise', at: closeTime };
    const result = (await temporal.workflow.getHandle(workflowId, runId).result()) as Partial<KitOrderResult> | null;
    return { ended: 'by_itself', timeline: result?.timeline ?? [] };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/**
 * How far an event may be dated back, or be listed late (not documented; assumed). An end that lies further back and that
 * no run tells of was heard by one that is not retained any more, rather than by none.
 */
const backdating = 7 * 24 * 60 * 60_000;

/**
 * @param last the order's last event; missing where its status alone says that it has ended
 * @param from the beginning of the range that is looked at, ISO 8601
 */
export function isHeard(
  run: LastRun | undefined,
  { orderId, updatedAt }: Pick<OrderSnapshot, 'orderId' | 'updatedAt'>,
  last: Pick<OrderEvent, 'id' | 'at'> | undefined,
  from: string,
): boolean {
  const at = Date.parse(last?.at ?? updatedAt ?? from);
  if (run === undefined) return at <= Date.parse(from) - backdating;
  switch (run.ended) {
    case undefined:
      return false;
    case 'by_itself':
      return last === undefined || run.timeline.some((event) => event.orderId === orderId && event.eventId === last.id);
    case 'otherwise':
      // Whoever ended it did not want to hear more, until there is more.
      return Math.max(at, Date.parse(updatedAt ?? '') || at) <= run.at.getTime();
    default:
      return run satisfies never;
  }
}
