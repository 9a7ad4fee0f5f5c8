import { COLLECTION_METHODS, type CollectionMethod } from './lifecycle.js';
import type { Address, PatientDetails, Physician } from './state.js';
import { Fields, birthDate, date, email, maxLength, oneOf, patientName, uuid, zip } from './validation.js';

/** The bodies of the order endpoints, validated. Each function throws the 422 with all faults of the body. */

const GENDERS = ['female', 'male', 'other', 'unknown'] as const;
const CONSENTS = [
  'terms-of-use',
  'telehealth-informed-consent',
  'mobile-terms-and-conditions',
  'notice-of-privacy-practices',
  'privacy-policy',
  'hipaa-authorization',
] as const;
const BILLING = ['client_bill', 'commercial_insurance', 'patient_bill_passthrough', 'patient_bill'] as const;
/** The specification's limit on a clinical comment. */
const LONGEST_COMMENT = 1_000;

export function testkitRequest(body: unknown) {
  const fields = Fields.ofBody(body);
  const request = {
    userId: fields.string('user_id', uuid),
    labTestId: fields.string('lab_test_id', uuid),
    shippingDetails: shippingAddress(fields.object('shipping_details')),
    passthrough: fields.optionalString('passthrough'),
    labAccountId: fields.optionalString('lab_account_id', uuid),
  };
  fields.finish();
  return request;
}

export type RegistrationRequest = ReturnType<typeof registrationRequest>;

export function registrationRequest(body: unknown, now: number) {
  const fields = Fields.ofBody(body);
  const request = {
    userId: fields.optionalString('user_id', uuid),
    sampleId: fields.string('sample_id'),
    patientDetails: patientDetails(fields.object('patient_details'), now),
    patientAddress: patientAddress(fields.object('patient_address')),
    physician: physician(fields.optionalObject('physician')),
    hasInsurance: fields.optionalObject('health_insurance') !== null,
  };
  checkConsents(fields);
  fields.finish();
  return request;
}

export type OrderRequest = ReturnType<typeof orderRequest>;

export function orderRequest(body: unknown, now: number) {
  const fields = Fields.ofBody(body);
  const orderSet = fields.optionalObject('order_set');
  const inSet = orderSet?.optionalStrings('lab_test_ids', uuid) ?? [];
  const request = {
    userId: fields.string('user_id', uuid),
    // Given directly or as the first of an order set.
    labTestId: fields.optionalString('lab_test_id', uuid) ?? inSet[0] ?? null,
    collectionMethod: fields.optionalString('collection_method', oneOf(...COLLECTION_METHODS)),
    patientDetails: patientDetails(fields.object('patient_details'), now),
    patientAddress: patientAddress(fields.object('patient_address')),
    physician: physician(fields.optionalObject('physician')),
    hasInsurance: fields.optionalObject('health_insurance') !== null,
    labAccountId:
      fields.optionalString('lab_account_id', uuid) ?? orderSet?.optionalString('lab_account_id', uuid) ?? null,
    passthrough: fields.optionalString('passthrough'),
    clinicalNotes: fields.optionalString('clinical_notes', maxLength(LONGEST_COMMENT)),
    activateBy: fields.optionalString('activate_by', date),
    priority: fields.optionalBoolean('priority') ?? false,
    billingType: fields.optionalString('billing_type', oneOf(...BILLING)),
    icdCodes: fields.optionalStrings('icd_codes'),
  };
  checkConsents(fields);
  fields.finish();
  return request;
}

export function importRequest(body: unknown, now: number) {
  const fields = Fields.ofBody(body);
  const orderSet = fields.object('order_set');
  orderSet.optionalObject('add_on');
  const request = {
    userId: fields.string('user_id', uuid),
    // Null if the order set names markers alone.
    labTestId: orderSet.optionalStrings('lab_test_ids', uuid)?.[0] ?? null,
    collectionMethod: fields.string('collection_method', oneOf(...COLLECTION_METHODS)) as CollectionMethod,
    billingType: fields.string('billing_type', oneOf(...BILLING)),
    sampleId: fields.string('sample_id'),
    patientDetails: patientDetails(fields.object('patient_details'), now),
    patientAddress: importedAddress(fields.object('patient_address')),
    physician: physician(fields.optionalObject('physician')),
    labAccountId: fields.optionalString('lab_account_id', uuid) ?? orderSet.optionalString('lab_account_id', uuid),
  };
  fields.finish();
  return request;
}

function checkConsents(fields: Fields): void {
  for (const consent of fields.optionalObjects('consents') ?? []) consent.string('consentType', oneOf(...CONSENTS));
}

function patientDetails(fields: Fields, now: number): PatientDetails {
  return {
    first_name: fields.string('first_name', patientName),
    last_name: fields.string('last_name', patientName),
    dob: fields.string('dob', birthDate(now)).slice(0, 10),
    gender: fields.string('gender', oneOf(...GENDERS)),
    phone_number: fields.string('phone_number'),
    email: fields.string('email', email),
  };
}

function physician(fields: Fields | null): Physician | null {
  if (fields === null) return null;
  return {
    first_name: fields.string('first_name'),
    last_name: fields.string('last_name'),
    npi: fields.string('npi'),
  };
}

function shippingAddress(fields: Fields): Address {
  return {
    receiver_name: fields.string('receiver_name'),
    ...place(fields, fields.string('first_line'), fields.optionalString('second_line')),
    phone_number: fields.string('phone_number'),
  };
}

function patientAddress(fields: Fields): Address {
  const [firstLine, secondLine] = addressLines(fields);
  return {
    receiver_name: fields.optionalString('receiver_name') ?? '',
    ...place(fields, firstLine, secondLine),
    phone_number: fields.optionalString('phone_number'),
    access_notes: fields.optionalString('access_notes', maxLength(LONGEST_COMMENT)),
  };
}

/** As it is: the schema of an import has no rule for it. */
function importedAddress(fields: Fields): Address {
  return {
    receiver_name: fields.string('receiver_name'),
    first_line: fields.string('first_line'),
    second_line: fields.optionalString('second_line'),
    city: fields.string('city'),
    state: fields.string('state'),
    zip: fields.string('zip'),
    country: countryName(fields.string('country')),
    phone_number: null,
    access_notes: fields.optionalString('access_notes', maxLength(LONGEST_COMMENT)),
  };
}

/** One example of the specification writes `street` and `street_number` for the lines of an address, in this order. */
function addressLines(fields: Fields): [string, string | null] {
  if (fields.has('first_line') || !fields.has('street')) {
    return [fields.string('first_line'), fields.optionalString('second_line')];
  }
  const number = fields.optionalString('street_number');
  return [fields.string('street'), fields.optionalString('second_line') ?? number];
}

function place(
  fields: Fields,
  firstLine: string,
  secondLine: string | null,
): Omit<Address, 'receiver_name' | 'phone_number'> {
  return {
    first_line: firstLine,
    second_line: secondLine,
    city: fields.string('city'),
    state: fields.string('state'),
    zip: fields.string('zip', zip),
    country: countryName(fields.string('country')),
  };
}

/** A country is sent as a code and read as its name. Anything else is read as it was sent. */
function countryName(code: string): string {
  if (code.toUpperCase() === 'USA') return 'United States';
  if (!/^[A-Za-z]{2}$/.test(code)) return code;
  return new Intl.DisplayNames(['en'], { type: 'region' }).of(code.toUpperCase()) ?? code;
}
