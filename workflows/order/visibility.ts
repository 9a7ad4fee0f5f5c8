import type { SearchAttributePair } from '@temporalio/common';
import {
  labAttentionKey,
  labOrderIdKey,
  labPhaseKey,
  labReferenceKey,
  labTransactionIdKey,
  ofUser,
} from '../search-attributes.js';
import { showToOperators } from '../visibility.js';
import { caseFileOf } from './case-file.js';
import { currentOrder, type Case } from './case.js';
import type { Run } from './run.js';
import { stateOf } from './view.js';

/** Shows the case file and the search attributes of the order as it is now. */
export function show({ kase }: Run): void {
  showToOperators(caseFileOf(kase), attributesOf(kase));
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
    ...ofUser(userId),
  ];
}
