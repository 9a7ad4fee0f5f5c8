import {
  patientAddress as addressOfPatient,
  patientDetails as patient,
  place as lines,
  physician as doctor,
  shippingDetails,
} from '../../test/rig/cast.js';

/* Invented throughout: nobody of this name, number or address exists. */

export { lines, patient, shippingDetails };

const notes = { access_notes: 'Invented: ring twice' };

export const patientAddress = { ...addressOfPatient, ...notes };

export const proxy = {
  first_name: 'Testparent',
  last_name: 'Imaginary',
  address: { ...lines, access_notes: null },
  phone_number: '+12025550199',
  email: 'testparent@example.com',
  household_income: 40_000,
  household_size: 3,
};

/** With every field that is not required. */
export const patientInFull = {
  ...patient,
  medical_proxy: proxy,
  race: 'other',
  ethnicity: 'non_hispanic',
  sexual_orientation: 'other',
  gender_identity: 'female',
  household_income: 40_000,
  household_size: 3,
};

export const physician = {
  ...doctor,
  email: 'testdoctor@example.com',
  licensed_states: ['IL'],
};

export const insurance = {
  payor_code: 'INVENTED',
  insurance_id: 'invented-1',
  responsible_relationship: 'Self',
  responsible_details: {
    first_name: 'Testpatient',
    last_name: 'Imaginary',
    address: { ...lines, access_notes: null },
    phone_number: '+12025550188',
    phone_type: 'Mobile',
  },
  diagnosis_codes: ['Z00.00'],
  subjective: 'Invented',
  assessment_plan: 'Invented',
};

export const consents = [
  { consentType: 'terms-of-use', version: '1.0', timeOfConsent: '2026-01-05T10:00:00Z' },
  { consentType: 'telehealth-informed-consent' },
];

const { first_line, second_line, city, state } = lines;

export const visitAddress = { first_line, second_line, city, state, zip_code: '62701-1234', unit: '9', ...notes };
