import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { kitOrderId } from '../../protocol/ids.js';
import { kitOrderName } from '../../protocol/order/messages.js';
import { placeKitOrderName } from '../../protocol/order/placing-messages.js';
import type { AttentionReason, OrderPhase } from '../../protocol/order/state.js';
import { forwardedPhase, labOrderIdKey, type placingPhase } from '../../protocol/search-attributes.js';
import { listWorkflows, referenceOf, type WorkflowFilter, type WorkflowSummary } from '../workflow-list.js';
import { OrderInvalid } from './errors.js';

/** Which orders a list has. In the phase `placing` the service has not taken the order yet; such orders can have failed, too. */
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
    ...(execution.type === kitOrderName && { rootOrderId: execution.workflowId.slice(kitOrderId('').length) }),
    orderIds: execution.typedSearchAttributes.get(labOrderIdKey) ?? [],
    ...referenceOf(execution),
  }),
};

export function listOrders(temporal: Client, filter: OrderFilter): AsyncGenerator<OrderSummary, void, undefined> {
  return listWorkflows(temporal, orders, filter);
}
