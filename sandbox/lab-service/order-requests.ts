import { z } from 'zod';
import { collectionMethods } from './lifecycle.js';
import { birthDate, date, email, optional, patientName, uuid, zip } from './validation.js';

/** The bodies of the order endpoints. */

/** The specification's limit on a clinical comment. */
const comment = optional(z.string().max(1_000));

const billingType = z.enum(['client_bill', 'commercial_insurance', 'patient_bill_passthrough', 'patient_bill']);

const consent = z.object({
  consentType: z.enum([
    'terms-of-use',
    'telehealth-informed-consent',
    'mobile-terms-and-conditions',
    'notice-of-privacy-practices',
    'privacy-policy',
    'hipaa-authorization',
  ]),
});

const patientDetails = z.object({
  first_name: patientName,
  last_name: patientName,
  dob: birthDate,
  gender: z.enum(['female', 'male', 'other', 'unknown']),
  phone_number: z.string(),
  email,
});

const physician = optional(z.object({ first_name: z.string(), last_name: z.string(), npi: z.string() }));

/** A country is sent as a code and read as its name ("United States"). Anything else is read as it was sent. */
const country = z.string().transform((code) => {
  if (code.toUpperCase() === 'USA') return 'United States';
  if (!/^[A-Za-z]{2}$/.test(code)) return code;
  return new Intl.DisplayNames(['en'], { type: 'region' }).of(code.toUpperCase()) ?? code;
});

const shippingAddress = z.object({
  receiver_name: z.string(),
  first_line: z.string(),
  second_line: optional(z.string()),
  city: z.string(),
  state: z.string(),
  zip,
  country,
  phone_number: z.string(),
});

const patientAddress = z.preprocess(
  withLines,
  shippingAddress.extend({
    receiver_name: z
      .string()
      .nullish()
      .transform((name) => name ?? ''),
    phone_number: optional(z.string()),
    access_notes: comment,
  }),
);

export type PatientDetails = z.output<typeof patientDetails>;
export type Address = Omit<z.output<typeof patientAddress>, 'access_notes'> & { readonly access_notes?: string | null };

/** One example of the specification writes `street` and `street_number` for the lines of an address, in this order. */
function withLines(address: unknown): unknown {
  if (typeof address !== 'object' || address === null || !('street' in address) || 'first_line' in address)
    return address;
  const { street: first_line, street_number: second_line, ...rest }: Record<string, unknown> = { ...address };
  return { second_line, ...rest, first_line };
}

/** The zip as it is: the schema of an import has no rule for it. */
const importedAddress = shippingAddress.extend({
  zip: z.string(),
  phone_number: optional(z.string()),
  access_notes: comment,
});

const orderSet = z.object({
  lab_test_ids: optional(z.array(uuid)),
  lab_account_id: optional(uuid),
  add_on: optional(z.looseObject({})),
});

export const testkitRequest = z.object({
  user_id: uuid,
  lab_test_id: uuid,
  shipping_details: shippingAddress,
  passthrough: optional(z.string()),
  lab_account_id: optional(uuid),
});

export const registrationRequest = z.object({
  user_id: optional(uuid),
  sample_id: z.string(),
  patient_details: patientDetails,
  patient_address: patientAddress,
  physician,
  health_insurance: optional(z.looseObject({})),
  consents: optional(z.array(consent)),
});

export const orderRequest = z.object({
  user_id: uuid,
  lab_test_id: optional(uuid),
  order_set: optional(orderSet),
  collection_method: optional(z.enum(collectionMethods)),
  patient_details: patientDetails,
  patient_address: patientAddress,
  physician,
  health_insurance: optional(z.looseObject({})),
  lab_account_id: optional(uuid),
  passthrough: optional(z.string()),
  clinical_notes: comment,
  activate_by: optional(date),
  priority: z
    .boolean()
    .nullish()
    .transform((priority) => priority ?? false),
  billing_type: optional(billingType),
  icd_codes: optional(z.array(z.string())),
  consents: optional(z.array(consent)),
  aoe_answers: z
    .array(z.object({ marker_id: z.int(), question_id: z.int(), answer: z.string() }))
    .nullish()
    .transform((answers) => answers ?? []),
});

export type Answers = z.output<typeof orderRequest>['aoe_answers'];

export const importRequest = z.object({
  order_set: orderSet,
  user_id: uuid,
  collection_method: z.enum(collectionMethods),
  billing_type: billingType,
  sample_id: z.string(),
  patient_details: patientDetails,
  patient_address: importedAddress,
  physician,
  lab_account_id: optional(uuid),
});
