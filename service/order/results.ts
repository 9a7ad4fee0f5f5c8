import { z } from 'zod';
import {
  flagSchema,
  listSchema,
  numberSchema,
  orderTransactionSchema,
  partSchema,
  readable,
  textSchema,
  timestampSchema,
  valueSchema,
} from './order.js';

/*
 * Lab values. They are read through the client and never enter a workflow: the service stays their only home.
 * Shapes are docs/internals/lab-service.md's; the specification does not give them. A field of the wrong type counts as absent.
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
  /** `final` by default. */
  status: textSchema,
  interpretation: textSchema,
});

const sentResultSchema = z.looseObject({
  name: textSchema,
  slug: textSchema,
  /** The number of a numeric result. */
  value: numberSchema,
  /** The lab's own text. */
  result: valueSchema,
  /** `numeric`, `range`, `comment`, `coded_value`, or one not known yet. */
  type: textSchema,
  unit: textSchema,
  timestamp: timestampSchema,
  reference_range: textSchema,
  min_range_value: numberSchema,
  max_range_value: numberSchema,
  is_above_max_range: flagSchema,
  is_below_min_range: flagSchema,
  interpretation: textSchema,
  loinc: textSchema,
});

/** The service writes the value -1 for every result that is not a number. */
const biomarkerResultSchema = sentResultSchema.transform(({ value, ...result }) => {
  const isPlaceholder = value === -1 && result.type != null && result.type.toLowerCase() !== 'numeric';
  return isPlaceholder || value === undefined ? result : { ...result, value };
});

const missingResultSchema = z.looseObject({
  name: textSchema,
  slug: textSchema,
  inferred_failure_type: textSchema,
  note: textSchema,
});

export const resultsSchema = z.looseObject({
  metadata: partSchema(resultMetadataSchema),
  /** A list, or an object whose form is not documented. */
  results: partSchema(
    z.union([
      z.array(z.unknown()).transform((sent) => readable(biomarkerResultSchema, sent)),
      z.record(z.string(), z.unknown()),
    ]),
  ),
  missing_results: listSchema(missingResultSchema),
  order_transaction: partSchema(orderTransactionSchema),
});

export type ResultMetadata = z.output<typeof resultMetadataSchema>;
export type Results = z.output<typeof resultsSchema>;
