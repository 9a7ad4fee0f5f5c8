import type {
  ImportOrderRequest,
  OrderHandle,
  OrderPolicy,
  OrderRequest,
  PlaceKitOrderInput,
} from '../../client/index.js';
import { labTestIds } from '../../sandbox/lab-service/seed.js';

/* Invented throughout: nobody of this name, number or address exists. */

export const place = {
  first_line: '77 Fictional Avenue',
  second_line: 'Unit 9',
  city: 'Nowhereville',
  state: 'IL',
  zip: '62701',
  country: 'US',
};

export const shippingDetails = { receiver_name: 'Testperson Imaginary', ...place, phone_number: '+12025550177' };

export const patientDetails = {
  first_name: 'Testpatient',
  last_name: 'Imaginary',
  dob: '1971-03-17',
  gender: 'female',
  phone_number: '+12025550188',
  email: 'testpatient@example.com',
};

export const patientAddress = { ...shippingDetails, zip: '62701-1234' };

export const physician = { first_name: 'Testdoctor', last_name: 'Imaginary', npi: '0123456789' };

export const consents = [{ consentType: 'telehealth-informed-consent' }];

/**
 * What identifies these persons and those that the sandbox invents; none of it may appear where it does not belong. The
 * zip code is left out: five digits may turn up in any id.
 */
export const personal =
  /Testperson|Testpatient|Testdoctor|Imaginary|Invented|Fictional|Unit 9|Nowhereville|Springfield|20255501\d\d|19\d\d-\d\d-\d\d|example\.com/;

type Registration = Parameters<OrderHandle['register']>[0]['registration'];

export function registration(sampleId: string, userId?: string): Registration {
  return {
    sample_id: sampleId,
    ...(userId !== undefined && { user_id: userId }),
    patient_details: patientDetails,
    patient_address: { ...place, receiver_name: null, phone_number: null },
    consents: [{ consentType: 'terms-of-use' }],
  };
}

/** An order for a kit that is registered later. */
export function kitFor(
  userId: string,
  reference: string,
  policy?: OrderPolicy,
): PlaceKitOrderInput & { kind: 'unregistered' } {
  return {
    kind: 'unregistered',
    reference,
    order: { user_id: userId, lab_test_id: labTestIds.kit, shipping_details: shippingDetails },
    ...(policy && { policy }),
  };
}

/** An order whose sample the laboratory has on other ways. */
export function importFor(userId: string, sampleId: string): ImportOrderRequest {
  return {
    user_id: userId,
    billing_type: 'client_bill',
    order_set: { lab_test_ids: [labTestIds.kit] },
    collection_method: 'testkit',
    patient_details: patientDetails,
    patient_address: { receiver_name: 'Testpatient Imaginary', ...place },
    sample_id: sampleId,
  };
}

/** An order for a blood draw at home. */
export function visitFor(userId: string): OrderRequest {
  return {
    user_id: userId,
    lab_test_id: labTestIds.atHomePhlebotomy,
    patient_details: patientDetails,
    patient_address: { ...shippingDetails, access_notes: 'Invented: ring twice' },
  };
}

/** What `PATCH /v2/user/{user_id}/info` takes. */
export const demographics = {
  first_name: 'Testperson',
  last_name: 'Invented',
  email: 'testperson@example.com',
  phone_number: '+12025550123',
  gender: 'female',
  dob: '1990-01-01',
  address: { first_line: '1 Invented Street', city: 'Springfield', state: 'IL', zip: '62701', country: 'US' },
};
