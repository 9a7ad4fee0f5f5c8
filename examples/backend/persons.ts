import type { OrderRequest, RegisterRequest, ShippingDetails } from '../../client/index.js';
import type { Field } from './forms.js';

type Entered = Readonly<Record<string, string>>;

/** The patient of an order or a registration. */
export const patientFields: readonly Field[] = [
  { name: 'first_name', label: 'First name', autocomplete: 'given-name' },
  { name: 'last_name', label: 'Last name', autocomplete: 'family-name' },
  { name: 'dob', label: 'Date of birth', type: 'date', autocomplete: 'bday' },
  {
    name: 'gender',
    label: 'Sex',
    options: ['female', 'male', 'other', 'unknown'].map((value) => ({ value, text: value })),
  },
  {
    name: 'phone_number',
    label: 'Phone number',
    type: 'tel',
    hint: 'With the country code: +1 …',
    autocomplete: 'tel',
  },
  { name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'email' },
];

export const addressFields: readonly Field[] = [
  { name: 'first_line', label: 'Street and number', autocomplete: 'address-line1' },
  { name: 'second_line', label: 'Flat or floor', required: false, autocomplete: 'address-line2' },
  { name: 'city', label: 'City', autocomplete: 'address-level2' },
  { name: 'state', label: 'State', hint: 'Two letters', autocomplete: 'address-level1' },
  { name: 'zip', label: 'Zip code', autocomplete: 'postal-code' },
  { name: 'country', label: 'Country', value: 'US', hint: 'Two letters', autocomplete: 'country' },
];

export const receiverFields: readonly Field[] = [
  { name: 'receiver_name', label: 'Name on the parcel', autocomplete: 'name' },
  {
    name: 'phone_number',
    label: 'Phone number',
    type: 'tel',
    hint: 'With the country code: +1 …',
    autocomplete: 'tel',
  },
];

/** What was not entered is empty: the client refuses it and names the field. */
export function patientOf(entered: Entered): RegisterRequest['patient_details'] {
  const { first_name = '', last_name = '', dob = '', gender = '', phone_number = '', email = '' } = entered;
  return { first_name, last_name, dob, gender, phone_number, email };
}

export function addressOf(entered: Entered): OrderRequest['patient_address'] {
  const { first_line = '', second_line, city = '', state = '', zip = '', country = '' } = entered;
  return { first_line, ...(second_line !== undefined && { second_line }), city, state, zip, country };
}

export function shippingOf(entered: Entered): ShippingDetails {
  const { receiver_name = '', phone_number = '', first_line = '', ...rest } = entered;
  const { second_line, city = '', state = '', zip = '', country = '' } = rest;
  const lines = { first_line, ...(second_line !== undefined && { second_line }) };
  return { receiver_name, ...lines, city, state, zip, country, phone_number };
}
