import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import {
  labAttentionKey,
  labOrderIdKey,
  labPhaseKey,
  labReferenceKey,
  labTransactionIdKey,
  labUserIdKey,
} from '../search-attributes.js';
import type { Run } from './run.js';
import { canonicalJson } from './state.js';
import { currentOrder } from './case.js';
import { caseFileOf, stateOf } from './view.js';

/**
 * What operators see: the case file, and search attributes that are written only when one of them changes, which is
 * once per coarse phase and not per event.
 */
export function show({ kase }: Run): void {
  setCurrentDetails(caseFileOf(kase));
  const state = stateOf(kase);
  const transactionId = currentOrder(kase).greatest.transaction?.id;
  const reasons = [...new Set(state.attention.map(({ reason }) => reason))].toSorted();
  const orderIds = [...new Set([kase.rootOrderId, ...state.chain.map(({ orderId }) => orderId)])];
  const shown = canonicalJson([state.reference, orderIds, transactionId, state.userId, state.phase, reasons]);
  if (kase.shown === shown) return;
  kase.shown = shown;
  upsertSearchAttributes([
    { key: labPhaseKey, value: state.phase },
    { key: labOrderIdKey, value: orderIds },
    { key: labAttentionKey, value: reasons },
    ...(state.reference === undefined ? [] : [{ key: labReferenceKey, value: state.reference }]),
    ...(transactionId === undefined ? [] : [{ key: labTransactionIdKey, value: transactionId }]),
    ...(state.userId === undefined ? [] : [{ key: labUserIdKey, value: state.userId }]),
  ]);
}
