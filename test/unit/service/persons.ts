import type {
  ImportOrderRequest,
  OrderRequest,
  RegisterRequest,
  TestkitOrderRequest,
} from '../../../service/orders.js';

/* Invented throughout: nobody of this name, number or address exists. */

export const inventedShipping = {
  receiver_name: 'Testperson Invented',
  first_line: '1 Nowhere Lane',
  second_line: 'Flat 2',
  city: 'Phantomville',
  state: 'AZ',
  zip: '85004',
  country: 'US',
  phone_number: '+15550100',
};

export const inventedPatient = {
  first_name: 'Testperson',
  last_name: 'Invented',
  dob: '1980-02-29',
  gender: 'female',
  phone_number: '+15550100',
  email: 'testperson@example.com',
};

export const inventedAddress = {
  receiver_name: 'Testperson Invented',
  first_line: '1 Nowhere Lane',
  second_line: null,
  city: 'Phantomville',
  state: 'AZ',
  zip: '85004-1234',
  country: 'US',
  phone_number: '+15550100',
  access_notes: 'Gate code invented',
};

export const inventedPhysician = { first_name: 'Doctor', last_name: 'Invented', npi: '0123456789' };

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

export const importRequest: ImportOrderRequest = {
  user_id: 'user-1',
  billing_type: 'client_bill',
  order_set: { lab_test_ids: ['test-1'], add_on: { marker_ids: [11], provider_ids: ['p-1'] }, lab_account_id: 'a-1' },
  collection_method: 'walk_in_test',
  physician: inventedPhysician,
  patient_details: inventedPatient,
  patient_address: {
    receiver_name: 'Testperson Invented',
    first_line: '1 Nowhere Lane',
    second_line: null,
    city: 'Phantomville',
    state: 'AZ',
    zip: '85004-1234',
    country: 'US',
    access_notes: 'Gate code invented',
  },
  sample_id: 'SAMPLE-1',
  lab_account_id: 'account-1',
};
