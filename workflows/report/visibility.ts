import { labAttentionKey, labPhaseKey, labReferenceKey, ofUser, supersededPhase } from '../search-attributes.js';
import { showToOperators } from '../visibility.js';
import { reportCaseFileOf } from './case-file.js';
import { currentPhase, type ReportCase } from './case.js';

/** Shows the case file and the search attributes of the job as it is now. */
export function show(kase: ReportCase): void {
  const { reference, userId, attention, ending } = kase;
  showToOperators(reportCaseFileOf(kase), [
    { key: labPhaseKey, value: ending === 'superseded' ? supersededPhase : currentPhase(kase) },
    { key: labAttentionKey, value: attention.map(({ reason }) => reason).toSorted() },
    ...(reference === undefined ? [] : [{ key: labReferenceKey, value: reference }]),
    ...ofUser(userId),
  ]);
}
