import type { PlaceKitOrderInput, KitOrderHandle } from '../../client/index.js';

type Registration = Parameters<KitOrderHandle['register']>[0];
type TestkitOrder = Extract<PlaceKitOrderInput, { kind: 'unregistered' }>['order'];

/** Nobody of this name, number or address exists. */
const address = {
  receiver_name: 'Testperson Invented',
  first_line: '1 Invented Street',
  city: 'Springfield',
  state: 'IL',
  zip: '62701',
  country: 'US',
  phone_number: '+12025550123',
};

/** The address that the kit is sent to. */
export const shippingDetails: TestkitOrder['shipping_details'] = address;

/** The patient, and the address at which blood is drawn. */
export const patientAddress = address satisfies Registration['patient_address'];
export const patientDetails: Registration['patient_details'] = {
  first_name: 'Testperson',
  last_name: 'Invented',
  dob: '1990-01-01',
  gender: 'female',
  phone_number: '+12025550123',
  email: 'testperson@example.com',
};

/** The registration of the kit with this number. */
export function registrationOf(sampleId: string): Registration {
  return {
    sample_id: sampleId,
    patient_details: patientDetails,
    patient_address: patientAddress,
    consents: [{ consentType: 'terms-of-use' }],
  };
}
