import { Client, Connection } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { LabOperations, OrderInvalid, type PlaceKitOrderInput } from '../../../client/index.js';

/** Nothing listens there: whatever is refused here is refused before anything is sent. */
const temporal = new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) });
const { orders } = new LabOperations(temporal);

const shippingDetails = {
  receiver_name: 'Testperson Invented',
  first_line: '1 Invented Street',
  city: 'Springfield',
  state: 'IL',
  zip: '62701',
  country: 'US',
  phone_number: '+12175550100',
};

const input = {
  reference: 'order-1',
  kind: 'unregistered',
  order: { user_id: 'user-1', lab_test_id: 'test-1', shipping_details: shippingDetails },
};

async function faultsOf(changes: object): Promise<string[]> {
  const given = { ...input, ...changes } as unknown as PlaceKitOrderInput;
  const refusal: unknown = await orders.place(given).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(OrderInvalid);
  return (refusal as OrderInvalid).fields.map(({ field }) => field);
}

describe('an order is refused before anything is started', () => {
  test.each([undefined, null, 1001, '', 'with space', 'x'.repeat(129), 'a/b'])(
    'an order is refused before anything is started with the reference %j',
    async (reference) => {
      expect(await faultsOf({ reference })).toEqual(['reference']);
    },
  );

  test.each([undefined, null, 'text'])(
    'an order is refused before anything is started with %j as the order',
    async (order) => {
      expect(await faultsOf({ order })).toEqual(['order']);
    },
  );

  test('an order of an unknown kind is refused before anything is started', async () => {
    expect(await faultsOf({ kind: 'express' })).toEqual(['kind']);
  });

  test('an order is refused before anything is started with a passthrough of its own', async () => {
    expect(await faultsOf({ order: { ...input.order, passthrough: 'mine' } })).toEqual(['order.passthrough']);
  });

  test('an order is refused before anything is started for a user who is not named by the service’s id', async () => {
    expect(await faultsOf({ order: { ...input.order, user_id: 'somebody@example.com' } })).toEqual(['order.user_id']);
  });

  test.each([[{ graceDays: 2 }], [{ version: 3 }], [{ version: '1' }], ['default'], [[]]])(
    'an order is refused before anything is started with the policy %j',
    async (policy) => {
      expect(new Set(await faultsOf({ policy }))).toEqual(new Set(['policy']));
    },
  );

  test('an order is refused before anything is started with all its faults named at once', async () => {
    const order = { ...input.order, shipping_details: { ...shippingDetails, zip: '' } };
    const policy = { returnDeadline: 'soon', onLost: 'shrug' };
    const faults = await faultsOf({ reference: 7, order, policy });
    expect(faults).toEqual(['reference', 'order.shipping_details.zip', 'policy', 'policy']);
  });

  test.each([
    [{}, 'markers'],
    [[null], 'markers.0'],
    [[{ id: 14, aoe: { questions: [null] } }, { name: 'without an id' }], 'markers.1'],
  ])('an order is refused before anything is started with the markers %j', async (markers, field) => {
    const refusal: unknown = await orders
      .place(input as PlaceKitOrderInput, { markers: markers as never })
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(OrderInvalid);
    expect((refusal as OrderInvalid).fields).toMatchObject([{ field }]);
  });

  test.each([[undefined], [[]], [[{ marker_id: 14, question_id: 501, answer: 'noon' }]]])(
    'an order is refused before anything is started with the answers %j to a question of its markers',
    async (answers) => {
      const answerable = [{ id: 1, code: 'AM', value: 'Morning' }];
      const question = { id: 501, required: true, type: 'choice', answers: answerable };
      const markers = [{ id: 14, aoe: { questions: [question] } }];
      const { receiver_name: _name, ...address } = shippingDetails;
      const details = { first_name: 'Testpatient', last_name: 'Invented', dob: '1971-03-17', gender: 'female' };
      const patient = {
        patient_details: { ...details, phone_number: '+12175550100', email: 'testpatient@example.com' },
        patient_address: address,
      };
      const order = { user_id: 'user-1', lab_test_id: 'test-1', ...patient, aoe_answers: answers };
      const given = { reference: 'order-1', kind: 'with_patient', order } as unknown as PlaceKitOrderInput;
      const refusal: unknown = await orders.place(given, { markers }).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(OrderInvalid);
      expect((refusal as OrderInvalid).fields.map(({ field }) => field)[0]).toMatch(/^order\.aoe_answers/);
    },
  );

  test('a search by an invalid reference is refused before anything is started', async () => {
    await expect(orders.get({ reference: undefined as unknown as string })).rejects.toBeInstanceOf(OrderInvalid);
  });
});
