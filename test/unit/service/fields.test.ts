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

const createPortalUrl: Call = ({ portal }) => portal.createUrl('u', { context: 'launch' });

const utc = '2026-01-01T10:00:00Z';
const object = { invented: true };

/** For each kind of field how it may be sent, what is read from that, and a value of another kind. */
const kinds = {
  text: { sent: ['invented'], read: 'invented', wrong: object },
  time: { sent: [utc, '2026-01-01 10:00:00'], read: utc, wrong: object },
  number: { sent: [2, '2'], read: 2, wrong: object },
  flag: { sent: [true], read: true, wrong: object },
  part: { sent: [{ name: 'invented' }], read: { name: 'invented' }, wrong: 'invented' },
  source: { sent: [{ slug: 'invented' }, 'invented'], read: { slug: 'invented' }, wrong: 5 },
  parts: { sent: [[{ id: 1 }]], read: [{ id: 1 }], wrong: 'invented' },
  references: { sent: [[{ id: 'invented' }]], read: [{ id: 'invented' }], wrong: 'invented' },
  bindings: { sent: [[{ team_id: 'team-1' }]], read: [{ team_id: 'team-1' }], wrong: 'invented' },
  texts: { sent: [['invented']], read: ['invented'], wrong: 'invented' },
  channel: {
    sent: [
      [1, null, 2.5],
      ['1', 'none', '2.5'],
    ],
    read: [1, null, 2.5],
    wrong: 'invented',
  },
};

/** The names of the fields of each kind; `0` is an entry of a list. */
type Fields = Partial<Record<keyof typeof kinds, string>>;

const home: AppointmentAddress = { first_line: '1 Nowhere Lane', city: 'Phantomville', state: 'AZ', zip_code: '85004' };
const place = { orgId: 'org-1', teamId: 'team-1', environment: 'sandbox' };
const region = { orgId: 'org-1', environment: 'sandbox', region: 'us' };

/** The value at this place; what stands in a list has an id. */
function nested(path: string, value: unknown): object {
  const wrap = (inner: unknown, step: string) => (step === '0' ? [{ id: 1, ...(inner as object) }] : { [step]: inner });
  return path.split('.').reduceRight(wrap, value) as object;
}

function at(body: unknown, path: string): unknown {
  return path.split('.').reduce((inner, step) => (inner as Record<string, unknown> | undefined)?.[step], body);
}

const first = async (items: AsyncIterable<unknown>) => (await all(items))[0];

/** `a.{b c}` stands for `a.b a.c`. */
function pathsOf(names: string): string[] {
  const whole = names.replaceAll(/(\S+)\{([^}]*)\}/g, (_, part: string, inner: string) =>
    inner.replaceAll(/\S+/g, (name) => `${part}${name}`),
  );
  return whole.trim().split(/\s+/);
}

const address = 'receiver_name first_line second_line city state zip country phone_number access_notes';

/** What answers are about: a call, the answer around the fields, and the fields. */
const things: Record<string, [call: Call, answer: (fields: object) => unknown, fields: Fields]> = {
  'an order': [
    ({ orders }) => orders.get('order-1'),
    (fields) => ({ id: 'order-1', ...fields }),
    {
      text: `
        team_id user_id sample_id health_insurance_id health_insurace_id notes clinical_notes
        status interpretation activate_by expected_result_by_date origin requisition_form_url lab_account_id
        passthrough parent_id details.type
        patient_details.{first_name last_name phone_number email dob gender}
        patient_address.{${address} street street_number}
        shipping_details.{${address}}
        lab_test.{id slug name description method}
        details.data.id
        details.data.shipment.{id outbound_tracking_number outbound_tracking_url inbound_tracking_number
          inbound_tracking_url outbound_courier inbound_courier notes}
        events.0.{status status_detail} last_event.status
        order_transaction.{id team_id status}
        order_transaction.orders.0.{id origin parent_id low_level_status}
        physician.{npi first_name last_name}
      `,
      time: `
        created_at updated_at details.data.{created_at updated_at} details.data.shipment.{created_at updated_at}
        events.0.created_at order_transaction.orders.0.{low_level_status_created_at created_at updated_at}
      `,
      number: 'events.0.id last_event.id',
      flag: 'has_abn has_missing_results',
      part: `
        patient_details patient_address shipping_details details.data details.data.shipment last_event
        order_transaction physician
      `,
      parts: 'events',
      references: 'order_transaction.orders',
    },
  ],
  'a user': [
    ({ users }) => users.get('user-1'),
    (fields) => ({ user_id: 'user-1', ...fields }),
    {
      text: `
        team_id client_user_id fallback_birth_date.{source_slug value} fallback_time_zone.{id source_slug}
        connected_sources.0.source.{logo name slug provider type}
      `,
      time: `
        created_on fallback_birth_date.updated_at fallback_time_zone.updated_at connected_sources.0.created_on
      `,
      part: 'fallback_birth_date fallback_time_zone',
      source: 'connected_sources.0.source',
      parts: 'connected_sources',
    },
  ],
  'a link result': [
    ({ links }) => links.completeMfa('invented_watch', 'lt_invented', '012345'),
    (fields) => ({ state: 'error', ...fields }),
    {
      text: 'provider redirect_url error_type error provider_mfa.method provider_mfa.hint provider_id',
      ...{ flag: 'connected', part: 'provider_mfa' },
    },
  ],
  'an appointment': [
    ({ appointments }) => appointments.get('invented'),
    (fields) => ({ id: 'appointment-1', ...fields }),
    {
      text: `
        user_id order_id order_transaction_id iana_timezone type provider provider_id external_id
        status event_status appointment_notes
        address.{first_line second_line city state zip_code unit access_notes}
        events.0.status
      `,
      time: 'start_at end_at events.0.created_at',
      number: 'location.lng location.lat',
      flag: 'can_reschedule',
      part: 'address location',
      parts: 'events',
    },
  ],
  slots: [
    ({ appointments }) => appointments.availability(home),
    (fields) => fields,
    {
      text: 'timezone slots.0.date slots.0.slots.0.booking_key',
      time: 'slots.0.slots.0.{start end expires_at}',
      number: 'slots.0.slots.0.{price num_appointments_available}',
      flag: 'slots.0.slots.0.is_priority',
      parts: 'slots slots.0.slots',
    },
  ],
  'a reason to cancel': [
    async ({ appointments }) => (await appointments.cancellationReasons())[0],
    (fields) => [{ id: 'reason-1', ...fields }],
    { text: 'name', flag: 'is_refundable' },
  ],
  'a marker': [
    ({ labTests }) => first(labTests.listMarkers()),
    (fields) => ({ markers: [{ id: 1, ...fields }] }),
    {
      text: `
        name slug description provider_id type unit price expected_results.0.{name slug}
        aoe.questions.0.{code value type} aoe.questions.0.answers.0.{code value}
      `,
      number: 'lab_id common_tat_days worst_case_tat_days aoe.questions.0.sequence',
      flag: 'a_la_carte_enabled is_orderable aoe.questions.0.required',
      part: 'aoe',
      parts: 'aoe.questions aoe.questions.0.answers expected_results',
    },
  ],
  'a lab test': [
    ({ labTests }) => first(labTests.list()),
    (fields) => ({ data: [{ id: 'test-1', ...fields }] }),
    {
      text: 'status lab.slug lab.name',
      number: 'price lab.id common_tat_days worst_case_tat_days',
      flag: 'is_active auto_generated is_delegated',
      part: 'lab',
      parts: 'markers',
    },
  ],
  results: [
    ({ orders }) => orders.results('order-1'),
    (fields) => fields,
    {
      text: `
        results.0.{name slug result type unit loinc reference_range interpretation}
        missing_results.0.{name slug inferred_failure_type note}
      `,
      time: 'results.0.timestamp',
      number: 'results.0.{value min_range_value max_range_value}',
      flag: 'results.0.{is_above_max_range is_below_min_range}',
      part: 'metadata order_transaction',
      parts: 'results missing_results',
    },
  ],
  "the results' metadata": [
    ({ orders }) => orders.resultMetadata('order-1'),
    (fields) => fields,
    {
      text: 'age dob patient provider laboratory specimen_number status interpretation',
      time: 'date_reported date_collected date_received',
    },
  ],
  'a parsing job': [
    ({ reports }) => reports.getJob('job-1'),
    (fields) => ({ id: 'job-1', ...fields }),
    {
      text: `
        job_id user_id team_id status failure_reason
        data.metadata.{patient_first_name patient_last_name dob gender lab_name date_reported date_collected
          specimen_number}
        data.results.0.{test_name value sample_type measurement_kind type units source_panel_name sensitivity
          loinc_match_status interpretation}
        data.results.0.loinc_matches.0.{loinc_code loinc_name display_name}
      `,
      number: 'data.results.0.{max_reference_range min_reference_range loinc_matches.0.confidence_score}',
      flag: 'needs_human_review is_reviewed data.results.0.{is_above_max_range is_below_min_range}',
      part: 'data.metadata',
      parts: 'data.results.0.loinc_matches',
      texts: 'data.results.0.loinc_matches.0.aliases',
    },
  ],
  demographics: [
    ({ users }) => users.getDemographics('user-1'),
    (fields) => fields,
    {
      text: `
        first_name last_name email gender phone_number dob
        address.{first_line second_line city state zip country access_notes}
      `,
      part: 'address',
    },
  ],
  'a creation or a cancellation of an order': [
    ({ orders }) => orders.cancel('order-1'),
    (fields) => ({ order: { id: 'order-1' }, ...fields }),
    { text: 'status message' },
  ],
  'a lab account': [
    async ({ labTests }) => (await labTests.listLabAccounts())[0],
    (fields) => ({ data: [{ id: 'account-1', ...fields }] }),
    { text: 'lab org_id provider_account_id account_name delegated_flow default_clinical_notes status' },
  ],
  'a provider': [
    async ({ providers }) => (await providers.list())[0],
    (fields) => [{ slug: 'invented_watch', ...fields }],
    { text: 'name logo auth_type', texts: 'supported_resources' },
  ],
  'a connection': [
    async ({ providers }) => (await providers.connectionsOf('user-1'))[0],
    (fields) => ({ providers: [{ slug: 'invented_watch', ...fields }] }),
    { text: 'status error_details.error_type', part: 'error_details' },
  ],
  'an unmatched result': [
    ({ matchReviews }) => matchReviews.get('result-1'),
    (fields) => ({ id: 'result-1', ...fields }),
    {
      text: `
        status decision_code reason interpretation result_status note resolution_action
        resolved_user_id resolved_order_id lab.id lab.name lab.slug candidate_groups.0.user_id
        patient.{first_name last_name dob gender}
        markers.0.{provider_id name}
        candidate_groups.0.candidates.0.{candidate_type order_id order_transaction_id last_status confidence_level}
      `,
      time: 'created_at updated_at reviewed_at',
      number: 'candidate_groups.0.candidates.0.confidence_score',
      part: 'patient lab',
      parts: 'markers candidate_groups candidate_groups.0.candidates',
      texts: 'sub_reason_codes allowed_actions candidate_groups.0.candidates.0.reasons',
    },
  ],
  'a team': [
    ({ management }) => management.teams.get('org-1', 'team-1'),
    (fields) => ({ id: 'team-1', ...fields }),
    { text: 'name region integration_team_id', time: 'created_on', part: 'sandbox production', texts: 'environments' },
  ],
  'a webhook endpoint': [
    ({ management }) => management.webhooks.get(place, 'ep_1'),
    (fields) => ({ id: 'ep_1', ...fields }),
    {
      ...{ text: 'description url', time: 'created_at updated_at', number: 'rate_limit' },
      ...{ flag: 'disabled', texts: 'filter_types' },
    },
  ],
  "an endpoint's headers": [
    ({ management }) => management.webhooks.getHeaders(place, 'ep_1'),
    (fields) => ({ headers: {}, ...fields }),
    { texts: 'sensitive' },
  ],
  'a management key': [
    ({ management }) => first(management.managementKeys.list('org-1')),
    (fields) => ({ data: [{ id: 'key-1', ...fields }], next_cursor: null }),
    {
      time: 'created_at',
      text: 'label role creator.type creator.id team_role_bindings.0.team_id',
      part: 'creator',
      bindings: 'team_role_bindings',
    },
  ],
  'a team API key': [
    ({ management }) => first(management.teamApiKeys.list(region)),
    (fields) => ({ api_keys: [{ id: 'key-1', ...fields }] }),
    { text: 'label value team_id', time: 'created_at' },
  ],
  "a workout's stream": [
    ({ timeseries }) => timeseries.workoutStream('workout-1'),
    (fields) => fields,
    {
      channel: 'time cadence altitude velocity_smooth heartrate lat lng distance power resistance temperature',
    },
  ],
};

/** Fields that come in two forms: a null in one form is the other's absence. */
const absentForNull = ['connected_sources.0.source'];

describe.each(Object.entries(things))('%s', (_name, [call, answer, fields]) => {
  const read = async (path: string, value: unknown) => at(await readFrom(answer(nested(path, value)), call), path);
  const byKind = Object.entries(fields) as [keyof typeof kinds, string][];
  const named = byKind.flatMap(([kind, names]) => pathsOf(names).map((path) => ({ path, kind })));

  // proves 17-33, 39-41, 55-57, 60-128, 136, 139, 140, 143, 151, 202, 223, 325
  test.each(named)('has $path, which is of the kind $kind', async ({ path, kind }) => {
    for (const sent of kinds[kind].sent) expect(await read(path, sent)).toEqual(kinds[kind].read);
    expect(await read(path, kinds[kind].wrong)).toBeUndefined();
    expect(await read(path, null)).toBe(absentForNull.includes(path) ? undefined : null);
  });

  // proves 2, 3, 123, 142, 165, 181, 325, 326
  test('keeps what this release does not know, itself and each of its parts', async () => {
    const parts = new Set(named.map(({ path }) => path.replace(/[^.]+$/, '')));
    for (const part of parts) {
      const unknown = { deep: [1, null] };
      expect(await read(`${part}field_of_next_year`, unknown), part).toEqual(unknown);
    }
  });
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
  ['a portal link without a URL', createPortalUrl, { url: 5, expires_in: 600 }],
  ['a portal link without its lifetime', createPortalUrl, { url: 'https://portal.example.com/x', expires_in: 'soon' }],
  ['a list of markers without ids', ({ labTests }) => first(labTests.listMarkers()), { markers: [{ name: 'A' }] }],
  ['no list of lab tests', ({ labTests }) => first(labTests.list()), {}],
  ['a list of providers that is not one', ({ providers }) => providers.list(), { providers: { one: true } }],
  ['connections that are not a list', ({ providers }) => providers.connectionsOf('u'), { providers: { one: true } }],
  ["a team's lab account", ({ management }) => management.labAccounts.setTeams(region, 'a', []), { lab_account: 'a' }],
  ["a workout's stream that is not an object", ({ timeseries }) => timeseries.workoutStream('w'), [1, 2]],
])('%s is unreadable, and not quoted', async (_what, call, body) => {
  const error = await rejection(readFrom(body, call));
  expect(error).toBeInstanceOf(AnswerUnreadable);
  expect(inspect(error)).not.toContain('Testperson');
});

// proves 215, 243
test("a workout's stream keeps every channel in step if a value is not a number", async () => {
  const sent = { time: [1, 2, 3], heartrate: [60, '61', {}] };
  const read = await readFrom(sent, ({ timeseries }) => timeseries.workoutStream('workout-1'));
  expect(read).toEqual({ ...sent, heartrate: [60, 61, null] });
});
