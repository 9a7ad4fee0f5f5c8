import {
  ApplicationFailure,
  WorkflowUpdateFailedError,
  type UpdateDefinition,
  type WorkflowHandle,
} from '@temporalio/client';
import type { LabService } from '../../service/lab-service.js';
import { NotFound } from '../../service/errors.js';
import { registerRequestSchema } from '../../service/order/orders.js';
import type { Results } from '../../service/order/order.js';
import { brokenRulesOf } from '../../service/validation.js';
import { canonicalId, kitOrderId, placeKitOrderId, type OfActor } from '../../protocol/ids.js';
import {
  acknowledgeCriticalResultUpdate,
  cancelUpdate,
  registerUpdate,
  replaceKitUpdate,
  resolveProblemUpdate,
  stateQuery,
  type AcknowledgeCriticalResultCommand,
  type CancelCommand,
  type KitOrderResult,
  policyPreviewQuery,
  setPolicyUpdate,
  type PolicyPreview,
  type RegisterCommand,
  type ReplaceKitCommand,
  type ResolveProblemCommand,
} from '../../protocol/order/messages.js';
import {
  cancelUpdate as cancelPlacingUpdate,
  stateQuery as placingStateQuery,
  type PlaceKitOrderResult,
  type PlacingEnd,
  type PlacingState,
} from '../../protocol/order/placing-messages.js';
import { isSameSample } from '../../protocol/order/lifecycle.js';
import type { ChainLink, Decision, OrderState } from '../../protocol/order/state.js';
import type { CallOptions } from '../call-options.js';
import { toClientError } from '../errors.js';
import { requireService, type ServiceAccess } from '../service-calls.js';
import { stateIn, type OneCall } from '../one-call.js';
import { callKinds } from '../workflow-calls.js';
import { policyFaults, refuseFaulty, unknownFaults } from '../input-faults.js';
import { canonicalJson } from '../../protocol/json.js';
import { checkedPolicyChanges, type OrderPolicy } from '../../protocol/order/policy.js';
import {
  forwardedTo,
  OrderEnded,
  OrderInvalid,
  orderErrorMap,
  PlacingCancelled,
  RegistrationRefused,
} from './errors.js';
import { watchState, type WatchOptions } from '../watching.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

export const orderCalls = callKinds(orderErrorMap, 'The order');

/** The order of the chain that a command applies to. Default: the current order. */
export type WhichOrder = Omit<CancelCommand, 'by'>;

type Acknowledging = Omit<AcknowledgeCriticalResultCommand, 'by'> & OfActor;

/** The answer to the cancellation of an order that was still being placed. */
export type CancelledPlacing = Extract<PlacingEnd, { outcome: 'cancelled' }>;

/** Waits for a running creation: 30 seconds for its answer, 45 until it has settled, and a read. */
const cancelDeadline = '2m';

const whilePlacing =
  'The order is still being placed, which continues whatever fails; nothing else was sent. Ask again later, or give a longer deadline.';

/**
 * One order, from placement to results, through redraws and replacements. Every command answers with the state after
 * it. Everything but `state`, `watch` and `cancel` waits for the placement first, if that is still under way: as long as its
 * deadline, 30 seconds by default.
 *
 * Every method also rejects with the errors of {@link CallOptions}.
 */
export class OrderHandle {
  readonly reference: string | undefined;
  readonly #access: ServiceAccess;
  private rootOrderId: string | undefined;

  constructor(access: ServiceAccess, known: { reference?: string; rootOrderId?: string }) {
    this.#access = access;
    this.reference = known.reference;
    this.rootOrderId = known.rootOrderId;
  }

  /**
   * The service's id of the order that was placed, which is the root of its chain. Waits until it is placed: 30
   * seconds, or the `deadline`. An outage of the service can last longer, and so can a worker with a wrong key: the placing
   * continues, and the TimedOut names the attention that it asks for.
   *
   * @throws OrderRefused, PhysicianRequired, AmbiguousOrder and others: why it could not be placed
   */
  async orderId(options: CallOptions = {}): Promise<string> {
    return this.#access.calls.call(orderCalls.reading, options, (call) => this.placed(call));
  }

  /**
   * The current state of the order; an order that is still being placed answers at once, with the phase `placing`. Wakes the
   * workflow and is billed as an action: for lists use `orders.list`. Deadline: 30 seconds.
   * @throws OrderRefused, PhysicianRequired, AmbiguousOrder, PlacingCancelled and others: why it could not be placed
   */
  async state(options: CallOptions = {}): Promise<OrderState | PlacingState> {
    return this.#access.calls.call(
      orderCalls.reading,
      options,
      async (call) => (await this.placing(call)) ?? this.read(call),
    );
  }

  /**
   * Registers the kit with its patient: `registration` is the body of `POST /v3/order/testkit/register`. Registering again with the
   * same sample id succeeds, even after the end. Deadline: 30 seconds.
   * @throws RegistrationRefused with all broken fields, before anything is sent, or with those that the service names; PhysicianRequired, RegisteredAnotherOrder, OrderEnded, ServiceDown
   */
  async register(
    { registration, orderId, ...unknown }: Omit<RegisterCommand, 'by'>,
    options: CallOptions = {},
  ): Promise<OrderState> {
    refuseFaulty('The command', unknownFaults(unknown), OrderInvalid);
    refuseFaulty('The registration', brokenRulesOf(registerRequestSchema, registration), RegistrationRefused);
    const isDone = ({ chain }: OrderState) =>
      chain.some(({ sampleId }) => isSameSample(sampleId, registration.sample_id));
    return this.command(registerUpdate, { registration, ...whichOf(orderId) }, options, isDone);
  }

  /**
   * Cancels the order wherever it is. If there is none yet, there will be none, and the answer is a `CancelledPlacing`; the
   * reference may be placed again. If a creation is under way, it waits until the service shows whether there is an order, and
   * cancels that: no order is lost. Cancelling again succeeds, even after the end. Deadline: 2 minutes.
   * @throws CancelRefused once the kit has shipped, OrderInvalid, OrderEnded, ServiceDown
   */
  async cancel(
    { orderId, ...unknown }: WhichOrder = {},
    options: CallOptions = {},
  ): Promise<OrderState | CancelledPlacing> {
    // If a misspelt `orderId` were ignored, the current order would be cancelled.
    refuseFaulty('The command', unknownFaults(unknown), OrderInvalid);
    const isDone = (state: OrderState) => linkOf(state, orderId ?? state.orderId)?.phase === 'cancelled';
    return this.#access.calls.call(
      { ...orderCalls.command, defaultDeadline: cancelDeadline },
      options,
      async (call) => {
        const end = await this.cancelPlacing(call);
        return end ?? this.send(call, cancelUpdate, whichOf(orderId), isDone);
      },
    );
  }

  /**
   * Answers an order that asks for a decision: `wait` gives it its limit once more, `replace` orders a new kit,
   * `abandon` stops following it: a chain that has the results of another kit is completed, and one with another kit under way goes on with
   * that. Sending the same decision again succeeds and changes nothing. Deadline: 30 seconds.
   * @throws AlreadyResolved when something else was decided, NothingToResolve, NotReplaceable, OrderMovedOn,
   * ReplacementLimitReached, OrderRefused, AmbiguousOrder, OrderInvalid without an order id, OrderEnded, ServiceDown
   */
  async resolveProblem(
    { orderId, decision, insteadOf }: Omit<ResolveProblemCommand, 'by'>,
    options: CallOptions = {},
  ): Promise<OrderState> {
    const isDone = (state: LastState) => isResolved(state, orderId, decision);
    const command = { orderId, decision, ...(insteadOf !== undefined && { insteadOf }) };
    return this.command(resolveProblemUpdate, command, options, isDone);
  }

  /**
   * Orders a new kit for one that is lost, failed, on its way or with the customer, to the same address. However often it is
   * asked for, an order is replaced once: asking again answers with the state. The order is named, because by the next attempt another one
   * may be the current order. Deadline: 30 seconds.
   * @throws NotReplaceable, OrderMovedOn when the kit turns out to be somewhere else, ReplacementLimitReached,
   * OrderRefused, AmbiguousOrder, OrderInvalid without an order id, OrderEnded, ServiceDown
   */
  async replaceKit({ orderId }: Omit<ReplaceKitCommand, 'by'>, options: CallOptions = {}): Promise<OrderState> {
    return this.command(replaceKitUpdate, { orderId }, options, (state) => isReplaced(state, orderId));
  }

  /**
   * Records that a person has taken up a critical result. Only this ends its reminders and its attention, whatever the
   * outcome. Sending the same acknowledgement again succeeds and changes nothing, even after the end; another outcome is
   * added. Once an alarm has been acknowledged, a later one must be named as `alarm`, so a late retry cannot clear it. Without `by` the
   * client's actor is meant. Deadline: 30 seconds.
   * @throws OrderInvalid naming each field and its rule, NothingToAcknowledge, AlarmOutdated if a later alarm stands,
   * OrderEnded, ServiceDown
   */
  async acknowledgeCriticalResult(
    { orderId, alarm, by = this.#access.calls.actor.by ?? '', outcome, note }: Acknowledging,
    options: CallOptions = {},
  ): Promise<OrderState> {
    const command = {
      orderId,
      by,
      outcome,
      ...(alarm !== undefined && { alarm }),
      ...(note !== undefined && { note }),
    };
    const isDone = (state: OrderState) => isAcknowledged(state, command);
    return this.command(acknowledgeCriticalResultUpdate, command, options, isDone);
  }

  /**
   * Changes some settings of the order's policy; the others stay. A deadline that this moves into the past is due at once; one
   * that was missed and moves into the future counts again, and its attention is cleared. To set what is set already succeeds, even
   * after the end. Deadline: 30 seconds.
   * @throws OrderInvalid naming every setting that is unknown or out of range, OrderEnded, ServiceDown
   */
  async setPolicy(policy: OrderPolicy, options: CallOptions = {}): Promise<OrderState> {
    const changes = policyChanges(policy);
    return this.command(setPolicyUpdate, { policy: changes }, options, (state) => hasPolicy(state, changes));
  }

  /**
   * The changes that `setPolicy` would make: what the order waits for, and each moment that would move. Changes nothing, and rejects
   * if `setPolicy` would. Deadline: 30 seconds.
   * @throws OrderInvalid, OrderEnded
   */
  async previewPolicy(policy: OrderPolicy, options: CallOptions = {}): Promise<PolicyPreview> {
    const changes = policyChanges(policy);
    return this.#access.calls.call(orderCalls.reading, options, (call) => this.preview(call, changes));
  }

  /** Every state that differs from the one before, the present one first, until the order has ended. */
  watch(options: WatchOptions = {}): AsyncGenerator<OrderState | PlacingState, void, undefined> {
    return watchState(this, options, (state) => ('rootOrderId' in state ? kitOrderId(state.rootOrderId) : undefined));
  }

  /**
   * Waits for the end, which is days or weeks away: 30 seconds, or the `deadline`, which may be `'none'`. Lab values are
   * not in it, see `results`.
   * @throws OrderRefused and others when the order could not be placed, OrderInterrupted when an operator ended the workflow
   */
  async result(options: CallOptions = {}): Promise<KitOrderResult> {
    return this.#access.calls.call(orderCalls.waiting, options, (call) => this.ended(call));
  }

  /**
   * The lab values of the current order of the chain, or as long as it has none, of another one that is completed. They are read from the
   * service and never in Temporal. For a redraw they are those of all orders of its transaction, because its own are only the ones that
   * were missing. Deadline: 30 seconds.
   * @throws ServiceNotConfigured, and the service's own errors (`NotFound` until there are results)
   */
  async results(options: CallOptions = {}): Promise<Results> {
    const service = requireService(this.#access);
    return this.#access.calls.call(orderCalls.reading, options, async (call) => {
      const state = await this.current(call);
      return call.service((abort) => resultsOf(service, state, abort));
    });
  }

  private async placed(call: OneCall): Promise<string> {
    if (this.rootOrderId !== undefined) return this.rootOrderId;
    const placing = this.#access.calls.client.workflow.getHandle(placeKitOrderId(this.reference ?? ''));
    const { orderId } = await call.result<PlaceKitOrderResult>(placing, whilePlacing);
    this.rootOrderId = orderId;
    return orderId;
  }

  /** The state of a placing that is still under way. */
  private async placing(call: OneCall): Promise<PlacingState | undefined> {
    const placing = await this.runningPlacing();
    if (!placing) return undefined;
    const state = await call.query(placing, placingStateQuery);
    // There is an order, which is being handed over.
    return state.orderId === undefined ? state : undefined;
  }

  private async cancelPlacing(call: OneCall): Promise<CancelledPlacing | undefined> {
    const placing = await this.runningPlacing();
    if (!placing) return this.cancelledBefore(call);
    const end = await call.update<PlacingEnd | undefined, OfActor>(placing, cancelPlacingUpdate, {}, () =>
      this.cancelledBefore(call),
    );
    return end?.outcome === 'cancelled' ? end : undefined;
  }

  /** A placing that is over may have been cancelled; its order or its failure is read later. */
  private async cancelledBefore(call: OneCall): Promise<CancelledPlacing | undefined> {
    try {
      await this.placed(call);
      return undefined;
    } catch (error) {
      if (!(toClientError(error, orderErrorMap) instanceof PlacingCancelled)) throw error;
      return { outcome: 'cancelled', reference: this.reference ?? '' };
    }
  }

  private async runningPlacing(): Promise<WorkflowHandle | undefined> {
    if (this.rootOrderId !== undefined) return undefined;
    const placing = this.#access.calls.client.workflow.getHandle(placeKitOrderId(this.reference ?? ''));
    return (await placing.describe()).status.name === 'RUNNING' ? placing : undefined;
  }

  /** The workflow that follows the order; from here on the call waits for that one. */
  private async workflow(call: OneCall): Promise<WorkflowHandle> {
    return call.waitFor(this.#access.calls.client.workflow.getHandle(kitOrderId(await this.placed(call))));
  }

  private async read(call: OneCall): Promise<OrderState> {
    return call.state(await this.workflow(call), stateQuery);
  }

  private async preview(call: OneCall, changes: OrderPolicy): Promise<PolicyPreview> {
    const answer = await call.query(await this.workflow(call), policyPreviewQuery, changes);
    if (!('refused' in answer)) return answer;
    const { type, message, details } = answer.refused;
    const refusal = new WorkflowUpdateFailedError(message, ApplicationFailure.nonRetryable(message, type, details));
    const root = forwardedTo(refusal);
    if (root === undefined) throw refusal;
    return new OrderHandle(this.#access, { rootOrderId: root }).preview(call, changes);
  }

  /** After the order's end its result names the current order: reading a history needs no worker. */
  private async current(call: OneCall): Promise<OrderState> {
    const workflow = await this.workflow(call);
    const { status } = await workflow.describe();
    return status.name === 'COMPLETED' ? this.ended(call) : call.query(workflow, stateQuery);
  }

  private async ended(call: OneCall): Promise<KitOrderResult> {
    const result = await call.result<KitOrderResult>(await this.workflow(call), orderCalls.waiting.underWay);
    if (result.outcome !== 'forwarded') return result;
    return new OrderHandle(this.#access, { rootOrderId: result.rootOrderId }).ended(call);
  }

  /** @param isDone true if the state shows the command's effect: repeated after the end it is a success */
  private async command<T>(
    update: UpdateDefinition<OrderState, [T]>,
    argument: T,
    options: CallOptions,
    isDone?: (state: LastState) => boolean,
  ): Promise<OrderState> {
    return this.#access.calls.call(orderCalls.command, options, (call) => this.send(call, update, argument, isDone));
  }

  private async send<T>(
    call: OneCall,
    update: UpdateDefinition<OrderState, [T]>,
    argument: T,
    isDone: ((state: LastState) => boolean) | undefined,
  ): Promise<OrderState> {
    const workflow = await this.workflow(call);
    try {
      return await call.update(workflow, update, argument, async () => {
        const last = await lastState(call, workflow);
        if (last.forwardsTo !== undefined) {
          const ofChain = new OrderHandle(this.#access, { rootOrderId: last.forwardsTo });
          return ofChain.send(call, update, argument, isDone);
        }
        if (isDone?.(last)) return stateIn<OrderState>(last);
        throw new OrderEnded('The order has ended and takes no more commands');
      });
    } catch (error) {
      const root = forwardedTo(error);
      if (root === undefined) throw error;
      return new OrderHandle(this.#access, { rootOrderId: root }).send(call, update, argument, isDone);
    }
  }
}

/** The last state. That of an order that has ended by itself also has what a later run continues with. */
type LastState = OrderState & Partial<Pick<KitOrderResult, 'answers' | 'policy'>>;

async function lastState(call: OneCall, workflow: WorkflowHandle): Promise<LastState> {
  const { status } = await workflow.describe();
  if (status.name !== 'COMPLETED') return call.query(workflow, stateQuery);
  return call.result<KitOrderResult>(workflow, orderCalls.command.underWay);
}

function isResolved(state: LastState, orderId: string, decision: Decision): boolean {
  if (decision === 'replace') return isReplaced(state, orderId);
  if (decision === 'abandon' && state.outcome === 'abandoned') return true;
  const isMeant = (given: string) => given === canonicalId(orderId);
  return state.answers?.some((answer) => isMeant(answer.orderId) && answer.decision === decision) ?? false;
}

function hasPolicy({ policy }: LastState, changes: OrderPolicy): boolean {
  return policy !== undefined && canonicalJson(resolvePolicy('order', changes, policy)) === canonicalJson(policy);
}

/** @throws OrderInvalid naming every setting that is unknown or out of range */
export function policyChanges(policy: OrderPolicy): OrderPolicy {
  let changes: OrderPolicy = {};
  const faults = policyFaults(() => (changes = checkedPolicyChanges(policy)));
  refuseFaulty('The policy', faults, OrderInvalid);
  return changes;
}

/** Removes undefined fields: the worker's rules do not accept them. */
function whichOf(orderId: string | undefined): WhichOrder {
  return orderId === undefined ? {} : { orderId };
}

function linkOf({ chain }: OrderState, orderId: string): ChainLink | undefined {
  return chain.find((link) => link.orderId === canonicalId(orderId));
}

function isReplaced(state: OrderState, orderId: string): boolean {
  const { replacedBy = '' } = linkOf(state, orderId) ?? {};
  return linkOf(state, replacedBy)?.origin === 'replacement';
}

function isAcknowledged({ timeline }: OrderState, command: AcknowledgeCriticalResultCommand): boolean {
  const { orderId, alarm, by, outcome } = command;
  const isMeant = (given: string | undefined) => alarm === undefined || given === alarm;
  return timeline.some(
    (entry) =>
      entry.orderId === canonicalId(orderId) && entry.by === by && entry.detail === outcome && isMeant(entry.alarm),
  );
}

/** A kit that was replaced may bring the results all the same. */
async function resultsOf(service: LabService, state: OrderState, abort: { signal: AbortSignal }): Promise<Results> {
  const completed = state.chain.findLast(({ phase }) => phase === 'completed');
  try {
    return await resultsOfOrder(service, state, state.orderId, abort);
  } catch (error) {
    if (!(error instanceof NotFound) || completed === undefined) throw error;
    return resultsOfOrder(service, state, completed.orderId, abort);
  }
}

/** A replacement has a transaction of its own. */
async function resultsOfOrder(
  { orders }: LabService,
  state: OrderState,
  orderId: string,
  abort: { signal: AbortSignal },
): Promise<Results> {
  const { replaces, origin } = linkOf(state, orderId) ?? {};
  const isRedraw = replaces !== undefined && origin !== 'replacement';
  const transactionId = isRedraw ? (await orders.get(orderId, abort)).order_transaction?.id : undefined;
  return transactionId == null ? orders.results(orderId, abort) : orders.transactionResults(transactionId, abort);
}
