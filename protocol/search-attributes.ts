import {
  defineSearchAttributeKey,
  SearchAttributeType,
  type SearchAttributePair,
  type SearchAttributeUpdatePair,
  type TypedSearchAttributes,
  defaultPayloadConverter,
} from '@temporalio/common';
import { isAddressable } from './ids.js';
import { parsingJobName } from './report/messages.js';
import { canonicalId } from '../service/canonical-id.js';

/**
 * The search attributes of workflows, for operators and the client. Search attributes are never encrypted, so none of
 * them may carry personal data. Their names and types are registered with the namespace before the first start
 * (docs/operations.md); a workflow that sets an unregistered one would be retried forever.
 */

/** The product's own key of the order or the lab report. */
export const labReferenceKey = defineSearchAttributeKey('LabReference', SearchAttributeType.KEYWORD);
/** The order ids of the chain, so each of them finds the workflow: see `ofOrders`. */
export const labOrderIdKey = defineSearchAttributeKey('LabOrderId', SearchAttributeType.KEYWORD_LIST);
/** The service's order transaction of the current order. */
export const labTransactionIdKey = defineSearchAttributeKey('LabTransactionId', SearchAttributeType.KEYWORD);
/** The service's user id of the patient. */
export const labUserIdKey = defineSearchAttributeKey('LabUserId', SearchAttributeType.KEYWORD);
/** The coarse progress of the work: see `OrderPhase`, `ReportPhase`. */
export const labPhaseKey = defineSearchAttributeKey('LabPhase', SearchAttributeType.KEYWORD);
/** The reason why a person should look: see `AttentionReason`, `ReportAttentionReason`. Empty if there is none. */
export const labAttentionKey = defineSearchAttributeKey('LabAttention', SearchAttributeType.KEYWORD_LIST);
/** Since when the oldest of these reasons stands; unset if there is none. */
export const labAttentionSinceKey = defineSearchAttributeKey('LabAttentionSince', SearchAttributeType.DATETIME);

/** The ids of a run's orders, their transaction and its parsing job: events may name one of them instead of the user. */
export function workIdsOf(run: {
  type: string;
  workflowId: string;
  typedSearchAttributes: TypedSearchAttributes;
}): string[] {
  const { type, workflowId, typedSearchAttributes } = run;
  const transactionId = typedSearchAttributes.get(labTransactionIdKey);
  return [
    ...(typedSearchAttributes.get(labOrderIdKey) ?? []),
    ...(transactionId === undefined ? [] : [transactionId]),
    ...(type === parsingJobName ? [workflowId.slice(workflowId.indexOf('/') + 1)] : []),
  ];
}

/** Temporal's own: set while a workflow's tasks fail again and again, so it cannot go on. */
export const reportedProblemsKey = defineSearchAttributeKey(
  'TemporalReportedProblems',
  SearchAttributeType.KEYWORD_LIST,
);

/**
 * LabAttention and LabAttentionSince, for a start or an update.
 *
 * @param since of each reason that stands, ISO 8601
 */
export function ofAttention(reasons: readonly string[], since: readonly string[]): SearchAttributeUpdatePair[] {
  const oldest = since.toSorted()[0];
  return [
    { key: labAttentionKey, value: [...new Set(reasons)].toSorted() },
    { key: labAttentionSinceKey, value: oldest === undefined ? null : new Date(oldest) },
  ];
}

/*
 * A webhook's ids may be anything, even an e-mail address; and Temporal refuses an event whose ids are too long: only addressable ones
 * become search attributes.
 */

/** LabUserId if a user is known, in the spelling of searches. */
export function ofUser(userId: string | undefined): SearchAttributePair[] {
  return isAddressable(userId) ? [{ key: labUserIdKey, value: canonicalId(userId) }] : [];
}

/** Temporal ends a workflow whose attribute is larger than 2,048 bytes; a UUID takes 39. */
const mostOrderIds = 40;
const mostOrderIdBytes = 2_000;

/**
 * LabOrderId: the first order, the current one, and the newest.
 *
 * @param orderIds the oldest first
 */
export function ofOrders(rootOrderId: string, currentId: string, orderIds: readonly string[]): SearchAttributePair {
  const kept = new Set<string>();
  let bytes = 2;
  for (const id of [rootOrderId, currentId, ...orderIds.toReversed()]) {
    if (kept.has(id) || !isAddressable(id)) continue;
    bytes += id.length + 3;
    if (kept.size === mostOrderIds || bytes > mostOrderIdBytes) break;
    kept.add(id);
  }
  const all = new Set([rootOrderId, ...orderIds]);
  return { key: labOrderIdKey, value: [...all].filter((id) => kept.has(id)) };
}

/** LabTransactionId if a transaction is known. */
export function ofTransaction(transactionId: string | undefined): SearchAttributePair[] {
  return isAddressable(transactionId) ? [{ key: labTransactionIdKey, value: canonicalId(transactionId) }] : [];
}

/** LabPhase of a placing: there is no order yet. */
export const placingPhase = 'placing';

/** LabPhase of a forwarder, which passes its signals to the workflow of another root order. */
export const forwardedPhase = 'forwarded';

/** LabPhase of a parsing job whose place another job of the same file has taken. */
export const supersededPhase = 'superseded';

export const searchAttributeKeys = [
  labReferenceKey,
  labOrderIdKey,
  labTransactionIdKey,
  labUserIdKey,
  labPhaseKey,
  labAttentionKey,
  labAttentionSinceKey,
] as const;

/**
 * A workflow client that leaves out the memos of what it lists and describes: one that cannot be decrypted would hide all other
 * workflows. Two memos only are read: the digest of what a reference was used for, and a stop's reason (protocol/placing-stop.ts).
 */
export function withoutMemos<WorkflowClient extends object>(workflow: WorkflowClient): WorkflowClient {
  const nothing = defaultPayloadConverter.toPayload(undefined);
  const decode = async (payloads: readonly unknown[]) => payloads.map(() => nothing);
  const dataConverter = { payloadConverter: defaultPayloadConverter, payloadCodecs: [{ decode }] };
  return Object.create(workflow, { dataConverter: { value: dataConverter } }) as WorkflowClient;
}
