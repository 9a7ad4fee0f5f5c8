import { z } from 'zod';
import { type CallFacts, RequestInvalid } from '../errors.js';
import type { RefusedField } from '../lab-operations-error.js';
import { requiredTextSchema, emailSchema, dateSchema, birthDateSchema, commentSchema } from '../validation.js';

/*
 * Our requests about orders. Strict, because a field that the service does not know is a mistake on our side, and its
 * refusal would come back days later, when nobody is watching. Every message completes the sentence "<field> …" and
 * never repeats the value.
 *
 * Rules of the specification are marked; the rest is not documented and only refuses values that cannot be right. Names, zips and
 * countries of any form go out: what a laboratory takes is for the service to say (`checkDocumentedRules` checks it on request). Identifiers need not be UUIDs: the service itself issues some that are not.
 */

/** For rules about several fields: they are reported together with all other faults. */
function isObject({ value }: { value: unknown }): boolean {
  return typeof value === 'object' && value !== null;
}

const optionalTextSchema = z.string().trim().nullish();
/** The product's own text, such as `passthrough`: it is sent as it is. */
const optionalExactTextSchema = z.string().nullish();

/** For fields that may be absent at the service, but not null. */
function absentIfNull<T>(schema: z.ZodType<T>) {
  return schema.nullish().overwrite((value) => value ?? undefined);
}

const nameSchema = z
  .string()
  .trim()
  .min(1, { error: 'must be 1 to 50 characters long', abort: true })
  .max(50, { error: 'must be 1 to 50 characters long', abort: true })
  .regex(/\S/, 'must not be empty');

const countSchema = z.int('must be a whole number').min(0, 'must not be negative').nullish();

const instantSchema = z.iso.datetime({ offset: true, error: 'must be a timestamp with a zone (ISO 8601)' });

const addressLines = {
  first_line: requiredTextSchema,
  second_line: optionalTextSchema,
  city: requiredTextSchema,
  state: requiredTextSchema,
  zip: requiredTextSchema,
  country: requiredTextSchema,
};

const shippingDetailsSchema = z.strictObject({
  receiver_name: requiredTextSchema,
  ...addressLines,
  phone_number: requiredTextSchema,
});

const patientAddressSchema = z.strictObject({
  receiver_name: absentIfNull(z.string()),
  ...addressLines,
  phone_number: optionalTextSchema,
  access_notes: commentSchema,
});

/** One example of a registration has the lines `street` and `street_number`; the service gets the given names. */
const registeredAddressSchema = z
  .strictObject({
    ...patientAddressSchema.shape,
    first_line: requiredTextSchema.optional(),
    street: requiredTextSchema.optional(),
    street_number: optionalTextSchema,
  })
  .refine(({ first_line: first, street }) => first !== undefined || street !== undefined, {
    error: 'is required',
    path: ['first_line'],
    when: isObject,
  })
  .refine(({ first_line: first, second_line: second, street }) => street === undefined || (first ?? second) == null, {
    error: 'cannot stand beside first_line and second_line',
    path: ['street'],
    when: isObject,
  });

/** An address of a person who is not examined: no rule is documented for its zip and country, so any form is sent. */
const otherAddressSchema = z.strictObject({
  ...addressLines,
  access_notes: commentSchema,
});

/** Who answers for a patient that cannot. */
export const medicalProxySchema = z.strictObject({
  first_name: requiredTextSchema,
  last_name: requiredTextSchema,
  address: otherAddressSchema,
  phone_number: requiredTextSchema,
  email: emailSchema.nullish(),
  /** In whole dollars a year, as far as is known; the unit is not documented. */
  household_income: countSchema,
  household_size: countSchema,
});

export const patientDetailsSchema = z.strictObject({
  first_name: nameSchema,
  last_name: nameSchema,
  dob: birthDateSchema,
  /** `female`, `male`, `other`, `unknown`; open, because the specification only says "male/female-style". */
  gender: requiredTextSchema,
  phone_number: requiredTextSchema,
  email: emailSchema,
  medical_proxy: medicalProxySchema.nullish(),
  /** Slugs of open lists, for instance `white_caucasian`, `non_hispanic`, `heterosexual_or_straight`, `female`. */
  race: optionalTextSchema,
  ethnicity: optionalTextSchema,
  sexual_orientation: optionalTextSchema,
  gender_identity: optionalTextSchema,
  /** As the medical proxy's. */
  household_income: countSchema,
  household_size: countSchema,
});

/**
 * Data for an insurer. Photographs of the card and the signature are left out: the form of a file in JSON is not
 * documented, and files never pass through Temporal.
 */
const healthInsuranceSchema = z.strictObject({
  payor_code: optionalTextSchema,
  insurance_id: optionalTextSchema,
  /** `Self`, `Spouse`, `Other`; the list grows. */
  responsible_relationship: optionalTextSchema,
  responsible_details: z
    .strictObject({
      first_name: requiredTextSchema,
      last_name: requiredTextSchema,
      address: otherAddressSchema,
      phone_number: requiredTextSchema,
      /** The service assumes `Mobile`. */
      phone_type: absentIfNull(z.string()),
    })
    .nullish(),
  diagnosis_codes: z.array(requiredTextSchema).nullish(),
  subjective: optionalTextSchema,
  assessment_plan: optionalTextSchema,
});

/** The patient's answer to a question that a marker asks at ordering (`aoe` of a marker). */
const questionAnswerSchema = z.strictObject({
  marker_id: z.int('must be a whole number'),
  question_id: z.int('must be a whole number'),
  answer: z.string(),
});

/** The form of an NPI is not documented, so any text is sent. */
const physicianSchema = z.strictObject({
  first_name: requiredTextSchema,
  last_name: requiredTextSchema,
  npi: requiredTextSchema,
  email: optionalTextSchema,
  /** Two-letter codes. */
  licensed_states: absentIfNull(z.array(requiredTextSchema)),
});

/** `terms-of-use`, `telehealth-informed-consent`, `notice-of-privacy-practices`; the list grows. */
const consentSchema = z.strictObject({
  consentType: requiredTextSchema,
  /** Which wording was agreed to; the service assumes `1.0` (docs/internals/lab-service.md). */
  version: absentIfNull(z.string()),
  /** ISO 8601. */
  timeOfConsent: absentIfNull(z.string()),
});

/** Which tests an order is made of; at least one of the three has to be there. */
const orderSetSchema = z
  .strictObject({
    lab_test_ids: z.array(requiredTextSchema).nullish(),
    add_on: z
      .strictObject({
        marker_ids: z.array(z.int('must be a whole number')).nullish(),
        provider_ids: z.array(requiredTextSchema).nullish(),
      })
      .nullish(),
    lab_account_id: optionalTextSchema,
  })
  .refine(
    ({ lab_test_ids: tests, add_on: more }) =>
      [tests, more?.marker_ids, more?.provider_ids].some((ids) => ids != null && ids.length > 0),
    'must name a lab test or a marker',
  );

/** `POST /v3/order/testkit`: a kit without a patient, to be registered later. */
export const testkitOrderRequestSchema = z.strictObject({
  user_id: requiredTextSchema,
  lab_test_id: requiredTextSchema,
  shipping_details: shippingDetailsSchema,
  passthrough: optionalExactTextSchema,
  lab_account_id: optionalTextSchema,
});

/** `POST /v3/order`: an order whose patient is known. Delegated lab accounts require `physician`. */
export const orderRequestSchema = z
  .strictObject({
    user_id: requiredTextSchema,
    /** Either this or `order_set` is required. */
    lab_test_id: requiredTextSchema.nullish(),
    order_set: orderSetSchema.nullish(),
    /** As in an import; if absent, the lab test's own. */
    collection_method: requiredTextSchema.nullish(),
    patient_details: patientDetailsSchema,
    patient_address: patientAddressSchema,
    physician: physicianSchema.nullish(),
    health_insurance: healthInsuranceSchema.nullish(),
    /** As in an import. */
    billing_type: absentIfNull(requiredTextSchema),
    /** Diagnoses, ICD-10. */
    icd_codes: z.array(requiredTextSchema).nullish(),
    aoe_answers: z.array(questionAnswerSchema).nullish(),
    priority: absentIfNull(z.boolean()),
    /** The order is for a later day: YYYY-MM-DD. */
    activate_by: dateSchema.nullish(),
    consents: absentIfNull(z.array(consentSchema)),
    /** The order's comment; the lab account's default is put with it on the requisition. */
    clinical_notes: commentSchema,
    lab_account_id: optionalTextSchema,
    /** The id of the team's member who ordered, if it was a person. */
    creator_member_id: optionalTextSchema,
    passthrough: optionalExactTextSchema,
  })
  .refine(({ lab_test_id: test, order_set: set }) => test != null || set != null, {
    path: ['lab_test_id'],
    error: 'or order_set must say what is ordered',
    when: isObject,
  });

/**
 * `POST /v3/order/import`: an order whose sample the lab has, or will have, on other ways. Lab accounts that are still
 * pending are accepted. The address is not validated by the service, so a zip of any form goes out.
 */
export const importOrderRequestSchema = z.strictObject({
  user_id: requiredTextSchema,
  /** `client_bill`, `commercial_insurance`, `patient_bill_passthrough`, `patient_bill`; the list grows. */
  billing_type: requiredTextSchema,
  order_set: orderSetSchema,
  /** `testkit`, `walk_in_test`, `at_home_phlebotomy`, `on_site_collection`; the list grows. */
  collection_method: requiredTextSchema,
  physician: physicianSchema.nullish(),
  patient_details: patientDetailsSchema,
  patient_address: z.strictObject({
    receiver_name: requiredTextSchema,
    ...addressLines,
    access_notes: commentSchema,
  }),
  sample_id: requiredTextSchema,
  lab_account_id: optionalTextSchema,
});

/** The longest window of `resendEventsRequestSchema`, in days. */
const resendDays = 60;

/** `POST /v3/order/resend_events`. Timestamps are ISO 8601 with a zone. If neither is given, the service decides. */
export const resendEventsRequestSchema = z
  .strictObject({
    order_ids: z.array(requiredTextSchema).nullish(),
    start_at: instantSchema.nullish(),
    end_at: instantSchema.nullish(),
  })
  .refine(
    ({ order_ids: orders, start_at: start }) => start != null || (orders != null && orders.length > 0),
    'must name orders or a start_at',
  )
  .refine(({ start_at: start, end_at: end }) => {
    if (start == null || end == null) return true;
    const days = (Date.parse(end) - Date.parse(start)) / 86_400_000;
    return days >= 0 && days <= resendDays;
  }, `must be a window of at most ${resendDays} days that ends after its start`);

/** `POST /v3/order/testkit/register`. Without `user_id` the order keeps its user (docs/internals/lab-service.md). */
export const registerRequestSchema = z.strictObject({
  user_id: optionalTextSchema,
  sample_id: requiredTextSchema,
  patient_details: patientDetailsSchema,
  patient_address: registeredAddressSchema,
  consents: absentIfNull(z.array(consentSchema)),
  physician: physicianSchema.nullish(),
  health_insurance: healthInsuranceSchema.nullish(),
});

export type ShippingDetails = z.output<typeof shippingDetailsSchema>;
export type TestkitOrderRequest = z.output<typeof testkitOrderRequestSchema>;
export type OrderRequest = z.output<typeof orderRequestSchema>;
export type RegisterRequest = z.output<typeof registerRequestSchema>;
export type ImportOrderRequest = z.output<typeof importOrderRequestSchema>;
export type ResendEventsRequest = z.output<typeof resendEventsRequestSchema>;

/*
 * The rules that laboratories are documented to have (docs/internals/lab-service.md): names in ASCII, US zip codes, two-letter country
 * codes. A deployment may accept more, so they are checked only if the settings say so; a request that breaks one is then
 * refused before it is sent.
 */

/** `service`: the service decides. `documented`: what it is documented to refuse is not sent. */
export type OrderRules = 'service' | 'documented';

const labNamePattern = /^([a-zA-Z0-9]{1})([a-zA-Z0-9-.,']*(\s[a-zA-Z0-9-.,']+)*[a-zA-Z0-9-.,']?)$/;
const zipPattern = /^\d{5}(-\d{4})?$/;
const countryPattern = /^[A-Z]{2}$/;

const nameRule = "must start with a letter (a-z, A-Z) or digit, and may contain only those, single spaces and - . , '";
const zipRule = 'must be five digits, or five, a hyphen and four (12345 or 12345-6789)';
const countryRule = 'must be a two-letter country code in capitals, for instance US';

/** A request whose form is right. */
interface OfPatient {
  patient_details?: { first_name: string; last_name: string };
  patient_address?: Address;
  shipping_details?: Address;
}

interface Address {
  zip: string;
  country: string;
}

/** @throws RequestInvalid with every broken rule, without its value */
export function checkDocumentedRules(call: CallFacts, rules: OrderRules, request: OfPatient): void {
  if (rules === 'service') return;
  const { patient_details: patient, patient_address: address, shipping_details: shipping } = request;
  const broken = [
    ...faultsOf('patient_details', patient, {
      first_name: [labNamePattern, nameRule],
      last_name: [labNamePattern, nameRule],
    }),
    ...faultsOf('patient_address', address, ofAddresses),
    ...faultsOf('shipping_details', shipping, ofAddresses),
  ];
  if (broken.length > 0) throw new RequestInvalid(call, broken);
}

type Rule = readonly [pattern: RegExp, says: string];

const ofAddresses = { zip: [zipPattern, zipRule], country: [countryPattern, countryRule] } satisfies Record<
  string,
  Rule
>;

function faultsOf<Part extends object>(
  part: string,
  values: Part | undefined,
  rules: Readonly<Partial<Record<keyof Part & string, Rule>>>,
): RefusedField[] {
  if (values === undefined) return [];
  return (Object.entries(rules) as [keyof Part & string, Rule][])
    .filter(([field, [pattern]]) => !pattern.test(String(values[field])))
    .map(([field, [, message]]) => ({ field: `${part}.${field}`, message }));
}
