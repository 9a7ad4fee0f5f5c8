import ms from 'ms';
import { PolicyInvalid, readDuration, type Duration, type Fault } from '../policy-settings.js';

/** The treatment of a user's running kit orders, links and reports before the deletion. */
export type OnRunningWork = 'refuse' | 'cancel' | 'leave';

export interface DeletionPolicy {
  /**
   * Default `refuse`: nothing is deleted while a kit is on its way, because the caller should decide about it. `cancel`
   * cancels what can be cancelled and reports the rest; `leave` only reports what runs.
   */
  onRunningWork?: OnRunningWork;
  /**
   * How long before the end of the grace period the product is reminded. Default 1 day; no reminder if the grace period
   * is not longer.
   */
  reminderBefore?: Duration;
  /** How long a notification may stay undelivered before attention is raised. Default 3 days. */
  notificationDeadline?: Duration;
}

/** A policy with nothing left open; durations in milliseconds. */
export interface ResolvedDeletionPolicy {
  onRunningWork: OnRunningWork;
  reminderBefore: number;
  notificationDeadline: number;
  /** From `graceDays`. */
  grace: number;
}

export const defaultDeletionPolicy = {
  onRunningWork: 'refuse',
  reminderBefore: '1d',
  notificationDeadline: '3d',
} satisfies Required<DeletionPolicy>;

/** The service's grace period (specification, "User deletion"): a longer one could not be kept. */
const serviceGraceDays = 7;

const choices: readonly unknown[] = ['refuse', 'cancel', 'leave'] satisfies OnRunningWork[];

/**
 * Fills in the defaults and turns durations into milliseconds.
 * @throws PolicyInvalid naming every setting that is unknown or out of range, all at once
 */
export function resolveDeletionPolicy(
  policy: DeletionPolicy = {},
  graceDays: number = serviceGraceDays,
): ResolvedDeletionPolicy {
  const faults: string[] = [];
  const faultOf =
    (name: string): Fault =>
    (problem) =>
      faults.push(`${name} ${problem}`);
  const given: Record<string, unknown> = { ...policy };
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(defaultDeletionPolicy, name)) faults.push(`${name} is not a policy setting`);
  }
  const { onRunningWork, reminderBefore, notificationDeadline } = { ...defaultDeletionPolicy, ...withoutGaps(given) };
  if (!choices.includes(onRunningWork)) faultOf('onRunningWork')('must be refuse, cancel or leave');
  const resolved = {
    onRunningWork,
    reminderBefore: readDuration(reminderBefore, faultOf('reminderBefore')),
    notificationDeadline: readDuration(notificationDeadline, faultOf('notificationDeadline')),
    grace: readGrace(graceDays, faultOf('graceDays')),
  };
  if (faults.length > 0) throw new PolicyInvalid('deletion', faults);
  return resolved;
}

/** Undefined and null count as absent. */
function withoutGaps(given: Record<string, unknown>): DeletionPolicy {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value != null));
}

function readGrace(days: unknown, fault: Fault): number {
  if (typeof days === 'number' && days > 0 && days <= serviceGraceDays) return Math.ceil(days * ms('1d'));
  fault(`must be a number of days above 0 and at most ${serviceGraceDays}, which is what the service gives`);
  return 0;
}
