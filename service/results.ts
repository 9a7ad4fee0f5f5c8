import { z } from 'zod';
import {
  flagSchema,
  listSchema,
  orderTransactionSchema,
  partSchema,
  readable,
  textSchema,
  timestampSchema,
} from './order.js';

/*
 * Lab values. They are read through the client and never enter a workflow: the service stays their only home.
 * Shapes are docs/lab-service.md's; the specification does not give them. A field of the wrong type counts as absent.
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

/** A number, which a deployment may write as a text. */
const decimalSchema = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\s*-?\d+(?:\.\d+)?\s*$/)
      .transform(Number),
  ])
  .nullish()
  .catch(undefined);

const sentResultSchema = z.looseObject({
  name: textSchema,
  slug: textSchema,
  /** The number of a numeric result. */
  value: decimalSchema,
  /** The lab's own text; a deployment that sends the number means its digits. */
  result: z
    .union([z.string(), z.number().transform(String)])
    .nullish()
    .catch(undefined),
  /** `numeric`, `range`, `comment`, `coded_value`, or one not known yet. */
  type: textSchema,
  unit: textSchema,
  timestamp: timestampSchema,
  reference_range: textSchema,
  min_range_value: decimalSchema,
  max_range_value: decimalSchema,
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
