import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { RequestInvalid } from '../../../../service/errors.js';
import {
  type OrderRequest,
  type RegisterRequest,
  importOrderRequestSchema,
  orderRequestSchema,
  patientDetailsSchema,
} from '../../../../service/order/orders.js';
import {
  inventedAddress,
  importRequest,
  orderRequest,
  inventedPatient,
  registrationRequest,
  inventedShipping,
  testkitRequest,
} from '../persons.js';
import type { ServiceConfig } from '../../../../service/http/http.js';
import { brokenRules, rejection, serviceAt, serviceWith } from '../recording-server.js';

/** The rules of an order that a change of its top-level fields breaks. */
const brokenBy = (change: Partial<OrderRequest>, config: Partial<ServiceConfig> = {}) =>
  brokenRules(({ orders }) => orders.create({ ...orderRequest, ...change }), config);

const patient = (change: Partial<typeof inventedPatient>) =>
  brokenBy({ patient_details: { ...inventedPatient, ...change } });

/** The same requests with the documented rules checked. */
const documented = { orderRules: 'documented' } as const;

// proves 75, 76
test('names with accents, and zips and countries of any form, are sent: the service decides', async () => {
  const { orders, requests } = await serviceWith({ body: { order: { id: 'order-1' } } });
  const foreign = { zip: 'SW1A 1AA', country: 'United Kingdom' };
  const order = {
    ...orderRequest,
    patient_details: { ...inventedPatient, first_name: 'José', last_name: 'Ünal 李' },
    patient_address: { ...inventedAddress, ...foreign },
  };
  const kit = { ...testkitRequest, shipping_details: { ...inventedShipping, ...foreign } };
  await orders.create(order);
  await orders.createTestkit(kit);
  expect(requests.map(({ body }) => body)).toEqual([order, kit]);
  expect(await brokenRules((strict) => strict.orders.createTestkit(kit), documented)).toMatchObject([
    expect.stringMatching(/^shipping_details\.zip /),
    expect.stringMatching(/^shipping_details\.country /),
  ]);
  const registration = { ...registrationRequest, patient_details: { ...inventedPatient, first_name: 'José' } };
  expect(await brokenRules((strict) => strict.orders.register(registration), documented)).toMatchObject([
    expect.stringMatching(/^patient_details\.first_name /),
  ]);
});

test('null in a field that the service knows only as absent is not sent', async () => {
  const { orders, requests } = await serviceWith({ body: { order: { id: 'order-1' } } });
  const patient_address = { ...inventedAddress, receiver_name: null, second_line: null };
  const consents = [{ consentType: 'invented', version: null, timeOfConsent: null }];
  await orders.create({ ...orderRequest, patient_address, consents, priority: null });
  const { receiver_name: _name, ...address } = patient_address;
  const sent = { ...orderRequest, patient_address: address, consents: [{ consentType: 'invented' }] };
  expect(requests.map(({ body }) => body)).toEqual([sent]);
});

const accepts = (change: object) => patientDetailsSchema.safeParse({ ...inventedPatient, ...change }).success;
const dayAfterTomorrow = new Date(Date.now() + 48 * 3_600_000).toISOString().slice(0, 10);
const dateRule = 'must be a date that exists, written YYYY-MM-DD';

// proves 192-194, 197, 201
test.each<[field: keyof typeof inventedPatient, rule: string, values: string[]]>([
  ['last_name', 'must be 1 to 50 characters long', ['', 'x'.repeat(51)]],
  ['dob', dateRule, ['1980-02-30', '1981-02-29', '80-02-28', '1980-2-28', '1980-02-28T00:00:00Z', '28.02.1980', 'x']],
  ['dob', 'must not be in the future', [dayAfterTomorrow, '2999-01-01']],
  ['email', 'must be an e-mail address', ['nobody', 'a@b', '@example.com', 'a b@example.com', 'a@example..com', '']],
  ['email', 'must be an e-mail address', ['a@@example.com']],
  ['phone_number', 'must not be empty', ['', '   ']],
])("a patient's %s %s: each of %j is refused", async (field, rule, values) => {
  for (const value of values) expect(await patient({ [field]: value })).toEqual([`patient_details.${field} ${rule}`]);
});

// proves 192, 201
test.each([
  ['first_name', ['John', "O'Brien", 'Mary-Jane', 'J. R. R.', '4th', 'x'.repeat(50)]],
  ['dob', [new Date().toISOString().slice(0, 10), '2000-02-29']],
])("a patient's %s may be each of %j", (field, values) => {
  for (const value of values) expect(accepts({ [field]: value }), value).toBe(true);
});

test.each([
  ['2026-03-01T09:59:00Z', '2026-03-01'],
  ['2026-03-01T10:00:00Z', '2026-03-02'],
  ['2026-03-01T23:59:00Z', '2026-03-02'],
  ['2026-12-31T12:00:00Z', '2027-01-01'],
])('at %s a child may have been born on %s, and not later', (now, dob) => {
  vi.useFakeTimers({ now: new Date(now), toFake: ['Date'] });
  const next = new Date(Date.parse(dob) + 86_400_000).toISOString().slice(0, 10);
  const accepted = [accepts({ dob }), accepts({ dob: next })];
  vi.useRealTimers();
  expect(accepted).toEqual([true, false]);
});

test('names are checked in a moment, whatever they are', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 100_000, unit: fc.constantFrom('a', ' ', '-', '.', '!') }), (first_name) => {
      const before = performance.now();
      accepts({ first_name, email: first_name });
      expect(performance.now() - before).toBeLessThan(20_000);
    }),
    { numRuns: 50 },
  );
});

// proves 75, 76
test.each<[part: 'patient_details' | 'patient_address', field: string, rule: string, values: string[]]>([
  ['patient_details', 'first_name', 'must start with a letter', ['José', '-John', "O'Brien!", 'A  B', 'Ünal', '李']],
  ['patient_address', 'zip', 'must be five digits', ['9118', '123456', '12345-678', 'ABCDE']],
  ['patient_address', 'country', 'must be a two-letter', ['us', 'USA', 'United States']],
])('documented rules refuse a %s whose %s is wrong: it %s, unlike each of %j', async (part, field, rule, values) => {
  for (const value of values) {
    const broken = await brokenBy({ [part]: { ...orderRequest[part], [field]: value } }, documented);
    expect(broken).toEqual([expect.stringContaining(`${part}.${field} ${rule}`)]);
  }
});

// proves 139, 312
test('the comment ends at 1,000 characters, an emoji being one', async () => {
  expect(orderRequestSchema.safeParse({ ...orderRequest, clinical_notes: '😀'.repeat(1000) }).success).toBe(true);
  for (const clinical_notes of ['x'.repeat(1001), '😀'.repeat(1001)]) {
    expect(await brokenBy({ clinical_notes })).toEqual(['clinical_notes must be at most 1,000 characters long']);
  }
});

// proves 129-131
test('a physician is complete or absent', async () => {
  const physician = { first_name: 'Doctor', last_name: '', npi: ' ' };
  const broken = ['physician.last_name must not be empty', 'physician.npi must not be empty'];
  expect(await brokenBy({ physician })).toEqual(broken);
  expect(orderRequestSchema.safeParse({ ...orderRequest, physician: undefined }).success).toBe(true);
});

describe('the error', () => {
  test('names missing fields, wrong types and unknown fields', async () => {
    const request = {
      ...registrationRequest,
      sample_id: 7,
      patient_details: { ...inventedPatient, dob: undefined, nickname: 'x' },
      patient_address: undefined,
      patient_adress: inventedAddress,
    } as unknown as RegisterRequest;
    expect((await brokenRules(({ orders }) => orders.register(request))).toSorted()).toEqual([
      'patient_address is required',
      'patient_adress is not a field of this request',
      'patient_details.dob is required',
      'patient_details.nickname is not a field of this request',
      'sample_id must be of type string',
    ]);
  });

  // proves 222
  test.each([{ lab_test_ids: ['t'] }, { add_on: { marker_ids: [11] } }, { add_on: { provider_ids: ['p'] } }])(
    'does not occur for an import that is made of %j',
    (order_set) => expect(importOrderRequestSchema.parse({ ...importRequest, order_set })).toMatchObject({ order_set }),
  );

  test('carries nothing of the request', async () => {
    const secret = '§ecret';
    const request = {
      ...orderRequest,
      patient_details: {
        ...{ first_name: secret, last_name: secret, dob: secret, email: secret, gender: '', phone_number: '' },
      },
      patient_address: { ...inventedAddress, zip: secret, country: secret, access_notes: secret.repeat(200) },
      clinical_notes: secret.repeat(200),
    };
    const error = await rejection(serviceAt('http://127.0.0.1:1').orders.create(request));
    expect((error as RequestInvalid).fields).toHaveLength(6);
    expect(String(error)).toMatch(/^RequestInvalid: POST \/v3\/order was not sent: /);
    const { stack, cause } = error as Error;
    expect(JSON.stringify([error, String(error), stack, cause])).not.toContain(secret);
  });
});

test.each(['\r\n', '\n', ' ', '\t', '\u00a0', '\uFEFF'])('what is scanned or typed is sent without %j', (blank) => {
  const { sample_id } = importRequest;
  const given = { ...importRequest, sample_id: `${blank}${sample_id}${blank}` };
  expect(importOrderRequestSchema.parse(given)).toMatchObject({ sample_id });
  expect(importOrderRequestSchema.safeParse({ ...importRequest, sample_id: blank }).success).toBe(false);
});
