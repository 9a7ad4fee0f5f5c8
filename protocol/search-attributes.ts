import { defineSearchAttributeKey, SearchAttributeType, type SearchAttributePair } from '@temporalio/common';
import { isAddressable, canonicalUserId } from './ids.js';

/**
 * What operators and the client can search workflows by. Search attributes are never encrypted, so none of them may
 * carry personal data. Their names and types are registered with the namespace before the first start
 * (docs/operations.md); a workflow that sets one that is not registered would be retried for ever.
 */

/** The product's own key of the order or the lab report. */
export const labReferenceKey = defineSearchAttributeKey('LabReference', SearchAttributeType.KEYWORD);
/** Every order id of the chain, so that any of them finds the workflow. */
export const labOrderIdKey = defineSearchAttributeKey('LabOrderId', SearchAttributeType.KEYWORD_LIST);
/** The service's order transaction of the current order. */
export const labTransactionIdKey = defineSearchAttributeKey('LabTransactionId', SearchAttributeType.KEYWORD);
/** The service's user id of the patient. */
export const labUserIdKey = defineSearchAttributeKey('LabUserId', SearchAttributeType.KEYWORD);
/** Where the work stands, coarsely: see `OrderPhase`, `ReportPhase`. */
export const labPhaseKey = defineSearchAttributeKey('LabPhase', SearchAttributeType.KEYWORD);
/** Why a person should look: see `AttentionReason`, `ReportAttentionReason`. Empty when nobody needs to. */
export const labAttentionKey = defineSearchAttributeKey('LabAttention', SearchAttributeType.KEYWORD_LIST);

/** LabUserId where a user is known, spelt as it is looked for. */
export function ofUser(userId: string | undefined): SearchAttributePair[] {
  return isId(userId) ? [{ key: labUserIdKey, value: canonicalUserId(userId) }] : [];
}

/** LabTransactionId where a transaction is known. */
export function ofTransaction(transactionId: string | undefined): SearchAttributePair[] {
  return isId(transactionId) ? [{ key: labTransactionIdKey, value: transactionId }] : [];
}

/** What a webhook calls an id may be anything, an e-mail address too; and Temporal refuses an event whose ids are too long. */
function isId(text: string | undefined): text is string {
  return text !== undefined && isAddressable(text);
}

/** LabPhase of a placing: there is no order yet. */
export const placingPhase = 'placing';

/** LabPhase of a run that only passes on what it hears to the workflow of another root order. */
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
] as const;
