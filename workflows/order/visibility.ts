import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { SearchAttributePair } from '@temporalio/common';
import { canonicalJson } from '../canonical-json.js';
import {
  labAttentionKey,
  labOrderIdKey,
  labPhaseKey,
  labReferenceKey,
  labTransactionIdKey,
  labUserIdKey,
} from '../search-attributes.js';
import { caseFileOf } from './case-file.js';
import { currentOrder, type Case } from './case.js';
import type { Run } from './run.js';
import { stateOf } from './view.js';

/**
 * What operators see: the case file, and search attributes. Those are written only when one of them changes, which is
 * once per coarse phase and not per event; what the start set already is not written again.
 */
export function show({ kase }: Run): void {
  setCurrentDetails(caseFileOf(kase));
  const present = workflowInfo().typedSearchAttributes;
  const changed = attributesOf(kase).filter(
    ({ key, value }) => canonicalJson(present.get(key) ?? []) !== canonicalJson(value),
  );
  if (changed.length > 0) upsertSearchAttributes(changed);
}

function attributesOf(kase: Case): SearchAttributePair[] {
  const { chain, phase, reference, userId, attention } = stateOf(kase);
  const transactionId = currentOrder(kase).greatest.transaction?.id;
  return [
    { key: labPhaseKey, value: phase },
    { key: labOrderIdKey, value: [...new Set([kase.rootOrderId, ...chain.map(({ orderId }) => orderId)])] },
    { key: labAttentionKey, value: [...new Set(attention.map(({ reason }) => reason))].toSorted() },
    ...(reference === undefined ? [] : [{ key: labReferenceKey, value: reference }]),
    ...(transactionId === undefined ? [] : [{ key: labTransactionIdKey, value: transactionId }]),
    ...(userId === undefined ? [] : [{ key: labUserIdKey, value: userId }]),
  ];
}
