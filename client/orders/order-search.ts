import type { OrderFilter } from '../../service/orders.js';
import type { RefusedField } from '../errors.js';
import { joinFaults } from '../input-faults.js';
import { OrderInvalid } from './errors.js';

/** Which orders the service is asked for; everything that is given must hold. */
export interface OrderSearch {
  userId?: string;
  /** Low-level statuses of the service, for instance `awaiting_registration`; any of them. */
  status?: readonly string[];
  /** `normal`, `abnormal` or `critical`; the list grows. */
  interpretation?: string;
  /** Created then or later. */
  from?: Date;
  /** Created then or earlier. */
  to?: Date;
}

/** @throws OrderInvalid for what would be ignored, so that more orders would be found than were meant */
export function queryOf(search: OrderSearch): OrderFilter {
  const faults = faultsOf(search);
  if (faults.length > 0) throw new OrderInvalid(`The search is not valid: ${joinFaults(faults)}`, { fields: faults });
  const { from, to, ...same } = search;
  return {
    ...same,
    ...(from !== undefined && { startDate: from.toISOString() }),
    ...(to !== undefined && { endDate: to.toISOString() }),
  };
}

function faultsOf(search: OrderSearch): RefusedField[] {
  return Object.entries(search).flatMap(([field, value]) => {
    if (!searchable.some((known) => known === field)) return [{ field, message: 'is not known here' }];
    if (value == null) return [{ field, message: 'has no value' }];
    const isDate = field === 'from' || field === 'to';
    if (!isDate || (value instanceof Date && !Number.isNaN(value.getTime()))) return [];
    return [{ field, message: 'must be a valid Date' }];
  });
}

const searchable = ['userId', 'status', 'interpretation', 'from', 'to'] as const satisfies (keyof OrderSearch)[];
