/** A reason why a report could not be read, for the person who uploaded it. */
export interface ReportFailure {
  /** The service's reason; an unknown one as it was sent. */
  reason: string;
  /** In plain English, to be shown or translated by `reason`. */
  sentence: string;
}

const sentences: Readonly<Record<string, string>> = {
  invalid_input:
    'The file could not be opened as a lab report. Please upload the original PDF, or a photo of every page.',
  low_quality: 'The report could not be read well enough. Please upload a sharper scan or photo.',
  not_english: 'Only reports in English can be read. Please upload an English version of the report.',
  too_many_pages: 'The report has too many pages. Please upload only the pages with results.',
  processing_error: 'Something went wrong while the report was read. Please upload it again.',
};

const otherwise = 'The report could not be read. Please try again, or contact support.';

/** A failed job need not have a reason. */
export function failureOf(reason: string | undefined): ReportFailure {
  const known = reason !== undefined && Object.hasOwn(sentences, reason) ? sentences[reason] : undefined;
  return { reason: reason ?? 'unknown', sentence: known ?? otherwise };
}
