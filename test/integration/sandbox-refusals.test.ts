import { expect, onTestFinished, test } from 'vitest';
import { inventedOrgId } from '../../sandbox/lab-service/webhook-endpoints.js';
import { inventedTeamId, labAccountIds, labTestIds } from '../../sandbox/lab-service/seed.js';
import { startLabService } from '../../sandbox/lab-service/server.js';
import { demographics, patientDetails, shippingDetails } from '../rig/cast.js';
import {
  sandboxApiKey,
  sandboxManagementKey,
  callService,
  knownPatientBody,
  registerBody,
  startSandbox,
  testkitBody,
  type Answer,
} from './sandbox-rig.js';

/* What the stand-in refuses, as the contract has it: the product's errors are made from these answers. */

const unknown = '00000000-0000-4000-8000-000000000000';

/** A detail in short: its sentence, or where each of its faults is and of which type. */
function detailOf({ text, type }: Answer): unknown {
  if (type?.includes('json') !== true) return text;
  const { detail, message } = JSON.parse(text) as Record<string, unknown>;
  if (!Array.isArray(detail)) return (detail as { error_message?: string }).error_message ?? detail ?? message;
  return (detail as { loc?: string[]; type: string }[]).map(({ loc = [], type: kind }) => `${loc.join('.')} ${kind}`);
}

interface Place {
  readonly user: string;
  readonly bare: string;
  readonly order: string;
  readonly visit: string;
}

type Row = readonly [method: string, path: string, body: unknown, status: number, detail: unknown];

const hooks = (org: string, team: string) => `/v1/org/${org}/team/${team}/sandbox/webhook`;

function rowsOf({ user, bare, order, visit }: Place): Row[] {
  const kit = testkitBody(user);
  const known = knownPatientBody(user);
  const phlebotomy = '/v3/order/phlebotomy/appointment/availability';
  const patient = (details: object) => ({
    ...registerBody(user, 'INVENTED-1'),
    patient_details: { ...patientDetails, ...details },
  });
  const register = '/v3/order/testkit/register';
  const centre = '/v3/order/psc/appointment/availability';
  return [
    ['GET', '/v3/nothing', undefined, 404, 'Not Found'],
    ['POST', '/v2/user', {}, 422, ['body.client_user_id missing']],
    ['POST', '/v2/user', '{"client_user_id"', 422, [expect.stringContaining('json_invalid')]],
    ['POST', '/v2/user', { client_user_id: 'taken' }, 400, 'Client user id already exists.'],
    ['GET', '/v2/user/?limit=501', undefined, 500, 'Internal Server Error'],
    ['GET', `/v2/user/${unknown}`, undefined, 404, 'Not found'],
    ['GET', '/v2/user/abc', undefined, 422, expect.stringContaining('Invalid format for parameter user_id')],
    ['GET', `/v2/user/${bare}/info/latest`, undefined, 404, expect.any(String)],
    ['PATCH', `/v2/user/${unknown}/info`, demographics, 404, 'The user does not or no longer exists in this team'],
    [
      ...(['PATCH', `/v2/user/${user}/info`] as const),
      { ...demographics, email: 'no-address', dob: '2999-01-01' },
      ...([422, ['body.email value_error', 'body.dob value_error']] as const),
    ],
    ['PATCH', `/v2/user/${user}`, {}, 400, 'Nothing to patch'],
    ['PATCH', `/v2/user/${user}`, { client_user_id: 'taken' }, 409, 'Client user id already exists'],
    ['POST', '/v2/user/undo_delete', undefined, 422, expect.anything()],
    [
      'POST',
      `/v2/user/${bare}/create_portal_url`,
      { context: 'launch' },
      422,
      [expect.stringContaining('value_error')],
    ],
    ['POST', `/v2/user/${user}/create_portal_url`, { context: 'poster' }, 422, ['body.context enum']],
    ['POST', `/v2/user/${user}/create_portal_url`, { context: 'launch', order_id: order }, 404, expect.anything()],
    ['GET', '/v3/lab_test/lab_account?status=odd', undefined, 422, expect.anything()],
    [
      ...(['POST', '/v3/order/testkit'] as const),
      { ...kit, user_id: 'abc', shipping_details: { ...shippingDetails, zip: '9118', city: 5 } },
      422,
      [
        'body.user_id uuid_parsing',
        'body.shipping_details.city string_type',
        'body.shipping_details.zip string_pattern_mismatch',
      ],
    ],
    ['POST', '/v3/order/testkit', { ...kit, user_id: unknown }, 404, 'User does not exist on this team'],
    ['POST', '/v3/order/testkit', { ...kit, lab_test_id: unknown }, 404, expect.anything()],
    ['POST', '/v3/order/testkit', { ...kit, lab_test_id: labTestIds.walkIn }, 400, expect.anything()],
    ['POST', '/v3/order/testkit', { ...kit, lab_account_id: unknown }, 404, expect.anything()],
    ['POST', '/v3/order', { ...known, lab_test_id: null }, 400, 'Either lab_test_id or order_set must be set'],
    ['POST', '/v3/order', { ...known, collection_method: 'testkit' }, 400, 'Cannot set collection_method to TESTKIT'],
    [
      'POST',
      '/v3/order',
      { ...known, clinical_notes: 'x'.repeat(1_001) },
      422,
      ['body.clinical_notes string_too_long'],
    ],
    [
      ...(['POST', '/v3/order'] as const),
      { ...known, patient_details: { ...patientDetails, phone_number: '+15555550100' } },
      ...([400, 'Phone number is not correct'] as const),
    ],
    ['POST', '/v3/order', { ...known, lab_account_id: labAccountIds.pending }, 400, 'Lab account is pending'],
    [
      ...(['POST', '/v3/order', { ...known, lab_account_id: labAccountIds.orderDelegated }] as const),
      ...([422, [expect.stringContaining('body.physician')]] as const),
    ],
    ['GET', `/v3/order/${unknown}`, undefined, 404, "This order doesn't exist"],
    ['GET', '/v3/order/abc', undefined, 422, expect.stringContaining('parameter order_id')],
    ['POST', `/v3/order/${unknown}/cancel`, undefined, 404, "Order doesn't exist"],
    ['GET', `/v3/order/${order}/result`, undefined, 404, expect.anything()],
    ['GET', `/v3/order_transaction/${unknown}`, undefined, 404, expect.anything()],
    ['GET', '/orders?size=101', undefined, 422, [expect.stringContaining('query.size')]],
    ['GET', '/orders?start_date=soon', undefined, 422, [expect.stringContaining('query.start_date')]],
    [
      'POST',
      `/v3/order/${order}/test?final_status=completed.walk_in_test.completed`,
      undefined,
      422,
      expect.anything(),
    ],
    ['POST', register, patient({ first_name: '-John' }), 422, ['body.patient_details.first_name value_error']],
    ['POST', register, patient({ last_name: '' }), 422, ['body.patient_details.last_name string_too_short']],
    ['POST', register, patient({ dob: '1990-02-31' }), 422, ['body.patient_details.dob date_from_datetime_parsing']],
    ['POST', register, patient({ gender: 'Female' }), 422, ['body.patient_details.gender enum']],
    [
      ...(['POST', '/v3/order/import', { collection_method: 'mail', order_set: 5 }, 422] as const),
      [
        'body.order_set model_attributes_type',
        'body.user_id missing',
        'body.collection_method enum',
        'body.billing_type missing',
        'body.sample_id missing',
        'body.patient_details missing',
        'body.patient_address missing',
      ],
    ],
    ['POST', '/v2/link/token', { user_id: unknown }, 404, expect.anything()],
    ['POST', '/v2/link/token', { user_id: user, provider: 'x' }, 422, expect.anything()],
    ['POST', '/v2/link/provider/password/never_heard_of', {}, 422, ['path.provider enum']],
    [
      ...(['POST', phlebotomy, { zip_code: '627' }, 422] as const),
      [
        ...['body.first_line missing', 'body.city missing', 'body.state missing'],
        'body.zip_code string_pattern_mismatch',
      ],
    ],
    ['GET', `/v3/order/${visit}/phlebotomy/appointment`, undefined, 404, expect.anything()],
    [
      ...(['POST', `/v3/order/${visit}/phlebotomy/appointment/request`, {}] as const),
      ...([422, ['body.address missing', 'body.provider missing']] as const),
    ],
    ['GET', '/v3/order/area/info?zip_code=62704&radius=30', undefined, 422, expect.anything()],
    ['GET', '/v3/order/psc/info?zip_code=62704&radius=25', undefined, 422, expect.anything()],
    ['POST', `${centre}?lab=invented-lab&zip_code=62704`, undefined, 400, expect.anything()],
    ['POST', `${centre}?lab=invented-lab&zip_code=00501&radius=25`, undefined, 404, expect.anything()],
    [
      'POST',
      `${centre}?lab=invented-lab&site_codes=1&site_codes=2&site_codes=3&site_codes=4`,
      undefined,
      400,
      expect.anything(),
    ],
    ['GET', `/lab_report/v1/parser/job/${unknown}`, undefined, 404, expect.anything()],
    ['GET', '/v3/lab_tests/markers?size=101', undefined, 422, [expect.stringContaining('query.size')]],
    ['GET', hooks(unknown, inventedTeamId), undefined, 403, expect.anything()],
    ['GET', hooks(inventedOrgId, unknown), undefined, 404, expect.anything()],
  ];
}

// proves 34, 177, 213, 305, 306, 311
test('each refusal has the status and the detail of the contract, with every fault at once', async () => {
  const { call, control, newKit } = await startSandbox();
  const { user: taken } = await control.createUser({ client_user_id: 'taken' });
  const { user: bare } = await control.createUser({ demographics: false });
  const { user: other } = await control.createUser();
  const { order } = await control.createOrder({ user_id: taken.user_id, lab_test_id: labTestIds.atHomePhlebotomy });
  const place = { user: other.user_id, bare: bare.user_id, order: (await newKit()).id, visit: order.id };
  for (const [method, path, body, status, detail] of rowsOf(place)) {
    const answer = await call(method, path, body, { 'x-management-key': sandboxManagementKey });
    expect.soft([method, path, answer.status, detailOf(answer)]).toEqual([method, path, status, detail]);
  }
});

// proves 171, 244
test('a request without the team key, or with the header of another brand, is answered 401, and so is a management call without its key', async () => {
  const service = await startLabService({ port: 0, apiKey: sandboxApiKey, description: { brand: 'Acme' } });
  onTestFinished(() => service.close());
  const ask = async (headers: Record<string, string>) =>
    (await callService(service.url, 'GET', '/v2/user', undefined, headers)).status;
  expect(await ask({ 'x-acme-api-key': sandboxApiKey })).toBe(200);
  expect(await ask({ 'x-service-api-key': sandboxApiKey })).toBe(401);
  expect(await ask({ 'x-acme-api-key': 'another' })).toBe(401);
  expect(await ask({})).toBe(401);
  const { call } = await startSandbox();
  for (const key of [undefined, 'another'])
    expect(
      await call('GET', hooks(inventedOrgId, inventedTeamId), undefined, { ...(key && { 'x-management-key': key }) }),
    ).toMatchObject({ status: 401 });
});

test('a described deployment has its lists and its order creation where it says, below its base path, and nowhere else', async () => {
  const description = { ordersPath: '/lab/orders', usersPath: '/v2/user', createOrderPath: '/v3/order/create' };
  const service = await startLabService({ port: 0, apiKey: sandboxApiKey, description, basePath: '/base' });
  onTestFinished(() => service.close());
  const statusOf = async (method: string, path: string) =>
    (
      await callService(service.url, method, path, method === 'POST' ? {} : undefined, {
        'x-service-api-key': sandboxApiKey,
      })
    ).status;
  for (const path of ['/lab/orders', '/v2/user']) expect(await statusOf('GET', `/base${path}`), path).toBe(200);
  expect(await statusOf('POST', '/base/v3/order/create')).toBe(422);
  for (const path of ['/base/orders', '/base/v3/orders', '/base/v2/user/', '/lab/orders', '/v2/user'])
    expect(await statusOf('GET', path), path).toBe(404);
  expect(await statusOf('POST', '/base/v3/order')).toBe(404);
});

test('an order can be cancelled until its kit has shipped, even once it is registered', async () => {
  const { call, control, newKit } = await startSandbox();
  const early = [
    'ordered',
    'awaiting_registration',
    'requisition_created',
    'requisition_bypassed',
    'testkit_registered',
  ];
  for (const status of [...early, 'transit_customer', 'with_customer', 'delivered_to_lab', 'completed', 'cancelled']) {
    const { id, user_id: userId } = await newKit();
    await control.move(id, status);
    if (status === 'with_customer')
      await call('POST', '/v3/order/testkit/register', registerBody(userId, 'INVENTED-1'));
    const answer = await call('POST', `/v3/order/${id}/cancel`);
    const message = 'Transition from current_status to cancelled is not allowed';
    const expected = early.includes(status) ? { order: { status: 'cancelled' } } : { message, status_code: 400 };
    expect(answer.body, status).toMatchObject(expected);
  }
});
