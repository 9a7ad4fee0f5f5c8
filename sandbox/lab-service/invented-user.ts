import type { Lab } from './lab.js';
import { newId, type User } from './state.js';
import { createUser, type UserInfo } from './users.js';

/** Invented persons: nobody of that name, number or address exists. */

export const inventedPatient = {
  first_name: 'Testperson',
  last_name: 'Invented',
  dob: '1990-01-01',
  gender: 'female',
  phone_number: '+12025550123',
  email: 'testperson@example.com',
} as const;

export const inventedAddress = {
  receiver_name: 'Testperson Invented',
  first_line: '1 Invented Street',
  second_line: null,
  city: 'Springfield',
  state: 'IL',
  zip: '62701',
  country: 'United States',
  phone_number: '+12025550123',
} as const;

const { first_line, second_line, city, state, zip } = inventedAddress;
const inventedInfo: UserInfo = {
  ...inventedPatient,
  address: { first_line, second_line, country: 'US', zip, city, state, access_notes: null },
};

/** A user, with demographics or without, in one go. Throws the service's 400 when the client id is taken. */
export function createInventedUser(lab: Lab, demographics: boolean, clientUserId = `invented-${newId()}`): User {
  const user = createUser(lab, { client_user_id: clientUserId });
  user.info = demographics ? inventedInfo : null;
  return user;
}
