import { checkedChanges } from '../policy/resolution.js';
import {
  choice,
  count,
  dates,
  deadline,
  defaultsOf,
  duration,
  durations,
  following,
  poll,
  type PolicyOf,
  type ResolvedSettings,
} from '../policy/settings.js';
import { settlingAfter } from '../settling.js';

/**
 * The reaction without a person: `ask` raises attention and waits, `replace` orders a new kit, `fail` ends the order.
 */
export type Remedy = (typeof remedies)[number];

const remedies = ['ask', 'replace', 'fail'] as const;

/**
 * How long each part of an order may take and what happens when it goes wrong. The service documents none of it
 * (docs/internals/lab-service.md, "Problems and durations"), so all of it is input, and every default has its reason.
 *
 * `problemLimit` and every deadline except `notificationDeadline` may be in business days (`'6bd'`): time on a clock that stands
 * still at weekends and on `holidays`, in the zone of `utcOffset`. Everything else is calendar time, 1 second to 10 years unless it says otherwise.
 */
export const orderSettings = {
  /**
   * From placing to registration, before attention is raised. Default 90 days: labs in this field ask for
   * registration and return within 90 days.
   */
  registrationDeadline: deadline('90d'),
  /**
   * After delivery, when the patient is reminded to register. Default 3, 10 and 30 days: soon enough that the kit is
   * still on the table, then at widening distance. If the service reports no delivery, `assumedDelivery` after
   * shipping (or placing) counts as delivery. The service sends nothing of the kind.
   */
  registrationReminders: durations('3d', '10d', '30d'),
  /** How long a kit is assumed to travel if no delivery is ever reported. Default 7 days: ground mail and a weekend. */
  assumedDelivery: duration('7d'),
  /** From placing to shipping. Default 5 days: kits ship on the same or next business day; a long weekend is normal. */
  shippingDeadline: deadline('5d'),
  /** From shipping to delivery. Default 10 days: six business days without a scan is when others replace a kit. */
  deliveryDeadline: deadline('10d'),
  /**
   * After delivery and registration, when the patient is reminded to return the sample. Default 2 and 7 days, as others do. A service
   * that sends these reminders itself sends them at the same times: then `[]` (docs/internals/lab-service.md, "Messages to patients").
   */
  returnReminders: durations('2d', '7d'),
  /** From delivery (and registration) to the sample's way back. Default 14 days: the return time that labs ask for. */
  returnDeadline: deadline('14d'),
  /** From the sample's pick-up to its arrival at the lab. Default 10 days, as for the way out. */
  transitToLabDeadline: deadline('10d'),
  /**
   * From arrival at the lab to results, if the service names no date for them (`worst_case_result_by_date`); else that date counts.
   * Default 14 days: common panels take 2 to 10 days.
   */
  resultsDeadline: deadline('14d'),
  /** The latest that such a date may be, from arrival at the lab: a date may keep moving away. Default 60 days: twice the longest panels. */
  resultsLimit: duration('60d'),
  /** How long a problem in transit or a blocked sample may last. Default 7 days: bad addresses and recoverable rejections are held for 7. */
  problemLimit: deadline('7d'),
  /**
   * The action when a problem in transit outlasts `problemLimit`: `ask` a person, `replace` the kit, or `fail`, which ends the order.
   * Default `ask`. A blocked sample always asks.
   */
  onProblem: choice('ask', remedies),
  /** The action when a kit is lost or cannot be delivered: `ask`, `replace` or `fail`. Default `ask`. */
  onLost: choice('ask', remedies),
  /**
   * The action on `sample_error`, once no redraw came within `redrawWait` (after `redraw_available` a person is always asked): `ask`,
   * `replace` or `fail`. Default `ask`.
   */
  onSampleError: choice('ask', remedies),
  /** How many kits may replace others in the life of one chain, by policy or by command. Default 1. */
  replacementLimit: count(1, { least: 0, most: 100 }),
  /**
   * How long after `sample_error` or `redraw_available` the service may create a redraw order itself. Default 1 day: it does so at once, or
   * never.
   */
  redrawWait: duration('1d'),
  /** How long a person may take to answer when asked, before the order ends as it is. Default 30 days. */
  decisionWait: duration('30d'),
  /** How often an order that missed a deadline is read again, 1 second to 30 days. Default 1 day. */
  recheckEvery: poll('1d'),
  /** How long an order may be without progress after a deadline before it ends as `unresolved`. Default 60 days. */
  giveUpAfter: duration('60d'),
  /**
   * How often a critical result that nobody has acknowledged is notified again, 1 second to 1 day. Default 1 hour: labs
   * expect a critical value to reach the clinician within about that time.
   */
  criticalResultReminder: duration('1h', { least: '1s', most: '1d' }),
  /**
   * Dates that are not business days, YYYY-MM-DD, at most 200. Default none: which days a lab or a carrier does not work is not
   * documented. Saturdays and Sundays are never business days.
   */
  holidays: dates(),
  /**
   * The zone of the business days, in hours ahead of UTC, -12 to 14. Default -5, New York's standard time: labs serve US addresses.
   * Daylight saving is not followed, which moves a deadline by an hour at most, or over a weekend.
   */
  utcOffset: count(-5, { least: -12, most: 14 }),
  /** How long a notification may stay undelivered before attention is raised. Default 3 days. */
  notificationDeadline: duration('3d'),
  /**
   * The longest that one creation may take at the service, 1 second to 5 minutes. Default 30 seconds. After a lost answer
   * the next attempt waits longer than this before it looks for the order, because the service may still be working.
   */
  creationTimeout: duration('30s', { least: '1s', most: '5m' }),
  /**
   * How long after a lost answer the search for its order waits, from `creationTimeout` to 10 minutes. Default one and
   * a half times `creationTimeout`, at least 35 seconds: the service may still be working, and then its list of orders must show the order.
   * Set it longer if that list is an index that lags: an order that the search misses is ordered a second time.
   */
  creationSettling: following('creationTimeout', settlingAfter, { most: '10m' }),
};

export type OrderPolicy = PolicyOf<typeof orderSettings>;

/** A policy with nothing left open; all durations in milliseconds. */
export type ResolvedOrderPolicy = ResolvedSettings<typeof orderSettings>;

export const defaultPolicy = defaultsOf(orderSettings);

export const orderPolicy = { of: 'order', version: 2, settings: orderSettings };

/** The settings that change in a running order's policy. @throws PolicyInvalid: see `checkedChanges` */
export function checkedPolicyChanges(policy: OrderPolicy): OrderPolicy {
  return checkedChanges(orderPolicy, policy);
}
