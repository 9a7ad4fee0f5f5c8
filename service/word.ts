/**
 * A status, type, slug or reason of the service, if it is a word such as `low_quality`; else `other`. A sentence in its place
 * may quote a person or a report, and these enter a history.
 */
export function wordOf(text: string): string {
  return /^\w[\w.-]{0,127}$/.test(text) ? text : 'other';
}
