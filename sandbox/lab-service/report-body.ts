import type { Json } from './order-body.js';
import type { ParsingJob } from './reports.js';
import { inventedLab } from './seed.js';
import { calendarDate } from './time.js';

/** The job as the service shows it, in answers and in webhooks. */
export function jobBody(job: ParsingJob) {
  return {
    id: job.id,
    status: job.status,
    failure_reason: job.failureReason,
    data: job.results === null ? null : reportData(job),
    needs_human_review: job.needsHumanReview,
    is_reviewed: job.isReviewed,
  };
}

function reportData(job: ParsingJob): Json {
  return {
    metadata: {
      patient_first_name: 'Testperson',
      patient_last_name: 'Invented',
      dob: '1990-01-01',
      gender: 'female',
      lab_name: inventedLab.name,
      date_reported: calendarDate(job.createdAt),
      date_collected: calendarDate(job.createdAt),
      specimen_number: 'INVENTED-1',
    },
    results: job.results === 'sample' ? [aboveRange, toBeReviewed, notMatched] : [],
  };
}

const aboveRange: Json = {
  test_name: 'Hemoglobin A1c',
  value: '6.1',
  sample_type: 'serum_plasma_blood',
  measurement_kind: 'direct',
  type: 'percentage',
  units: '%',
  max_reference_range: 5.6,
  min_reference_range: 4,
  source_panel_name: 'Metabolic',
  sensitivity: 'insensitive',
  loinc_matches: [
    {
      loinc_code: '4548-4',
      loinc_name: 'Hemoglobin A1c/Hemoglobin.total in Blood',
      display_name: 'Hemoglobin A1c',
      aliases: ['HbA1c'],
      confidence_score: 0.98,
    },
  ],
  loinc_match_status: 'auto_match',
  interpretation: 'abnormal',
  is_above_max_range: true,
  is_below_min_range: false,
};

const toBeReviewed: Json = {
  ...aboveRange,
  test_name: 'Ferritin',
  value: '80',
  type: 'numeric',
  units: 'ng/mL',
  max_reference_range: 154,
  min_reference_range: 16,
  loinc_matches: [
    {
      loinc_code: '2276-4',
      loinc_name: 'Ferritin in Serum or Plasma',
      display_name: '',
      aliases: [],
      confidence_score: 0.71,
    },
    {
      loinc_code: '20567-4',
      loinc_name: 'Ferritin by Immunoassay',
      display_name: '',
      aliases: [],
      confidence_score: 0.64,
    },
  ],
  loinc_match_status: 'needs_review',
  interpretation: 'normal',
  is_above_max_range: false,
};

const notMatched: Json = {
  ...aboveRange,
  test_name: 'Invented marker',
  value: 'not detected',
  type: 'comment',
  units: null,
  max_reference_range: null,
  min_reference_range: null,
  source_panel_name: null,
  sensitivity: 'unknown',
  loinc_matches: [],
  loinc_match_status: 'no_match',
  interpretation: 'unknown',
  is_above_max_range: null,
  is_below_min_range: null,
};
