import type { ActivityOptions } from '@temporalio/workflow';
import type { OrderSnapshot } from '../../service/order/snapshot.js';
import { activities } from '../activity-options.js';
import { isDue, timeOf } from '../entity/loop-timer.js';
import { absenceBelieved, doubled, hour, isAbsenceBelieved, longestOutage, minute, spread } from '../entity/spans.js';
import { askedPause, isNotFound, loggedRefusal } from '../entity/commands.js';
import { clear, raise } from './announcements.js';
import { currentOrder, outcomeOf, unreadOrder, type Chain } from './chain.js';
import { receiveSnapshot } from './intake.js';
import { unfinishedOrders } from './redraws.js';
import type { KitOrderRun } from './run.js';

/** Reads the orders that a transaction names and that no webhook reported, and those that a dropped signal may have been about. */
export async function readUnreadOrders(run: KitOrderRun): Promise<void> {
  const { chain } = run;
  for (let orderId = unreadOrder(chain); orderId !== undefined; orderId = unreadOrder(chain)) {
    if (isPostponed(chain) || (await readOrder(run, orderId)) === 'unanswered') return;
    if (chain.dropped?.includes(orderId)) chain.dropped = chain.dropped.filter((id) => id !== orderId);
    // Also if it was read: the service may answer with another spelling of its id.
    else chain.lookedUp.push(orderId);
  }
}

const unread = 'order could not be read';

/** Nothing waits for their answer: without one they stay as they are known. */
export async function readUnfinishedOrders(run: KitOrderRun): Promise<void> {
  const { chain } = run;
  for (const { orderId, key } of unfinishedOrders(chain)) {
    chain.lookedUpUnfinished = [...(chain.lookedUpUnfinished ?? []), key];
    try {
      const snapshot = await askService(orderId);
      if (snapshot) receiveSnapshot(run, snapshot);
    } catch (error) {
      loggedRefusal(unread, { orderId }, error);
    }
  }
}

/**
 * A current order that was known and is gone ends the chain, once the service has said so for long enough. One that cannot be
 * read now is `unanswered` and will be read again. A refusal other than 404 (an id that is not a UUID) will be one next
 * time, too.
 * @param more `aheadOfBacklog()` in a command
 */
export async function readOrder(
  run: KitOrderRun,
  orderId: string,
  more: ActivityOptions = {},
): Promise<'read' | 'gone' | 'refused' | 'unanswered'> {
  const { chain } = run;
  try {
    const snapshot = await askService(orderId, more);
    if (!snapshot && !recordAbsence(chain, orderId, timeOf(chain))) return 'unanswered';
    chain.absent = chain.absent.filter((absence) => absence.orderId !== orderId);
    if (chain.unansweredRead?.orderId === orderId) endPostponement(chain, timeOf(chain));
    if (snapshot) receiveSnapshot(run, snapshot);
    else if (orderId === currentOrder(chain).orderId && outcomeOf(chain) === undefined) chain.ending = 'order_gone';
    return snapshot ? 'read' : 'gone';
  } catch (error) {
    const refusal = loggedRefusal(unread, { orderId }, error);
    // A 404 that is the service's own answer is not a failure: it is read as null.
    if (refusal.type === 'ServiceRefused' && !isNotFound(refusal)) return 'refused';
    postpone(chain, orderId, timeOf(chain), askedPause(refusal));
    return 'unanswered';
  }
}

function askService(orderId: string, more: ActivityOptions = {}): Promise<OrderSnapshot | null> {
  const summary = `read order ${orderId.slice(0, 8)}`;
  return activities.readOrder.executeWithOptions({ ...more, summary }, [orderId]);
}

/*
 * An action that cannot be undone waits for the service's answer: what the workflow knows may be old. Time comes in as data.
 */

/** Most outages are over in minutes or hours, and the decision is due: the first pause is short, the next ones double. */
const firstPause = 10 * minute;
const longestReadPause = 6 * hour;

/** True if decisions wait for a later read. */
export function isPostponed(chain: Chain): boolean {
  return chain.unansweredRead !== undefined && !isDue(chain, chain.unansweredRead.againAt);
}

/** The order could not be read, or the service does not know it yet: it is read again before anything is decided. */
function postpone(chain: Chain, orderId: string, now: number, asked: number): void {
  const before = chain.unansweredRead?.orderId === orderId ? chain.unansweredRead : undefined;
  const { since, times } = before ?? { since: now, times: 0 };
  const pause = doubled(firstPause, times, Math.min(longestReadPause, chain.policy.recheckEvery));
  const shownAt = since + longestOutage;
  if (now >= shownAt) askAbout(chain, orderId, now);
  const again = now + Math.max(spread(pause, orderId), asked);
  const againAt = now < shownAt ? Math.min(again, shownAt) : again;
  chain.unansweredRead = { orderId, since, times: times + 1, againAt };
}

/** The service refuses to show the order, as it does with an id that is not a UUID, and will again: a person is asked at once. */
export function postponeRefused(chain: Chain, orderId: string, now: number): void {
  askAbout(chain, orderId, now);
  chain.unansweredRead = { orderId, since: now, times: 1, againAt: now + chain.policy.recheckEvery };
}

export function askAbout(chain: Chain, orderId: string, now: number): void {
  raise(chain, { key: `${orderId}/unreadable`, reason: 'order_unreadable', orderId }, now);
}

/** The order was read, or nothing is left to decide. */
export function endPostponement(chain: Chain, now: number): void {
  delete chain.unansweredRead;
  clear(chain, ({ reason }) => reason === 'order_unreadable', now);
}

/** The service does not know the order; answers whether it has said so for long enough to be believed. */
export function recordAbsence(chain: Chain, orderId: string, now: number): boolean {
  const before = chain.absent.find((absence) => absence.orderId === orderId);
  if (before && isAbsenceBelieved(before.since, now)) return true;
  if (!before) chain.absent.push({ orderId, since: now });
  const since = before?.since ?? now;
  // Not before a second answer would count. Another read may have ended the pause that began with the first.
  chain.unansweredRead = { orderId, since, times: 1, againAt: since + absenceBelieved };
  return false;
}

export function isAbsent({ absent }: Chain, orderId: string): boolean {
  return absent.some((absence) => absence.orderId === orderId);
}
