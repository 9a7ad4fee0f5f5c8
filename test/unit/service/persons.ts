import type { AppointmentAddress } from '../../../service/appointment/appointments.js';
import type {
  ImportOrderRequest,
  OrderRequest,
  RegisterRequest,
  TestkitOrderRequest,
} from '../../../service/order/orders.js';
import {
  patientDetails as inventedPatient,
  physician as inventedPhysician,
  shippingDetails as inventedShipping,
} from '../../rig/cast.js';
import { insurance, patientInFull, physician as fullPhysician, proxy } from '../../../tools/service-check/persons.js';

export { inventedPatient, inventedPhysician, inventedShipping };

export const inventedAddress = {
  ...inventedShipping,
  second_line: null,
  zip: '85004-1234',
  access_notes: 'Gate code invented',
};

const place = { first_line: '1 Nowhere Lane', second_line: null, city: 'Phantomville', state: 'AZ' };

export const home = {
  ...place,
  zip_code: '85004-1234',
  unit: '2',
  access_notes: 'Gate code invented',
} satisfies AppointmentAddress;

export const testkitRequest: TestkitOrderRequest = {
  user_id: 'user-1',
  lab_test_id: 'test-1',
  shipping_details: inventedShipping,
  passthrough: 'labops/default:-:ref-1:1',
  lab_account_id: 'account-1',
};

export const orderRequest: OrderRequest = {
  user_id: 'user-1',
  lab_test_id: 'test-1',
  patient_details: inventedPatient,
  patient_address: inventedAddress,
  physician: inventedPhysician,
  consents: [{ consentType: 'terms-of-use' }],
  clinical_notes: 'invented comment',
  lab_account_id: 'account-1',
  passthrough: 'labops/default:-:ref-1:1',
};

export const registrationRequest: RegisterRequest = {
  user_id: 'user-2',
  sample_id: 'SAMPLE-1',
  patient_details: inventedPatient,
  patient_address: inventedAddress,
  consents: [{ consentType: 'telehealth-informed-consent' }, { consentType: 'a-consent-of-next-year' }],
  physician: inventedPhysician,
};

const { phone_number: _phoneNumber, ...addressWithoutPhone } = inventedAddress;

export const importRequest: ImportOrderRequest = {
  user_id: 'user-1',
  billing_type: 'client_bill',
  order_set: { lab_test_ids: ['test-1'], add_on: { marker_ids: [11], provider_ids: ['p-1'] }, lab_account_id: 'a-1' },
  collection_method: 'walk_in_test',
  physician: inventedPhysician,
  patient_details: inventedPatient,
  patient_address: addressWithoutPhone,
  sample_id: 'SAMPLE-1',
  lab_account_id: 'account-1',
};

export const proxyAddress = { ...place, zip: 'A1 2BC', country: 'Nowhere', access_notes: 'Gate code invented' };

export const medicalProxy = { ...proxy, address: proxyAddress, household_income: 0 };

const fullPatient = { ...patientInFull, medical_proxy: medicalProxy };

const { lab_test_id: _labTestId, ...orderWithoutTest } = orderRequest;

/** With every documented field; `order_set` stands instead of `lab_test_id`. */
export const fullOrder: OrderRequest = {
  ...orderWithoutTest,
  order_set: importRequest.order_set,
  collection_method: 'walk_in_test',
  patient_details: fullPatient,
  physician: fullPhysician,
  health_insurance: insurance,
  billing_type: 'commercial_insurance',
  icd_codes: ['Z00.0'],
  aoe_answers: [{ marker_id: 11, question_id: 5, answer: 'yes' }],
  priority: true,
  activate_by: '2030-02-28',
  creator_member_id: 'member-1',
};

export const fullRegistration: RegisterRequest = {
  ...registrationRequest,
  patient_details: fullPatient,
  physician: fullPhysician,
  health_insurance: insurance,
};
