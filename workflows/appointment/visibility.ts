import { labAttentionKey, labOrderIdKey, labPhaseKey, ofUser } from '../search-attributes.js';
import { showToOperators } from '../visibility.js';
import { caseFileOf } from './case-file.js';
import type { AppointmentCase } from './case.js';
import { appointmentStateOf } from './view.js';

/** Shows the case file and the search attributes of the appointment as it is now. */
export function show(kase: AppointmentCase): void {
  const state = appointmentStateOf(kase);
  showToOperators(caseFileOf(state), [
    { key: labPhaseKey, value: state.phase },
    { key: labAttentionKey, value: state.attention.toSorted() },
    { key: labOrderIdKey, value: [state.orderId] },
    ...ofUser(state.userId),
  ]);
}
