import type { LinkOutcome } from './messages.js';

/**
 * Notifications about a link, CloudEvents of type `labops.link.<type>`. An id is `<user id>/<provider>/<start of the
 * link>/<type>`, so a receiver can drop repeats.
 */
export type LinkNotification = { id: string; at: string } & (
  | { type: 'code_reminder'; data: { until: string } }
  | { type: 'ended'; data: { outcome: LinkOutcome; errorType?: string; waitedFor?: string } }
);
