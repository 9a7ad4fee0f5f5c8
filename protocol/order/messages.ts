import type { EarlierRun } from '../earlier-run.js';
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { CriticalResultReport } from '../../service/critical-result.js';
import type { OrderSnapshot, ShipmentSnapshot } from '../../service/order-snapshot.js';
import type { ImportOrderRequest, OrderRequest, RegisterRequest, TestkitOrderRequest } from '../../service/orders.js';
import type { Attention, RaisedAttention } from '../attention.js';
import type { FailureDetails } from '../failure-details.js';
import type { OrderPolicy, PolicyChanges, ResolvedPolicy } from './policy.js';

/**
 * Who the order workflows are: their names, inputs, results, signals, queries and updates. The wire name of a message
 * is its export's name less its suffix. docs/messages.md shows the same as JSON for backends in other languages.
 */

export const placeKitOrderName = 'placeKitOrder';
export const kitOrderName = 'kitOrder';

/** What to order. The fields of `order` are the service's own, as the specification writes them. */
export type KitRequest =
  /** `POST /v3/order/testkit`: the kit ships first, and the patient is registered later. */
  | { kind: 'unregistered'; order: Omit<TestkitOrderRequest, 'passthrough'> }
  /** `POST /v3/order`: the patient is known from the start; no registration is waited for. */
  | { kind: 'with_patient'; order: Omit<OrderRequest, 'passthrough'> }
  /** `POST /v3/order/import`: the sample exists, and nothing is shipped or registered. Only results are waited for. */
  | { kind: 'import'; order: ImportOrderRequest };

export const kitKinds: readonly KitRequest['kind'][] = ['unregistered', 'with_patient', 'import'];

export type PlaceKitOrderInput = KitRequest & {
  /** The product's own key, `^[A-Za-z0-9._:-]{1,128}$`, never personal data. The same key never places a second kit. */
  reference: string;
  /** A part of the settings, or a resolved policy: the client sends one, so the worker need not ask for the defaults. */
  policy?: OrderPolicy | ResolvedPolicy;
};

export interface PlaceKitOrderResult {
  /** The service's id of the order, which is also the root of its chain. */
  orderId: string;
  /** True when the order was already there (an earlier answer was lost) and was taken over instead of created. */
  adopted: boolean;
}

/** The progress of an attempt to create the order, so a cancellation knows if an order may have been created. */
export type CreationProgress =
  /** The attempt ends before it sends anything, and nothing was sent before it. */
  | 'nothing_sent'
  /** From here on an order may have been created. */
  | 'sending';

/** Sent by the worker's own activities, never by a backend. */
export const creationProgressSignal = defineSignal<[CreationProgress]>('creationProgress');

/** The result of cancelling a placing. */
export type PlacingEnd =
  /** There is no order, and none will be created. */
  | { outcome: 'cancelled'; reference: string }
  /** It came too late: there is an order, which goes on; its own `cancel` cancels it. */
  | { outcome: 'placed'; orderId: string };

/** Ends a placing before there is an order: on `placeKitOrder`. Waits until it is certain if there is one. */
export const cancelPlacingUpdate = defineUpdate<PlacingEnd, []>('cancel');

/** The reason why a person should look at a placing. */
export type PlacingAttentionReason = Extract<AttentionReason, 'ambiguous_order' | 'placing_delayed'>;

/** The progress of a placing. Nothing personal. */
export interface PlacingState {
  phase: 'placing';
  reference: string;
  userId: string;
  waiting: Waiting;
  attention: Attention<PlacingAttentionReason>[];
  /** Set once there is an order: the workflow `kit-order/<order id>` shows it from there. */
  orderId?: string;
  /** Set once the placing was cancelled and there is no order. */
  outcome?: 'cancelled';
}

export const placingStateQuery = defineQuery<PlacingState>('state');

export interface KitOrderInput {
  rootOrderId: string;
  /** Followed unless `orderPlaced` brings another: the defaults when the run was started. */
  policy?: OrderPolicy | ResolvedPolicy;
  /** The run of the same workflow ID before this one, where the sender that started it looked. */
  earlierRun?: EarlierRun;
  /** State carried over by continue-as-new; never given by a caller. */
  carried?: unknown;
}

/** Hands a placed order over to the workflow that follows it. */
export interface OrderPlaced {
  reference: string;
  policy: ResolvedPolicy;
  snapshot: OrderSnapshot;
  labTestId?: string;
  labAccountId?: string;
  /** The order was there already: it may have a history that the run should know. */
  adopted: boolean;
  /** True if the worker has a target for notifications; without one, none is scheduled. */
  notifies: boolean;
  /** The placing was cancelled, and its caller may no longer wait: the order cancels itself. */
  cancelRequested?: boolean;
}

export const orderPlacedSignal = defineSignal<[OrderPlaced]>('orderPlaced');
export const orderChangedSignal = defineSignal<[OrderSnapshot]>('orderChanged');

/** An order has a critical result. The signal itself is the alarm, whatever its `interpretation` says. */
export interface CriticalResultReported extends CriticalResultReport {
  /** The whole order, if the webhook contained it. */
  order?: OrderSnapshot;
}

export const criticalResultReportedSignal = defineSignal<[CriticalResultReported]>('criticalResultReported');

/** Reports to a replacement's own run which chain the order joins, if the order itself does not show it. */
export interface ReplacementPlaced {
  rootOrderId: string;
  /** The chain's, which so claims the new order, too. */
  reference?: string;
  snapshot: OrderSnapshot;
}

export const replacementPlacedSignal = defineSignal<[ReplacementPlaced]>('replacementPlaced');

/** A command may name the order of the chain it means; otherwise it means the current one. */
interface OrderCommand {
  orderId?: string;
}

/** A command that names its order: by the time that it is repeated, another order may be the current one. */
interface NamedOrderCommand {
  orderId: string;
}

export interface RegisterCommand extends OrderCommand {
  /** The body of `POST /v3/order/testkit/register`. Its patient may be another user than the one who ordered. */
  registration: RegisterRequest;
}

export type CancelCommand = OrderCommand;

/** `wait`: give it more time; `replace`: order a new kit; `abandon`: stop following; nothing is sent to the service. */
export type Decision = 'wait' | 'replace' | 'abandon';

export interface ResolveProblemCommand extends NamedOrderCommand {
  decision: Decision;
  /** Changes an earlier `wait` before its time is over; without it another decision than that one is refused. */
  insteadOf?: 'wait';
}

export type ReplaceKitCommand = NamedOrderCommand;

/** The outcome of a critical result, as the acting person reports it. Each of them ends the reminders. */
export type AcknowledgementOutcome =
  /** The person who must act knows, and has repeated it back. */
  | 'confirmed'
  /** They were reached, and did not repeat it back. */
  | 'reached_no_readback'
  /** They could not be reached: the rest is the caller's own process. */
  | 'unable_to_reach';

export interface AcknowledgeCriticalResultCommand {
  orderId: string;
  /**
   * The alarm that the person acted on: the id of its `critical_result` notification, or `criticalResult.alarm` of the
   * state. If a later alarm has followed it, the acknowledgement is refused. Required once an earlier alarm was
   * acknowledged; before that, the default is the latest one.
   */
  alarm?: string;
  /** Who took it up: an id of the product's, `^[A-Za-z0-9._:-]{1,128}$`, never a name. */
  by: string;
  outcome: AcknowledgementOutcome;
  /** At most 2,000 characters. It may be personal: it stays in the state and the result, which are encrypted if the deployment has keys. */
  note?: string;
}

/** Every command answers with the new state, so no query is needed. */
export const registerUpdate = defineUpdate<OrderState, [RegisterCommand]>('register');
export const cancelUpdate = defineUpdate<OrderState, [CancelCommand]>('cancel');
export const resolveProblemUpdate = defineUpdate<OrderState, [ResolveProblemCommand]>('resolveProblem');
export const replaceKitUpdate = defineUpdate<OrderState, [ReplaceKitCommand]>('replaceKit');

export const acknowledgeCriticalResultUpdate = defineUpdate<OrderState, [AcknowledgeCriticalResultCommand]>(
  'acknowledgeCriticalResult',
);

/** Settings of a running order's policy that change; the others stay. */
export interface SetPolicyCommand {
  policy: OrderPolicy | PolicyChanges;
}

/**
 * A deadline that the new policy moves into the past is due at once; one that was missed and moves into the future counts
 * again, and its attention is cleared.
 */
export const setPolicyUpdate = defineUpdate<OrderState, [SetPolicyCommand]>('setPolicy');

/** What a change of its policy means for an order. */
export interface PolicyPreview {
  before: Waiting;
  after: Waiting;
  /** Everything that would happen at another time. */
  moved: MovedMoment[];
}

/** Something that happens at a time by the policy: a limit, a reminder, or that the order is given up. */
export interface MovedMoment {
  /** As in the timers of the workflow: `shipping_overdue`, `return_reminder 2`, `give_up`. */
  name: string;
  /** Absent if it would not have happened, or has happened. */
  before?: string;
  /** A moment that is past is due at once. Absent if it does not happen any more. */
  after?: string;
}

/** A query cannot fail with a type, so its answer says why the change would be refused. */
export interface PolicyRefusal {
  refused: { type: string; message: string; details: FailureDetails };
}

/** Changes nothing. The settings are resolved: durations in milliseconds. */
export const policyPreviewQuery = defineQuery<PolicyPreview | PolicyRefusal, [PolicyChanges]>('policyPreview');

export const stateQuery = defineQuery<OrderState>('state');

/** Where the kit is, as far as known. LabPhase carries the current order's phase. */
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

/** The reason why a person should look. */
export type AttentionReason =
  | 'registration_overdue'
  | 'shipping_overdue'
  | 'delivery_overdue'
  | 'return_overdue'
  | 'transit_to_lab_overdue'
  | 'results_overdue'
  /** An order by another collection method than a kit has no sample at the lab yet. */
  | 'collection_overdue'
  /** A problem in transit or a blocked sample outlasted the policy's limit: answer with `resolveProblem`. */
  | 'problem_persists'
  /** The kit is lost, undeliverable or its sample unusable, and the policy asks: answer with `resolveProblem`. */
  | 'decision_needed'
  /** A kit that had been given up moves again while its replacement is under way. */
  | 'late_arrival'
  /** The service registered a different order than the one that was named. */
  | 'registered_another_order'
  /** A second reference claims this order. */
  | 'reference_conflict'
  /** The placing was cancelled when its order was there already, and the order could not be cancelled either. */
  | 'cancellation_failed'
  | 'replacement_failed'
  /** A decision is due, and the service has not shown the order for a day, or refuses to: nothing is decided meanwhile. */
  | 'order_unreadable'
  /** The service reported a critical result: answer with `acknowledgeCriticalResult`, and nothing else. */
  | 'critical_result'
  | 'notifications_undelivered'
  /** More than one order could be the one that an earlier attempt created: nothing was created. */
  | 'ambiguous_order'
  /** The service has not taken the order for an hour, or refuses the worker's key; placing goes on trying. */
  | 'placing_delayed';

export interface OrderAttention extends Attention<AttentionReason> {
  orderId: string;
}

/** `key`: the question it asks; it is cleared when the question is answered or obsolete. */
export type RaisedOrderAttention = RaisedAttention<AttentionReason> & { key: string; orderId: string };

/** An event of the service; or, without an event's id, an acknowledgement of a critical result. */
export interface TimelineEntry {
  orderId: string;
  eventId?: number;
  at: string;
  /** The service's own status, also one that is not known yet; or `critical_result_acknowledged`. */
  status: string;
  /** Of an acknowledgement, its outcome. */
  detail?: string;
  /** Who acknowledged. */
  by?: string;
  /** Which alarm, as in `CriticalResult`. */
  alarm?: string;
  note?: string;
}

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
  /** The order's last `corrected` event. */
  correctedBy?: number;
  /** The order's own interpretation at the last comparison. */
  orderSaid?: string;
  /** The distinguishing parts of its notification ids, one for each time it was announced. */
  announced: string[];
  /** Set once the interval of its reminders has changed: the last reminder before that, ISO 8601, and its number. */
  countedFrom?: { at: string; reminders: number };
}

/** One kit of the chain. */
export interface ChainLink {
  orderId: string;
  /** `initial`, `redraw`, `recreation` (the service's values), or `replacement` (ours). */
  origin: string;
  phase: OrderPhase;
  status: string;
  interpretation?: string;
  /** The order that this one follows, and the one that follows it. */
  replaces?: string;
  replacedBy?: string;
}

export interface Waiting {
  /** What the order waits for, in plain text. */
  for: string;
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

/** One replacement of one order. It is claimed before the first await, so no order is replaced twice. */
export interface Replacement {
  replaces: string;
  /** The replaced order's last event at that time: one that moves on later has come back. */
  atEventId: number;
  /** Counts creations under one reference; 1 was the first kit. */
  n: number;
  /** When it was first requested. */
  claimedAt: string;
  /** When it was last tried in vain, milliseconds since the epoch: the service may still be at work on it. */
  triedAt?: number;
  /** The product was notified. */
  announced?: boolean;
  /** The new order, once it is known. */
  orderId?: string;
}

export interface KitOrderResult {
  /** The form of the result, for the runs that continue with it. */
  version: number;
  outcome: OrderOutcome;
  /** The order of the chain that brought the outcome. Lab values stay in the service and are read by this id. */
  orderId: string;
  rootOrderId: string;
  reference?: string;
  interpretation?: string;
  chain: ChainLink[];
  timeline: TimelineEntry[];
  /** State that a later run continues with, if the service reports something new. */
  policy: ResolvedPolicy;
  replacements: Replacement[];
  /** The questions that stood at the end. */
  attention: RaisedOrderAttention[];
  /** How often each question was raised: one that is raised again is another notification. */
  raised: Record<string, number>;
  criticalResults: CriticalResultRecord[];
}
