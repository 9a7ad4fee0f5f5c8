import type { KitOrderHandle } from '../../client/index.js';
import { inventedAddress, inventedPatient } from '../lab-service/invented-user.js';

export type Registration = Parameters<KitOrderHandle['register']>[0];

/** The address that the kit is sent to, and at which blood is drawn. */
export const address = { ...inventedAddress, country: 'US' };

/** The registration of the kit with this number. */
export function registrationOf(sampleId: string): Registration {
  return {
    sample_id: sampleId,
    patient_details: inventedPatient,
    patient_address: address,
    consents: [{ consentType: 'terms-of-use' }],
  };
}
