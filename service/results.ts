import { z } from 'zod';
import { orderTransactionSchema, textSchema, timestampSchema } from './order.js';

/*
 * Lab values. They are read through the client and never enter a workflow: the service stays their only home.
 * Shapes are docs/lab-service.md's; the specification does not give them.
 */

export const resultMetadataSchema = z.looseObject({
  age: textSchema,
  dob: textSchema,
  patient: textSchema,
  provider: textSchema,
  laboratory: textSchema,
  date_reported: timestampSchema,
  date_collected: timestampSchema,
  date_received: timestampSchema,
  specimen_number: textSchema,
  /** `final` where nothing else is said. */
  status: textSchema,
  interpretation: textSchema,
});

export const biomarkerResultSchema = z.looseObject({
  name: textSchema,
  slug: textSchema,
  /** The number, where `result` is one. */
  value: z.number().nullish(),
  /** What the lab wrote. */
  result: textSchema,
  /** `numeric`, `range`, `comment`, `coded_value`, or one not known yet. */
  type: textSchema,
  unit: textSchema,
  timestamp: timestampSchema,
  reference_range: textSchema,
  min_range_value: z.number().nullish(),
  max_range_value: z.number().nullish(),
  is_above_max_range: z.boolean().nullish(),
  is_below_min_range: z.boolean().nullish(),
  interpretation: textSchema,
  loinc: textSchema,
});

export const missingResultSchema = z.looseObject({
  name: textSchema,
  slug: textSchema,
  inferred_failure_type: textSchema,
  note: textSchema,
});

export const resultsSchema = z.looseObject({
  metadata: resultMetadataSchema.nullish(),
  /** A list, or an object whose form is not documented. */
  results: z.union([z.array(biomarkerResultSchema), z.record(z.string(), z.unknown())]).nullish(),
  missing_results: z.array(missingResultSchema).nullish(),
  order_transaction: orderTransactionSchema.nullish(),
});

export type ResultMetadata = z.output<typeof resultMetadataSchema>;
export type BiomarkerResult = z.output<typeof biomarkerResultSchema>;
export type Results = z.output<typeof resultsSchema>;
