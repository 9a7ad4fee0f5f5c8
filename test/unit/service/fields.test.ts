import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { AnswerUnreadable } from '../../../service/errors.js';
import type { AppointmentAddress } from '../../../service/appointment/appointments.js';
import type { LabService } from '../../../service/lab-service.js';
import { all } from '../../rig/all.js';
import { orderRequest, registrationRequest } from './persons.js';
import { readFrom, rejection } from './recording-server.js';

/*
 * Every field that the specification names in an answer, and those that only a deployment sends (docs/internals/lab-service.md).
 * Unknown fields are kept as they were sent, so only a value of the wrong type shows whether a field is read at all: a
 * known field counts as absent.
 */

type Call = (service: LabService) => Promise<unknown>;
type Fields = Readonly<Record<string, unknown>>;

const time = '2026-01-01T10:00:00Z';
const home: AppointmentAddress = { first_line: '1 Nowhere Lane', city: 'Phantomville', state: 'AZ', zip_code: '85004' };
const place = { orgId: 'org-1', teamId: 'team-1', environment: 'sandbox' };
const region = { orgId: 'org-1', environment: 'sandbox', region: 'us' };

function nested(path: string, value: unknown): object {
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

async function first<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  return (await all(items))[0];
}

const things: [
  name: string,
  call: Call,
  /** The answer around the fields. */
  answer: (fields: object) => unknown,
  fields: Fields,
][] = [
  [
    'an order',
    ({ orders }) => orders.get('order-1'),
    (fields) => ({ id: 'order-1', ...fields }),
    {
      ...{ team_id: 'team-1', user_id: 'user-1', patient_details: { first_name: 'Testperson' } },
      ...{ 'patient_details.first_name': 'Testperson', 'patient_details.last_name': 'Invented' },
      ...{ 'patient_details.phone_number': '+15550100', 'patient_details.email': 'testperson@example.com' },
      ...{ 'patient_details.dob': '1980-02-29', 'patient_details.gender': 'a_gender_of_next_year' },
      ...{ patient_address: { city: 'Phantomville' }, 'patient_address.receiver_name': 'invented receiver_name' },
      ...{ 'patient_address.first_line': 'invented first_line' },
      ...{ 'patient_address.second_line': 'invented second_line', 'patient_address.city': 'invented city' },
      ...{ 'patient_address.state': 'invented state', 'patient_address.zip': 'invented zip' },
      ...{ 'patient_address.country': 'invented country', 'patient_address.phone_number': 'invented phone_number' },
      ...{ 'patient_address.access_notes': 'Gate code invented', shipping_details: { city: 'Phantomville' } },
      ...{ 'shipping_details.receiver_name': 'invented receiver_name' },
      ...{ 'shipping_details.first_line': 'invented first_line' },
      ...{ 'shipping_details.second_line': 'invented second_line', 'shipping_details.city': 'invented city' },
      ...{ 'shipping_details.state': 'invented state', 'shipping_details.zip': 'invented zip' },
      ...{ 'shipping_details.country': 'invented country', 'shipping_details.phone_number': 'invented phone_number' },
      ...{ 'details.type': 'testkit', 'details.data': { id: 'detail-1' }, 'lab_test.name': 'Invented kit' },
      ...{ 'lab_test.description': 'Invented', 'lab_test.method': 'testkit', sample_id: 'SAMPLE-1' },
      ...{ health_insurance_id: 'insurance-1', health_insurace_id: 'insurance-1', notes: 'invented' },
      ...{ clinical_notes: 'invented comment', 'patient_address.street': 'Nowhere Lane' },
      ...{ 'patient_address.street_number': '1', created_at: time, updated_at: '2026-01-01T10:00:00+00:00' },
      ...{ status: 'received', events: [{ id: 1 }], last_event: { id: 1 }, interpretation: 'critical' },
      ...{ activate_by: '2026-03-01', has_abn: true, origin: 'redraw' },
      ...{ requisition_form_url: 'https://files.example.com/invented.pdf' },
      ...{ order_transaction: { id: 'transaction-1' }, lab_account_id: 'account-1', 'details.data.id': 'detail-1' },
      ...{ 'details.data.created_at': time, 'details.data.updated_at': time },
      ...{ 'details.data.shipment': { id: 'shipment-1' }, 'details.data.shipment.id': 'shipment-1' },
      ...{ 'details.data.shipment.outbound_tracking_number': '9400' },
      ...{ 'details.data.shipment.outbound_tracking_url': 'https://tracking.example.com/9400' },
      ...{ 'details.data.shipment.inbound_tracking_number': '9401' },
      ...{ 'details.data.shipment.inbound_tracking_url': 'https://tracking.example.com/9401' },
      ...{ 'details.data.shipment.outbound_courier': 'usps', 'details.data.shipment.inbound_courier': 'usps' },
      ...{ 'details.data.shipment.notes': 'invented', 'details.data.shipment.created_at': time },
      ...{ 'details.data.shipment.updated_at': time, 'events.0.id': 4056, 'events.0.created_at': time },
      ...{ 'events.0.status': 'received.testkit.ordered', 'events.0.status_detail': 'sample_hemolyzed' },
      ...{ 'last_event.id': 4056, 'last_event.status': 'received.testkit.ordered' },
      ...{ 'order_transaction.id': 'transaction-1', 'order_transaction.status': 'active' },
      ...{ 'order_transaction.orders': [{ id: 'order-1' }] },
      ...{ 'order_transaction.orders.0.id': 'e66321dd-4e0g-5226-9373-6124g811d8cf' },
      ...{ 'order_transaction.orders.0.origin': 'initial' },
      ...{ 'order_transaction.orders.0.low_level_status': 'transit_customer' },
      ...{ 'order_transaction.orders.0.low_level_status_created_at': time },
      ...{ 'order_transaction.orders.0.created_at': time, 'order_transaction.orders.0.updated_at': time },
      ...{ passthrough: 'labops:-:ref-1:1', parent_id: 'order-0', physician: { npi: '0123456789' } },
      ...{ 'physician.npi': '0123456789', 'physician.first_name': 'Doctor', 'physician.last_name': 'Invented' },
      ...{ has_missing_results: true, expected_result_by_date: '2026-03-01', 'lab_test.id': 'test-1' },
      ...{ 'lab_test.slug': 'invented-kit', 'order_transaction.team_id': 'team-1' },
      ...{ 'order_transaction.orders.0.parent_id': 'order-0' },
    },
  ],
  [
    'a user',
    ({ users }) => users.get('user-1'),
    (fields) => ({ user_id: 'user-1', ...fields }),
    {
      ...{ fallback_birth_date: { value: '1980-02-29' }, fallback_time_zone: { id: 'UTC' } },
      ...{ team_id: 'team-1', client_user_id: '3Zru4O8cBEiwGTsXgUQGaQ==', created_on: time },
      ...{ connected_sources: [{ created_on: '2026-01-01T10:00:00Z' }], 'fallback_birth_date.source_slug': 'manual' },
      ...{ 'fallback_birth_date.updated_at': time, 'fallback_birth_date.value': '1980-02-29' },
      ...{ 'fallback_time_zone.id': 'America/Phoenix', 'fallback_time_zone.source_slug': 'manual' },
      ...{ 'fallback_time_zone.updated_at': time, 'connected_sources.0.created_on': time },
      ...{ 'connected_sources.0.source': { slug: 'invented' } },
      ...{ 'connected_sources.0.source.logo': 'https://logos.example.com/invented.png' },
      ...{ 'connected_sources.0.source.name': 'Invented', 'connected_sources.0.source.slug': 'invented' },
    },
  ],
  [
    'a link result',
    ({ links }) => links.completeMfa('invented_watch', 'lt_invented', '012345'),
    (fields) => ({ state: 'error', ...fields }),
    {
      ...{ provider: 'invented_watch', redirect_url: 'invented-app://linked', error_type: 'provider_api_error' },
      ...{ error: 'invented words', provider_mfa: { method: 'sms', hint: '***12' }, 'provider_mfa.method': 'email' },
      ...{ 'provider_mfa.hint': 't***', connected: true, provider_id: 'pid-1' },
    },
  ],
  [
    'an appointment',
    ({ appointments }) => appointments.get('order-1'),
    (fields) => ({ id: 'appointment-1', ...fields }),
    {
      ...{ user_id: 'user-1', order_id: 'order-1', order_transaction_id: 'transaction-1', iana_timezone: 'UTC' },
      ...{ start_at: time, end_at: time, type: 'phlebotomy', provider: 'invented', provider_id: '17' },
      ...{ external_id: 'x', status: 'confirmed', event_status: 'scheduled', can_reschedule: true },
      ...{ appointment_notes: 'invented', address: { city: 'Phantomville' }, location: { lng: 1, lat: 2 } },
      ...{ 'address.first_line': '1 Nowhere Lane', 'address.second_line': 'Flat 2', 'address.city': 'Phantomville' },
      ...{ 'address.state': 'AZ', 'address.zip_code': '85004', 'address.unit': '2', 'address.access_notes': 'gate' },
      ...{ 'location.lng': -112.1, 'location.lat': 33.4, events: [{ status: 'pending' }] },
      ...{ 'events.0.status': 'pending', 'events.0.created_at': time },
    },
  ],
  [
    'slots',
    ({ appointments }) => appointments.availability(home),
    (fields) => fields,
    {
      ...{ timezone: 'UTC', slots: [{ date: '2026-02-01' }], 'slots.0.date': '2026-02-01' },
      ...{ 'slots.0.slots': [{ price: 1 }], 'slots.0.slots.0.booking_key': 'bk', 'slots.0.slots.0.start': time },
      ...{ 'slots.0.slots.0.end': time, 'slots.0.slots.0.expires_at': time, 'slots.0.slots.0.price': 49.5 },
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
    'a question of a marker',
    async ({ labTests }) => (await first(labTests.listMarkers()))?.aoe?.questions?.[0],
    (fields) => ({ markers: [{ id: 1, aoe: { questions: [{ id: 5, ...fields }] } }] }),
    { required: true, code: 'c', value: 'Fasting?', type: 'choice', sequence: 1, answers: [{ id: 7 }] },
  ],
  [
    'an answer to a question',
    async ({ labTests }) => (await first(labTests.listMarkers()))?.aoe?.questions?.[0]?.answers?.[0],
    (fields) => ({ markers: [{ id: 1, aoe: { questions: [{ id: 5, answers: [{ id: 7, ...fields }] }] } }] }),
    { code: 'y', value: 'Yes' },
  ],
  [
    'an expected result',
    async ({ labTests }) => (await first(labTests.listMarkers()))?.expected_results?.[0],
    (fields) => ({ markers: [{ id: 1, expected_results: [{ id: 2, ...fields }] }] }),
    { name: 'Invented', slug: 'invented' },
  ],
  [
    'results',
    ({ orders }) => orders.results('order-1'),
    (fields) => fields,
    {
      ...{ metadata: { age: '40' }, results: [{ name: 'Invented' }], missing_results: [{ name: 'Other' }] },
      order_transaction: { id: 'transaction-1' },
    },
  ],
  [
    "the results' metadata",
    ({ orders }) => orders.resultMetadata('order-1'),
    (fields) => fields,
    {
      ...{ age: '40', dob: '1980-02-29', patient: 'Testperson', provider: 'Doctor Invented', laboratory: 'Invented' },
      ...{ date_reported: time, date_collected: time, date_received: time, specimen_number: 's-1' },
      ...{ status: 'final', interpretation: 'normal' },
    },
  ],
  [
    'a result',
    async ({ orders }) => ((await orders.results('order-1')).results as unknown[])[0],
    (fields) => ({ results: [fields] }),
    {
      ...{ name: 'Invented', slug: 'invented', value: 1.5, result: '1.5', type: 'numeric', unit: 'mg', loinc: '1-1' },
      ...{ timestamp: time, reference_range: '1-2', min_range_value: 1, max_range_value: 2 },
      ...{ is_above_max_range: false, is_below_min_range: true, interpretation: 'normal' },
    },
  ],
  [
    'a missing result',
    async ({ orders }) => (await orders.results('order-1')).missing_results?.[0],
    (fields) => ({ missing_results: [fields] }),
    { name: 'Invented', slug: 'invented', inferred_failure_type: 'a_type_of_next_year', note: 'invented' },
  ],
  [
    'a parsing job',
    ({ reports }) => reports.getJob('job-1'),
    (fields) => ({ id: 'job-1', ...fields }),
    {
      ...{ job_id: 'job-1', user_id: 'user-1', team_id: 'team-1', status: 'failed', failure_reason: 'low_quality' },
      ...{ needs_human_review: true, is_reviewed: false, 'data.metadata': { lab_name: 'Invented' } },
    },
  ],
  [
    'an extracted biomarker',
    async ({ reports }) => (await reports.getJob('job-1')).data?.results[0],
    (fields) => ({ id: 'job-1', data: { results: [fields] } }),
    {
      ...{ test_name: 'Invented', value: '5.6', sample_type: 'urine', measurement_kind: 'direct', type: 'numeric' },
      ...{ units: 'mg', max_reference_range: 7, min_reference_range: 3, source_panel_name: 'Invented panel' },
      ...{ sensitivity: 'unknown', loinc_matches: [{ loinc_code: '1-1' }], loinc_match_status: 'auto_match' },
      ...{ interpretation: 'normal', is_above_max_range: false, is_below_min_range: true },
    },
  ],
  [
    'a LOINC match',
    async ({ reports }) => (await reports.getJob('job-1')).data?.results[0]?.loinc_matches?.[0],
    (fields) => ({ id: 'job-1', data: { results: [{ loinc_matches: [fields] }] } }),
    { loinc_code: '1-1', loinc_name: 'Invented', display_name: 'Invented', aliases: ['a'], confidence_score: 0.9 },
  ],
  [
    "a report's head",
    async ({ reports }) => (await reports.getJob('job-1')).data?.metadata,
    (fields) => ({ id: 'job-1', data: { metadata: fields } }),
    {
      ...{ patient_first_name: 'Testperson', patient_last_name: 'Invented', dob: '1980-02-29', gender: 'female' },
      ...{ lab_name: 'Invented', date_reported: '1 Jan', date_collected: '1 Jan', specimen_number: 's-1' },
    },
  ],
  [
    'demographics',
    ({ users }) => users.getDemographics('user-1'),
    (fields) => fields,
    {
      ...{ first_name: 'Testperson', last_name: 'Invented', email: 'testperson@example.com', gender: 'female' },
      ...{ phone_number: '+15550100', dob: '1980-02-29', address: { city: 'Phantomville' } },
      ...{ 'address.first_line': '1 Nowhere Lane', 'address.second_line': 'Flat 2', 'address.city': 'Phantomville' },
      ...{ 'address.state': 'AZ', 'address.zip': '85004', 'address.country': 'US', 'address.access_notes': 'gate' },
    },
  ],
  [
    'a creation or a cancellation of an order',
    ({ orders }) => orders.cancel('order-1'),
    (fields) => ({ order: { id: 'order-1' }, ...fields }),
    { status: 'SUCCESS', message: 'Order submitted' },
  ],
  [
    'a lab account',
    async ({ labTests }) => (await labTests.listLabAccounts())[0],
    (fields) => ({ data: [{ id: 'account-1', ...fields }] }),
    {
      ...{ lab: 'invented', org_id: 'org-1', provider_account_id: 'p-1', account_name: 'Invented' },
      ...{ delegated_flow: 'order_delegated', default_clinical_notes: 'invented', status: 'pending' },
    },
  ],
  [
    'a team',
    ({ management }) => management.teams.get('org-1', 'team-1'),
    (fields) => ({ id: 'team-1', ...fields }),
    {
      ...{ name: 'Invented', created_on: time, region: 'us', integration_team_id: 'i-1' },
      ...{ environments: ['sandbox'], sandbox: { any: 1 }, production: { any: 1 } },
    },
  ],
  [
    'a webhook endpoint',
    ({ management }) => management.webhooks.get(place, 'ep_1'),
    (fields) => ({ id: 'ep_1', ...fields }),
    {
      ...{ description: 'invented', rate_limit: 5, url: 'https://example.com', disabled: true },
      ...{ filter_types: ['labtest.order.created'], created_at: time, updated_at: time },
    },
  ],
  [
    "an endpoint's headers",
    ({ management }) => management.webhooks.getHeaders(place, 'ep_1'),
    (fields) => ({ headers: {}, ...fields }),
    { sensitive: ['authorization'] },
  ],
  [
    'a management key',
    ({ management }) => first(management.managementKeys.list('org-1')),
    (fields) => ({ data: [{ id: 'key-1', ...fields }], next_cursor: null }),
    {
      ...{ label: 'Invented', created_at: time, role: 'org_admin', creator: { type: 'service_staff' } },
      ...{ 'creator.type': 'org_member', 'creator.id': 'm-1', team_role_bindings: [{ team_id: 'team-1' }] },
      'team_role_bindings.0.team_id': 'team-1',
    },
  ],
  [
    'a team API key',
    ({ management }) => first(management.teamApiKeys.list(region)),
    (fields) => ({ api_keys: [{ id: 'key-1', ...fields }] }),
    { label: 'Invented', value: 'sk_invented_value', team_id: 'team-1', created_at: time },
  ],
];

/** Fields that come in two forms: a null in one form is the other's absence. */
const absentForNull = ['connected_sources.0.source'];

describe.each(things)('%s', (_name, call, answer, fields) => {
  async function read(path: string, value: unknown): Promise<unknown> {
    return at(await readFrom(answer(nested(path, value)), call), path);
  }

  // proves 17-33, 39-41, 55-57, 60-128, 136, 139, 140, 143, 202, 223
  test.each(Object.entries(fields))('has %s', async (path, value) => {
    expect(await read(path, value)).toEqual(value);
    // A plain text is a source by its slug.
    const text = path.endsWith('.source') ? 5 : 'invented';
    const wrong = typeof value === 'object' ? text : { invented: true };
    expect(await read(path, wrong)).toBeUndefined();
    expect(await read(path, null)).toBe(absentForNull.includes(path) ? undefined : null);
  });
});

// proves 38, 95, 151, 152, 154-165, 169, 325
test.each([
  [
    'events.0.status',
    'received.testkit.ordered',
    'received.testkit.awaiting_registration',
    'received.testkit.requisition_created',
    'received.testkit.testkit_registered',
    'received.testkit.registered',
    'collecting_sample.testkit.transit_customer',
    'collecting_sample.testkit.problem_in_transit_customer',
    'collecting_sample.testkit.problem_in_transit_lab',
    'a_status.testkit.of_next_year',
  ],
  ['interpretation', 'normal', 'abnormal', 'critical', 'a_word_of_next_year'],
  ['status', 'received', 'collecting_sample'],
  ['origin', 'a_word_of_next_year'],
  [
    'order_transaction.orders.0.low_level_status',
    'transit_customer',
    'requisition_created',
    'problem_in_transit_lab',
    'problem_in_transit_customer',
    'a_word_of_next_year',
  ],
  ['state', 'success', 'error', 'pending_provider_mfa', 'a_state_of_next_year'],
])('open text is %s: every word of it is kept, of this year and of the next', async (path, ...words) => {
  const call: Call =
    path === 'state' ? ({ links }) => links.completeMfa('p', 'lt', '1') : ({ orders }) => orders.get('order-1');
  for (const word of words) {
    expect(at(await readFrom({ id: 'order-1', ...nested(path, word) }, call), path)).toBe(word);
  }
});

// proves 58, 204
test.each<[string, Call]>([
  ['a creation', ({ orders }) => orders.create(orderRequest)],
  ['a registration', ({ orders }) => orders.register(registrationRequest)],
])('%s answers with the order inside `order`, beside status and message', async (_what, call) => {
  const answer = { order: { id: 'order-1', sample_id: {} }, status: 'SUCCESS', message: 'Order submitted' };
  expect(await readFrom(answer, call)).toEqual({ ...answer, order: { id: 'order-1' } });
  expect(await rejection(readFrom({ ...answer, order: null }, call))).toBeInstanceOf(AnswerUnreadable);
});

// proves 16, 36, 37, 59, 136, 176, 215, 224
test.each<[string, Call, body: unknown]>([
  ['an order without an id', ({ orders }) => orders.get('order-1'), { id: { name: 'Testperson' } }],
  ['a user without an id', ({ users }) => users.get('user-1'), { user_id: null, name: 'Testperson' }],
  ['an appointment without an id', ({ appointments }) => appointments.get('order-1'), { order_id: 'Testperson' }],
  ['a job without an id', ({ reports }) => reports.getJob('job-1'), { status: 'Testperson' }],
  ['a link without a token', ({ links }) => links.createToken({ user_id: 'u' }), { link_token: ['Testperson'] }],
  ['a step without a state', ({ links }) => links.completeMfa('p', 'lt', '1'), { error: 'Testperson' }],
  ['a portal link without a URL', ({ portal }) => portal.createUrl('u', { context: 'launch' }), { url: 5 }],
  ['a list of markers without ids', ({ labTests }) => first(labTests.listMarkers()), { markers: [{ name: 'A' }] }],
  ['no list of lab tests', ({ labTests }) => first(labTests.list()), {}],
  ['a list of providers that is not one', ({ providers }) => providers.list(), { providers: { one: true } }],
  ['connections that are not a list', ({ providers }) => providers.connectionsOf('u'), { providers: { one: true } }],
  [
    "an organisation's lab account",
    ({ management }) => management.labAccounts.setTeams(region, 'a', []),
    { lab_account: 'a' },
  ],
  ["a workout's stream that is not an object", ({ timeseries }) => timeseries.workoutStream('w'), [1, 2]],
])('%s is unreadable, and not quoted', async (_what, call, body) => {
  const error = await rejection(readFrom(body, call));
  expect(error).toBeInstanceOf(AnswerUnreadable);
  expect(inspect(error)).not.toContain('Testperson');
});
