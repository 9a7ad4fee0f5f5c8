import { TypedSearchAttributes } from '@temporalio/common';
import type { OrderSnapshot } from '../../service/order-snapshot.js';
import { labOrderIdKey, labPhaseKey, labReferenceKey, labTransactionIdKey, ofUser } from '../search-attributes.js';
import { kitOrderId, readPassthrough, rootOf } from './address.js';
import { phaseOf } from './lifecycle.js';
import type { KitOrderInput } from './messages.js';

/** How a `kitOrder` is started; the same whoever starts it: a webhook, the hand-over, or a forwarder. */
export interface KitOrderStart {
  workflowId: string;
  args: [KitOrderInput];
  typedSearchAttributes: TypedSearchAttributes;
  staticSummary: string;
  staticDetails: string;
}

/**
 * The start options for the workflow that follows the order's chain, to be used with signal-with-start. Search
 * attributes set at the start cost nothing; the running workflow changes them later.
 */
export function kitOrderStart(
  snapshot: OrderSnapshot,
  rootOrderId = rootOf(snapshot),
  reference = readPassthrough(snapshot.passthrough)?.reference,
): KitOrderStart {
  return {
    workflowId: kitOrderId(rootOrderId),
    args: [{ rootOrderId }],
    typedSearchAttributes: new TypedSearchAttributes([
      { key: labOrderIdKey, value: [...new Set([rootOrderId, snapshot.orderId])] },
      { key: labPhaseKey, value: phaseOf(snapshot.events, snapshot.status) },
      ...(reference === undefined || reference === rootOrderId ? [] : [{ key: labReferenceKey, value: reference }]),
      ...ofUser(snapshot.userId),
      ...(snapshot.transaction === undefined ? [] : [{ key: labTransactionIdKey, value: snapshot.transaction.id }]),
    ]),
    staticSummary: `Lab order ${reference ?? rootOrderId}`,
    staticDetails: 'Follows one lab order, its redraws and its replacements from placement to results.',
  };
}
