import { WorkflowNotFoundError, type Client, type WorkflowExecutionInfo } from '@temporalio/client';
import { isAddressable, kitOrderId, canonicalUserId } from '../../protocol/ids.js';
import {
  kitOrderName,
  placeKitOrderName,
  type AttentionReason,
  type OrderPhase,
} from '../../protocol/order/messages.js';
import {
  forwardedPhase,
  labAttentionKey,
  labOrderIdKey,
  labPhaseKey,
  labReferenceKey,
  labUserIdKey,
  type placingPhase,
} from '../../protocol/search-attributes.js';
import { OrderInvalid } from './errors.js';
import type { OrderFilter } from './orders.js';

/** One line of a list, read from search attributes. */
export interface OrderSummary {
  /** Absent while the order is being placed. */
  rootOrderId?: string;
  /** Every order of the chain. */
  orderIds: string[];
  reference?: string;
  userId?: string;
  phase?: OrderPhase | typeof placingPhase;
  attention: AttentionReason[];
  startedAt: Date;
  endedAt?: Date;
}

/** Each order once, by its latest run: a webhook that comes after the end starts another. */
export async function* listOrders(
  temporal: Client,
  filter: OrderFilter,
): AsyncGenerator<OrderSummary, void, undefined> {
  const listed = new Set<string>();
  // Temporal lists the running ones first, then the others by their ends, the latest first.
  for await (const execution of temporal.workflow.list({ query: queryOf(filter) })) {
    if (listed.has(execution.workflowId)) continue;
    listed.add(execution.workflowId);
    if (execution.closeTime && !(await isLatest(temporal, execution, filter))) continue;
    yield summaryOf(execution);
  }
}

/**
 * An earlier run keeps the phase and the attention that it ended with: by them it is found although the order has moved on.
 * A placing that failed is found in any list of ended ones, although the same reference was placed since.
 */
async function isLatest(
  temporal: Client,
  { workflowId, runId, type }: WorkflowExecutionInfo,
  { phase, attention }: OrderFilter,
): Promise<boolean> {
  if (type !== placeKitOrderName && phase === undefined && attention === undefined) return true;
  try {
    return (await temporal.workflow.getHandle(workflowId).describe()).runId === runId;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

function summaryOf(execution: WorkflowExecutionInfo): OrderSummary {
  const { workflowId, type, typedSearchAttributes: attributes, startTime, closeTime } = execution;
  const reference = attributes.get(labReferenceKey);
  const userId = attributes.get(labUserIdKey);
  const phase = attributes.get(labPhaseKey);
  return {
    ...(type === kitOrderName && { rootOrderId: workflowId.slice(kitOrderId('').length) }),
    orderIds: attributes.get(labOrderIdKey) ?? [],
    ...(reference !== undefined && { reference }),
    ...(userId !== undefined && { userId }),
    ...(phase !== undefined && { phase: phase as OrderPhase | typeof placingPhase }),
    attention: (attributes.get(labAttentionKey) ?? []) as AttentionReason[],
    startedAt: startTime,
    ...(closeTime && { endedAt: closeTime }),
  };
}

function queryOf({ phase, attention, userId, ended = false }: OrderFilter): string {
  // A placing that has completed is its order, which has a workflow of its own.
  const placings = `(WorkflowType = '${placeKitOrderName}' AND ExecutionStatus IN ('Running', 'Failed'))`;
  const conditions = [`(WorkflowType = '${kitOrderName}' OR ${placings})`];
  // A run that was continued is superseded by the next one.
  conditions.push(ended ? `ExecutionStatus != 'ContinuedAsNew'` : `ExecutionStatus = 'Running'`);
  if (phase === undefined) conditions.push(`${labPhaseKey.name} != '${forwardedPhase}'`);
  else conditions.push(`${labPhaseKey.name} = '${quotable('phase', phase)}'`);
  if (attention === true) conditions.push(`${labAttentionKey.name} IS NOT NULL`);
  else if (attention !== undefined) conditions.push(`${labAttentionKey.name} = '${quotable('attention', attention)}'`);
  if (userId !== undefined) conditions.push(`${labUserIdKey.name} = '${canonicalUserId(quotable('userId', userId))}'`);
  return conditions.join(' AND ');
}

/** Nothing that goes into a query may end its quotes. */
function quotable(field: string, value: string): string {
  if (isAddressable(value)) return value;
  throw new OrderInvalid(`The filter is not valid: ${field}`, {
    fields: [{ field, message: 'must be letters, digits, dots, hyphens or underscores' }],
  });
}
