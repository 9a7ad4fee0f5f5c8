import type { ShipmentSnapshot } from '../../service/order/snapshot.js';
import type { Attention, RaisedAttention } from '../attention.js';

/** The state that an order shows: its phase, chain, timeline, critical result and open questions, and the records behind them. */

/** The place of the kit, as far as known. LabPhase carries the current order's phase. */
export type OrderPhase =
  /** Placed, nothing shipped yet; the patient is registered or need not be. */
  | 'preparing'
  /** The kit waits to be registered: before it ships, or once it is with the customer. */
  | 'awaiting_registration'
  | 'in_transit_to_customer'
  /** Delivered and registered: the sample must be taken and sent back. */
  | 'with_customer'
  /** Collection under way by a method other than a test kit, or by a status that is not known yet. */
  | 'collecting_sample'
  | 'in_transit_to_lab'
  | 'at_lab'
  | 'completed'
  | 'failed'
  | 'cancelled'
  /** A top-level status that is not known yet. */
  | 'unknown';

/** The reason why a person should look: docs/attention.md. */
export type AttentionReason =
  | 'registration_overdue'
  | 'shipping_overdue'
  | 'delivery_overdue'
  | 'return_overdue'
  | 'transit_to_lab_overdue'
  | 'results_overdue'
  | 'collection_overdue'
  | 'problem_persists'
  | 'decision_needed'
  | 'late_arrival'
  | 'registered_another_order'
  | 'reference_conflict'
  | 'foreign_order'
  | 'cancellation_failed'
  | 'replacement_failed'
  | 'order_unreadable'
  | 'unknown_interpretation'
  | 'critical_result'
  | 'notifications_undelivered'
  | 'unreadable_signal'
  | 'ambiguous_order'
  | 'placing_delayed';

export interface OrderAttention extends Attention<AttentionReason> {
  orderId: string;
}

/** `key`: the question it asks; it is cleared when the question is answered or obsolete. */
export type RaisedOrderAttention = RaisedAttention<AttentionReason> & { key: string; orderId: string };

/** An event of the service; or, without an event's id, what a person decided: the acknowledgement of a critical result, or a command with an actor. */
export interface TimelineEntry {
  orderId: string;
  eventId?: number;
  at: string;
  /**
   * The service's own status, also one that is not known yet; or `critical_result_acknowledged`, `problem_resolved`, `kit_replaced`,
   * `kit_registered`, `order_cancelled` or `policy_changed`.
   */
  status: string;
  /** An acknowledgement's outcome, the decision about a problem, or the settings that changed; otherwise the service's own detail. */
  detail?: string;
  /** Who acknowledged or decided it. */
  by?: string;
  /** Which alarm, as in `CriticalResult`. */
  alarm?: string;
  note?: string;
}

/** The outcome of a critical result, as the acting person reports it. Each of them ends the reminders. */
export type AcknowledgementOutcome =
  /** The person who must act knows, and has repeated it back. */
  | 'confirmed'
  /** They were reached, and did not repeat it back. */
  | 'reached_no_readback'
  /** They could not be reached: the rest is the caller's own process. */
  | 'unable_to_reach';

export const acknowledgementOutcomes = [
  'confirmed',
  'reached_no_readback',
  'unable_to_reach',
] as const satisfies AcknowledgementOutcome[];

export interface Acknowledgement {
  /** The id of the notification that raised the alarm. */
  alarm: string;
  by: string;
  at: string;
  outcome: AcknowledgementOutcome;
  note?: string;
}

/** The latest critical result of an order. */
export interface CriticalResult {
  orderId: string;
  /** The latest alarm: the id of its `critical_result` notification. */
  alarm: string;
  /** `final`, `partial`, or one not known yet. */
  status: string;
  /** The service's interpretation, which may be `normal`: the result is critical nevertheless. */
  interpretation?: string;
  /** Since when a person is asked to look. */
  since: string;
  /** It waits for an acknowledgement. */
  isOpen: boolean;
  /** How many reminders were due since. */
  reminders: number;
  /** The latest twenty, in the order of time. */
  acknowledgements: Acknowledgement[];
}

/** The same, with the values that a later report is compared with. */
export interface CriticalResultRecord extends Omit<CriticalResult, 'alarm'> {
  /** When the service last fetched it. */
  updatedAt?: string;
  /** A report of it had no time that can be compared. */
  isUntimed?: true;
  /** The order's last `corrected` event. */
  correctedBy?: number;
  /** The order's own interpretation at the last comparison. */
  orderSaid?: string;
  /** The distinguishing parts of its notification ids, one for each time it was announced. */
  announced: string[];
  /** When the last reminder was due, ISO 8601. Absent before the first. */
  remindedAt?: string;
}

/** One kit of the chain. */
export interface ChainLink {
  orderId: string;
  /** `initial`, `redraw`, `recreation` (the service's values), or `replacement` (ours). */
  origin: string;
  phase: OrderPhase;
  status: string;
  interpretation?: string;
  /** The service lists it as critical, whatever its interpretation. */
  flaggedCritical?: true;
  /** The sample id that it is registered with. */
  sampleId?: string;
  /** The order that this one follows, as a replacement or a redraw (`origin` says which), and the one that follows it. */
  replaces?: string;
  replacedBy?: string;
}

export interface Waiting {
  /** The event that the order waits for, in plain text. */
  for: string;
  /** The nearest deadline; if one was missed, the moment at which the order is given up, unless another deadline is nearer. */
  until?: string;
}

/** The answer of `state` and every command. No name or address; an acknowledgement's `note` may be personal. */
export interface OrderState {
  rootOrderId: string;
  /** The current order of the chain: the one that is expected to bring the results. */
  orderId: string;
  reference?: string;
  userId?: string;
  phase: OrderPhase;
  status: string;
  registered: boolean;
  sampleId?: string;
  /** A problem that the current order has right now. */
  problem?: { status: string; since: string; detail?: string };
  interpretation?: string;
  /** The critical result that waits for an acknowledgement, else the latest one. */
  criticalResult?: CriticalResult;
  shipment?: ShipmentSnapshot;
  waiting: Waiting;
  attention: OrderAttention[];
  chain: ChainLink[];
  timeline: TimelineEntry[];
  /** Set once the order has ended. */
  outcome?: OrderOutcome;
  /** Set if this run is a forwarder, which passes its signals to the workflow of another root order. */
  forwardsTo?: string;
}

export type OrderOutcome =
  | 'completed'
  | 'cancelled'
  | 'failed'
  /** A person decided to stop following it. */
  | 'abandoned'
  /** Nothing moved for `giveUpAfter` beyond a deadline. A later event starts a new run. */
  | 'unresolved'
  /** The service answered twice, ten minutes apart, that it does not know the order. */
  | 'order_gone'
  /** This run passed everything on to the workflow of another root order. */
  | 'forwarded';

/** One replacement of one order. It is reserved before anything is sent, so no order is replaced twice. */
export interface Replacement {
  replaces: string;
  /** The replaced order's last event at that time: one that moves on later has come back. */
  atEventId: number;
  /** Counts the chain's own creations; 1 was the first kit. */
  n: number;
  /** When it was first requested. */
  claimedAt: string;
  /** When it was last tried in vain, milliseconds since the epoch: the service may still be at work on it. */
  triedAt?: number;
  /** Set while it waits because an operator has stopped placing: why. */
  stopReason?: string;
  /** The product was notified. */
  announced?: boolean;
  /** The new order, once it is known. */
  orderId?: string;
}

/** A person's answer to what an order asks. */
export interface Resolution {
  orderId: string;
  /** The order's last event at that time: one that has moved on since asks something else. */
  eventId: number;
  decision: Decision;
}

/** `wait`: give it more time; `replace`: order a new kit; `abandon`: stop following; nothing is sent to the service. */
export type Decision = 'wait' | 'replace' | 'abandon';

export const decisions = ['wait', 'replace', 'abandon'] as const satisfies Decision[];

/** The facts about an order at the moment of a decision. */
export interface DecidedOn {
  /** Its last event's; -1 without any. */
  eventId: number;
  /** Its own status, which counts without any event, and if it alone says that the order has ended. */
  status?: string;
}
