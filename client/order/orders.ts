import type { WorkflowExecutionInfo } from '@temporalio/client';
import type { Order, OrderSearch } from '../../service/order/orders.js';
import { kitOrderId, placeKitOrderId, idIn } from '../../protocol/ids.js';
import { kitOrderName, type PolicyPreview } from '../../protocol/order/messages.js';
import { type PlaceKitOrderInput, placeKitOrderName } from '../../protocol/order/placing-messages.js';
import type { AttentionReason, OrderPhase } from '../../protocol/order/state.js';
import type { OrderPolicy } from '../../protocol/order/policy.js';
import { type ReconcileResult, rangeFaults } from '../../protocol/reconcile.js';
import {
  forwardedPhase,
  labOrderIdKey,
  labPhaseKey,
  labReferenceKey,
  labUserIdKey,
  placingPhase,
} from '../../protocol/search-attributes.js';
import type { CallOptions } from '../call-options.js';
import { LabOperationsError } from '../../service/lab-operations-error.js';
import { NoWorker, TemporalUnreachable } from '../errors.js';
import { optionFaults, referenceFaults, refuseFaulty } from '../input-faults.js';
import { askService, listFromService, type ServiceAccess } from '../service-calls.js';
import { startOnce } from '../workflow-runs.js';
import { goesOn } from '../workflow-calls.js';
import { OrderEnded, orderErrorMap, OrderInvalid, ReferenceConflict } from './errors.js';
import { adoptOrder, checkedAdoption, type AdoptedOrder, type AdoptOrder } from './adopting.js';
import { findPlacement, findRootOrder, isSearched, serviceFilterOf } from './order-finder.js';
import { OrderHandle, policyChanges, orderCalls } from './order-handle.js';
import { checkPlacing, placingDigest, withCanonicalUser, type PlaceOptions } from './placing.js';
import { reconcileRange, type ReconcileOptions } from './reconciliation.js';
import {
  listWorkflows,
  referenceOf,
  type ListOptions,
  type WorkflowFilter,
  type WorkflowSummary,
} from '../workflow-list.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

export type WhichHandle = { reference: string } | { orderId: string };

export interface AdoptOptions extends CallOptions {
  /** True: nothing is changed, and the lab service is not asked. Default false. */
  dryRun?: boolean;
}

export interface SetPolicyOptions extends CallOptions {
  /** True: nothing is changed. Default false. */
  dryRun?: boolean;
}

/** An order whose policy is changed, and what that means for it. */
export interface PolicyChanged extends PolicyPreview {
  rootOrderId: string;
  reference?: string;
}

/** An order whose policy could not be changed. */
export interface PolicyNotChanged {
  rootOrderId: string;
  reference?: string;
  error: LabOperationsError;
}

/** The outcome for one order. */
export type PolicyChange = PolicyChanged | PolicyNotChanged;

/** Running orders: all of them, or those that match everything that is given, which is at least one thing. */
export type OrderSelection =
  | { all: true }
  | AtLeastOne<Omit<OrderFilter, 'all' | 'ended' | 'phase'> & { phase?: OrderPhase }>;

type AtLeastOne<T> = { [Name in keyof T]-?: T & Required<Pick<T, Name>> }[keyof T];

const reconciling = { errors: orderErrorMap, underWay: goesOn('Reconciling'), defaultDeadline: '10m' } as const;

/** Orders of test kits. Every method also rejects with the errors of {@link CallOptions}. */
export class OrderOperations {
  readonly #access: ServiceAccess;

  constructor(access: ServiceAccess) {
    this.#access = access;
  }

  /**
   * Places one order for a reference and returns as soon as that is started: from then on it happens, whatever fails.
   * The same reference with the same order gives the one that is already there, also after it has ended. It keeps the policy
   * that it was first placed with. Deadline: 30 seconds.
   *
   * @throws OrderInvalid naming each field and its rule, before anything is started
   * @throws ReferenceConflict when the reference was used for an order with other details
   */
  async place(given: PlaceKitOrderInput, { markers, ...options }: PlaceOptions = {}): Promise<OrderHandle> {
    checkPlacing(given, markers);
    const input = withCanonicalUser({ ...given, policy: resolvePolicy('order', given.policy) });
    return this.#access.calls.call(orderCalls.starting, options, () => this.startPlacing(input));
  }

  /**
   * Gives an order that was made before this worker, or elsewhere, your reference: from then on it is found, listed and reported by
   * it. Nothing is ordered, and a kit made elsewhere is never replaced automatically. Repeating it is harmless. Deadline: 30 seconds.
   *
   * @param options `dryRun`: only what is known to Temporal is checked
   * @throws OrderInvalid naming each field and its rule, before anything is started
   * @throws OrderTaken when the order has another reference, or another installation placed it
   * @throws ReferenceConflict when the reference is another order's
   * @throws OrderNotFound when the lab service does not know the order; ServiceDown
   */
  async adopt(given: AdoptOrder, { dryRun = false, ...options }: AdoptOptions = {}): Promise<AdoptedOrder> {
    const order = checkedAdoption(given);
    refuseFaulty('The call', optionFaults(options), OrderInvalid);
    const kind = dryRun ? orderCalls.reading : orderCalls.starting;
    return this.#access.calls.call(kind, options, (call) => adoptOrder(this.#access, call, order, dryRun));
  }

  /**
   * The order with a reference, or the chain that an order id belongs to: the first order, a redraw or a replacement.
   * Deadline: 30 seconds.
   * @throws OrderNotFound
   */
  async getHandle(which: WhichHandle, options: CallOptions = {}): Promise<OrderHandle> {
    const access = this.#access;
    const { orderId, reference = '' }: { orderId?: string; reference?: string } = { ...which };
    if (orderId !== undefined) {
      const rootOrderId = await access.calls.call(orderCalls.reading, options, (call) =>
        findRootOrder(access, call, orderId),
      );
      return new OrderHandle(access, { rootOrderId });
    }
    refuseFaulty('The order', referenceFaults(reference), OrderInvalid);
    const found = await access.calls.call(orderCalls.reading, options, () => findPlacement(access, reference));
    return new OrderHandle(access, { reference, ...found });
  }

  /**
   * Compares the service's list of orders updated in a range of time with the workflows, and signals updates that they
   * have not received. The worker does this every hour; this method is for an older range. Waits for the end.
   *
   * @param range ISO 8601: dates, or times with their zone. A date is its midnight in UTC, so the day of a `to` is not
   * included. It ends ten minutes ago at the latest
   * @param options `onProgress` gets the progress every few seconds. Each time is a query: a billable action. Deadline:
   * 10 minutes; the run continues after it, and the same range joins it
   * @throws OrderInvalid for an invalid range, before anything is started; ServiceDown
   */
  async reconcile(range: { from: string; to: string }, options: ReconcileOptions = {}): Promise<ReconcileResult> {
    const { onProgress, onEarlierFailure, ...callOptions } = options;
    refuseFaulty('The range', rangeFaults(range), OrderInvalid);
    return this.#access.calls.call(reconciling, callOptions, (call) =>
      reconcileRange(this.#access.calls, call, range, {
        ...(onProgress && { onProgress }),
        ...(onEarlierFailure && { onEarlierFailure }),
      }),
    );
  }

  /**
   * The whole order as the service has it now: shipment with carriers and tracking addresses, patient, addresses, requisition,
   * transaction, expected dates. Needs neither a worker nor a history. `NotFound` if the service does not know it. Deadline: 30
   * seconds.
   *
   * @throws ServiceNotConfigured, and the service's own errors
   */
  async read(orderId: string, options: CallOptions = {}): Promise<Order> {
    return askService(this.#access, orderCalls.reading, options, ({ orders }, abort) => orders.get(orderId, abort));
  }

  /**
   * Orders as the service has them, newest first, a page per call: of a user, in a status, of a time, by interpretation. Also
   * those that no workflow follows. Deadline: 30 seconds a page.
   *
   * @throws ReadInvalid and ServiceNotConfigured at once; later the service's own errors, such as `AnswerUnreadable` for an order
   * without an id
   */
  search(search: OrderSearch, options: CallOptions = {}): AsyncGenerator<Order, void, undefined> {
    const filter = serviceFilterOf(search);
    return listFromService(
      this.#access,
      orderCalls.reading,
      options,
      ({ orders }, abort) => orders.list(filter, abort),
      (order) => isSearched(order, search),
    );
  }

  /**
   * Orders by their search attributes, a page per call to Temporal; no workflow is woken. Lags by moments. Deadline: 30
   * seconds a page.
   */
  list(filter: OrderFilter, options: ListOptions = {}): AsyncGenerator<OrderSummary, void, undefined> {
    return this.#access.calls.iterate(orderCalls.reading, options, () =>
      listWorkflows(this.#access.calls.client, orders, filter, options),
    );
  }

  /**
   * Changes settings of the policy of every running order that is selected, one after the other, and yields what became of each:
   * what would happen at which time before and what happens then, or the error. An order that fails does not stop the others.
   * Orders that are still being placed, or end meanwhile, are left out. Repeating it is harmless. Deadline: 30 seconds for a
   * page, and for each order.
   *
   * @param options `dryRun`: only shows what would change
   * @throws OrderInvalid for a selection or a policy that is not valid, before anything is changed
   * @throws NoWorker, TemporalUnreachable, TemporalRefused, EncryptionKeysMissing and EncryptionRequired, which concern every
   * order: what it has yielded is changed, the last one perhaps, and nothing else
   */
  async *setPolicy(
    selection: OrderSelection,
    policy: OrderPolicy,
    { dryRun = false, ...options }: SetPolicyOptions = {},
  ): AsyncGenerator<PolicyChange, void, undefined> {
    policyChanges(policy);
    refuseFaulty('The call', optionFaults(options), OrderInvalid);
    for await (const { rootOrderId, reference } of this.list(filterOf(selection), options)) {
      if (rootOrderId === undefined) continue;
      const order = { rootOrderId, ...(reference !== undefined && { reference }) };
      const handle = new OrderHandle(this.#access, { rootOrderId });
      try {
        const preview = await handle.previewPolicy(policy, options);
        const after = dryRun ? preview.after : (await handle.setPolicy(policy, options)).waiting;
        yield { ...order, ...preview, after };
      } catch (error) {
        if (error instanceof OrderEnded) continue;
        if (!(error instanceof LabOperationsError)) throw error;
        yield { ...order, error };
        if (concernsEveryOrder(error)) throw error;
      }
    }
  }

  private async startPlacing(input: PlaceKitOrderInput): Promise<OrderHandle> {
    const { reference } = input;
    await startOnce(this.#access.calls, placeKitOrderName, {
      workflowId: placeKitOrderId(reference),
      input,
      inputDigest: placingDigest(input),
      searchAttributes: [
        { key: labReferenceKey, value: reference },
        { key: labUserIdKey, value: input.order.user_id },
        { key: labPhaseKey, value: placingPhase },
      ],
      staticSummary: `Place lab order ${reference}`,
      staticDetails: 'Places exactly one order for its reference and hands it over to the workflow that follows it.',
      conflict: () => new ReferenceConflict(`The reference ${reference} was used for an order with other details`),
    });
    return new OrderHandle(this.#access, { reference });
  }
}

const selectable = ['phase', 'attention', 'userId'] as const satisfies (keyof OrderFilter)[];

/**
 * All orders must be requested explicitly: a condition that is misspelt, or whose value is missing, must not mean all
 * of them.
 */
function filterOf(selection: OrderSelection): OrderFilter {
  const { all, ...filter }: { all?: unknown } & Omit<OrderFilter, 'all'> = { ...selection };
  const names = Object.keys(filter);
  const isAll = all === true && names.length === 0;
  const faults = names.flatMap((name) => {
    if (!selectable.some((known) => known === name)) return [{ field: name, message: 'is not known here' }];
    return filter[name as keyof typeof filter] == null ? [{ field: name, message: 'has no value' }] : [];
  });
  if (filter.phase === 'placing') {
    faults.push({
      field: 'phase',
      message: 'must not be placing: a policy can change once the service has taken the order',
    });
  }
  if (!isAll && (all !== undefined || names.length === 0)) {
    faults.push({ field: 'selection', message: `must have ${selectable.join(', ')}, or { all: true }` });
  }
  refuseFaulty('The selection', faults, OrderInvalid);
  return isAll ? { all } : filter;
}

/** Of many orders that are changed one after the other, the next one would fail in the same way. */
export function concernsEveryOrder(error: LabOperationsError): boolean {
  return error.kind === 'misconfigured' || error instanceof NoWorker || error instanceof TemporalUnreachable;
}

/** The orders that a list has. In the phase `placing` the service has not taken the order yet; such orders can have failed, too. */
export type OrderFilter = WorkflowFilter<OrderPhase | 'placing', AttentionReason>;

/** One line of a list, read from search attributes. */
export interface OrderSummary extends WorkflowSummary<OrderPhase | typeof placingPhase, AttentionReason> {
  /** Absent while the order is being placed. */
  rootOrderId?: string;
  /** Every order of the chain. */
  orderIds: string[];
  reference?: string;
}

// A placing that has completed is its order, which has a workflow of its own.
const placings = `(WorkflowType = '${placeKitOrderName}' AND ExecutionStatus IN ('Running', 'Failed'))`;
const orders = {
  workflows: `(WorkflowType = '${kitOrderName}' OR ${placings})`,
  hidden: forwardedPhase,
  // A placing that failed would be found in any list of ended ones, although the same reference was placed since.
  repeated: placeKitOrderName,
  invalid: OrderInvalid,
  own: (execution: WorkflowExecutionInfo) => ({
    ...(execution.type === kitOrderName && { rootOrderId: idIn(execution.workflowId, kitOrderId) }),
    orderIds: execution.typedSearchAttributes.get(labOrderIdKey) ?? [],
    ...referenceOf(execution),
  }),
};
