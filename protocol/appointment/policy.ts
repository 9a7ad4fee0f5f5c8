import ms from 'ms';
import { PolicyInvalid, readDuration, readDurations, type Duration } from '../policy-settings.js';

/**
 * How long each part of an appointment may take, and how slots are booked. The service documents no duration but the
 * bounds of two waits (docs/lab-service.md, "Appointments"), so all of them are input, and every default has its
 * reason.
 */
export interface AppointmentPolicy {
  /** After how long without a choice the product is reminded. Default 1 day and 3 days: samples are wanted while they matter. */
  choiceReminders?: Duration[];
  /** From when a choice is needed to the end as `expired`. Default 14 days: as far as slots are offered. */
  choiceWait?: Duration;
  /**
   * `wait`: a booking is answered when the provider has confirmed it. `later`: it is pending until then, for
   * deployments whose providers are slow. Default `wait`, as at the service.
   */
  confirmation?: 'wait' | 'later';
  /**
   * How long a provider may take to confirm, 1 minute to 48 hours; the service drops a `later` booking that is not
   * confirmed by then. Then attention is raised if nothing was reported. Default 48 hours, the longest that is allowed.
   */
  confirmationWait?: Duration;
  /** How long before the appointment the product gets reminders. Default 1 day and 2 hours. */
  visitReminders?: Duration[];
  /** From the end of the slot to attention, if nobody reported a blood draw. Default 1 day. */
  visitOverdue?: Duration;
  /**
   * How long an appointment may be without progress after a deadline before it ends as `unresolved`. Default 14 days.
   */
  giveUpAfter?: Duration;
  /**
   * While a confirmation is pending or a visit is overdue: when the service is read first; doubled each time. Default 1
   * hour.
   */
  firstPoll?: Duration;
  /** The longest pause between two such questions. Default 12 hours. */
  longestPoll?: Duration;
  /**
   * How long one call that books or moves may take, 1 second to 2 minutes. After a lost answer half as long again is
   * waited before anything is tried again. Default 30 seconds: a booking waits up to 10 for the provider.
   */
  bookingTimeout?: Duration;
  /** How long a notification may stay undelivered before attention is raised. Default 3 days. */
  notificationDeadline?: Duration;
}

/** A policy with nothing left open; all durations in milliseconds. */
export interface ResolvedAppointmentPolicy {
  choiceReminders: number[];
  choiceWait: number;
  confirmation: 'wait' | 'later';
  confirmationWait: number;
  visitReminders: number[];
  visitOverdue: number;
  giveUpAfter: number;
  firstPoll: number;
  longestPoll: number;
  bookingTimeout: number;
  notificationDeadline: number;
}

export const defaultAppointmentPolicy = {
  choiceReminders: ['1d', '3d'],
  choiceWait: '14d',
  confirmation: 'wait',
  confirmationWait: '48h',
  visitReminders: ['1d', '2h'],
  visitOverdue: '1d',
  giveUpAfter: '14d',
  firstPoll: '1h',
  longestPoll: '12h',
  bookingTimeout: '30s',
  notificationDeadline: '3d',
} satisfies Required<AppointmentPolicy>;

const bounds: Readonly<Record<string, readonly [least: number, most: number]>> = {
  confirmationWait: [ms('1m'), ms('48h')],
  // Reads are paid for: neither may make the workflow ask without end.
  firstPoll: [ms('1s'), ms('30d')],
  longestPoll: [ms('1s'), ms('30d')],
  bookingTimeout: [ms('1s'), ms('2m')],
};

/**
 * Fills in the defaults and turns durations into milliseconds.
 * @throws PolicyInvalid naming every setting that is unknown or out of range, all at once
 */
export function resolveAppointmentPolicy(policy: AppointmentPolicy = {}): ResolvedAppointmentPolicy {
  const faults: string[] = [];
  const given: Record<string, unknown> = { ...policy };
  const resolved: Record<string, unknown> = {};
  for (const [name, fallback] of Object.entries(defaultAppointmentPolicy)) {
    const value = given[name] ?? fallback;
    const fault = (problem: string) => faults.push(`${name} ${problem}`);
    if (name === 'confirmation') resolved[name] = readConfirmation(value, fault);
    else if (Array.isArray(fallback)) resolved[name] = readDurations(value, fault);
    else resolved[name] = readDuration(value, fault, ...(bounds[name] ?? []));
  }
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(defaultAppointmentPolicy, name)) faults.push(`${name} is not a policy setting`);
  }
  if (faults.length > 0) throw new PolicyInvalid('appointment', faults);
  return resolved as unknown as ResolvedAppointmentPolicy;
}

function readConfirmation(value: unknown, fault: (problem: string) => void): unknown {
  if (value !== 'wait' && value !== 'later') fault('must be wait or later');
  return value;
}
