import { describe, expect, test } from 'vitest';
import { AnswerUnreadable } from '../../../service/errors.js';
import type { LabService } from '../../../service/lab-service.js';
import { orderRequest, registrationRequest } from './persons.js';
import { answering, rejection, serviceAt } from './recording-server.js';

/*
 * Every field that the specification names in an answer, by its number. Unknown fields are kept as they were sent, so
 * only a value of the wrong type shows whether a field is read at all: a known field counts as absent.
 */

type Field = [path: string, value: unknown];

/** No field of an answer is of this type where a text, a time, a flag, an object or a list belongs. */
function wrongFor(value: unknown): unknown {
  if (typeof value === 'string') return { invented: true };
  return typeof value === 'boolean' || typeof value === 'number' ? { invented: true } : 'invented';
}

/** `{a: [{b: value}]}` for `a.0.b`. */
function bodyWith(path: string, value: unknown): object {
  return path
    .split('.')
    .reduceRight((inner: unknown, step) => (/^\d+$/.test(step) ? [inner] : { [step]: inner }), value) as object;
}

function at(body: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (inner, step) =>
        typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[step] : undefined,
      body,
    );
}

async function readOf(body: unknown, call: (service: LabService) => Promise<unknown>): Promise<unknown> {
  const { baseUrl } = await answering(() => ({ body }));
  return call(serviceAt(baseUrl));
}

describe('a lab order', () => {
  const fields: Field[] = [
    ['team_id', 'team-1'],
    ['user_id', 'user-1'],
    ['patient_details', { first_name: 'Testperson' }],
    ['patient_details.first_name', 'Testperson'],
    ['patient_details.last_name', 'Invented'],
    ['patient_details.phone_number', '+15550100'],
    ['patient_details.email', 'testperson@example.com'],
    ['patient_details.dob', '1980-02-29'],
    ['patient_details.gender', 'a_gender_of_next_year'],
    ['patient_address', { city: 'Phantomville' }],
    ['patient_address.receiver_name', 'invented receiver_name'],
    ['patient_address.first_line', 'invented first_line'],
    ['patient_address.second_line', 'invented second_line'],
    ['patient_address.city', 'invented city'],
    ['patient_address.state', 'invented state'],
    ['patient_address.zip', 'invented zip'],
    ['patient_address.country', 'invented country'],
    ['patient_address.phone_number', 'invented phone_number'],
    ['patient_address.access_notes', 'Gate code invented'],
    ['shipping_details', { city: 'Phantomville' }],
    ['shipping_details.receiver_name', 'invented receiver_name'],
    ['shipping_details.first_line', 'invented first_line'],
    ['shipping_details.second_line', 'invented second_line'],
    ['shipping_details.city', 'invented city'],
    ['shipping_details.state', 'invented state'],
    ['shipping_details.zip', 'invented zip'],
    ['shipping_details.country', 'invented country'],
    ['shipping_details.phone_number', 'invented phone_number'],
    ['details.type', 'testkit'],
    ['details.data', { id: 'detail-1' }],
    ['lab_test.name', 'Invented kit'],
    ['lab_test.description', 'Invented'],
    ['lab_test.method', 'testkit'],
    ['sample_id', 'SAMPLE-1'],
    ['health_insurance_id', 'insurance-1'],
    ['health_insurace_id', 'insurance-1'],
    ['notes', 'invented'],
    ['clinical_notes', 'invented comment'],
    ['patient_address.street', 'Nowhere Lane'],
    ['patient_address.street_number', '1'],
    ['created_at', '2026-01-01T10:00:00Z'],
    ['updated_at', '2026-01-01T10:00:00+00:00'],
    ['status', 'received'],
    ['events', [{ id: 1 }]],
    ['last_event', { id: 1 }],
    ['interpretation', 'critical'],
    ['activate_by', '2026-03-01'],
    ['has_abn', true],
    ['origin', 'redraw'],
    ['requisition_form_url', 'https://files.example.com/invented.pdf'],
    ['order_transaction', { id: 'transaction-1' }],
    ['lab_account_id', 'account-1'],
    ['details.data.id', 'detail-1'],
    ['details.data.created_at', '2026-01-01T10:00:00Z'],
    ['details.data.updated_at', '2026-01-01T10:00:00Z'],
    ['details.data.shipment', { id: 'shipment-1' }],
    ['details.data.shipment.id', 'shipment-1'],
    ['details.data.shipment.outbound_tracking_number', '9400'],
    ['details.data.shipment.outbound_tracking_url', 'https://tracking.example.com/9400'],
    ['details.data.shipment.inbound_tracking_number', '9401'],
    ['details.data.shipment.inbound_tracking_url', 'https://tracking.example.com/9401'],
    ['details.data.shipment.outbound_courier', 'usps'],
    ['details.data.shipment.inbound_courier', 'usps'],
    ['details.data.shipment.notes', 'invented'],
    ['details.data.shipment.created_at', '2026-01-01T10:00:00Z'],
    ['details.data.shipment.updated_at', '2026-01-01T10:00:00Z'],
    ['events.0.id', 4056],
    ['events.0.created_at', '2026-01-01T10:00:00Z'],
    ['events.0.status', 'received.testkit.ordered'],
    ['events.0.status_detail', 'sample_hemolyzed'],
    ['last_event.id', 4056],
    ['last_event.status', 'received.testkit.ordered'],
    ['order_transaction.id', 'transaction-1'],
    ['order_transaction.status', 'active'],
    ['order_transaction.orders', [{ id: 'order-1' }]],
    ['order_transaction.orders.0.id', 'e66321dd-4e0g-5226-9373-6124g811d8cf'],
    ['order_transaction.orders.0.origin', 'initial'],
    ['order_transaction.orders.0.low_level_status', 'transit_customer'],
    ['order_transaction.orders.0.low_level_status_created_at', '2026-01-01T10:00:00Z'],
    ['order_transaction.orders.0.created_at', '2026-01-01T10:00:00Z'],
    ['order_transaction.orders.0.updated_at', '2026-01-01T10:00:00Z'],
  ];
  const read = (body: object) => readOf({ id: 'order-1', ...body }, ({ orders }) => orders.get('order-1'));

  // proves 60-128, 139, 202
  test.each(fields)('has %s', async (path, value) => {
    expect(at(await read(bodyWith(path, value)), path)).toEqual(value);
    expect(at(await read(bodyWith(path, wrongFor(value))), path)).toBeUndefined();
    expect(at(await read(bodyWith(path, null)), path)).toBeNull();
  });

  // proves 59
  test('has an id, without which it is unreadable', async () => {
    expect(await read({})).toEqual({ id: 'order-1' });
    expect(await rejection(read({ id: { invented: true } }))).toBeInstanceOf(AnswerUnreadable);
  });

  // proves 58, 204
  test('comes inside `order`, beside status and message, from both creations', async () => {
    const answer = { order: { id: 'order-1', sample_id: {} }, status: 'SUCCESS', message: 'Order submitted' };
    for (const call of [
      ({ orders }: LabService) => orders.create(orderRequest),
      ({ orders }: LabService) => orders.register(registrationRequest),
    ]) {
      expect(await readOf(answer, call)).toEqual({ ...answer, order: { id: 'order-1' } });
      expect(await rejection(readOf({ ...answer, order: null }, call))).toBeInstanceOf(AnswerUnreadable);
    }
  });

  const statuses = [
    'received.testkit.ordered',
    'received.testkit.awaiting_registration',
    'received.testkit.requisition_created',
    'received.testkit.testkit_registered',
    'received.testkit.registered',
    'collecting_sample.testkit.transit_customer',
    'collecting_sample.testkit.problem_in_transit_customer',
    'collecting_sample.testkit.problem_in_transit_lab',
    'a_status.testkit.of_next_year',
  ];
  // proves 154-160, 165
  test.each(statuses)('may be %s', async (status) => {
    expect(await read({ events: [{ id: 1, status }] })).toMatchObject({ events: [{ status }] });
  });

  const words: [path: string, word: string][] = [
    ['interpretation', 'normal'],
    ['interpretation', 'abnormal'],
    ['interpretation', 'critical'],
    ['status', 'received'],
    ['status', 'collecting_sample'],
    ['interpretation', 'a_word_of_next_year'],
    ['origin', 'a_word_of_next_year'],
  ];
  // proves 95, 151, 152, 325
  test.each(words)('may have in %s the word %s', async (path, word) => {
    expect(at(await read(bodyWith(path, word)), path)).toBe(word);
  });

  // proves 161-164
  test('has low-level statuses as open text: nothing here distinguishes one from another', async () => {
    const named = ['transit_customer', 'requisition_created', 'problem_in_transit_lab', 'problem_in_transit_customer'];
    const path = 'order_transaction.orders.0.low_level_status';
    for (const word of [...named, 'a_word_of_next_year']) {
      expect(at(await read(bodyWith(path, word)), path)).toBe(word);
    }
  });
});

describe('a user', () => {
  const fields: Field[] = [
    ['team_id', 'team-1'],
    ['client_user_id', '3Zru4O8cBEiwGTsXgUQGaQ=='],
    ['created_on', '2026-01-01T10:00:00Z'],
    ['connected_sources', [{ created_on: '2026-01-01T10:00:00Z' }]],
    ['fallback_birth_date.source_slug', 'manual'],
    ['fallback_birth_date.updated_at', '2026-01-01T10:00:00Z'],
    ['fallback_birth_date.value', '1980-02-29'],
    ['fallback_time_zone.id', 'America/Phoenix'],
    ['fallback_time_zone.source_slug', 'manual'],
    ['fallback_time_zone.updated_at', '2026-01-01T10:00:00Z'],
    ['connected_sources.0.created_on', '2026-01-01T10:00:00Z'],
    ['connected_sources.0.source', { slug: 'invented' }],
    ['connected_sources.0.source.logo', 'https://logos.example.com/invented.png'],
    ['connected_sources.0.source.name', 'Invented'],
    ['connected_sources.0.source.slug', 'invented'],
  ];
  const read = (body: object) => readOf({ user_id: 'user-1', ...body }, ({ users }) => users.get('user-1'));

  // proves 17-20, 22-24, 26-33
  test.each(fields)('has %s', async (path, value) => {
    expect(at(await read(bodyWith(path, value)), path)).toEqual(value);
    // A plain text is a source by its slug.
    const wrong = path.endsWith('.source') ? 5 : wrongFor(value);
    expect(at(await read(bodyWith(path, wrong)), path)).toBeUndefined();
  });

  // proves 21, 25
  test.each(['fallback_birth_date', 'fallback_time_zone'])('may have %s, null and not at all', async (name) => {
    expect(at(await read({ [name]: { id: 'invented' } }), name)).toEqual({ id: 'invented' });
    expect(at(await read({ [name]: null }), name)).toBeNull();
    expect(at(await read({}), name)).toBeUndefined();
  });

  // proves 16
  test('has an id, without which it is unreadable', async () => {
    expect(await read({})).toEqual({ user_id: 'user-1' });
    expect(await rejection(read({ user_id: null }))).toBeInstanceOf(AnswerUnreadable);
  });
});

describe('a link result', () => {
  const fields: Field[] = [
    ['provider', 'invented_watch'],
    ['redirect_url', 'invented-app://linked'],
    ['error_type', 'provider_api_error'],
    ['error', 'invented words'],
    ['provider_mfa', { method: 'sms', hint: '***12' }],
    ['provider_mfa.method', 'email'],
    ['provider_mfa.hint', 't***'],
    ['connected', true],
    ['provider_id', 'pid-1'],
  ];
  const read = (body: object) =>
    readOf({ state: 'error', ...body }, ({ links }) => links.completeMfa('invented_watch', 'lt_invented', '012345'));

  // proves 39-41, 55-57, 143
  test.each(fields)('has %s', async (path, value) => {
    expect(at(await read(bodyWith(path, value)), path)).toEqual(value);
    expect(at(await read(bodyWith(path, wrongFor(value))), path)).toBeUndefined();
  });

  // proves 38, 169
  test.each(['success', 'error', 'pending_provider_mfa', 'a_state_of_next_year'])(
    'may be in the state %s',
    async (state) => {
      expect(await read({ state })).toEqual({ state });
    },
  );
});

describe('a portal link', () => {
  const read = (body: object) => readOf(body, ({ portal }) => portal.createUrl('user-1', { context: 'launch' }));
  const link = { url: 'https://portal.example.com/x', expires_in: 600 };

  // proves 36, 37, 176
  test('has its address and its lifetime', async () => {
    expect(await read(link)).toEqual(link);
    expect(await rejection(read({ ...link, url: 5 }))).toBeInstanceOf(AnswerUnreadable);
    expect(await read({ ...link, expires_in: '600' })).toEqual(link);
  });

  // proves 37
  test.each([{}, { expires_in: null }, { expires_in: 'soon' }])(
    'a portal link with an unknown lifetime (%j) is returned all the same, with a warning',
    async (life) => {
      const warnings: string[] = [];
      const { baseUrl } = await answering(() => ({ body: { url: link.url, ...life } }));
      const { portal } = serviceAt(baseUrl, { warn: (warning) => warnings.push(warning) });
      for (let n = 0; n < 2; n += 1)
        expect(await portal.createUrl('user-1', { context: 'launch' })).toMatchObject({ url: link.url });
      expect(warnings).toEqual([
        'portal links come without expires_in, which the service calls required: how long they live is unknown',
      ]);
    },
  );
});

describe('a lab account', () => {
  const fields: Field[] = [
    ['delegated_flow', 'order_delegated'],
    ['default_clinical_notes', 'invented'],
    ['status', 'pending'],
  ];
  const read = (body: object) =>
    readOf({ data: [{ id: 'a-1', ...body }] }, ({ labTests }) => labTests.listLabAccounts());

  // proves 136, 140, 223
  test.each(fields)('has %s', async (path, value) => {
    expect(at(await read({ [path]: value }), `0.${path}`)).toBe(value);
    expect(at(await read({ [path]: wrongFor(value) }), `0.${path}`)).toBeUndefined();
  });
});

describe('consents', () => {
  // proves 132-135, 199, I6
  test('have open text as their kind, and are sent unchanged, with creation and registration', async () => {
    const named = ['terms-of-use', 'telehealth-informed-consent', 'notice-of-privacy-practices'];
    const consents = [...named, 'a-consent-of-next-year'].map((consentType) => ({ consentType }));
    const { baseUrl, requests } = await answering(() => ({ body: { order: { id: 'order-1' } } }));
    const { orders } = serviceAt(baseUrl);
    await orders.create({ ...orderRequest, consents });
    await orders.register({ ...registrationRequest, consents });
    expect(requests.map(({ body }) => at(body, 'consents'))).toEqual([consents, consents]);
  });
});
