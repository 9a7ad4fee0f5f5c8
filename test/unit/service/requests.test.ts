import { describe, expect, test } from 'vitest';
import type { LabService } from '../../../service/lab-service.js';
import type { LinkTokenRequest } from '../../../service/link/link.js';
import {
  fullOrder,
  fullRegistration,
  home,
  importRequest,
  inventedAddress,
  inventedPatient,
  inventedPhysician,
  inventedShipping,
  medicalProxy,
  orderRequest,
  proxyAddress,
  registrationRequest,
  testkitRequest,
} from './persons.js';
import { brokenRules, serviceWith } from './recording-server.js';

/* What each call sends, and what it refuses to send; management.test.ts has those of the management API. */

type Call = (service: LabService) => Promise<unknown>;

const consents = [{ consentType: 'terms-of-use', version: '1.0', timeOfConsent: '2026-01-01T10:00:00Z' }];
const { city, state, zip, country } = inventedAddress;
const streetAddress = { street: 'Nowhere Road', street_number: '102', city, state, zip, country };
const streetRegistration = { ...registrationRequest, patient_address: streetAddress, consents };
const window = { start_at: '2026-01-01T00:00:00Z', end_at: '2026-03-02T00:00:00+00:00' };
const simulation = {
  ...{ finalStatus: 'completed.testkit.completed', delay: 3, interpretation: 'critical' },
  ...{ resultTypes: ['numeric'], hasMissingResults: true },
};
const user = {
  ...{ client_user_id: 'client 1', fallback_time_zone: 'Europe/Vienna', fallback_birth_date: '1980-02-29' },
  ...{ ingestion_start: '2026-01-01', ingestion_end: '2026-12-31' },
};
const { household_income: _income, household_size: _size, email: _email, ...proxy } = medicalProxy;
const demographics = { ...inventedPatient, address: proxyAddress };
const fullDemographics = {
  ...{ ...demographics, medical_proxy: proxy },
  ...{ race: 'invented', ethnicity: 'invented', sexual_orientation: 'invented', gender_identity: 'invented' },
};
const linkToken = {
  user_id: 'user-1',
  provider: 'invented_watch',
  redirect_url: 'invented-app://linked',
  filter_on_providers: ['invented_watch'],
  on_error: 'redirect',
  on_close: 'redirect',
} satisfies LinkTokenRequest;
const booking = {
  booking_key: 'bk_invented',
  appointment_notes: 'The dog is invented',
  async_confirmation: true,
  sync_confirmation_timeout_millisecond: 10_000,
  async_confirmation_timeout_millisecond: 172_800_000,
};
/** Notes end at 1,000 characters, an emoji being one. */
const newSlot = { booking_key: 'bk_invented', appointment_notes: '😀'.repeat(1_000) };
const visit = { address: home, provider: 'invented', appointment_notes: 'The dog is invented' };
const reason = { cancellation_reason_id: 'reason-1', notes: 'invented' };
const walkInReason = { cancellationReasonId: 'reason-1', note: 'invented' };

const portalUrl = 'POST /v2/user/user-1/create_portal_url';
const atHome = '/v3/order/order-1/phlebotomy/appointment';
const atCentre = '/v3/order/order-1/psc/appointment';

/** Enough of an answer for each of the calls. */
const answer = {
  ...{ id: 'one', user_id: 'user-1', order_id: 'order-1', order: { id: 'order-1', user_id: 'user-1' }, slots: [] },
  ...{ link_token: 'lt_invented', link_web_url: 'https://link.example.com', url: 'https://portal.example.com' },
  ...{ expires_in: 600, patient_service_centers: [], phlebotomy: {} },
};

// proves 1, 9, 17-24, 78, 80, 101, 129-135, 139, 171-176, 181, 189-200, 202, 206-210, 216, 217, 219-222, 226-229, 231-233, 244, 303, 321-323, 325, I2, I6
test.each<[request: string, call: Call, body?: unknown]>([
  ['POST /v3/order/testkit', ({ orders }) => orders.createTestkit(testkitRequest), testkitRequest],
  ['POST /v3/order', ({ orders }) => orders.create(orderRequest), orderRequest],
  ['POST /v3/order', ({ orders }) => orders.create(fullOrder), fullOrder],
  ['POST /v3/order', ({ orders }) => orders.create({ ...orderRequest, consents }), { ...orderRequest, consents }],
  ['POST /v3/order/testkit/register', ({ orders }) => orders.register(registrationRequest), registrationRequest],
  ['POST /v3/order/testkit/register', ({ orders }) => orders.register(fullRegistration), fullRegistration],
  ['POST /v3/order/testkit/register', ({ orders }) => orders.register(streetRegistration), streetRegistration],
  ['POST /v3/order/import', ({ orders }) => orders.import(importRequest), importRequest],
  ['POST /v3/order/order-1/cancel', ({ orders }) => orders.cancel('order-1')],
  ['GET /v3/order/one', ({ orders }) => orders.get('one')],
  ['GET /v3/order/order-1/result', ({ orders }) => orders.results('order-1')],
  ['GET /v3/order/order-1/result/metadata', ({ orders }) => orders.resultMetadata('order-1')],
  ['GET /v3/order_transaction/one', ({ orders }) => orders.transaction('one')],
  ['GET /v3/order_transaction/one/result', ({ orders }) => orders.transactionResults('one')],
  ['POST /v3/order/resend_events', ({ orders }) => orders.resendEvents({ order_ids: ['a'] }), { order_ids: ['a'] }],
  ['POST /v3/order/resend_events', ({ orders }) => orders.resendEvents(window), window],
  ['POST /v3/order/order-1/test', ({ orders }) => orders.simulate('order-1'), {}],
  [
    'POST /v3/order/order-1/test?final_status=completed.testkit.completed&delay=3',
    ({ orders }) => orders.simulate('order-1', simulation),
    { interpretation: 'critical', result_types: ['numeric'], has_missing_results: true },
  ],
  ['GET /v2/user/user-1', ({ users }) => users.get('user-1')],
  ['GET /v2/user/resolve/3Zru4O8c%2FEi%20Xg%3D%3D', ({ users }) => users.resolve('3Zru4O8c/Ei Xg==')],
  ['POST /v2/user', ({ users }) => users.create(user), user],
  ['PATCH /v2/user/user-1', ({ users }) => users.update('user-1', { client_user_id: null }), { client_user_id: null }],
  ['PATCH /v2/user/user-1', ({ users }) => users.update('user-1', user), user],
  ['DELETE /v2/user/user-1', ({ users }) => users.delete('user-1')],
  ['POST /v2/user/undo_delete?user_id=user-1', ({ users }) => users.undoDelete({ userId: 'user-1' })],
  ['POST /v2/user/undo_delete?client_user_id=1%2F%C3%A4', ({ users }) => users.undoDelete({ clientUserId: '1/ä' })],
  ['GET /v2/user/user-1/info/latest', ({ users }) => users.getDemographics('user-1')],
  ['PATCH /v2/user/user-1/info', ({ users }) => users.upsertDemographics('user-1', demographics), demographics],
  ['PATCH /v2/user/user-1/info', ({ users }) => users.upsertDemographics('user-1', fullDemographics), fullDemographics],
  [portalUrl, ({ portal }) => portal.createUrl('user-1', { context: 'launch' }), { context: 'launch' }],
  [
    portalUrl,
    ({ portal }) => portal.createUrl('user-1', { context: 'communications', orderId: 'order-1' }),
    { context: 'communications', order_id: 'order-1' },
  ],
  [
    portalUrl,
    ({ portal }) => portal.createUrl('user-1', { context: 'a-context-of-next-year', orderId: null }),
    { context: 'a-context-of-next-year', order_id: null },
  ],
  ['POST /v2/link/token', ({ links }) => links.createToken(linkToken), linkToken],
  [`GET ${atHome}`, ({ appointments }) => appointments.get('order-1')],
  [`POST ${atHome}/book`, ({ appointments }) => appointments.book('order-1', booking), booking],
  [`POST ${atHome}/request`, ({ appointments }) => appointments.request('order-1', visit), visit],
  [`PATCH ${atHome}/reschedule`, ({ appointments }) => appointments.reschedule('order-1', newSlot), newSlot],
  [`PATCH ${atHome}/cancel`, ({ appointments }) => appointments.cancel('order-1', reason), reason],
  ['POST /v3/order/phlebotomy/appointment/availability', ({ appointments }) => appointments.availability(home), home],
  [
    'POST /v3/order/phlebotomy/appointment/availability?start_date=2026-02-01',
    ({ appointments }) => appointments.availability(home, { startDate: '2026-02-01' }),
    home,
  ],
  [`GET ${atCentre}`, ({ walkIns }) => walkIns.get('order-1')],
  [`POST ${atCentre}/book`, ({ walkIns }) => walkIns.book('order-1', booking), booking],
  [`PATCH ${atCentre}/reschedule`, ({ walkIns }) => walkIns.reschedule('order-1', newSlot), newSlot],
  [`PATCH ${atCentre}/cancel`, ({ walkIns }) => walkIns.cancel('order-1', walkInReason), walkInReason],
  [
    'POST /v3/order/psc/appointment/availability?lab=one&site_codes=a&site_codes=b&start_date=2030-02-01',
    ({ walkIns }) => walkIns.availability({ lab: 'one', siteCodes: ['a', 'b'], startDate: '2030-02-01' }),
  ],
  [
    'POST /v3/order/psc/appointment/availability?lab=one&zip_code=85004&radius=25',
    ({ walkIns }) => walkIns.availability({ lab: 'one', zipCode: '85004-1234' }),
  ],
  [
    'GET /v3/order/area/info?zip_code=85004&radius=25&labs=one&labs=two',
    ({ centres }) => centres.coverage({ zipCode: '85004-1234', labs: ['one', 'two'] }),
  ],
  [
    'GET /v3/order/psc/info?zip_code=85004&lab_id=27&radius=50',
    ({ centres }) => centres.near({ zipCode: '85004', labId: 27, radius: 50 }),
  ],
  [
    'GET /v3/order/order-1/psc/info?radius=25&capabilities=stat',
    ({ centres }) => centres.forOrder('order-1', { capabilities: ['stat'] }),
  ],
  ['GET /v3/lab_tests/test%2F1', ({ labTests }) => labTests.get('test/1')],
  ['GET /lab_report/v1/parser/job/one', ({ reports }) => reports.getJob('one')],
  ['GET /v2/timeseries/workouts/workout-1/stream', ({ timeseries }) => timeseries.workoutStream('workout-1')],
])('%s goes out with the team key, and with its body as it was given', async (request, call, body) => {
  const service = await serviceWith({ body: answer });
  await call(service);
  const [sent] = service.requests;
  expect(`${sent?.method} ${sent?.url}`).toBe(request);
  expect(sent?.body).toEqual(body);
  expect(sent?.headers).toHaveProperty('x-service-api-key', 'sk_invented');
  expect(sent?.headers).not.toHaveProperty('x-idempotency-key');
  expect(sent?.headers['content-type']).toBe(body === undefined ? undefined : 'application/json');
});

test.each<[where: string, call: Call]>([
  ['phlebotomy', ({ appointments }) => appointments.cancellationReasons()],
  ['psc', ({ walkIns }) => walkIns.cancellationReasons()],
])('the reasons for a cancellation are listed for %s', async (where, call) => {
  const reasons = [{ id: 'reason-1', name: 'Invented', is_refundable: true }];
  const service = await serviceWith({ body: reasons });
  expect(await call(service)).toEqual(reasons);
  const url = `/v3/order/${where}/appointment/cancellation-reasons`;
  expect(service.requests).toMatchObject([{ method: 'GET', url, body: undefined }]);
});

test.each<[what: string, call: Call]>([
  ['an order', ({ orders }) => orders.create(orderRequest, { idempotencyKey: 'labops:-:ref-1:1' })],
  ['a walk-in', ({ walkIns }) => walkIns.book('order-1', booking, { idempotencyKey: 'labops:-:ref-1:1' })],
])('%s goes out under its idempotency key, and failures are not kept', async (_what, call) => {
  const service = await serviceWith({ body: answer });
  await call(service);
  expect(service.requests[0]?.headers).toMatchObject({
    'x-idempotency-key': 'labops:-:ref-1:1',
    'x-idempotency-error': 'no-cache',
  });
});

// proves 211, 218, 225, 322, I4
test('creations and lists have their paths from the configuration', async () => {
  const paths = { createOrderPath: '/v3/order/create', ordersPath: '/v3/orders', usersPath: '/v2/user' };
  const body = { ...answer, orders: [], users: [] };
  const { orders, users, requests } = await serviceWith({ body }, paths);
  await orders.create(orderRequest);
  await orders.list().next();
  await users.list().next();
  expect(requests.map(({ url }) => url?.split('?')[0])).toEqual(['/v3/order/create', '/v3/orders', '/v2/user']);
});

describe('a request that breaks a rule does not go out:', () => {
  const long = 'x'.repeat(1_001);
  const patient = (change: object) => ({ patient_details: { ...inventedPatient, ...change } });
  const proxyWithoutCity = { ...medicalProxy, address: { ...proxyAddress, city: '' } };
  const image = { content: '', content_type: 'image/png' };
  const importAddress = importRequest.patient_address;

  const calls = {
    order: ({ orders }, change) => orders.create({ ...fullOrder, ...change }),
    import: ({ orders }, change) => orders.import({ ...importRequest, ...change }),
    registration: ({ orders }, address) =>
      orders.register({ ...registrationRequest, patient_address: address as never }),
    kit: ({ orders }, to) =>
      orders.createTestkit({ ...testkitRequest, shipping_details: { ...inventedShipping, ...to } }),
    events: ({ orders }, request) => orders.resendEvents(request),
    user: ({ users }, change) => users.create({ ...user, ...change }),
    demographics: ({ users }, change) => users.upsertDemographics('u', { ...demographics, ...change }),
    undo: ({ users }, deleted) => users.undoDelete(deleted as never),
    link: ({ links }, request) => links.createToken(request as LinkTokenRequest),
    code: ({ links }, { mfa_code }) => links.completeMfa('invented_watch', 'lt_invented', mfa_code as string),
    booking: ({ appointments }, change) => appointments.book('o', { ...booking, ...change }),
    visit: ({ appointments }, change) => appointments.request('o', { ...visit, ...change }),
    rescheduling: ({ appointments }, change) => appointments.reschedule('o', { ...newSlot, ...change }),
    cancellation: ({ appointments }, given) => appointments.cancel('o', given as typeof reason),
    slots: ({ appointments }, { address, ...filter }) =>
      appointments.availability({ ...home, ...(address as object) }, filter),
    coverage: ({ centres }, filter) => centres.coverage(filter as { zipCode: string }),
    sites: ({ centres }, filter) => centres.near({ zipCode: '85004', labId: 27, ...filter }),
    'walk-in slots': ({ walkIns }, filter) => walkIns.availability({ lab: 'one', ...filter }),
    'walk-in cancellation': ({ walkIns }, given) => walkIns.cancel('order-1', given as typeof walkInReason),
    review: ({ matchReviews }, decision) => matchReviews.resolve('result-1', decision as { action: 'reject' }),
  } satisfies Record<string, (service: LabService, given: Record<string, object | string>) => Promise<unknown>>;

  // proves 222, 226-229
  test.each<[rule: string, call: keyof typeof calls, given: object]>([
    ['lab_test_id or order_set must say what is ordered', 'order', { lab_test_id: null, order_set: null }],
    ['order_set must name', 'order', { order_set: { add_on: {} } }],
    ['collection_method must not be empty', 'order', { collection_method: '' }],
    ['billing_type must not be empty', 'order', { billing_type: ' ' }],
    ['icd_codes.0 must not be empty', 'order', { icd_codes: [''] }],
    ['aoe_answers.0.question_id', 'order', { aoe_answers: [{ marker_id: 1, question_id: 1.5, answer: '' }] }],
    ['activate_by must be a date', 'order', { activate_by: '2030-02-30' }],
    ['health_insurance.front_image', 'order', { health_insurance: { front_image: image } }],
    ['physician.signature_image', 'order', { physician: { ...inventedPhysician, signature_image: null } }],
    ['patient_details.medical_proxy.address.city', 'order', patient({ medical_proxy: proxyWithoutCity })],
    ['patient_details.household_size', 'order', patient({ household_size: -1 })],
    ['order_set', 'import', { order_set: {} }],
    ['order_set', 'import', { order_set: { lab_test_ids: [], add_on: { marker_ids: [] } } }],
    ['order_set.add_on.marker_ids.0', 'import', { order_set: { add_on: { marker_ids: [1.5] } } }],
    ['sample_id must not be empty', 'import', { sample_id: '' }],
    ['billing_type must not be empty', 'import', { billing_type: ' ' }],
    ['collection_method must not be empty', 'import', { collection_method: '' }],
    ['patient_details.first_name', 'import', patient({ first_name: '' })],
    ['patient_address.receiver_name', 'import', { patient_address: { ...importAddress, receiver_name: '' } }],
    ['patient_address.zip', 'registration', { ...streetAddress, zip: '' }],
    ['patient_address.street', 'registration', { ...streetAddress, street: ' ' }],
    ['patient_address.street cannot', 'registration', { ...streetAddress, first_line: 'Nowhere Road' }],
    ['patient_address.first_line', 'registration', { city, state, zip, country }],
    ['shipping_details.receiver_name must not be empty', 'kit', { receiver_name: '' }],
    ['request must name orders or a start_at', 'events', {}],
    ['request must name orders or a start_at', 'events', { order_ids: [] }],
    ['start_at must be a timestamp with a zone (ISO 8601)', 'events', { start_at: '2026-01-01T00:00:00' }],
    ['request must be a window of at most 60 days', 'events', { ...window, end_at: '2026-03-03T00:00:00Z' }],
    ['request must be a window of at most 60 days', 'events', { ...window, end_at: '2025-12-31T00:00:00Z' }],
    ['client_user_id must not be empty', 'user', { client_user_id: ' ' }],
    ['email must be an e-mail address', 'demographics', { email: 'nobody' }],
    ['dob must be a date that exists', 'demographics', { dob: '1980-02-30' }],
    ['user', 'undo', {}],
    ['user', 'undo', { userId: null }],
    ['user', 'undo', { userId: 'user-1', clientUserId: 'client-1' }],
    ['user_id', 'link', { user_id: '' }],
    ['redirect_url', 'link', { user_id: 'user-1', redirect_url: '/linked' }],
    ['on_error', 'link', { user_id: 'user-1', on_error: 'stay' }],
    ['colour', 'link', { user_id: 'user-1', colour: 'blue' }],
    ['mfa_code', 'code', { mfa_code: '' }],
    ['mfa_code', 'code', { mfa_code: ' ' }],
    ['booking_key', 'booking', { booking_key: '' }],
    ['appointment_notes', 'booking', { appointment_notes: long }],
    ['sync_confirmation_timeout_millisecond', 'booking', { sync_confirmation_timeout_millisecond: 999 }],
    ['async_confirmation_timeout_millisecond', 'booking', { async_confirmation_timeout_millisecond: 172_800_001 }],
    ['appointment_notes', 'rescheduling', { appointment_notes: long }],
    ['appointment_notes', 'visit', { appointment_notes: long }],
    ['address.zip_code', 'visit', { address: { ...home, zip_code: '850' } }],
    ['provider', 'visit', { provider: '' }],
    ['cancellation_reason_id', 'cancellation', { cancellation_reason_id: ' ' }],
    ['access_notes', 'slots', { address: { access_notes: long } }],
    ['startDate', 'slots', { startDate: '2026-02-30' }],
    ['zipCode', 'coverage', { zipCode: '850' }],
    ['radius', 'sites', { radius: 30 }],
    ['labId', 'sites', { labId: '27' }],
    ['siteCodes', 'walk-in slots', { siteCodes: ['a', 'b', 'c', 'd'] }],
    ['zipCode', 'walk-in slots', {}],
    ['zipCode', 'walk-in slots', { zipCode: '85004', siteCodes: ['a'] }],
    ['cancellationReasonId', 'walk-in cancellation', { cancellationReasonId: '' }],
    ['action', 'review', { action: 'shrug' }],
  ])('%s, of %s (%#)', async (rule, call, given) => {
    const broken = await brokenRules(async (service) => calls[call](service, given as never));
    expect(broken.map((each) => each.slice(0, rule.length))).toEqual([rule]);
  });

  test('all its faults are named at once, with what is missing, unknown or of another type', async () => {
    const { lab_test_id: _test, ...untold } = orderRequest;
    expect(await brokenRules(({ orders }) => orders.create({ ...untold, user_id: '' }))).toEqual([
      'user_id must not be empty',
      'lab_test_id or order_set must say what is ordered',
    ]);
    const nothing = await brokenRules(({ orders }) => orders.create(null as never));
    expect(nothing).toEqual([expect.stringMatching(/^request /)]);
    const missing = await brokenRules((service) => calls.registration(service, {}));
    expect(missing.map((rule) => rule.replace(/^patient_address\.(\w+) .*/, '$1')).toSorted()).toEqual([
      ...['city', 'country', 'first_line', 'state', 'zip'],
    ]);
  });
});
