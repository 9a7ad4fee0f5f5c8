/** How a message about a lab report finds its workflow. Nobody else builds one of these IDs. */

export function submitReportId(reference: string): string {
  return `submit-report/${reference}`;
}

/** The id is the service's: it must be addressable (`isAddressable`). */
export function parsingJobId(jobId: string): string {
  return `parsing-job/${jobId}`;
}
