import { z } from 'zod';
import * as fields from '../fields.js';

/*
 * The lab order as the service sends it, in answers and in webhooks (specification, "Lab order").
 *
 * Only `id` is required: the specification leaves required flags and nullability open, so everything else may be absent
 * or null. Objects are loose: an unknown field is kept as it was sent. Statuses, origins, interpretations and the like
 * are strings, because their lists grow. Identifiers are strings of any form: real payloads contain UUIDs that are
 * invalid (docs/internals/lab-service.md).
 */

/** Ids are integers; a numeric string is read as its number, and anything else is kept as data. */
const eventIdSchema = z
  .union([z.number(), z.string().transform((text) => (/^\d{1,15}$/.test(text) ? Number(text) : text))])
  .nullish()
  .catch(undefined);

const orderEventSchema = z.looseObject({
  id: eventIdSchema,
  created_at: fields.timestamp,
  /** `<top>.<method>.<low>`, for instance `received.testkit.ordered`. */
  status: fields.text,
  status_detail: fields.text,
});

/**
 * One example has the lines `street` and `street_number`: if `first_line` is missing they are read as the first and the
 * second line, unchanged. Joining them would be a guess: the number may be a flat's as well as a house's.
 */
const addressSchema = z
  .looseObject({
    receiver_name: fields.text,
    first_line: fields.text,
    second_line: fields.text,
    street: fields.text,
    street_number: fields.text,
    city: fields.text,
    state: fields.text,
    zip: fields.text,
    /** Goes in as a two-letter code and comes back in long form, `United States`: see `countryCodeOf`. */
    country: fields.text,
    phone_number: fields.text,
    access_notes: fields.text,
  })
  .transform((address) => {
    if (address.first_line != null || address.street == null) return address;
    return { ...address, first_line: address.street, second_line: address.second_line ?? address.street_number };
  });

const answeredPatientSchema = z.looseObject({
  first_name: fields.text,
  last_name: fields.text,
  phone_number: fields.text,
  email: fields.text,
  /** Date, YYYY-MM-DD. A deployment that sends midnight of that date is read as the date that it wrote. */
  dob: z
    .string()
    .transform((dob) => (/^\d{4}-\d{2}-\d{2}[T ]/.test(dob) ? dob.slice(0, 10) : dob))
    .nullish()
    .catch(undefined),
  gender: fields.text,
});

const shipmentSchema = z.looseObject({
  id: fields.text,
  outbound_tracking_number: fields.text,
  outbound_tracking_url: fields.text,
  inbound_tracking_number: fields.text,
  inbound_tracking_url: fields.text,
  outbound_courier: fields.text,
  inbound_courier: fields.text,
  notes: fields.text,
  created_at: fields.timestamp,
  updated_at: fields.timestamp,
});

const orderDetailsSchema = z.looseObject({
  /** `testkit`, `walk_in_test`, `at_home_phlebotomy`, `on_site_collection`, or one not known yet. */
  type: fields.filledText,
  data: fields.part(
    z.looseObject({
      id: fields.text,
      created_at: fields.timestamp,
      updated_at: fields.timestamp,
      /** Present for a blood draw at home or a walk-in. */
      appointment_id: fields.text,
      /** Absent or null before the kit ships. */
      shipment: fields.part(shipmentSchema),
    }),
  ),
});

/** In lower case, as the contract writes it: decisions depend on it. */
const originSchema = fields.text.transform((origin) => origin && origin.toLowerCase());

const transactionOrderSchema = z.looseObject({
  id: fields.referredId,
  /** `initial`, `redraw`, `recreation`, or one not known yet. */
  origin: originSchema,
  parent_id: fields.referredId,
  low_level_status: fields.text,
  low_level_status_created_at: fields.timestamp,
  created_at: fields.timestamp,
  updated_at: fields.timestamp,
});

export const orderTransactionSchema = z.looseObject({
  id: fields.referredId,
  team_id: fields.text,
  /** `active`, `completed`, `cancelled`, or one not known yet. */
  status: fields.text,
  orders: fields.list(transactionOrderSchema),
});

/** A lab test, as far as an order shows it. */
export const labTestSchema = z.looseObject({
  id: fields.text,
  slug: fields.text,
  name: fields.text,
  description: fields.text,
  /** `testkit`, `walk_in_test`, `at_home_phlebotomy`, `on_site_collection`, or one not known yet. */
  method: fields.text,
  sample_type: fields.text,
  /** The laboratory, under the slug that its service centres are found by. */
  lab: fields.part(z.looseObject({ slug: fields.text })),
  fasting: fields.flag,
  has_collection_instructions: fields.flag,
  /** Days from collection to result: 95 % of past orders took no longer. */
  common_tat_days: fields.number,
  /** Days from collection to result: 99 % of past orders took no longer. */
  worst_case_tat_days: fields.number,
});

const physicianOfOrderSchema = z.looseObject({ first_name: fields.text, last_name: fields.text, npi: fields.text });

export const orderSchema = z
  .looseObject({
    id: fields.id,
    team_id: fields.text,
    /** Bound to the patient at registration: it can change. */
    user_id: fields.referredId,
    patient_details: fields.part(answeredPatientSchema),
    patient_address: fields.part(addressSchema),
    shipping_details: fields.part(addressSchema),
    details: fields.part(orderDetailsSchema),
    lab_test: fields.part(labTestSchema),
    sample_id: fields.filledText,
    health_insurance_id: fields.text,
    health_insurace_id: fields.text,
    notes: fields.text,
    clinical_notes: fields.text,
    created_at: fields.timestamp,
    updated_at: fields.timestamp,
    /** Top level: `received`, `collecting_sample`, `sample_with_lab`, `completed`, `cancelled`, `failed`, … */
    status: fields.text,
    events: fields.list(orderEventSchema),
    last_event: fields.part(orderEventSchema),
    physician: fields.part(physicianOfOrderSchema),
    /** `normal`, `abnormal`, `critical`, or one not known yet. */
    interpretation: fields.text,
    has_missing_results: fields.flag,
    /** Date, YYYY-MM-DD. */
    activate_by: fields.text,
    /** Date, YYYY-MM-DD. */
    expected_result_by_date: fields.text,
    /** Date, YYYY-MM-DD. */
    worst_case_result_by_date: fields.text,
    has_abn: fields.flag,
    origin: originSchema,
    parent_id: fields.referredId,
    requisition_form_url: fields.text,
    order_transaction: fields.part(orderTransactionSchema),
    lab_account_id: fields.referredId,
    /** The caller's own text from the order's creation; not every deployment echoes it. */
    passthrough: fields.text,
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
  age: fields.text,
  dob: fields.text,
  patient: fields.text,
  provider: fields.text,
  laboratory: fields.text,
  date_reported: fields.timestamp,
  date_collected: fields.timestamp,
  date_received: fields.timestamp,
  specimen_number: fields.text,
  /** `final` by default. */
  status: fields.text,
  interpretation: fields.text,
});

const sentResultSchema = z.looseObject({
  name: fields.text,
  slug: fields.text,
  /** The number of a numeric result. */
  value: fields.number,
  /** The lab's own text. */
  result: fields.value,
  /** `numeric`, `range`, `comment`, `coded_value`, or one not known yet. */
  type: fields.text,
  unit: fields.text,
  timestamp: fields.timestamp,
  reference_range: fields.text,
  min_range_value: fields.number,
  max_range_value: fields.number,
  is_above_max_range: fields.flag,
  is_below_min_range: fields.flag,
  interpretation: fields.text,
  loinc: fields.text,
});

/** The service writes the value -1 for every result that is not a number. */
const biomarkerResultSchema = sentResultSchema.transform(({ value, ...result }) => {
  const isPlaceholder = value === -1 && result.type != null && result.type.toLowerCase() !== 'numeric';
  return isPlaceholder || value === undefined ? result : { ...result, value };
});

const missingResultSchema = z.looseObject({
  name: fields.text,
  slug: fields.text,
  inferred_failure_type: fields.text,
  note: fields.text,
});

export const resultsSchema = z.looseObject({
  metadata: fields.part(resultMetadataSchema),
  /** A list, or an object whose form is not documented. */
  results: fields.part(
    z.union([
      z.array(z.unknown()).transform((sent) => fields.readable(biomarkerResultSchema, sent)),
      z.record(z.string(), z.unknown()),
    ]),
  ),
  missing_results: fields.list(missingResultSchema),
  order_transaction: fields.part(orderTransactionSchema),
});

export type ResultMetadata = z.output<typeof resultMetadataSchema>;
export type Results = z.output<typeof resultsSchema>;
