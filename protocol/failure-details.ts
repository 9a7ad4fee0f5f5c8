/** What every typed failure of a workflow, an update or an activity carries as its first detail. */
export interface FailureDetails {
  /** HTTP status, where the service answered. */
  status?: number;
  /** The fields that the service refused or that break a rule of ours. The service's messages may quote a person. */
  fields: { field: string; message: string }[];
  /** The service's own sentence. It may quote a person: it belongs in no message, log or search attribute. */
  sentence?: string;
  /** A code of ours. */
  reason?: string;
  /** How long to wait before it is tried again, in milliseconds, where the service or a file's host asked for it. */
  retryAfterMs?: number;
}
