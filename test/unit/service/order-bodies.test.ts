import { describe, expect, test } from 'vitest';
import type { OrderRequest, RegisterRequest } from '../../../service/orders.js';
import { inventedAddress, orderRequest, inventedPatient, inventedPhysician, registrationRequest } from './persons.js';
import { answering, rejection, serviceAt } from './recording-server.js';

/* Invented throughout. */

const proxyAddress = {
  first_line: '1 Nowhere Lane',
  second_line: null,
  city: 'Phantomville',
  state: 'AZ',
  zip: 'A1 2BC',
  country: 'Nowhere',
  access_notes: 'Gate code invented',
};

const proxy = {
  first_name: 'Testperson',
  last_name: 'Invented',
  address: proxyAddress,
  phone_number: '+15550100',
  email: 'testperson@example.com',
  household_income: 0,
  household_size: 2,
};

const fullPatient = {
  ...inventedPatient,
  medical_proxy: proxy,
  race: 'other',
  ethnicity: 'non_hispanic',
  sexual_orientation: 'dont_know',
  gender_identity: 'female',
  household_income: 12_000,
  household_size: 3,
};

const insurance = {
  payor_code: 'INVENTED',
  insurance_id: 'invented-1',
  responsible_relationship: 'Spouse',
  responsible_details: {
    first_name: 'Testperson',
    last_name: 'Invented',
    address: proxyAddress,
    phone_number: '+15550100',
    phone_type: 'Home',
  },
  diagnosis_codes: ['Z00.0'],
  subjective: 'invented',
  assessment_plan: 'invented',
};

const fullPhysician = { ...inventedPhysician, email: 'doctor@example.com', licensed_states: ['AZ', 'IL'] };

const { lab_test_id: _labTestId, ...orderWithoutTest } = orderRequest;

const fullOrder: OrderRequest = {
  ...orderWithoutTest,
  order_set: { lab_test_ids: ['test-1'], add_on: { marker_ids: [11], provider_ids: ['p-1'] }, lab_account_id: 'a-1' },
  collection_method: 'walk_in_test',
  patient_details: fullPatient,
  patient_address: inventedAddress,
  physician: fullPhysician,
  health_insurance: insurance,
  billing_type: 'commercial_insurance',
  icd_codes: ['Z00.0'],
  aoe_answers: [{ marker_id: 11, question_id: 5, answer: 'yes' }],
  priority: true,
  activate_by: '2030-02-28',
  creator_member_id: 'member-1',
};

async function sent(call: (service: ReturnType<typeof serviceAt>) => Promise<unknown>): Promise<unknown> {
  const { baseUrl, requests } = await answering(() => ({ body: { order: { id: 'order-1' } } }));
  await call(serviceAt(baseUrl));
  return requests[0]?.body;
}

// proves 217
test('an order is sent with every documented field', async () => {
  expect(await sent(({ orders }) => orders.create(fullOrder))).toEqual(fullOrder);
});

test('a registration may carry an insurance, and more about patient and physician', async () => {
  const registration: RegisterRequest = {
    ...registrationRequest,
    ...{ patient_details: fullPatient, physician: fullPhysician, health_insurance: insurance },
  };
  expect(await sent(({ orders }) => orders.register(registration))).toEqual(registration);
});

describe('an order', () => {
  test.each<[string, object]>([
    ['lab_test_id', { lab_test_id: null, order_set: null }],
    ['order_set', { order_set: { add_on: {} } }],
    ['collection_method', { collection_method: '' }],
    ['billing_type', { billing_type: ' ' }],
    ['icd_codes.0', { icd_codes: [''] }],
    ['aoe_answers.0.question_id', { aoe_answers: [{ marker_id: 1, question_id: 1.5, answer: '' }] }],
    ['activate_by', { activate_by: '2030-02-30' }],
    ['health_insurance.front_image', { health_insurance: { front_image: { content: '', content_type: 'image/png' } } }],
    ['physician.signature_image', { physician: { ...inventedPhysician, signature_image: null } }],
    [
      'patient_details.medical_proxy.address.city',
      { patient_details: { ...inventedPatient, medical_proxy: broken() } },
    ],
    ['patient_details.household_size', { patient_details: { ...inventedPatient, household_size: -1 } }],
  ])('is not sent with a fault in %s', async (field, change) => {
    const { baseUrl, requests } = await answering(() => ({ body: {} }));
    const error = await rejection(serviceAt(baseUrl).orders.create({ ...fullOrder, ...change }));
    expect(error).toMatchObject({ name: 'RequestInvalid', fields: [{ field }] });
    expect(requests).toEqual([]);
  });

  test('an order that names nothing to order is refused along with its other faults', async () => {
    const { baseUrl } = await answering(() => ({ body: {} }));
    const error = await rejection(serviceAt(baseUrl).orders.create({ ...orderWithoutTest, user_id: '' }));
    expect(error).toMatchObject({
      fields: [{ field: 'user_id' }, { field: 'lab_test_id', message: 'or order_set must say what is ordered' }],
    });
    const nothing = await rejection(serviceAt(baseUrl).orders.create(null as never));
    expect(nothing).toMatchObject({ fields: [{ field: 'request' }] });
  });
});

function broken(): object {
  return { ...proxy, address: { ...proxyAddress, city: '' } };
}
