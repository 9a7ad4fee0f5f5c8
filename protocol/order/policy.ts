import ms from 'ms';
import {
  PolicyInvalid,
  readCount,
  readDuration,
  readDurations,
  type Duration,
  type Fault,
} from '../policy-settings.js';

/**
 * The reaction without a person: `ask` raises attention and waits, `replace` orders a new kit, `fail` ends the order.
 */
export type Remedy = 'ask' | 'replace' | 'fail';

/**
 * How long each part of an order may take and what happens when it goes wrong. The service documents none of it
 * (docs/lab-service.md, "Problems and durations"), so all of it is input, and every default has its reason.
 */
export interface OrderPolicy {
  /**
   * From placing to registration, before attention is raised. Default 90 days: labs in this field ask for
   * registration and return within 90 days.
   */
  registrationDeadline?: Duration;
  /**
   * After delivery, when the patient is reminded to register. Default 3, 10 and 30 days: soon enough that the kit is
   * still on the table, then at widening distance. Where the service reports no delivery, `assumedDelivery` after
   * shipping (or placing) counts as delivery.
   */
  registrationReminders?: Duration[];
  /** How long a kit is assumed to travel where no delivery is ever reported. Default 7 days: ground mail and a weekend. */
  assumedDelivery?: Duration;
  /** From placing to shipping. Default 5 days: kits ship on the same or next business day; a long weekend is normal. */
  shippingDeadline?: Duration;
  /** From shipping to delivery. Default 10 days: six business days without a scan is when others replace a kit. */
  deliveryDeadline?: Duration;
  /** After delivery and registration, when the patient is reminded to return the sample. Default 2 and 7 days, as others do. */
  returnReminders?: Duration[];
  /** From delivery (and registration) to the sample's way back. Default 14 days: the return time that labs ask for. */
  returnDeadline?: Duration;
  /** From the sample's pick-up to its arrival at the lab. Default 10 days, as for the way out. */
  transitToLabDeadline?: Duration;
  /** From arrival at the lab to results. Default 14 days: common panels take 2 to 10 days. */
  resultsDeadline?: Duration;
  /** How long a problem in transit or a blocked sample may last. Default 7 days: bad addresses and recoverable rejections are held for 7. */
  problemLimit?: Duration;
  /** What happens when a problem in transit outlasts `problemLimit`. Default `ask`. A blocked sample always asks. */
  onProblem?: Remedy;
  /** What happens when a kit is lost or cannot be delivered. Default `ask`. */
  onLost?: Remedy;
  /** What happens on `sample_error`, once no redraw came within `redrawWait`. Default `ask`. */
  onSampleError?: Remedy;
  /** How many kits may replace others in one order's life, by policy or by command. Default 1. */
  replacementLimit?: number;
  /** How long after `sample_error` the service may create a redraw order itself. Default 1 day: it does so at once, or never. */
  redrawWait?: Duration;
  /** How long a person may take to answer when asked, before the order ends as it is. Default 30 days. */
  decisionWait?: Duration;
  /** How often an order that missed a deadline is read again. Default 1 day. */
  recheckEvery?: Duration;
  /** How long an order may be without progress after a deadline before it ends as `unresolved`. Default 60 days. */
  giveUpAfter?: Duration;
  /**
   * How often a critical result that nobody has acknowledged is notified again, 1 second to 1 day. Default 1 hour: labs
   * expect a critical value to reach the clinician within about that time.
   */
  criticalResultReminder?: Duration;
  /** How long a notification may stay undelivered before attention is raised. Default 3 days. */
  notificationDeadline?: Duration;
  /**
   * The longest that one creation may take at the service, 1 second to 5 minutes. Default 30 seconds. After a lost answer
   * the next attempt waits longer than this before it looks for the order, because the service may still be working.
   */
  creationTimeout?: Duration;
  /**
   * How long after a lost answer the search for its order waits, from `creationTimeout` to 10 minutes. Default one and
   * a half times `creationTimeout`: the service may still be working, and then its list of orders must show the order.
   * Set it longer if that list is an index that lags: an order that the search misses is ordered a second time.
   */
  creationSettling?: Duration;
}

/** A policy with nothing left open; all durations in milliseconds. */
export interface ResolvedPolicy {
  registrationDeadline: number;
  registrationReminders: number[];
  assumedDelivery: number;
  shippingDeadline: number;
  deliveryDeadline: number;
  returnReminders: number[];
  returnDeadline: number;
  transitToLabDeadline: number;
  resultsDeadline: number;
  problemLimit: number;
  onProblem: Remedy;
  onLost: Remedy;
  onSampleError: Remedy;
  replacementLimit: number;
  redrawWait: number;
  decisionWait: number;
  recheckEvery: number;
  giveUpAfter: number;
  criticalResultReminder: number;
  notificationDeadline: number;
  creationTimeout: number;
  creationSettling: number;
}

export const defaultPolicy = {
  registrationDeadline: '90d',
  registrationReminders: ['3d', '10d', '30d'],
  assumedDelivery: '7d',
  shippingDeadline: '5d',
  deliveryDeadline: '10d',
  returnReminders: ['2d', '7d'],
  returnDeadline: '14d',
  transitToLabDeadline: '10d',
  resultsDeadline: '14d',
  problemLimit: '7d',
  onProblem: 'ask',
  onLost: 'ask',
  onSampleError: 'ask',
  replacementLimit: 1,
  redrawWait: '1d',
  decisionWait: '30d',
  recheckEvery: '1d',
  giveUpAfter: '60d',
  criticalResultReminder: '1h',
  notificationDeadline: '3d',
  creationTimeout: '30s',
} satisfies Required<Omit<OrderPolicy, 'creationSettling'>>;

const remedies: readonly unknown[] = ['ask', 'replace', 'fail'] satisfies Remedy[];
/** Attempts follow each other at half as long again, and at most 10 minutes apart. */
const shortestCreation = ms('1s');
const longestCreation = ms('5m');
const longestSettling = ms('10m');
/** Shorter would fill histories; longer would be none. */
const shortestReminder = ms('1s');
const longestReminder = ms('1d');

/**
 * Fills in the defaults and turns durations into milliseconds.
 * @throws PolicyInvalid naming every setting that is unknown or out of range, all at once
 */
export function resolvePolicy(policy: OrderPolicy = {}): ResolvedPolicy {
  const faults: string[] = [];
  const given: Record<string, unknown> = { ...policy };
  const resolved: Record<string, unknown> = {};
  for (const [name, fallback] of Object.entries(defaultPolicy)) {
    const value = given[name] ?? fallback;
    const fault = (problem: string) => faults.push(`${name} ${problem}`);
    if (name.startsWith('on')) resolved[name] = readRemedy(value, fault);
    else if (name === 'replacementLimit') resolved[name] = readCount(value, fault, 0, 100);
    else if (Array.isArray(fallback)) resolved[name] = readDurations(value, fault);
    else if (name === 'creationTimeout') resolved[name] = readDuration(value, fault, shortestCreation, longestCreation);
    else if (name === 'criticalResultReminder') {
      resolved[name] = readDuration(value, fault, shortestReminder, longestReminder);
    } else resolved[name] = readDuration(value, fault);
  }
  resolved['creationSettling'] = readSettling(
    given['creationSettling'],
    Number(resolved['creationTimeout']),
    (problem) => faults.push(`creationSettling ${problem}`),
  );
  for (const name of Object.keys(given))
    if (!Object.hasOwn(resolved, name)) faults.push(`${name} is not a policy setting`);
  if (faults.length > 0) throw new PolicyInvalid('order', faults);
  return resolved as unknown as ResolvedPolicy;
}

function readSettling(value: unknown, creationTimeout: number, fault: Fault): number {
  // The fault of a timeout that cannot be followed is named already.
  const least = creationTimeout > 0 ? creationTimeout : shortestCreation;
  return readDuration(value ?? settlingAfter(least), fault, least, longestSettling);
}

function readRemedy(value: unknown, fault: Fault): unknown {
  if (!remedies.includes(value)) fault('must be ask, replace or fail');
  return value;
}

/**
 * How long a creation whose answer was lost is left alone before the search for its order, in milliseconds: one and a
 * half times its timeout, because the service may still be working.
 */
export function settlingAfter(creationTimeout: number): number {
  return creationTimeout * 1.5;
}
