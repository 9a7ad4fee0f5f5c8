import { count, defaultsOf, duration, type PolicyOf, type ResolvedSettings } from '../policy/settings.js';

const attempts = { least: 1, most: 20 };

/**
 * How long a link waits and what it assumes of the service, which documents little of it (docs/internals/lab-service.md,
 * "Links"). Every default has its reason.
 */
export const linkSettings = {
  /**
   * How long a link token is valid, 10 seconds to 1 day. Default 10 minutes: documentation says 10 in one place and 60 in another. In its
   * last minute, or tenth if that is shorter, a new one is made: the user still has to reach the page.
   */
  // One that lived for less could not be used by a person.
  tokenLife: duration('10m', { least: '10s', most: '1d' }),
  /** From the start, or from handing out a later link, to the login. Default 1 day: links are also sent by message. */
  passwordWait: duration('1d'),
  /** From the provider's question to the code. Default 1 hour: codes live for minutes; then there is time to ask for help. */
  codeWait: duration('1h'),
  /** From the provider's question to the one reminder. Default 5 minutes: the token still lives. */
  codeReminder: duration('5m'),
  /** From the start to the end, whatever happens. Default 3 days. */
  totalWait: duration('3d'),
  /** How many wrong codes end the link. Default 3: no limit is documented, and providers lock accounts after a few. */
  maxCodeAttempts: count(3, attempts),
  /** How many failed logins end the link. Default 5, for the same reason. */
  maxPasswordAttempts: count(5, attempts),
  /** How long the service may take to show a connection that it reported, by a success or a webhook. Default 2 minutes. */
  confirmationWait: duration('2m'),
  /** How long a notification may stay undelivered before it shows as attention. Default 1 hour. */
  notificationDeadline: duration('1h'),
};

export type LinkPolicy = PolicyOf<typeof linkSettings>;

/** A policy with nothing left open; all durations in milliseconds. */
export type ResolvedLinkPolicy = ResolvedSettings<typeof linkSettings>;

export const defaultLinkPolicy = defaultsOf(linkSettings);

export const linkPolicy = { of: 'link', version: 2, settings: linkSettings };
