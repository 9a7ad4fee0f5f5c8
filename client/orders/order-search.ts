import type { Order, OrderFilter } from '../../service/order/orders.js';
import { snapshotOf } from '../../service/order/projection.js';
import { canonicalId } from '../../service/canonical-id.js';
import { isCritical, isSameInterpretation, spellingsOf, readStatus } from '../../protocol/order/lifecycle.js';
import { ReadInvalid } from '../errors.js';
import { checkRead, refuseFaulty } from '../input-faults.js';

/** The conditions of a search, at least one; a result must meet all that are given. */
export interface OrderSearch {
  /** Every order of the team, which must be requested explicitly. */
  all?: true;
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

const searchable = {
  all: 'true or false',
  userId: 'a non-empty string',
  status: 'a non-empty list of strings',
  interpretation: 'a non-empty string',
  from: 'a valid Date',
  to: 'a valid Date',
} as const satisfies Record<keyof OrderSearch, string>;

/** @throws ReadInvalid */
export function serviceFilterOf(search: OrderSearch): OrderFilter {
  checkRead('The search', search, searchable);
  const { all, from, to, ...same } = search;
  if (all !== true && Object.keys(search).every((field) => field === 'all')) {
    const message = 'must have a condition, or { all: true } for every order of the team';
    refuseFaulty('The search', [{ field: 'search', message }], ReadInvalid);
  }
  return {
    ...same,
    ...(from !== undefined && { startDate: from.toISOString() }),
    ...(to !== undefined && { endDate: to.toISOString() }),
  };
}

/**
 * False for an order that the search excludes: the specification documents only one filter of the list, and a service that
 * ignores one lists everybody's orders. An order that shows neither status nor time is believed.
 */
export function isSearched(order: Order, { userId, status, interpretation, from, to }: OrderSearch): boolean {
  const { events, createdAt } = snapshotOf(order, []);
  const last = events.at(-1);
  const at = createdAt === undefined ? undefined : Date.parse(createdAt);
  return (
    (userId === undefined || isOf(order, userId)) &&
    (interpretation === undefined || hasInterpretation(order, interpretation)) &&
    (status === undefined ||
      last === undefined ||
      status.some((each) => spellingsOf(readStatus(each.toLowerCase()).low).includes(readStatus(last.status).low))) &&
    (from === undefined || at === undefined || at >= from.getTime()) &&
    (to === undefined || at === undefined || at <= to.getTime())
  );
}

/** Whatever raises an alarm is found as `critical`, in whichever words the service writes it. */
function hasInterpretation({ interpretation }: Order, searched: string): boolean {
  if (isSameInterpretation(interpretation, searched)) return true;
  return isSameInterpretation('critical', searched) && isCritical(interpretation);
}

export function isOf({ user_id: owner }: Order, userId: string): boolean {
  return owner != null && canonicalId(owner) === canonicalId(userId);
}
