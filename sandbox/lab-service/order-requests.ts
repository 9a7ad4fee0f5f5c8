import { z } from 'zod';
import { collectionMethods } from './lifecycle.js';
import {
  birthDate,
  date,
  email,
  optional,
  patientName,
  readBody,
  refusal,
  unacceptable,
  uuid,
  zip,
} from './validation.js';
import type { Lab } from './lab.js';
import { type LabAccount, labAccountIds, labAccounts, type LabTest, labTests } from './seed.js';
import type { Order } from './state.js';

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

/** The ways in which a caller makes or registers an order: request body in, order out, or a refusal thrown. */

/** `POST /v3/order/testkit`: a kit whose patient is not known yet. Registration asks for the physician, not this. */
export function orderTestkit(lab: Lab, body: unknown): Order {
  const { user_id: userId, lab_test_id: labTestId, ...request } = readBody(testkitRequest, body);
  requireUser(lab, userId);
  const labTest = requireLabTest(labTestId);
  if (labTest.method !== 'testkit') throw refusal(400, 'Lab test is not a testkit');
  if (request.lab_account_id !== null) requireAccount(request.lab_account_id);
  return lab.orders.place({ userId, labTest, request });
}

/** `POST /v3/order`: the patient is known. The lab test is named directly or as the first of an order set. */
export function orderForPatient(lab: Lab, body: unknown): Order {
  const {
    user_id: userId,
    lab_test_id,
    order_set,
    collection_method,
    health_insurance,
    consents: _,
    aoe_answers: answers,
    ...request
  } = readBody(orderRequest, body);
  const labTestId = lab_test_id ?? order_set?.lab_test_ids?.[0];
  if (labTestId === undefined) throw refusal(400, 'Either lab_test_id or order_set must be set');
  if (collection_method === 'testkit') throw refusal(400, 'Cannot set collection_method to TESTKIT');
  if (!isPhoneNumber(request.patient_details.phone_number)) throw refusal(400, 'Phone number is not correct');
  requireUser(lab, userId);
  const labTest = requireLabTest(labTestId);
  requireAnswers(labTest, answers);
  const lab_account_id = request.lab_account_id ?? order_set?.lab_account_id ?? null;
  requirePhysician(lab_account_id, request.physician);
  const shipping_details = labTest.method === 'testkit' ? shippingOf(request) : null;
  return lab.orders.place({
    userId,
    labTest,
    request: { ...request, lab_account_id, shipping_details },
    hasInsurance: health_insurance !== null,
  });
}

/** `POST /v3/order/import`: the sample is known already, and an account may still be pending. */
export function importOrder(lab: Lab, body: unknown): Order {
  const {
    user_id: userId,
    order_set,
    collection_method: method,
    sample_id: sampleId,
    ...request
  } = readBody(importRequest, body);
  requireUser(lab, userId);
  // An order set may name markers alone.
  const [labTestId] = order_set.lab_test_ids ?? [];
  const labTest = labTestId === undefined ? labTests.find((test) => test.method === method) : requireLabTest(labTestId);
  if (labTest === undefined) throw refusal(404, 'Lab test not found');
  const lab_account_id = request.lab_account_id ?? order_set.lab_account_id;
  requirePhysician(lab_account_id, request.physician, { pending: true });
  return lab.orders.place({
    userId,
    labTest: { ...labTest, method },
    request: { ...request, lab_account_id },
    sampleId,
    isImported: true,
  });
}

/** `POST /v3/order/testkit/register`: gives a kit its patient. The order is found by the sample id. */
export function registerTestkit(lab: Lab, body: unknown): Order {
  const request = readBody(registrationRequest, body);
  const { user_id: userId, sample_id: sampleId } = request;
  const refused = (reason: string) => unacceptable(['body', 'sample_id'], reason, sampleId);
  if (userId !== null) requireUser(lab, userId);
  const known = lab.state.orderOfSample(sampleId);
  if (known?.sampleId === sampleId && known.patient_details !== null) {
    throw refused('sample_id is already registered');
  }
  const order = known ?? (lab.settings.anySampleId ? oldestRegistrable(lab, userId) : undefined);
  if (order === undefined) throw refused('sample_id is not known');
  if (order.patient_details !== null) {
    throw refused('the order of this kit is already registered with another sample_id');
  }
  if (!lab.orders.isRegistrable(order)) throw refused('the order of this kit has ended');
  requirePhysician(order.lab_account_id, request.physician);
  lab.orders.register(order, request);
  return order;
}

function oldestRegistrable(lab: Lab, userId: string | null): Order | undefined {
  const candidates = userId === null ? [...lab.state.orders.values()] : lab.state.ordersOfUser(userId);
  return candidates.find((candidate) => lab.orders.isRegistrable(candidate));
}

function requireUser(lab: Lab, userId: string): void {
  if (!lab.state.users.has(userId)) throw refusal(404, 'User does not exist on this team');
}

/** The answer is not documented; assumed. */
export function requireLabTest(labTestId: string): LabTest {
  const labTest = labTests.find((test) => test.id === labTestId);
  if (labTest === undefined) throw refusal(404, 'Lab test not found');
  return labTest;
}

/**
 * Neither answer is documented; assumed. That only an import takes a pending account follows from the specification, which
 * says it of the import alone.
 */
function requireAccount(labAccountId: string, { pending = false } = {}): LabAccount {
  const account = labAccounts.find(({ id }) => id === labAccountId);
  if (account === undefined) throw refusal(404, 'Lab account not found');
  if (account.status === 'suspended' || (account.status === 'pending' && !pending)) {
    throw refusal(400, `Lab account is ${account.status}`);
  }
  return account;
}

/** The answer is not documented; assumed to be that to any unacceptable field. A choice is named by its code. */
function requireAnswers({ markers }: LabTest, answers: Answers): void {
  for (const { id: markerId, questions = [] } of markers) {
    for (const { id, required, type, choices } of questions) {
      const index = answers.findIndex((answer) => answer.marker_id === markerId && answer.question_id === id);
      const given = answers[index]?.answer;
      if (given === undefined && required) {
        throw unacceptable(['body', 'aoe_answers'], `question ${id} of marker ${markerId} is required`, answers);
      }
      const isRight = type === 'choice' ? choices.some(({ code }) => code === given) : !Number.isNaN(Number(given));
      if (given !== undefined && !isRight) {
        throw unacceptable(['body', 'aoe_answers', index, 'answer'], 'the answer does not fit its question', given);
      }
    }
  }
}

/** Accounts whose orders are delegated take the physician from the caller. */
function requirePhysician(
  labAccountId: string | null,
  physician: Order['physician'],
  accepts: { pending?: boolean } = {},
): void {
  const flow = requireAccount(labAccountId ?? labAccountIds.notDelegated, accepts).delegated_flow;
  if (physician === null && (flow === 'order_delegated' || flow === 'fully_delegated')) {
    throw unacceptable(['body', 'physician'], `a physician is required by a lab account that is ${flow}`, null);
  }
}

function shippingOf(request: Pick<z.output<typeof orderRequest>, 'patient_address' | 'patient_details'>): Address {
  const { access_notes: _, ...address } = request.patient_address;
  const { first_name, last_name, phone_number } = request.patient_details;
  return {
    ...address,
    receiver_name: address.receiver_name || `${first_name} ${last_name}`,
    phone_number: address.phone_number ?? phone_number,
  };
}

/** A number of the North American plan; area codes 0xx, 1xx and 555 do not exist. */
function isPhoneNumber(text: string): boolean {
  const digits = text.replace(/[\s().-]/g, '');
  return /^(\+?1)?(?!555)[2-9]\d{2}[2-9]\d{6}$/.test(digits);
}

/** The notes that the laboratory reads: the account's standing comment, then the order's own. */
export function requisitionNotes(order: Order): string | null {
  const account = requireAccount(order.lab_account_id ?? labAccountIds.notDelegated, { pending: true });
  const notes = [account.default_clinical_notes, order.clinical_notes].filter((note) => note !== null);
  return notes.length === 0 ? null : notes.join('\n');
}
