import { isCritical, isSameInterpretation, readStatus } from '../../protocol/order/lifecycle.js';
import { isAlarmReminder } from '../../protocol/notifications/delivery.js';
import type { CriticalResult, CriticalResultRecord } from '../../protocol/order/state.js';
import type { CriticalResultReport } from '../../service/order/critical-result.js';
import { enqueue, headOf, raise } from './announcements.js';
import { isDue, type Moment } from '../entity/loop-timer.js';
import { note } from '../entity/journal.js';
import { currentOrder, findOrder, type Chain, type ChainOrder } from './chain.js';
import type { KitOrderRun } from './run.js';
import type { OrderRecord } from './snapshots.js';
import { iso } from '../entity/spans.js';
import { omitNullish } from '../../protocol/json.js';

/*
 * Results that somebody must act on at once. A report of the service's own is one, and so is an order with a critical
 * interpretation, in whichever words: webhooks get lost, and nothing else would heal that. Only a person's acknowledgement
 * (`acknowledging.ts`) closes one.
 */

/** One report, or what an order's own interpretation amounts to. */
interface News extends Pick<CriticalResultReport, 'orderId' | 'interpretation' | 'updatedAt'> {
  status: string;
  /** The order's last `corrected` event: what was acknowledged before it was another result. */
  correctedBy?: number;
  /** The order said something else before. */
  isChange?: boolean;
  /** True for a report, which may be another result, unlike the order's own interpretation. */
  isReport?: boolean;
}

/**
 * Looks at everything that was reported: alarms are raised in the handler that received them, because the main loop may
 * be busy with a new kit for a quarter of an hour. A run that does not know yet whose order it is only keeps them.
 */
export function raiseCriticalResults({ chain, forwardsTo }: KitOrderRun, now: number): void {
  if (!chain.identified || forwardsTo !== undefined) return;
  const reports = chain.criticalReports;
  chain.criticalReports = [];
  for (const { orderId, status, interpretation, updatedAt } of reports) {
    const own = omitNullish({ status, interpretation, updatedAt });
    alarmIfNews(chain, { ...newsOf(chain, orderId), ...own, isReport: true }, now);
  }
  // Of the records alone: the standing of an order costs time, and in a burst of reports nobody asks for it.
  for (const record of chain.orders) alarmIfInterpretedCritical(chain, record, now);
}

export function isAlarmed({ criticalReports, orders }: Chain): boolean {
  return criticalReports.length > 0 || orders.some(({ wasCritical }) => wasCritical);
}

/** The reports that another chain's workflow has to know. */
export function openReports({ criticalReports, criticalResults }: Chain): CriticalResultReport[] {
  const open = criticalResults.filter(({ isOpen }) => isOpen);
  return [
    ...open.map(({ orderId, status, interpretation, updatedAt }) =>
      omitNullish({ orderId, status, interpretation, updatedAt }),
    ),
    ...criticalReports.map(({ order: _order, ...report }) => report),
  ];
}

export function awaitsAcknowledgement({ criticalResults }: Chain): boolean {
  return criticalResults.some(({ isOpen }) => isOpen);
}

export function findCriticalResult(chain: Chain, orderId: string): CriticalResultRecord | undefined {
  return chain.criticalResults.find((result) => result.orderId === orderId);
}

/** When the next reminder of a critical result is due. If nobody is notified, it would wake the workflow for nothing. */
export function nextReminder({ criticalResults, notifies, policy }: Chain): Moment | undefined {
  if (notifies === false) return undefined;
  const moments = criticalResults
    .filter(({ isOpen }) => isOpen)
    .map((result) => lastReminder(result) + policy.criticalResultReminder);
  return moments.length === 0 ? undefined : { at: Math.min(...moments), name: 'critical_result_reminder' };
}

/** When the last reminder was due, else when the result was raised, in milliseconds: the policy's interval counts from here. */
function lastReminder({ since, remindedAt = since }: CriticalResultRecord): number {
  return Date.parse(remindedAt);
}

/** Several that are due at once, after a long silence of the worker, are sent as one. */
export function remindOfCriticalResults(chain: Chain, now: number): void {
  for (const result of chain.criticalResults) {
    const interval = chain.policy.criticalResultReminder;
    const last = lastReminder(result);
    const due = Math.floor((now - last) / interval);
    if (!result.isOpen || chain.notifies === false || due < 1 || !isDue(chain, last + interval)) continue;
    const at = iso(last + due * interval);
    result.reminders += due;
    result.remindedAt = at;
    const { orderId, since, status, reminders } = result;
    // One that could not be delivered is overtaken: an outbox must not grow with the receiver's outage.
    dropReminders(chain, orderId);
    // By its time: a run that does not know of the one before counts from 1 again, and a receiver drops an id that it had.
    const head = headOf(chain, orderOf(chain, orderId), `${keyOf(result)}/critical_result_reminder/${at}`, at);
    const data = { reminder: reminders, status, since, alarm: alarmOf(result) };
    enqueue(chain, { ...head, orderId, type: 'critical_result_reminder', data });
    note(chain, `critical result reminder ${reminders}`, now, orderId);
  }
}

/** For callers: the one that waits for its acknowledgement, else the latest. */
export function shownCriticalResult({ criticalResults }: Chain): CriticalResult | undefined {
  const shown = criticalResults.find(({ isOpen }) => isOpen) ?? criticalResults.at(-1);
  if (!shown) return undefined;
  const { orderId, status, interpretation, since, isOpen, reminders, acknowledgements } = shown;
  return {
    orderId,
    alarm: alarmOf(shown),
    status,
    since,
    isOpen,
    reminders,
    acknowledgements,
    ...(interpretation !== undefined && { interpretation }),
  };
}

/** The service's field may lag behind its own event, so a word other than `critical` takes nothing back. */
function alarmIfInterpretedCritical(chain: Chain, { orderId, latest, wasCritical }: OrderRecord, now: number): void {
  const { interpretation, flaggedCritical } = latest;
  const known = findCriticalResult(chain, orderId);
  if (interpretation !== undefined && isCritical(interpretation)) {
    const before = known?.orderSaid;
    const isChange = before !== undefined && !isSameInterpretation(before, interpretation);
    alarmIfNews(chain, { ...newsOf(chain, orderId), interpretation, isChange }, now);
  } else if (flaggedCritical || (wasCritical && !known)) {
    // Somebody must look, whatever the word, and even if a later webhook overtook the alarm.
    const said = omitNullish({ interpretation: flaggedCritical ? interpretation : 'critical' });
    alarmIfNews(chain, { ...newsOf(chain, orderId), ...said }, now);
  }
  const result = findCriticalResult(chain, orderId);
  if (result && interpretation !== undefined) result.orderSaid = interpretation;
}

function alarmIfNews(chain: Chain, { isChange = false, isReport = false, ...news }: News, now: number): void {
  const known = findCriticalResult(chain, news.orderId);
  const isUntimed = isReport && news.updatedAt === undefined;
  if (known && !isNews(known, news, isChange || isUntimed)) {
    if (isUntimed) known.isUntimed = true;
    if ((news.updatedAt ?? '') > (known.updatedAt ?? '')) Object.assign(known, { ...news, status: known.status });
    return;
  }
  const asked = known?.isOpen === true ? known : undefined;
  const { remindedAt, ...before } = known ?? {};
  const result: CriticalResultRecord = {
    ...before,
    ...news,
    // What is final stays so: the order's own interpretation must not raise it once more.
    ...(known && rankOf(known.status) > rankOf(news.status) && { status: known.status }),
    ...(asked && remindedAt !== undefined && { remindedAt }),
    isOpen: true,
    since: asked?.since ?? iso(now),
    reminders: asked?.reminders ?? 0,
    acknowledgements: known?.acknowledgements ?? [],
    announced: known?.announced ?? [],
    ...(isUntimed && { isUntimed }),
  };
  result.announced = [...result.announced, nextKey(result)];
  chain.criticalResults = [...chain.criticalResults.filter(({ orderId }) => orderId !== news.orderId), result];
  const { status, updatedAt = iso(now) } = news;
  const head = headOf(chain, orderOf(chain, news.orderId), alarmOf(result), updatedAt);
  const data = omitNullish({ status, interpretation: result.interpretation });
  enqueue(chain, { ...head, orderId: news.orderId, type: 'critical_result', data });
  if (!asked) raise(chain, { key: keyOf(result), reason: 'critical_result', orderId: news.orderId }, now);
}

/**
 * An order and a status are one result, however often it is reported. A final one replaces a partial one, a correction
 * replaces both. Once acknowledged, a later version is another result: somebody has to look again. So is every report that does not say
 * when it was made, or says a time in the future.
 */
function isNews(known: CriticalResultRecord, news: News, isChange: boolean): boolean {
  if ((news.correctedBy ?? -1) > (known.correctedBy ?? -1)) return true;
  if (rankOf(news.status) > rankOf(known.status)) return true;
  if (known.isOpen) return false;
  const acknowledged = known.acknowledgements.at(-1)?.at ?? '';
  const isEarlierKind = rankOf(news.status) < rankOf(known.status);
  // Nothing is older than a report without a time.
  const seen = known.updatedAt ?? (known.isUntimed ? '' : acknowledged);
  // One that came late may be older than what was acknowledged.
  const late = isEarlierKind && !known.isUntimed && acknowledged > seen ? acknowledged : seen;
  return isChange || (news.updatedAt ?? '') > late;
}

function rankOf(status: string): number {
  return status === 'final' ? 1 : 0;
}

/** Nothing of a run is in it: the order, its correction, the status, and a count if all of that comes again. */
function nextKey({ orderId, correctedBy, status, announced }: CriticalResultRecord): string {
  const key = `${orderId}/${correctedBy === undefined ? '' : `${correctedBy}.`}${status}`;
  const times = announced.filter((other) => other === key || other.startsWith(`${key}.`)).length;
  return times === 0 ? key : `${key}.${times + 1}`;
}

/** Every alarm that was raised for it, by the ids of their notifications; the last one is what a person must act on. */
export function alarmsOf({ announced }: CriticalResultRecord): string[] {
  return announced.map(alarmIdOf);
}

export function alarmOf(result: CriticalResultRecord): string {
  return alarmIdOf(keyOf(result));
}

function alarmIdOf(key: string): string {
  return `${key}/critical_result`;
}

function keyOf({ announced, orderId }: CriticalResultRecord): string {
  return announced.at(-1) ?? orderId;
}

/** If nothing says what kind of result it is, it is final once the order has its results. */
function newsOf(chain: Chain, orderId: string): News {
  const order = findOrder(chain, orderId);
  const correctedBy = order?.events.findLast(({ status }) => readStatus(status).low === 'corrected')?.id;
  const status = order?.standing.phase === 'completed' ? 'final' : 'partial';
  return omitNullish({ orderId, status, correctedBy });
}

function orderOf(chain: Chain, orderId: string): ChainOrder {
  return findOrder(chain, orderId) ?? currentOrder(chain);
}

export function dropReminders(chain: Chain, orderId: string): void {
  chain.outbox = chain.outbox.filter((each) => !(isAlarmReminder(each) && each.subject === orderId));
}
