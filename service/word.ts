/**
 * A status, type, slug or reason of the service, if it is a word such as `low_quality`; else `other`. A sentence in its place
 * may quote a person or a report, and these enter a history.
 */
export function wordOf(text: string): string {
  return /^\w[\w.-]{0,127}$/.test(text) ? text : 'other';
}

/** A status or a method, in lower case as the contract writes all of them: a deployment may write it otherwise. */
export function lowerWordOf(text: string): string {
  return wordOf(text.toLowerCase());
}
