import { TypedSearchAttributes } from '@temporalio/common';
import type { CriticalResultReport } from '../../service/order/critical-result.js';
import type { OrderSnapshot } from '../../service/order/snapshot.js';
import {
  labOrderIdKey,
  labPhaseKey,
  labReferenceKey,
  ofAttention,
  ofTransaction,
  ofUser,
} from '../search-attributes.js';
import { kitOrderId } from '../ids.js';
import { readPassthrough, rootOf } from './root-order.js';
import { phaseOf } from './lifecycle.js';
import { kitOrderName, type KitOrderInput } from './messages.js';
import type { ResolvedOrderPolicy } from './policy.js';
import type { WorkflowStart } from '../signal-or-start.js';
import { resolvePolicy } from '../policy/policies.js';
import { omitNullish } from '../../service/json-object.js';

/** Resolved once: every webhook needs it, in case it starts a run. */
const resolvedDefaults = resolvePolicy('order');

/**
 * The start options for the workflow that follows the order's chain, to be used with signal-with-start. Search
 * attributes set at the start cost nothing; the running workflow changes them later.
 *
 * @param policy by default today's defaults, which become data of the history
 */
export function kitOrderStart(
  snapshot: OrderSnapshot,
  rootOrderId = rootOf(snapshot),
  reference = readPassthrough(snapshot.passthrough)?.reference,
  policy: ResolvedOrderPolicy = resolvedDefaults,
): WorkflowStart<KitOrderInput> {
  // The run itself says if it takes in an order that names it.
  const namedByUs = readPassthrough(snapshot.passthrough)?.root !== undefined;
  return {
    name: kitOrderName,
    workflowId: kitOrderId(rootOrderId),
    args: [{ rootOrderId, policy }],
    // Worked out when a run is started: most webhooks come to one that runs.
    get typedSearchAttributes() {
      return new TypedSearchAttributes([
        { key: labOrderIdKey, value: namedByUs ? [rootOrderId] : [...new Set([rootOrderId, snapshot.orderId])] },
        { key: labPhaseKey, value: phaseOf(snapshot.events, snapshot.status) },
        ...(reference === undefined || reference === rootOrderId ? [] : [{ key: labReferenceKey, value: reference }]),
        ...ofUser(snapshot.userId),
        ...ofTransaction(snapshot.transaction?.id),
      ]);
    },
    staticSummary: `Lab order ${reference ?? rootOrderId}`,
    staticDetails: 'Follows one lab order, its redraws and its replacements from placement to results.',
  };
}

/**
 * The same for a report of a critical result, which may be the first news of its order. The alarm is found from the first
 * moment, also while the service cannot be asked whose order it is.
 */
export function criticalResultStart(
  { orderId, userId }: Pick<CriticalResultReport, 'orderId' | 'userId'>,
  rootOrderId = orderId,
  at = new Date(),
): WorkflowStart<KitOrderInput> {
  const start = kitOrderStart(omitNullish({ orderId, events: [], userId }), rootOrderId);
  const alarm = ofAttention(['critical_result'], [at.toISOString()]);
  return { ...start, typedSearchAttributes: start.typedSearchAttributes.updateCopy(alarm) };
}
