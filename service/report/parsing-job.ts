import { z } from 'zod';
import { canonicalId } from '../canonical-id.js';
import * as fields from '../fields.js';

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
  loinc_code: fields.text,
  loinc_name: fields.text,
  display_name: fields.text,
  aliases: fields.list(z.string()),
  /** How sure the service is; the scale is not documented. */
  confidence_score: fields.number,
});

/** One extracted biomarker. */
const labReportResultSchema = z.looseObject({
  /** As the report names it. */
  test_name: fields.text,
  value: fields.value,
  /** `urine`, `serum_plasma_blood`, `capillary_blood`, `stool`, `saliva`, `other`, `unknown`; open. */
  sample_type: fields.text,
  /** `direct`, `calculated`, `ratio`, `unknown`; open. */
  measurement_kind: fields.text,
  /** `numeric`, `range`, `comment`, `boolean`, `duration`, `percentage`, `ratio`; open. */
  type: fields.text,
  units: fields.text,
  max_reference_range: fields.number,
  min_reference_range: fields.number,
  source_panel_name: fields.text,
  /** `sensitive`, `insensitive`, `unknown`; open. */
  sensitivity: fields.text,
  loinc_matches: fields.list(loincMatchSchema),
  /** `auto_match`, `needs_review`, `no_match`; open. */
  loinc_match_status: fields.text,
  /** `normal`, `abnormal`, `critical`, `unknown`; open. */
  interpretation: fields.text,
  is_above_max_range: fields.flag,
  is_below_min_range: fields.flag,
});

/** The header of the report: personal throughout. Dates are in the report's own form. */
const labReportMetadataSchema = z.looseObject({
  patient_first_name: fields.text,
  patient_last_name: fields.text,
  dob: fields.text,
  gender: fields.text,
  lab_name: fields.text,
  date_reported: fields.text,
  date_collected: fields.text,
  specimen_number: fields.text,
});

const dataSchema = z
  .looseObject({
    metadata: fields.part(labReportMetadataSchema),
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
    user_id: fields.referredId,
    team_id: fields.text,
    /** See `parsingStatuses`. */
    status: fields.text,
    /** See `parsingFailureReasons`; null unless the job failed. */
    failure_reason: fields.text,
    /** Null until the file was read. */
    data: fields.part(dataSchema),
    needs_human_review: fields.flag,
    is_reviewed: fields.flag,
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
