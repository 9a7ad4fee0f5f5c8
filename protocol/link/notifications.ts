import type { LinkOutcome } from './messages.js';

/**
 * Notifications about a link, CloudEvents of type `labops.link.<type>`. An id is `<user id>/<provider>/<start of the
 * link>/<type>`, so a receiver can drop repeats; that of a broken connection has the id of its webhook instead of the start.
 */
export type LinkNotification = { id: string; at: string } & (
  | { type: 'code_reminder'; data: { until: string } }
  /** The connection broke: nothing is fetched until the user links the provider again. */
  | { type: 'connection_error'; data: { errorType?: string } }
  | { type: 'ended'; data: { outcome: LinkOutcome; chosenProvider?: string; errorType?: string; waitedFor?: string } }
);
