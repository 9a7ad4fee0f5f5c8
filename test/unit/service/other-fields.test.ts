import { describe, expect, test } from 'vitest';
import type { AppointmentAddress } from '../../../service/appointments.js';
import type { LabService } from '../../../service/lab-service.js';
import { answering, serviceAt } from './recording-server.js';

/*
 * Fields that the specification does not name and a deployment sends (docs/lab-service.md). Unknown fields are kept as
 * they were sent, so that a field is read at all shows only in what happens to a value of the wrong type: a known field
 * counts as absent.
 */

type Fields = Readonly<Record<string, unknown>>;

const TIME = '2026-01-01T10:00:00Z';
const HOME: AppointmentAddress = { first_line: '1 Nowhere Lane', city: 'Phantomville', state: 'AZ', zip_code: '85004' };
const PLACE = { orgId: 'org-1', teamId: 'team-1', environment: 'sandbox' };
const REGION = { orgId: 'org-1', environment: 'sandbox', region: 'us' };

function nested(path: string, value: unknown): object {
  return path
    .split('.')
    .reduceRight((inner: unknown, step) => (/^\d+$/.test(step) ? [inner] : { [step]: inner }), value) as object;
}

function at(body: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, step) => {
    return typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[step] : undefined;
  }, body);
}

async function first<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  for await (const item of items) return item;
  return undefined;
}

const things: [
  name: string,
  call: (service: LabService) => Promise<unknown>,
  /** The answer around the fields. */
  answer: (fields: object) => unknown,
  fields: Fields,
][] = [
  [
    'an order',
    ({ orders }) => orders.get('order-1'),
    (fields) => ({ id: 'order-1', ...fields }),
    {
      passthrough: 'labops:-:ref-1:1',
      parent_id: 'order-0',
      physician: { npi: '0123456789' },
      'physician.npi': '0123456789',
      has_missing_results: true,
      expected_result_by_date: '2026-03-01',
      'lab_test.id': 'test-1',
      'lab_test.slug': 'invented-kit',
      'order_transaction.team_id': 'team-1',
      'order_transaction.orders.0.parent_id': 'order-0',
    },
  ],
  [
    'an appointment',
    ({ appointments }) => appointments.get('order-1'),
    (fields) => ({ id: 'appointment-1', ...fields }),
    {
      ...{ user_id: 'user-1', order_id: 'order-1', order_transaction_id: 'transaction-1', iana_timezone: 'UTC' },
      ...{ start_at: TIME, end_at: TIME, type: 'phlebotomy', provider: 'invented', provider_id: '17' },
      ...{ external_id: 'x', status: 'confirmed', event_status: 'scheduled', can_reschedule: true },
      ...{ appointment_notes: 'invented', address: { city: 'Phantomville' }, location: { lng: 1, lat: 2 } },
      ...{ 'address.first_line': '1 Nowhere Lane', 'address.second_line': 'Flat 2', 'address.city': 'Phantomville' },
      ...{ 'address.state': 'AZ', 'address.zip_code': '85004', 'address.unit': '2', 'address.access_notes': 'gate' },
      ...{ 'location.lng': -112.1, 'location.lat': 33.4, events: [{ status: 'pending' }] },
      ...{ 'events.0.status': 'pending', 'events.0.created_at': TIME },
    },
  ],
  [
    'slots',
    ({ appointments }) => appointments.availability(HOME),
    (fields) => fields,
    {
      ...{ timezone: 'UTC', slots: [{ date: '2026-02-01' }], 'slots.0.date': '2026-02-01' },
      ...{ 'slots.0.slots': [{ price: 1 }], 'slots.0.slots.0.booking_key': 'bk', 'slots.0.slots.0.start': TIME },
      ...{ 'slots.0.slots.0.end': TIME, 'slots.0.slots.0.expires_at': TIME, 'slots.0.slots.0.price': 49.5 },
      ...{ 'slots.0.slots.0.is_priority': true, 'slots.0.slots.0.num_appointments_available': 2 },
    },
  ],
  [
    'a reason to cancel',
    async ({ appointments }) => (await appointments.cancellationReasons())[0],
    (fields) => [{ id: 'reason-1', ...fields }],
    { name: 'Invented', is_refundable: true },
  ],
  [
    'a marker',
    ({ labTests }) => first(labTests.listMarkers()),
    (fields) => ({ markers: [{ id: 1, ...fields }] }),
    {
      ...{ name: 'Invented', slug: 'invented', description: 'invented', lab_id: 1, provider_id: '1', type: 'panel' },
      ...{ unit: 'mg', price: '12.50', a_la_carte_enabled: true, is_orderable: true, common_tat_days: 2 },
      ...{
        worst_case_tat_days: 5,
        aoe: { questions: [] },
        'aoe.questions': [{ id: 1 }],
        expected_results: [{ id: 1 }],
      },
    },
  ],
  [
    'a lab account',
    async ({ labTests }) => (await labTests.listLabAccounts())[0],
    (fields) => ({ data: [{ id: 'account-1', ...fields }] }),
    { lab: 'invented', org_id: 'org-1', provider_account_id: 'p-1', account_name: 'Invented' },
  ],
  [
    'a team',
    ({ management }) => management.teams.get('org-1', 'team-1'),
    (fields) => ({ id: 'team-1', ...fields }),
    {
      ...{ name: 'Invented', created_on: TIME, region: 'us', integration_team_id: 'i-1' },
      ...{ environments: ['sandbox'], sandbox: { any: 1 }, production: { any: 1 } },
    },
  ],
  [
    'a webhook endpoint',
    ({ management }) => management.webhooks.get(PLACE, 'ep_1'),
    (fields) => ({ id: 'ep_1', ...fields }),
    {
      ...{ description: 'invented', rate_limit: 5, url: 'https://example.com', disabled: true },
      ...{ filter_types: ['labtest.order.created'], created_at: TIME, updated_at: TIME },
    },
  ],
  [
    "an endpoint's headers",
    ({ management }) => management.webhooks.getHeaders(PLACE, 'ep_1'),
    (fields) => ({ headers: {}, ...fields }),
    { sensitive: ['authorization'] },
  ],
  [
    'a management key',
    ({ management }) => first(management.managementKeys.list('org-1')),
    (fields) => ({ data: [{ id: 'key-1', ...fields }], next_cursor: null }),
    {
      ...{ label: 'Invented', created_at: TIME, role: 'org_admin', creator: { type: 'service_staff' } },
      ...{ 'creator.type': 'org_member', 'creator.id': 'm-1', team_role_bindings: [{ team_id: 'team-1' }] },
      'team_role_bindings.0.team_id': 'team-1',
    },
  ],
  [
    'a team API key',
    ({ management }) => first(management.teamApiKeys.list(REGION)),
    (fields) => ({ api_keys: [{ id: 'key-1', ...fields }] }),
    { label: 'Invented', value: 'sk_invented_value', team_id: 'team-1', created_at: TIME },
  ],
];

describe.each(things)('%s', (_name, call, answer, fields) => {
  async function read(path: string, value: unknown): Promise<unknown> {
    const { baseUrl } = await answering(() => ({ body: answer(nested(path, value)) }));
    return at(await call(serviceAt(baseUrl, { managementKey: 'mk_invented' })), path);
  }

  test.each(Object.entries(fields))('has %s', async (path, value) => {
    expect(await read(path, value)).toEqual(value);
    const wrong = typeof value === 'object' ? 'invented' : { invented: true };
    expect(await read(path, wrong)).toBeUndefined();
    expect(await read(path, null)).toBeNull();
  });
});
