import { z } from 'zod';
import { canonicalId } from '../canonical-id.js';
import { withZone } from '../timestamps.js';

/*
 * The lab order as the service sends it, in answers and in webhooks (specification, "Lab order").
 *
 * Only `id` is required: the specification leaves required flags and nullability open, so everything else may be absent
 * or null. Objects are loose: an unknown field is kept as it was sent. Statuses, origins, interpretations and the like
 * are strings, because their lists grow. Identifiers are strings of any form: real payloads contain UUIDs that are
 * invalid (docs/internals/lab-service.md).
 *
 * A field of the wrong type counts as absent. An order must not be blocked because its `has_abn` is "no".
 */

/** Beyond the safe integers JSON has lost digits: such a number would name something else. */
const numberAsText = z.int().transform(String);

export const textSchema = z.union([z.string(), numberAsText]).nullish().catch(undefined);
/** A value that is documented as text; a deployment that sends the number means its digits. */
export const valueSchema = z
  .union([z.string(), z.number().transform(String)])
  .nullish()
  .catch(undefined);
export const timestampSchema = z.string().transform(withZone).nullish().catch(undefined);
export const flagSchema = z.boolean().nullish().catch(undefined);
/** A number, which a deployment may write as a text. */
export const numberSchema = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\s*-?\d+(?:\.\d+)?\s*$/)
      .transform(Number),
  ])
  .nullish()
  .catch(undefined);
/** A number, which some examples write as a text. */
export const countedSchema = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\d{1,9}(\.\d{1,6})?$/)
      .transform(Number),
  ])
  .nullish()
  .catch(undefined);

export function partSchema<T extends z.ZodType>(part: T) {
  return part.nullish().catch(undefined);
}

/** Anything but an object of this shape is left out. */
export function readable<T extends z.ZodType>(entry: T, sent: readonly unknown[]): z.output<T>[] {
  return sent.flatMap((each): z.output<T>[] => {
    const { data } = entry.safeParse(each);
    return data == null ? [] : [data];
  });
}

/** A list of its readable entries. */
export function listSchema<T extends z.ZodType>(entry: T) {
  return partSchema(z.array(z.unknown()).transform((sent) => readable(entry, sent)));
}

/** By name, the readable entries. */
export function recordSchema<T extends z.ZodType>(entry: T) {
  return partSchema(
    z.record(z.string(), z.unknown()).transform((sent): Record<string, z.output<T>> => {
      const pairs = Object.entries(sent).map(([name, value]) => [name, entry.safeParse(value).data] as const);
      return Object.fromEntries(pairs.filter(([, value]) => value != null)) as Record<string, z.output<T>>;
    }),
  );
}

/**
 * A list as an answer. It must be present, but one untidy entry does not hide the others: entries of another shape are
 * left out, and still counted in `sent`, which paging uses. If no entry can be read, the answer is unreadable, not an
 * empty list.
 */
export function answeredListSchema<T extends z.ZodType>(entry: T) {
  return z
    .array(z.unknown())
    .transform((sent) => ({ items: readable(entry, sent), sent: sent.length }))
    .refine(({ items, sent }) => items.length > 0 || sent === 0, 'none of the entries can be read');
}

/** An identifier: text of any form; a number is read as its digits, and a UUID in lower case. */
export const idSchema = z
  .union([z.string(), numberAsText])
  .refine((id) => id !== '', 'must not be empty')
  .transform(canonicalId);

/** The id of something else, which may be absent. */
export const referredIdSchema = idSchema.nullish().catch(undefined);

/** Ids are integers; a numeric string is read as its number, and anything else is kept as data. */
const eventIdSchema = z
  .union([z.number(), z.string().transform((text) => (/^\d{1,15}$/.test(text) ? Number(text) : text))])
  .nullish()
  .catch(undefined);

const orderEventSchema = z.looseObject({
  id: eventIdSchema,
  created_at: timestampSchema,
  /** `<top>.<method>.<low>`, for instance `received.testkit.ordered`. */
  status: textSchema,
  status_detail: textSchema,
});

/**
 * One example has the lines `street` and `street_number`: if `first_line` is missing they are read as the first and the
 * second line, unchanged. Joining them would be a guess: the number may be a flat's as well as a house's.
 */
const addressSchema = z
  .looseObject({
    receiver_name: textSchema,
    first_line: textSchema,
    second_line: textSchema,
    street: textSchema,
    street_number: textSchema,
    city: textSchema,
    state: textSchema,
    zip: textSchema,
    /** Goes in as a two-letter code and comes back in long form, `United States`: see `countryCodeOf`. */
    country: textSchema,
    phone_number: textSchema,
    access_notes: textSchema,
  })
  .transform((address) => {
    if (address.first_line != null || address.street == null) return address;
    return { ...address, first_line: address.street, second_line: address.second_line ?? address.street_number };
  });

const answeredPatientSchema = z.looseObject({
  first_name: textSchema,
  last_name: textSchema,
  phone_number: textSchema,
  email: textSchema,
  /** Date, YYYY-MM-DD. A deployment that sends midnight of that date is read as the date that it wrote. */
  dob: z
    .string()
    .transform((dob) => (/^\d{4}-\d{2}-\d{2}[T ]/.test(dob) ? dob.slice(0, 10) : dob))
    .nullish()
    .catch(undefined),
  gender: textSchema,
});

const shipmentSchema = z.looseObject({
  id: textSchema,
  outbound_tracking_number: textSchema,
  outbound_tracking_url: textSchema,
  inbound_tracking_number: textSchema,
  inbound_tracking_url: textSchema,
  outbound_courier: textSchema,
  inbound_courier: textSchema,
  notes: textSchema,
  created_at: timestampSchema,
  updated_at: timestampSchema,
});

const orderDetailsSchema = z.looseObject({
  /** `testkit`, `walk_in_test`, `at_home_phlebotomy`, `on_site_collection`, or one not known yet. */
  type: textSchema,
  data: partSchema(
    z.looseObject({
      id: textSchema,
      created_at: timestampSchema,
      updated_at: timestampSchema,
      /** Present for a blood draw at home or a walk-in. */
      appointment_id: textSchema,
      /** Absent or null before the kit ships. */
      shipment: partSchema(shipmentSchema),
    }),
  ),
});

/** In lower case, as the contract writes it: decisions depend on it. */
const originSchema = textSchema.transform((origin) => origin && origin.toLowerCase());

const transactionOrderSchema = z.looseObject({
  id: referredIdSchema,
  /** `initial`, `redraw`, `recreation`, or one not known yet. */
  origin: originSchema,
  parent_id: referredIdSchema,
  low_level_status: textSchema,
  low_level_status_created_at: timestampSchema,
  created_at: timestampSchema,
  updated_at: timestampSchema,
});

export const orderTransactionSchema = z.looseObject({
  id: referredIdSchema,
  team_id: textSchema,
  /** `active`, `completed`, `cancelled`, or one not known yet. */
  status: textSchema,
  orders: listSchema(transactionOrderSchema),
});

/** A lab test, as far as an order shows it. */
export const labTestSchema = z.looseObject({
  id: textSchema,
  slug: textSchema,
  name: textSchema,
  description: textSchema,
  /** `testkit`, `walk_in_test`, `at_home_phlebotomy`, `on_site_collection`, or one not known yet. */
  method: textSchema,
  sample_type: textSchema,
  /** The laboratory, under the slug that its service centres are found by. */
  lab: partSchema(z.looseObject({ slug: textSchema })),
  fasting: flagSchema,
  has_collection_instructions: flagSchema,
  /** Days from collection to result: 95 % of past orders took no longer. */
  common_tat_days: numberSchema,
  /** Days from collection to result: 99 % of past orders took no longer. */
  worst_case_tat_days: numberSchema,
});

const physicianOfOrderSchema = z.looseObject({ first_name: textSchema, last_name: textSchema, npi: textSchema });

export const orderSchema = z
  .looseObject({
    id: idSchema,
    team_id: textSchema,
    /** Bound to the patient at registration: it can change. */
    user_id: referredIdSchema,
    patient_details: partSchema(answeredPatientSchema),
    patient_address: partSchema(addressSchema),
    shipping_details: partSchema(addressSchema),
    details: partSchema(orderDetailsSchema),
    lab_test: partSchema(labTestSchema),
    sample_id: textSchema,
    health_insurance_id: textSchema,
    health_insurace_id: textSchema,
    notes: textSchema,
    clinical_notes: textSchema,
    created_at: timestampSchema,
    updated_at: timestampSchema,
    /** Top level: `received`, `collecting_sample`, `sample_with_lab`, `completed`, `cancelled`, `failed`, … */
    status: textSchema,
    events: listSchema(orderEventSchema),
    last_event: partSchema(orderEventSchema),
    physician: partSchema(physicianOfOrderSchema),
    /** `normal`, `abnormal`, `critical`, or one not known yet. */
    interpretation: textSchema,
    has_missing_results: flagSchema,
    /** Date, YYYY-MM-DD. */
    activate_by: textSchema,
    /** Date, YYYY-MM-DD. */
    expected_result_by_date: textSchema,
    /** Date, YYYY-MM-DD. */
    worst_case_result_by_date: textSchema,
    has_abn: flagSchema,
    origin: originSchema,
    parent_id: referredIdSchema,
    requisition_form_url: textSchema,
    order_transaction: partSchema(orderTransactionSchema),
    lab_account_id: referredIdSchema,
    /** The caller's own text from the order's creation; not every deployment echoes it. */
    passthrough: textSchema,
  })
  // One full example of the specification misspells the key; the right one is always there to be read.
  .transform((order) =>
    order.health_insurance_id == null && order.health_insurace_id != null
      ? { ...order, health_insurance_id: order.health_insurace_id }
      : order,
  );

export type Order = z.output<typeof orderSchema>;
export type OrderTransaction = z.output<typeof orderTransactionSchema>;

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
