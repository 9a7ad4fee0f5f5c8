import type { Client } from '@temporalio/client';
import { isAddressable, kitOrderId } from '../../workflows/order/address.js';
import { kitOrderName, type AttentionReason, type OrderPhase } from '../../workflows/order/messages.js';
import {
  forwardedPhase,
  labAttentionKey,
  labOrderIdKey,
  labPhaseKey,
  labReferenceKey,
  labUserIdKey,
} from '../../workflows/search-attributes.js';
import { canonicalUserId } from '../../workflows/user-id.js';
import { OrderInvalid } from './errors.js';
import type { OrderFilter } from './orders.js';

/** One line of a list, read from search attributes. */
export interface OrderSummary {
  rootOrderId: string;
  /** Every order of the chain. */
  orderIds: string[];
  reference?: string;
  userId?: string;
  phase?: OrderPhase;
  attention: AttentionReason[];
  startedAt: Date;
  endedAt?: Date;
}

export async function* listOrders(
  temporal: Client,
  filter: OrderFilter,
): AsyncGenerator<OrderSummary, void, undefined> {
  for await (const execution of temporal.workflow.list({ query: queryOf(filter) })) {
    const attributes = execution.typedSearchAttributes;
    const reference = attributes.get(labReferenceKey);
    const userId = attributes.get(labUserIdKey);
    const phase = attributes.get(labPhaseKey);
    yield {
      rootOrderId: execution.workflowId.slice(kitOrderId('').length),
      orderIds: attributes.get(labOrderIdKey) ?? [],
      ...(reference !== undefined && { reference }),
      ...(userId !== undefined && { userId }),
      ...(phase !== undefined && { phase: phase as OrderPhase }),
      attention: (attributes.get(labAttentionKey) ?? []) as AttentionReason[],
      startedAt: execution.startTime,
      ...(execution.closeTime && { endedAt: execution.closeTime }),
    };
  }
}

function queryOf({ phase, attention, userId, ended = false }: OrderFilter): string {
  const conditions = [`WorkflowType = '${kitOrderName}'`];
  if (!ended) conditions.push(`ExecutionStatus = 'Running'`);
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
