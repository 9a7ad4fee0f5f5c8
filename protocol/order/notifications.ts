import type { OrderAttention, OrderOutcome, OrderPhase } from './state.js';

/**
 * Notifications about an order, CloudEvents of type `labops.order.<type>`. An id is never derived from a run, so a
 * receiver can drop repeats: `<order id>/<event id or deadline name>/<type>`.
 */
export type OrderNotification = NotificationHead &
  (
    | { type: 'phase_changed'; data: { phase: OrderPhase; status: string; detail?: string; problem?: string } }
    | { type: 'registration_reminder'; data: { reminder: number } }
    | { type: 'return_reminder'; data: { reminder: number } }
    | { type: 'attention_raised'; data: OrderAttention }
    | { type: 'attention_cleared'; data: OrderAttention }
    | { type: 'replacement'; data: { replaces: string } }
    | { type: 'critical_result'; data: { status: string; interpretation?: string } }
    | { type: 'critical_result_reminder'; data: { reminder: number; status: string; since: string; alarm: string } }
    | { type: 'partial_results'; data: { status: string; interpretation?: string } }
    | { type: 'result'; data: { interpretation?: string } }
    | { type: 'correction'; data: { interpretation?: string } }
    | { type: 'cancellation'; data: { status: string } }
    | { type: 'ended'; data: { outcome: OrderOutcome } }
  );

export interface NotificationHead {
  id: string;
  /** When it happened, ISO 8601 in UTC. */
  at: string;
  orderId: string;
  rootOrderId: string;
  reference?: string;
  userId?: string;
}
