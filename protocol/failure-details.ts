/** The first detail of every typed failure of a workflow, an update or an activity. */
export interface FailureDetails {
  /** HTTP status, if the service answered. */
  status?: number;
  /** The fields that the service refused or that break a rule of ours. The service's messages may quote a person. */
  fields: { field: string; message: string }[];
  /** The service's own sentence. It may quote a person: it belongs in no message, log or search attribute. */
  sentence?: string;
  /** A code of ours. */
  reason?: string;
  /** How long to wait before a retry, in milliseconds, if the service or a file's host asked for it. */
  retryAfterMs?: number;
}

/** The `reason` of a command that was refused because too many wait: nothing came of it. */
export const notAccepted = 'not_accepted';

/** The message of a query that a worker did not answer because the workflow moved on while it was read. */
export const askAgain = 'The workflow moved on while it was read: ask again';
