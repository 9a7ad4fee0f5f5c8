import type { SearchAttributePair } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { canonicalJson } from './canonical-json.js';

/**
 * What operators see: the case file, and search attributes. Those are written only when one of them changes, which is
 * once per coarse phase and not per event; what the start set already is not written again.
 */
export function showToOperators(caseFile: string, attributes: readonly SearchAttributePair[]): void {
  setCurrentDetails(caseFile);
  const present = workflowInfo().typedSearchAttributes;
  const changed = attributes.filter(({ key, value }) => canonicalJson(present.get(key) ?? []) !== canonicalJson(value));
  if (changed.length > 0) upsertSearchAttributes(changed);
}
