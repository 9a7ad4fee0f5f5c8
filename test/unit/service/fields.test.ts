import { describe, expect, test } from 'vitest';
import { AnswerUnreadable } from '../../../service/errors.js';
import type { LabService } from '../../../service/lab-service.js';
import { ORDER, REGISTRATION } from './persons.js';
import { answering, rejection, serviceAt } from './recording-server.js';

/*
 * Every field that the specification names in an answer, by its number. Unknown fields are kept as they were sent, so
 * that a field is read at all shows only in what happens to a value of the wrong type: a known field counts as absent.
 */

type Field = [item: number, path: string, value: unknown];

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
  return path.split('.').reduce<unknown>((inner, step) => {
    return typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[step] : undefined;
  }, body);
}

async function readOf(body: unknown, call: (service: LabService) => Promise<unknown>): Promise<unknown> {
  const { baseUrl } = await answering(() => ({ body }));
  return call(serviceAt(baseUrl));
}

describe('a lab order', () => {
  const fields: Field[] = [
    [60, 'team_id', 'team-1'],
    [61, 'user_id', 'user-1'],
    [62, 'patient_details', { first_name: 'Testperson' }],
    [63, 'patient_details.first_name', 'Testperson'],
    [64, 'patient_details.last_name', 'Invented'],
    [65, 'patient_details.phone_number', '+15550100'],
    [66, 'patient_details.email', 'testperson@example.com'],
    [67, 'patient_details.dob', '1980-02-29'],
    [68, 'patient_details.gender', 'a_gender_of_next_year'],
    [69, 'patient_address', { city: 'Phantomville' }],
    [70, 'patient_address.receiver_name', 'invented receiver_name'],
    [71, 'patient_address.first_line', 'invented first_line'],
    [72, 'patient_address.second_line', 'invented second_line'],
    [73, 'patient_address.city', 'invented city'],
    [74, 'patient_address.state', 'invented state'],
    [75, 'patient_address.zip', 'invented zip'],
    [76, 'patient_address.country', 'invented country'],
    [77, 'patient_address.phone_number', 'invented phone_number'],
    [78, 'patient_address.access_notes', 'Gate code invented'],
    [79, 'shipping_details', { city: 'Phantomville' }],
    [80, 'shipping_details.receiver_name', 'invented receiver_name'],
    [80, 'shipping_details.first_line', 'invented first_line'],
    [80, 'shipping_details.second_line', 'invented second_line'],
    [80, 'shipping_details.city', 'invented city'],
    [80, 'shipping_details.state', 'invented state'],
    [80, 'shipping_details.zip', 'invented zip'],
    [80, 'shipping_details.country', 'invented country'],
    [80, 'shipping_details.phone_number', 'invented phone_number'],
    [81, 'details.type', 'testkit'],
    [82, 'details.data', { id: 'detail-1' }],
    [83, 'lab_test.name', 'Invented kit'],
    [84, 'lab_test.description', 'Invented'],
    [85, 'lab_test.method', 'testkit'],
    [86, 'sample_id', 'SAMPLE-1'],
    [87, 'health_insurance_id', 'insurance-1'],
    [88, 'health_insurace_id', 'insurance-1'],
    [89, 'notes', 'invented'],
    [139, 'clinical_notes', 'invented comment'],
    [202, 'patient_address.street', 'Nowhere Lane'],
    [202, 'patient_address.street_number', '1'],
    [90, 'created_at', '2026-01-01T10:00:00Z'],
    [91, 'updated_at', '2026-01-01T10:00:00+00:00'],
    [92, 'status', 'received'],
    [93, 'events', [{ id: 1 }]],
    [94, 'last_event', { id: 1 }],
    [95, 'interpretation', 'critical'],
    [96, 'activate_by', '2026-03-01'],
    [97, 'has_abn', true],
    [98, 'origin', 'redraw'],
    [99, 'requisition_form_url', 'https://files.example.com/invented.pdf'],
    [100, 'order_transaction', { id: 'transaction-1' }],
    [101, 'lab_account_id', 'account-1'],
    [102, 'details.data.id', 'detail-1'],
    [103, 'details.data.created_at', '2026-01-01T10:00:00Z'],
    [104, 'details.data.updated_at', '2026-01-01T10:00:00Z'],
    [105, 'details.data.shipment', { id: 'shipment-1' }],
    [106, 'details.data.shipment.id', 'shipment-1'],
    [107, 'details.data.shipment.outbound_tracking_number', '9400'],
    [108, 'details.data.shipment.outbound_tracking_url', 'https://tracking.example.com/9400'],
    [109, 'details.data.shipment.inbound_tracking_number', '9401'],
    [110, 'details.data.shipment.inbound_tracking_url', 'https://tracking.example.com/9401'],
    [111, 'details.data.shipment.outbound_courier', 'usps'],
    [112, 'details.data.shipment.inbound_courier', 'usps'],
    [113, 'details.data.shipment.notes', 'invented'],
    [114, 'details.data.shipment.created_at', '2026-01-01T10:00:00Z'],
    [115, 'details.data.shipment.updated_at', '2026-01-01T10:00:00Z'],
    [116, 'events.0.id', 4056],
    [117, 'events.0.created_at', '2026-01-01T10:00:00Z'],
    [118, 'events.0.status', 'received.testkit.ordered'],
    [119, 'events.0.status_detail', 'sample_hemolyzed'],
    [116, 'last_event.id', 4056],
    [118, 'last_event.status', 'received.testkit.ordered'],
    [120, 'order_transaction.id', 'transaction-1'],
    [121, 'order_transaction.status', 'active'],
    [122, 'order_transaction.orders', [{ id: 'order-1' }]],
    [123, 'order_transaction.orders.0.id', 'e66321dd-4e0g-5226-9373-6124g811d8cf'],
    [124, 'order_transaction.orders.0.origin', 'initial'],
    [125, 'order_transaction.orders.0.low_level_status', 'transit_customer'],
    [126, 'order_transaction.orders.0.low_level_status_created_at', '2026-01-01T10:00:00Z'],
    [127, 'order_transaction.orders.0.created_at', '2026-01-01T10:00:00Z'],
    [128, 'order_transaction.orders.0.updated_at', '2026-01-01T10:00:00Z'],
  ];
  const read = (body: object) => readOf({ id: 'order-1', ...body }, ({ orders }) => orders.get('order-1'));

  test.each(fields.map(([item, path, value]) => ({ item, path, value })))(
    'has $path [$item]',
    async ({ path, value }) => {
      expect(at(await read(bodyWith(path, value)), path)).toEqual(value);
      expect(at(await read(bodyWith(path, wrongFor(value))), path)).toBeUndefined();
      expect(at(await read(bodyWith(path, null)), path)).toBeNull();
    },
  );

  test('has an id, without which it is unreadable [59]', async () => {
    expect(await read({})).toEqual({ id: 'order-1' });
    expect(await rejection(read({ id: { invented: true } }))).toBeInstanceOf(AnswerUnreadable);
  });

  test('comes inside `order`, beside status and message, from both creations [58, 204]', async () => {
    const answer = { order: { id: 'order-1', sample_id: {} }, status: 'SUCCESS', message: 'Order submitted' };
    for (const call of [
      ({ orders }: LabService) => orders.create(ORDER),
      ({ orders }: LabService) => orders.register(REGISTRATION),
    ]) {
      expect(await readOf(answer, call)).toEqual({ ...answer, order: { id: 'order-1' } });
      expect(await rejection(readOf({ ...answer, order: null }, call))).toBeInstanceOf(AnswerUnreadable);
    }
  });

  const statuses: [item: number, status: string][] = [
    [154, 'received.testkit.ordered'],
    [155, 'received.testkit.awaiting_registration'],
    [156, 'received.testkit.requisition_created'],
    [157, 'received.testkit.testkit_registered'],
    [157, 'received.testkit.registered'],
    [158, 'collecting_sample.testkit.transit_customer'],
    [159, 'collecting_sample.testkit.problem_in_transit_customer'],
    [160, 'collecting_sample.testkit.problem_in_transit_lab'],
    [165, 'a_status.testkit.of_next_year'],
  ];
  test.each(statuses.map(([item, status]) => ({ item, status })))('may be $status [$item]', async ({ status }) => {
    expect(await read({ events: [{ id: 1, status }] })).toMatchObject({ events: [{ status }] });
  });

  const words: [item: number, path: string, word: string][] = [
    [95, 'interpretation', 'normal'],
    [95, 'interpretation', 'abnormal'],
    [95, 'interpretation', 'critical'],
    [151, 'status', 'received'],
    [152, 'status', 'collecting_sample'],
    [161, 'order_transaction.orders.0.low_level_status', 'transit_customer'],
    [162, 'order_transaction.orders.0.low_level_status', 'requisition_created'],
    [163, 'order_transaction.orders.0.low_level_status', 'problem_in_transit_lab'],
    [164, 'order_transaction.orders.0.low_level_status', 'problem_in_transit_customer'],
    [325, 'interpretation', 'a_word_of_next_year'],
    [325, 'origin', 'a_word_of_next_year'],
  ];
  test.each(words.map(([item, path, word]) => ({ item, path, word })))(
    'may have $word as its $path [$item]',
    async ({ path, word }) => {
      expect(at(await read(bodyWith(path, word)), path)).toBe(word);
    },
  );
});

describe('a user', () => {
  const fields: Field[] = [
    [17, 'team_id', 'team-1'],
    [18, 'client_user_id', '3Zru4O8cBEiwGTsXgUQGaQ=='],
    [19, 'created_on', '2026-01-01T10:00:00Z'],
    [20, 'connected_sources', [{ created_on: '2026-01-01T10:00:00Z' }]],
    [22, 'fallback_birth_date.source_slug', 'manual'],
    [23, 'fallback_birth_date.updated_at', '2026-01-01T10:00:00Z'],
    [24, 'fallback_birth_date.value', '1980-02-29'],
    [26, 'fallback_time_zone.id', 'America/Phoenix'],
    [27, 'fallback_time_zone.source_slug', 'manual'],
    [28, 'fallback_time_zone.updated_at', '2026-01-01T10:00:00Z'],
    [29, 'connected_sources.0.created_on', '2026-01-01T10:00:00Z'],
    [30, 'connected_sources.0.source', { slug: 'invented' }],
    [31, 'connected_sources.0.source.logo', 'https://logos.example.com/invented.png'],
    [32, 'connected_sources.0.source.name', 'Invented'],
    [33, 'connected_sources.0.source.slug', 'invented'],
  ];
  const read = (body: object) => readOf({ user_id: 'user-1', ...body }, ({ users }) => users.get('user-1'));

  test.each(fields.map(([item, path, value]) => ({ item, path, value })))(
    'has $path [$item]',
    async ({ path, value }) => {
      expect(at(await read(bodyWith(path, value)), path)).toEqual(value);
      // A plain text is a source by its slug.
      const wrong = path.endsWith('.source') ? 5 : wrongFor(value);
      expect(at(await read(bodyWith(path, wrong)), path)).toBeUndefined();
    },
  );

  test.each([
    ['fallback_birth_date', 21],
    ['fallback_time_zone', 25],
  ])('may have %s, null and not at all [%i]', async (name) => {
    expect(at(await read({ [name]: { id: 'invented' } }), name)).toEqual({ id: 'invented' });
    expect(at(await read({ [name]: null }), name)).toBeNull();
    expect(at(await read({}), name)).toBeUndefined();
  });

  test('has an id, without which it is unreadable [16]', async () => {
    expect(await read({})).toEqual({ user_id: 'user-1' });
    expect(await rejection(read({ user_id: null }))).toBeInstanceOf(AnswerUnreadable);
  });
});

describe('a link result', () => {
  const fields: Field[] = [
    [39, 'provider', 'invented_watch'],
    [40, 'redirect_url', 'invented-app://linked'],
    [41, 'error_type', 'provider_api_error'],
    [55, 'error', 'invented words'],
    [56, 'provider_mfa', { method: 'sms', hint: '***12' }],
    [143, 'provider_mfa.method', 'email'],
    [143, 'provider_mfa.hint', 't***'],
    [57, 'connected', true],
    [57, 'provider_id', 'pid-1'],
  ];
  const read = (body: object) =>
    readOf({ state: 'error', ...body }, ({ links }) => links.completeMfa('invented_watch', 'lt_invented', '012345'));

  test.each(fields.map(([item, path, value]) => ({ item, path, value })))(
    'has $path [$item]',
    async ({ path, value }) => {
      expect(at(await read(bodyWith(path, value)), path)).toEqual(value);
      expect(at(await read(bodyWith(path, wrongFor(value))), path)).toBeUndefined();
    },
  );

  test.each(['success', 'error', 'pending_provider_mfa', 'a_state_of_next_year'])(
    'may be in the state %s [38, 169]',
    async (state) => {
      expect(await read({ state })).toEqual({ state });
    },
  );
});

describe('a portal link', () => {
  const read = (body: object) => readOf(body, ({ portal }) => portal.createUrl('user-1', { context: 'launch' }));
  const link = { url: 'https://portal.example.com/x', expires_in: 600 };

  test('has its address and its life [36, 37, 176]', async () => {
    expect(await read(link)).toEqual(link);
    expect(await rejection(read({ ...link, url: 5 }))).toBeInstanceOf(AnswerUnreadable);
    expect(await rejection(read({ ...link, expires_in: 'soon' }))).toBeInstanceOf(AnswerUnreadable);
  });
});

describe('a lab account', () => {
  const fields: Field[] = [
    [136, 'delegated_flow', 'order_delegated'],
    [140, 'default_clinical_notes', 'invented'],
    [223, 'status', 'pending'],
  ];
  const read = (body: object) =>
    readOf({ data: [{ id: 'a-1', ...body }] }, ({ labTests }) => labTests.listLabAccounts());

  test.each(fields.map(([item, path, value]) => ({ item, path, value })))(
    'has $path [$item]',
    async ({ path, value }) => {
      expect(at(await read({ [path]: value }), `0.${path}`)).toBe(value);
      expect(at(await read({ [path]: wrongFor(value) }), `0.${path}`)).toBeUndefined();
    },
  );
});

describe('consents', () => {
  test.each([
    ['terms-of-use', 133],
    ['telehealth-informed-consent', 134],
    ['notice-of-privacy-practices', 135],
  ])('to %s go out as they are, with creation and registration [%i, 132, 199, I6]', async (consentType) => {
    const { baseUrl, requests } = await answering(() => ({ body: { order: { id: 'order-1' } } }));
    const { orders } = serviceAt(baseUrl);
    await orders.create({ ...ORDER, consents: [{ consentType }] });
    await orders.register({ ...REGISTRATION, consents: [{ consentType }] });
    expect(requests.map(({ body }) => at(body, 'consents'))).toEqual([[{ consentType }], [{ consentType }]]);
  });
});
