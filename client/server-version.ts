/** The oldest of the three minor versions that Temporal maintains. The tests run on it, too. */
export const oldestServer = '1.30';

/** True if a version, such as `1.29.1`, is earlier than another, such as `1.30`. */
export function isEarlier(version: string, than: string): boolean {
  return version.localeCompare(than, 'en', { numeric: true }) < 0;
}
