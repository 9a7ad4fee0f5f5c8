import { createHash } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { z } from 'zod';
import { orderRequestSchema, testkitOrderRequestSchema } from '../../service/orders.js';
import { brokenRulesOf } from '../../service/validation.js';
import { canonicalJson } from '../../workflows/canonical-json.js';
import { placeKitOrderId } from '../../workflows/order/address.js';
import {
  placeKitOrderName,
  type AttentionReason,
  type OrderPhase,
  type PlaceKitOrderInput,
} from '../../workflows/order/messages.js';
import { resolvePolicy } from '../../workflows/order/policy.js';
import type { ReconcileProgress, ReconcileResult } from '../../workflows/reconcile/messages.js';
import { labReferenceKey, labUserIdKey } from '../../workflows/search-attributes.js';
import { ofCanonicalUser } from '../../workflows/user-id.js';
import type { RefusedField } from '../errors.js';
import { inOneLine, policyFaults, referenceFaults } from '../input-faults.js';
import { inWords } from '../workflow-calls.js';
import { OrderInvalid, orderWords, ReferenceConflict } from './errors.js';
import { findPlacement, findRootOrder, type OrderFinder } from './order-finder.js';
import { KitOrderHandle } from './order-handle.js';
import { listOrders, type OrderSummary } from './order-list.js';
import { reconcileRange } from './reconciliation.js';

export type WhichHandle = { reference: string } | { orderId: string };

/** Orders of test kits. */
export interface OrderFilter {
  phase?: OrderPhase;
  /** `true`: orders that ask for attention for any reason. Placings that do are not orders yet: docs/operations.md. */
  attention?: true | Exclude<AttentionReason, 'ambiguous_order' | 'placing_delayed'>;
  userId?: string;
  /** Also orders that have ended, as long as the namespace retains them. Default false. */
  ended?: boolean;
}

export class OrderOperations {
  private readonly finder: OrderFinder;
  private readonly taskQueue: string;

  constructor(finder: OrderFinder, taskQueue: string) {
    this.finder = finder;
    this.taskQueue = taskQueue;
  }

  /**
   * Places one order for a reference and returns as soon as that is started: from then on it happens, whatever fails.
   * The same reference with the same input gives the order that is already there, also after it has ended.
   *
   * @throws OrderInvalid naming each field and its rule, before anything is started
   * @throws ReferenceConflict when the reference was used for an order with other details
   */
  async place(given: PlaceKitOrderInput): Promise<KitOrderHandle> {
    check(given);
    const input = withCanonicalUser(given);
    const { reference } = input;
    const workflowId = placeKitOrderId(reference);
    const inputDigest = digestOf(input);
    const { workflow } = this.finder.temporal;
    try {
      await workflow.start(placeKitOrderName, {
        workflowId,
        taskQueue: this.taskQueue,
        args: [input],
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
        memo: { inputDigest },
        typedSearchAttributes: new TypedSearchAttributes([
          { key: labReferenceKey, value: reference },
          { key: labUserIdKey, value: input.order.user_id },
        ]),
        staticSummary: `Place lab order ${reference}`,
        staticDetails: 'Places exactly one order for its reference and hands it over to the workflow that follows it.',
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    const { memo } = await inWords(orderWords, () => workflow.getHandle(workflowId).describe());
    if (memo?.['inputDigest'] !== inputDigest) {
      throw new ReferenceConflict(`The reference ${reference} was used for an order with other details`);
    }
    return new KitOrderHandle(this.finder, { reference });
  }

  /**
   * The order with a reference, or the chain that an order id belongs to: the first order, a redraw or a replacement.
   * @throws OrderNotFound
   */
  async get(which: WhichHandle): Promise<KitOrderHandle> {
    if ('orderId' in which) {
      return new KitOrderHandle(this.finder, { rootOrderId: await findRootOrder(this.finder, which.orderId) });
    }
    const { reference } = which;
    const faults = referenceFaults(reference);
    if (faults.length > 0) throw invalid(faults);
    return new KitOrderHandle(this.finder, { reference, ...(await findPlacement(this.finder, reference)) });
  }

  /**
   * Compares the service's list of orders updated in a range of time with what the workflows have heard, and tells them.
   * The worker does this every hour by itself; here it is for a range that lies further back. Waits for the end.
   * @param range ISO 8601: dates, or times with their zone. A date is its midnight in UTC, so that the day of a `to` is not
   * included. It ends ten minutes ago at the latest
   * @param onProgress is told every few seconds how far it has come. Each time is a query: a billable action
   * @throws OrderInvalid for a range that is none, before anything is started; ServiceDown
   */
  async reconcile(
    range: { from: string; to: string },
    onProgress?: (progress: ReconcileProgress) => void,
  ): Promise<ReconcileResult> {
    return reconcileRange(this.finder.temporal, this.taskQueue, range, onProgress);
  }

  /** Orders by what their search attributes say, a page per call to Temporal; no workflow is woken. Lags by moments. */
  list(filter: OrderFilter = {}): AsyncGenerator<OrderSummary, void, undefined> {
    return listOrders(this.finder.temporal, filter);
  }
}

/** Everything that is wrong, at once. A caller in plain JavaScript is checked by no compiler. */
function check(input: PlaceKitOrderInput): void {
  const faults = [
    ...referenceFaults(input.reference),
    ...orderFaults(input),
    ...policyFaults(() => resolvePolicy(input.policy)),
  ];
  if (faults.length > 0) throw invalid(faults);
}

function orderFaults({ kind, order }: PlaceKitOrderInput): RefusedField[] {
  if (kind !== 'unregistered' && kind !== 'with_patient') {
    return [{ field: 'kind', message: 'must be unregistered or with_patient' }];
  }
  if (typeof order !== 'object' || order === null) return [{ field: 'order', message: 'is required' }];
  if ('passthrough' in order) return [{ field: 'order.passthrough', message: 'is ours: it carries the reference' }];
  const schema: z.ZodType = kind === 'unregistered' ? testkitOrderRequestSchema : orderRequestSchema;
  return brokenRulesOf(schema, order).map(({ field, rule }) => ({ field: `order.${field}`, message: rule }));
}

function invalid(fields: RefusedField[]): OrderInvalid {
  return new OrderInvalid(`The order is not valid: ${inOneLine(fields)}`, { fields });
}

/** A user's id in either spelling is the same order. */
function withCanonicalUser(input: PlaceKitOrderInput): PlaceKitOrderInput {
  return input.kind === 'unregistered'
    ? { ...input, order: ofCanonicalUser(input.order) }
    : { ...input, order: ofCanonicalUser(input.order) };
}

/** Tells one order from another without keeping its details in the clear. */
function digestOf({ kind, order, policy }: PlaceKitOrderInput): string {
  return createHash('sha256').update(canonicalJson({ kind, order, policy })).digest('hex');
}
