/**
 * The oldest version of Temporal's server that is supported: the tests run on it, too. Temporal also maintains 1.30, but there a run that an operator has pinned to its release is notified of another one at
 * every workflow task, and continues as new without end.
 */
export const oldestServer = '1.31';

/** True if a version, such as `1.30.2`, is earlier than another, such as `1.31`. */
export function isEarlier(version: string, than: string): boolean {
  return version.localeCompare(than, 'en', { numeric: true }) < 0;
}
