import ms from 'ms';
import { PolicyInvalid, readCount, readDuration, type Duration } from '../policy-settings.js';

/**
 * How long a link waits and what it assumes of the service, which documents little of it (docs/lab-service.md,
 * "Links"). Every default has its reason.
 */
export interface LinkPolicy {
  /**
   * How long a link token is valid. Default 10 minutes: documentation says 10 in one place and 60 in another. In its
   * last minute, or tenth if that is shorter, a new one is made: the user still has to reach the page.
   */
  tokenLife?: Duration;
  /** When a token has ended while the user was away: `renew` makes a new one once they are back, `end` ends the link. Default `renew`. */
  onTokenExpiry?: 'renew' | 'end';
  /** From the start, or from handing out a later link, to the login. Default 1 day: links are also sent by message. */
  passwordWait?: Duration;
  /** From the provider's question to the code. Default 1 hour: codes live for minutes; then there is time to ask for help. */
  codeWait?: Duration;
  /** From the provider's question to the one reminder. Default 5 minutes: the token still lives. */
  codeReminder?: Duration;
  /** From the start to the end, whatever happens. Default 3 days. */
  totalWait?: Duration;
  /** How many wrong codes end the link. Default 3: no limit is documented, and providers lock accounts after a few. */
  maxCodeAttempts?: number;
  /** How many failed logins end the link. Default 5, for the same reason. */
  maxPasswordAttempts?: number;
  /**
   * The connection that confirms a reported success: `new`, one made since the start of the link, or `any`, for a
   * service that keeps the date of an earlier connection when it is renewed. Without a reported success only a new one
   * counts. Default `new`.
   */
  confirmedBy?: 'new' | 'any';
  /**
   * How much earlier than our start a new connection may be dated: clocks differ. Default 1 minute. A link that is begun
   * sooner after a connection may be confirmed by that one.
   */
  clockTolerance?: Duration;
  /** How long the service may take to show a connection that it reported, by a success or a webhook. Default 2 minutes. */
  confirmationWait?: Duration;
  /** How long a notification may stay undelivered before it shows as attention. Default 1 hour. */
  notificationDeadline?: Duration;
}

/** A policy with nothing left open; all durations in milliseconds. */
export interface ResolvedLinkPolicy {
  tokenLife: number;
  onTokenExpiry: 'renew' | 'end';
  passwordWait: number;
  codeWait: number;
  codeReminder: number;
  totalWait: number;
  maxCodeAttempts: number;
  maxPasswordAttempts: number;
  confirmedBy: 'new' | 'any';
  clockTolerance: number;
  confirmationWait: number;
  notificationDeadline: number;
}

export const defaultLinkPolicy = {
  tokenLife: '10m',
  onTokenExpiry: 'renew',
  passwordWait: '1d',
  codeWait: '1h',
  codeReminder: '5m',
  totalWait: '3d',
  maxCodeAttempts: 3,
  maxPasswordAttempts: 5,
  confirmedBy: 'new',
  clockTolerance: '1m',
  confirmationWait: '2m',
  notificationDeadline: '1h',
} satisfies Required<LinkPolicy>;

const choices: Readonly<Record<string, readonly unknown[]>> = {
  onTokenExpiry: ['renew', 'end'],
  confirmedBy: ['new', 'any'],
};

/** A token that lived for less could not be used by a person. */
const shortestToken = ms('10s');

/**
 * Fills in the defaults and turns durations into milliseconds.
 * @throws PolicyInvalid naming every setting that is unknown or out of range, all at once
 */
export function resolveLinkPolicy(policy: LinkPolicy = {}): ResolvedLinkPolicy {
  const faults: string[] = [];
  const given: Record<string, unknown> = { ...policy };
  const resolved: Record<string, unknown> = {};
  for (const [name, fallback] of Object.entries(defaultLinkPolicy)) {
    const value = given[name] ?? fallback;
    const fault = (problem: string) => faults.push(`${name} ${problem}`);
    const choice = choices[name];
    if (choice && !choice.includes(value)) fault(`must be ${choice.join(' or ')}`);
    if (choice) resolved[name] = value;
    else if (typeof fallback === 'number') resolved[name] = readCount(value, fault, 1, 20);
    else resolved[name] = readDuration(value, fault, name === 'tokenLife' ? shortestToken : 1);
  }
  for (const name of Object.keys(given))
    if (!Object.hasOwn(defaultLinkPolicy, name)) faults.push(`${name} is not a policy setting`);
  if (faults.length > 0) throw new PolicyInvalid('link', faults);
  return resolved as unknown as ResolvedLinkPolicy;
}
