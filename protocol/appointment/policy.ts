import {
  choice,
  defaultsOf,
  duration,
  durations,
  poll,
  type PolicyOf,
  type ResolvedSettings,
} from '../policy/settings.js';

/**
 * How long each part of an appointment may take, and how slots are booked. The service documents no duration but the
 * bounds of two waits (docs/internals/lab-service.md, "Appointments"), so all of them are input, and every default has its
 * reason.
 */
export const appointmentSettings = {
  /** After how long without a choice the product is reminded. Default 1 day and 3 days: samples are needed while they matter. */
  choiceReminders: durations('1d', '3d'),
  /** From when a choice is needed to the end as `expired`. Default 14 days: as far as slots are offered. */
  choiceWait: duration('14d'),
  /**
   * `wait`: a booking is answered when the provider has confirmed it. `later`: it is pending until then, for
   * deployments whose providers are slow. Default `wait`, as at the service. A booking at a service centre is always `later`.
   */
  confirmation: choice('wait', ['wait', 'later']),
  /**
   * How long a provider may take to confirm, 1 minute to 48 hours; the service drops a `later` booking that is not
   * confirmed by then. Then attention is raised if nothing was reported. Default 48 hours, the longest that is allowed.
   */
  confirmationWait: duration('48h', { least: '1m', most: '48h' }),
  /** How long before the appointment the product gets reminders. Default 1 day and 2 hours. */
  visitReminders: durations('1d', '2h'),
  /** From the end of the slot to attention, if nobody reported a blood draw. Default 1 day. */
  visitOverdue: duration('1d'),
  /**
   * The same for an appointment at a service centre, where nobody reports the draw: the order's results are the first sign.
   * Default 7 days, longer than most tests take.
   */
  walkInOverdue: duration('7d'),
  /**
   * How long an appointment may be without progress after a deadline before it ends as `unresolved`. Default 14 days.
   */
  giveUpAfter: duration('14d'),
  /**
   * While a confirmation is pending, a visit is overdue, or an appointment at a service centre is open: when the service
   * is read first; doubled each time. Default 1 hour.
   */
  firstPoll: poll('1h'),
  /** The longest pause between two such questions. Default 12 hours. */
  longestPoll: poll('12h'),
  /**
   * How long one call that books or moves may take, 1 second to 2 minutes. After a lost answer half as long again is
   * waited, at least 35 seconds in all, before anything is tried again. Default 30 seconds: a booking waits up to 10 for the provider.
   */
  bookingTimeout: duration('30s', { least: '1s', most: '2m' }),
  /** How long a notification may stay undelivered before attention is raised. Default 3 days. */
  notificationDeadline: duration('3d'),
};

export type AppointmentPolicy = PolicyOf<typeof appointmentSettings>;

/** A policy with nothing left open; all durations in milliseconds. */
export type ResolvedAppointmentPolicy = ResolvedSettings<typeof appointmentSettings>;

export const defaultAppointmentPolicy = defaultsOf(appointmentSettings);

export const appointmentPolicy = { of: 'appointment', version: 2, settings: appointmentSettings };
