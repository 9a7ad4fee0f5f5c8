import { z } from 'zod';
import { canonicalId } from '../canonical-id.js';
import {
  flagSchema,
  listSchema,
  numberSchema,
  partSchema,
  referredIdSchema,
  textSchema,
  valueSchema,
} from '../order/order.js';

/*
 * The parsing job of a lab report as the service sends it, in answers and in webhooks (docs/internals/lab-service.md, "Report
 * parsing"). As with orders everything but the id may be absent or null, a field of the wrong type counts as absent,
 * and fields that are not known here are kept as they were sent.
 */

/** Known statuses. Open: `processing` and `pending_review` are in the specification's words but not in every schema. */
export const parsingStatuses = [
  'upload_pending',
  'started',
  'processing',
  'pending_review',
  'completed',
  'failed',
] as const;

/** Known reasons why a file was not read. Open. */
export const parsingFailureReasons = [
  'invalid_input',
  'low_quality',
  'not_english',
  'too_many_pages',
  'processing_error',
] as const;

const loincMatchSchema = z.looseObject({
  loinc_code: textSchema,
  loinc_name: textSchema,
  display_name: textSchema,
  aliases: listSchema(z.string()),
  /** How sure the service is; the scale is not documented. */
  confidence_score: numberSchema,
});

/** One extracted biomarker. */
const labReportResultSchema = z.looseObject({
  /** As the report names it. */
  test_name: textSchema,
  value: valueSchema,
  /** `urine`, `serum_plasma_blood`, `capillary_blood`, `stool`, `saliva`, `other`, `unknown`; open. */
  sample_type: textSchema,
  /** `direct`, `calculated`, `ratio`, `unknown`; open. */
  measurement_kind: textSchema,
  /** `numeric`, `range`, `comment`, `boolean`, `duration`, `percentage`, `ratio`; open. */
  type: textSchema,
  units: textSchema,
  max_reference_range: numberSchema,
  min_reference_range: numberSchema,
  source_panel_name: textSchema,
  /** `sensitive`, `insensitive`, `unknown`; open. */
  sensitivity: textSchema,
  loinc_matches: listSchema(loincMatchSchema),
  /** `auto_match`, `needs_review`, `no_match`; open. */
  loinc_match_status: textSchema,
  /** `normal`, `abnormal`, `critical`, `unknown`; open. */
  interpretation: textSchema,
  is_above_max_range: flagSchema,
  is_below_min_range: flagSchema,
});

/** The header of the report: personal throughout. Dates are in the report's own form. */
const labReportMetadataSchema = z.looseObject({
  patient_first_name: textSchema,
  patient_last_name: textSchema,
  dob: textSchema,
  gender: textSchema,
  lab_name: textSchema,
  date_reported: textSchema,
  date_collected: textSchema,
  specimen_number: textSchema,
});

const dataSchema = z
  .looseObject({
    metadata: partSchema(labReportMetadataSchema),
    results: z.array(z.unknown()).nullish().catch(undefined),
  })
  .transform(({ results: sent, ...data }) => {
    const results = (sent ?? []).flatMap((each) => {
      const read = labReportResultSchema.safeParse(each);
      return read.success ? [read.data] : [];
    });
    /** Entries of `results` that are not objects: left out, and counted here. */
    return { ...data, results, unreadable_results: (sent ?? []).length - results.length };
  });

const jobIdSchema = z
  .union([z.string(), z.int().transform(String)])
  .nullish()
  .catch(undefined);

export const parsingJobSchema = z
  .looseObject({
    id: jobIdSchema,
    /** Some documented examples have it instead of `id`. */
    job_id: jobIdSchema,
    /** Not documented for a job; read if a deployment sends them. */
    user_id: referredIdSchema,
    team_id: textSchema,
    /** See `parsingStatuses`. */
    status: textSchema,
    /** See `parsingFailureReasons`; null unless the job failed. */
    failure_reason: textSchema,
    /** Null until the file was read. */
    data: partSchema(dataSchema),
    needs_human_review: flagSchema,
    is_reviewed: flagSchema,
  })
  .transform((job, context) => {
    // The empty text names no job, in either spelling.
    const id = job.id || job.job_id;
    if (id) return { ...job, id: canonicalId(id) };
    context.addIssue({ code: 'custom', path: ['id'], message: 'must be there, as id or as job_id' });
    return z.NEVER;
  });

export type ParsingJob = z.output<typeof parsingJobSchema>;
export type LabReportResult = z.output<typeof labReportResultSchema>;
export type LoincMatch = z.output<typeof loincMatchSchema>;
