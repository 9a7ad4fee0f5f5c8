import { minute } from './spans.js';

/** How long the service must keep answering that it does not know an order before it is believed: longer than a replica lags or a rollout takes. */
export const absenceBelieved = 10 * minute;

/** @param since milliseconds since the epoch: when the service first said that it does not know the order */
export function isAbsenceBelieved(since: number, now: number): boolean {
  return now - since >= absenceBelieved;
}

/** The service does not know what is followed. @returns whether it has said so for long enough to be believed */
export function noteAbsence(of: { absentSince?: number }, now: number): boolean {
  of.absentSince ??= now;
  return isAbsenceBelieved(of.absentSince, now);
}
