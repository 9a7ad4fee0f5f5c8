import type { OfActor } from '../ids.js';
import type { EarlierRun } from '../signal-or-start.js';
import { defineQuery, defineSignal, defineUpdate } from '../definitions.js';
import type { CriticalResultReport } from '../../service/order/critical-result.js';
import type { OrderSnapshot } from '../../service/order/snapshot.js';
import type { RegisterRequest } from '../../service/order/orders.js';
import type { FailureDetails } from '../failure-details.js';
import type { OrderPolicy, ResolvedOrderPolicy } from './policy.js';
import type {
  AcknowledgementOutcome,
  CriticalResultRecord,
  Decision,
  OrderOutcome,
  OrderState,
  RaisedOrderAttention,
  Replacement,
  Resolution,
  Waiting,
  OrderAttention,
  OrderPhase,
} from './state.js';

/**
 * Who `kitOrder` is: its name, input, result, signals, queries and updates. The wire name of a message
 * is its export's name less its suffix. docs/messages.md shows the same as JSON for backends in other languages.
 */

export const kitOrderName = 'kitOrder';

export interface KitOrderInput {
  rootOrderId: string;
  /** Followed unless `orderPlaced` brings another: the defaults when the run was started. */
  policy?: OrderPolicy | ResolvedOrderPolicy;
  /** The run of the same workflow ID before this one, if the sender that started it looked. */
  earlierRun?: EarlierRun;
  /** State carried over by continue-as-new; never given by a caller. */
  carried?: unknown;
}

/** Hands a placed order over to the workflow that follows it. */
export interface OrderPlaced {
  reference: string;
  policy: ResolvedOrderPolicy;
  snapshot: OrderSnapshot;
  labTestId?: string;
  labAccountId?: string;
  /** The order was there already: it may have a history that the run should know. */
  adopted: boolean;
  /** The order was not placed for the reference, but adopted for it: it never orders a kit by itself. */
  madeElsewhere?: true;
  /** True if the worker has a target for notifications; without one, none is scheduled. */
  notifies: boolean;
  /** The placing was cancelled, and its caller may no longer wait: the order cancels itself. */
  cancelRequested?: boolean;
  /** Who cancelled it. */
  cancelRequestedBy?: string;
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
  /** The chain's reference, which thereby claims the new order, too. */
  reference?: string;
  snapshot: OrderSnapshot;
}

export const replacementPlacedSignal = defineSignal<[ReplacementPlaced]>('replacementPlaced');

/** A command may name the order of the chain it means; otherwise it means the current one. */
interface OrderCommand extends OfActor {
  orderId?: string;
}

/** A command that names its order: by the time that it is repeated, another order may be the current one. */
interface NamedOrderCommand extends OfActor {
  orderId: string;
}

export interface RegisterCommand extends OrderCommand {
  /** The body of `POST /v3/order/testkit/register`. Its patient may be another user than the one who ordered. */
  registration: RegisterRequest;
}

export type CancelCommand = OrderCommand;

export interface ResolveProblemCommand extends NamedOrderCommand {
  decision: Decision;
  /** Changes an earlier `wait` before its time is over; without it another decision than that one is refused. */
  insteadOf?: 'wait';
}

export type ReplaceKitCommand = NamedOrderCommand;

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
export interface SetPolicyCommand extends OfActor {
  policy: OrderPolicy;
}

/**
 * A deadline that the new policy moves into the past is due at once; one that was missed and moves into the future counts
 * again, and its attention is cleared.
 */
export const setPolicyUpdate = defineUpdate<OrderState, [SetPolicyCommand]>('setPolicy');

/** The effect of a change of its policy on an order. */
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

/** Changes nothing. */
export const policyPreviewQuery = defineQuery<PolicyPreview | PolicyRefusal, [OrderPolicy]>('policyPreview');

export const stateQuery = defineQuery<OrderState>('state');

/** The last state; lab values stay in the service and are read by `orderId`. */
export interface KitOrderResult extends OrderState {
  /** The version of this result's format; later runs read it. */
  version: number;
  outcome: OrderOutcome;
  /** State that a later run continues with, if the service reports something new. */
  policy: ResolvedOrderPolicy;
  /** True if a placing or an adoption handed the order over; `reference` may be from its passthrough alone. */
  handedOver: boolean;
  /** The one that was ordered, for a replacement: the service does not always show it again. */
  labTestId?: string;
  /** The one that the order was placed with, for the same reason. */
  labAccountId?: string;
  /** As in `OrderPlaced`. */
  madeElsewhere?: true;
  replacements: Replacement[];
  /** People's decisions, the latest for each order. */
  answers: Resolution[];
  /** The questions that stood at the end. */
  attention: RaisedOrderAttention[];
  /** How often each question was raised: one that is raised again is another notification. */
  raised: Record<string, number>;
  criticalResults: CriticalResultRecord[];
  /** Keys of the reminders that were due: a later run sends none of them again. Absent is none. */
  reminded?: string[];
}

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
