import type { Lab } from './lab.js';
import {
  importRequest,
  orderRequest,
  registrationRequest,
  testkitRequest,
  type OrderRequest,
  type RegistrationRequest,
} from './order-requests.js';
import { refusal, unacceptable } from './problems.js';
import { LAB_ACCOUNTS, LAB_ACCOUNT_IDS, LAB_TESTS, type LabAccount, type LabTest } from './seed.js';
import { newId, type Address, type Order, type Physician } from './state.js';

/** The three ways in which a caller makes or registers an order: request body in, order out, or a refusal thrown. */

/** `POST /v3/order/testkit`: a kit whose patient is not known yet. Registration asks for the physician, not this. */
export function orderTestkit(lab: Lab, body: unknown): Order {
  const request = testkitRequest(body);
  requireUser(lab, request.userId);
  const labTest = requireLabTest(request.labTestId);
  if (labTest.method !== 'testkit') throw refusal(400, 'Lab test is not a testkit');
  if (request.labAccountId !== null) requireAccount(request.labAccountId);
  const { userId, shippingDetails, passthrough, labAccountId } = request;
  return lab.orders.place({ userId, labTest, shippingDetails, passthrough, labAccountId });
}

/** `POST /v3/order`: the patient is known. */
export function orderForPatient(lab: Lab, body: unknown): Order {
  const request = orderRequest(body, lab.clock.now());
  if (request.labTestId === null) throw refusal(400, 'Either lab_test_id or order_set must be set');
  if (request.collectionMethod === 'testkit') throw refusal(400, 'Cannot set collection_method to TESTKIT');
  if (!isPhoneNumber(request.patientDetails.phone_number)) throw refusal(400, 'Phone number is not correct');
  requireUser(lab, request.userId);
  const labTest = requireLabTest(request.labTestId);
  requirePhysician(request.labAccountId, request.physician);
  const { hasInsurance, ...rest } = request;
  return lab.orders.place({
    ...rest,
    labTest,
    healthInsuranceId: hasInsurance ? newId() : null,
    shippingDetails: labTest.method === 'testkit' ? shippingOf(request) : null,
  });
}

/** `POST /v3/order/import`: the sample is known already, and an account may still be pending. */
export function importOrder(lab: Lab, body: unknown): Order {
  const { labTestId, collectionMethod: method, ...request } = importRequest(body, lab.clock.now());
  requireUser(lab, request.userId);
  const labTest = labTestId === null ? LAB_TESTS.find((test) => test.method === method) : requireLabTest(labTestId);
  if (labTest === undefined) throw refusal(404, 'Lab test not found');
  requirePhysician(request.labAccountId, request.physician, { pending: true });
  return lab.orders.place({ ...request, labTest: { ...labTest, method }, isImported: true });
}

/** `POST /v3/order/testkit/register`: gives a kit its patient. The order is found by the sample id. */
export function registerTestkit(lab: Lab, body: unknown): Order {
  const request = registrationRequest(body, lab.clock.now());
  if (request.userId !== null) requireUser(lab, request.userId);
  const known = lab.state.orderOfSample(request.sampleId);
  if (known !== undefined && known.sampleId === request.sampleId && known.patientDetails !== null) {
    if (lab.settings.current.repeatedRegistration === 'accept') return known;
    throw unacceptable(['body', 'sample_id'], 'sample_id is already registered', request.sampleId);
  }
  const order = known ?? orderForUnknownSample(lab, request);
  if (order.patientDetails !== null) {
    const message = 'the order of this kit is already registered with another sample_id';
    throw unacceptable(['body', 'sample_id'], message, request.sampleId);
  }
  if (!lab.orders.isRegistrable(order)) {
    throw unacceptable(['body', 'sample_id'], 'the order of this kit has ended', request.sampleId);
  }
  requirePhysician(order.labAccountId, request.physician);
  const { hasInsurance, ...registration } = request;
  lab.orders.register(order, { ...registration, healthInsuranceId: hasInsurance ? newId() : null });
  return order;
}

function orderForUnknownSample(lab: Lab, request: RegistrationRequest): Order {
  const { userId, sampleId } = request;
  const candidates = userId === null ? [...lab.state.orders.values()] : lab.state.ordersOfUser(userId);
  const order = lab.settings.current.anySampleId
    ? candidates.find((candidate) => lab.orders.isRegistrable(candidate))
    : undefined;
  if (order === undefined) throw unacceptable(['body', 'sample_id'], 'sample_id is not known', sampleId);
  return order;
}

function requireUser(lab: Lab, userId: string): void {
  if (!lab.state.users.has(userId)) throw refusal(404, 'User does not exist on this team');
}

/** The answer is not documented; assumed. */
function requireLabTest(labTestId: string): LabTest {
  const labTest = LAB_TESTS.find((test) => test.id === labTestId);
  if (labTest === undefined) throw refusal(404, 'Lab test not found');
  return labTest;
}

/**
 * Neither answer is documented; assumed. That only an import takes a pending account follows from the specification, which
 * says it of the import alone.
 */
function requireAccount(labAccountId: string, { pending = false } = {}): LabAccount {
  const account = LAB_ACCOUNTS.find(({ id }) => id === labAccountId);
  if (account === undefined) throw refusal(404, 'Lab account not found');
  if (account.status === 'suspended' || (account.status === 'pending' && !pending)) {
    throw refusal(400, `Lab account is ${account.status}`);
  }
  return account;
}

/** Accounts whose orders are delegated take the physician from the caller. */
function requirePhysician(
  labAccountId: string | null,
  physician: Physician | null,
  accepts: { pending?: boolean } = {},
): void {
  const flow = requireAccount(labAccountId ?? LAB_ACCOUNT_IDS.notDelegated, accepts).delegated_flow;
  if (physician === null && (flow === 'order_delegated' || flow === 'fully_delegated')) {
    throw unacceptable(['body', 'physician'], `a physician is required by a lab account that is ${flow}`, null);
  }
}

function shippingOf({ patientDetails, patientAddress }: OrderRequest): Address {
  const { access_notes: _, ...address } = patientAddress;
  return {
    ...address,
    receiver_name: address.receiver_name || `${patientDetails.first_name} ${patientDetails.last_name}`,
    phone_number: address.phone_number ?? patientDetails.phone_number,
  };
}

/** A number of the North American plan; area codes 0xx, 1xx and 555 do not exist. */
function isPhoneNumber(text: string): boolean {
  const digits = text.replace(/[\s().-]/g, '');
  return /^(\+?1)?(?!555)[2-9]\d{2}[2-9]\d{6}$/.test(digits);
}

/** The notes that the laboratory reads: the account's standing comment, then the order's own. */
export function requisitionNotes(order: Order): string | null {
  const account = requireAccount(order.labAccountId ?? LAB_ACCOUNT_IDS.notDelegated, { pending: true });
  const notes = [account.default_clinical_notes, order.clinicalNotes].filter((note) => note !== null);
  return notes.length === 0 ? null : notes.join('\n');
}
