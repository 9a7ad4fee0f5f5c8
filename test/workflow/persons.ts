/* Invented throughout: nobody of this name, number or address exists. */

export const shippingDetails = {
  receiver_name: 'Testperson Invented',
  first_line: '1 Nowhere Lane',
  second_line: 'Flat 2',
  city: 'Phantomville',
  state: 'AZ',
  zip: '85004',
  country: 'US',
  phone_number: '+12025550123',
};

export const patientDetails = {
  first_name: 'Testperson',
  last_name: 'Invented',
  dob: '1980-02-29',
  gender: 'female',
  phone_number: '+12025550123',
  email: 'testperson@example.com',
};

export const patientAddress = { ...shippingDetails, zip: '85004-1234' };

export const physician = { first_name: 'Doctor', last_name: 'Invented', npi: '0123456789' };

export const consents = [{ consentType: 'telehealth-informed-consent' }];
