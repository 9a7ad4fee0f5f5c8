import type { Client } from '@temporalio/client';
import { kitOrderId } from '../../protocol/ids.js';
import {
  kitOrderName,
  placeKitOrderName,
  type AttentionReason,
  type OrderPhase,
} from '../../protocol/order/messages.js';
import { forwardedPhase, labOrderIdKey, labReferenceKey, type placingPhase } from '../../protocol/search-attributes.js';
import { listWorkflows, summaryOf, type ListedArea, type WorkflowSummary } from '../workflow-list.js';
import { OrderInvalid } from './errors.js';
import type { OrderFilter } from './orders.js';

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
const orders: ListedArea = {
  workflows: `(WorkflowType = '${kitOrderName}' OR ${placings})`,
  hidden: forwardedPhase,
  // A placing that failed would be found in any list of ended ones, although the same reference was placed since.
  repeated: placeKitOrderName,
  invalid: OrderInvalid,
};

export async function* listOrders(
  temporal: Client,
  filter: OrderFilter,
): AsyncGenerator<OrderSummary, void, undefined> {
  for await (const execution of listWorkflows(temporal, orders, filter)) {
    const { workflowId, type, typedSearchAttributes: attributes } = execution;
    const reference = attributes.get(labReferenceKey);
    yield {
      ...(type === kitOrderName && { rootOrderId: workflowId.slice(kitOrderId('').length) }),
      orderIds: attributes.get(labOrderIdKey) ?? [],
      ...(reference !== undefined && { reference }),
      ...summaryOf<OrderPhase | typeof placingPhase, AttentionReason>(execution),
    };
  }
}
