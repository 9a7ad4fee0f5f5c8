import type { LinkOutcome } from './messages.js';

/**
 * What the product is told of a link, as CloudEvents of type `labops.link.<type>`. An id is
 * `<user id>/<provider>/<start of the link>/<type>`, so that a receiver can drop repeats.
 */
export type LinkNotification = { id: string; at: string } & (
  | { type: 'code_reminder'; data: { until: string } }
  | { type: 'ended'; data: { outcome: LinkOutcome; errorType?: string; waitedFor?: string } }
);
