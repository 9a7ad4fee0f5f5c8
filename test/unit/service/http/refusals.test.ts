import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  FeatureNotEnabled,
  NotFound,
  ServiceRefused,
  ServiceUnavailable,
  TooManyRequests,
  Unauthorized,
} from '../../../../service/errors.js';
import { readRefusal, refusalError, retryAfterMs } from '../../../../service/http/refusals.js';
import { orderRequest } from '../persons.js';
import { type Answer, rejection, serviceAt, serviceWith, serving } from '../recording-server.js';

async function refusedWith(answer: Answer): Promise<unknown> {
  const { orders } = await serviceWith(answer);
  return rejection(orders.get('order-1'));
}

type Kind = new (...parts: never[]) => Error;

describe('error answers seen in a deployment', () => {
  const fault = (type: string, field: string, msg: string, input: unknown, ctx?: object) => ({
    detail: [{ type, loc: ['body', ...field.split('.')], msg, input, ...(ctx && { ctx }) }],
  });
  const conflict = { user_id: '1449752e-0d8a-40e0-9206-91ab099b2537', created_on: '2023-02-27T12:31:24+00:00' };
  const invalid = (error_message: string, more: object = {}) => ({
    detail: { error_type: 'INVALID_REQUEST', error_message, ...more },
  });
  const nameRule =
    'Value error, The field must start with a letter (a-z or A-Z or 0-9) and can only contain -,. special characters, but cannot start with a space or hyphen.';
  const invalidName = fault('value_error', 'patient_details.first_name', nameRule, '-John', { error: {} });
  const [taken, tooMany] = ['Client user id already exists.', 'You have reached the maximum of 50 Sandbox users'];
  const notCancellable = 'Transition from current_status to cancelled is not allowed';
  const noReview = 'Human review is not supported yet for your team please contact support';
  const noUuid =
    "Invalid format for parameter user_id: error unmarshaling 'abc' text as *uuid.UUID: invalid UUID length: 3";
  const [future, zip] = [
    'Value error, dob cannot be in the future',
    "String should match pattern '^\\d{5}(-\\d{4})?$'",
  ];

  /** Bodies from public documentation of a deployment of the same interface. A row without a body stands for `{ detail: <its sentence> }`. */
  // proves 305, 311
  test.each<[when: string, status: number, kind: Kind, sentence: string, body?: unknown]>([
    ['POST /v2/user, client_user_id taken', 400, ServiceRefused, taken, invalid(taken, conflict)],
    ['POST /v2/user, 51st sandbox user', 400, ServiceRefused, tooMany, invalid(tooMany)],
    [
      ...(['cancel order in a non-cancellable state', 400, ServiceRefused, notCancellable] as const),
      { error: 'Bad Request', message: notCancellable, status_code: 400 },
    ],
    ['parser job with needs_human_review on a team not enabled', 400, FeatureNotEnabled, noReview],
    ['GET a user in deletion grace', 404, NotFound, 'You have scheduled this user for deletion.'],
    [
      ...(['DELETE or PATCH a user already scheduled for deletion', 404, NotFound] as const),
      'The user has been scheduled for deletion as per your previous request',
    ],
    ['DELETE or PATCH unknown user', 404, NotFound, 'The user does not or no longer exists in this team'],
    ['GET unknown user', 404, NotFound, 'Not found'],
    ['GET user with non-uuid id', 422, ServiceRefused, noUuid],
    [
      ...(['POST /v2/user without client_user_id', 422, ServiceRefused, 'client_user_id: Field required'] as const),
      fault('missing', 'client_user_id', 'Field required', {}),
    ],
    ['PATCH user to a taken client_user_id', 409, ServiceRefused, 'Client user id already exists'],
    ['PATCH user with empty body', 400, ServiceRefused, 'Nothing to patch'],
    ['GET /v2/user with bad limit', 500, ServiceUnavailable, 'Internal Server Error', 'Internal Server Error'],
    ['GET unknown order', 404, NotFound, "This order doesn't exist"],
    ['POST cancel or test of an unknown order', 404, NotFound, "Order doesn't exist"],
    ['appointment endpoints on unknown order', 404, NotFound, "This order doesn't exist."],
    ['result endpoints on unknown order', 404, NotFound, 'Order not found'],
    ['POST order for unknown user', 404, NotFound, 'User does not exist on this team'],
    ['POST order with collection_method=testkit', 400, ServiceRefused, 'Cannot set collection_method to TESTKIT'],
    ['POST order with nothing to test', 400, ServiceRefused, 'Either lab_test_id or order_set must be set'],
    ['POST order, bad name', 422, ServiceRefused, `patient_details.first_name: ${nameRule}`, invalidName],
    [
      ...(['POST order, dob in future', 422, ServiceRefused, `patient_details.dob: ${future}`] as const),
      fault('value_error', 'patient_details.dob', future, '2999-01-01T00:00:00+00:00', { error: {} }),
    ],
    [
      ...(['POST order, bad zip', 422, ServiceRefused, `patient_address.zip: ${zip}`] as const),
      fault('string_pattern_mismatch', 'patient_address.zip', zip, '9118', { pattern: '^\\d{5}(-\\d{4})?$' }),
    ],
    ['POST order, bad phone (555 area code etc.)', 400, ServiceRefused, 'Phone number is not correct'],
  ])('%s (%i)', async (_when, status, kind, said, body = { detail: said }) => {
    const error = await refusedWith({ status, body });
    expect((error as Error).constructor).toBe(kind);
    expect(error).toMatchObject({ name: kind.name, method: 'GET', path: '/v3/order/{order_id}', status });
    const { serviceSentence, fields = [] } = error as Partial<ServiceRefused>;
    const sentences = [serviceSentence, ...fields.map(({ field, message }) => `${field}: ${message}`)];
    expect(sentences.join('\n')).toContain(said);
    // It may quote a person, and messages are logged.
    expect(String(error)).not.toContain(said);
  });

  // proves 305
  test('a refused field keeps place, rule and sentence, and loses what was sent', async () => {
    const error = await refusedWith({ status: 422, body: invalidName });
    expect(error).toMatchObject({
      serviceSentence: undefined,
      fields: [{ field: 'patient_details.first_name', type: 'value_error', message: nameRule }],
    });
    expect(JSON.stringify({ ...(error as object), text: String(error) })).not.toContain('-John');
  });
});

describe('status', () => {
  // proves 311
  test.each<[kind: Kind, ...statuses: number[]]>([
    [ServiceRefused, 400, 409, 413, 418, 422],
    [Unauthorized, 401, 403],
    [NotFound, 404],
    [TooManyRequests, 429],
    [ServiceUnavailable, 408, 425, 500, 502, 503, 599],
  ])('the error is %o for each status without a body: %i …', async (kind, ...statuses) => {
    for (const status of statuses) {
      const error = await refusedWith({ status });
      expect((error as Error).constructor).toBe(kind);
      expect(error).toMatchObject({ status, serviceSentence: undefined });
    }
  });

  // proves 180, 308
  test.each<[number, unknown]>([
    [403, { detail: 'This endpoint is in closed beta' }],
    [403, 'This feature is not enabled for your team.'],
    [400, { error: 'Bad Request', message: 'Portal links are not enabled for this team' }],
    [404, { detail: 'Portal links are not enabled' }],
    [422, { detail: { error_message: 'Closed beta' } }],
    [429, { detail: 'Sandbox lab report parsing is limited to 300 reports. Please upgrade your contract.' }],
  ])('means a team that is not enabled for status %i and body %j', async (status, body) => {
    const error = await refusedWith({ status, body });
    expect(error).toBeInstanceOf(FeatureNotEnabled);
    expect(error).toBeInstanceOf(ServiceRefused);
  });

  // proves 308
  test.each([
    [403, { detail: 'Forbidden' }],
    [403, '<html><body>This feature is not enabled</body></html>'],
    [404, { detail: 'Not found' }],
    [400, { error: 'Bad Request', message: 'Transition from current_status to cancelled is not allowed' }],
  ])('means another refusal for status %i and body %j', async (status, body) => {
    expect(await refusedWith({ status, body })).not.toBeInstanceOf(FeatureNotEnabled);
  });

  // proves 319
  test.each([429, 503])('%i brings the time after which to retry', async (status) => {
    const error = await refusedWith({ status, headers: { 'retry-after': '7' }, body: { detail: 'slow down' } });
    expect(error).toMatchObject({ retryAfterMs: 7000, serviceSentence: 'slow down' });
  });
});

describe('Retry-After', () => {
  test('an HTTP date counts from now', () => {
    vi.useFakeTimers({ now: new Date('2026-01-01T00:00:00Z'), toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    expect(retryAfterMs('Thu, 01 Jan 2026 00:00:30 GMT')).toBe(30_000);
    expect(retryAfterMs('Thursday, 01-Jan-26 00:01:00 GMT')).toBe(60_000);
    expect(retryAfterMs('Wed, 31 Dec 2025 23:59:00 GMT')).toBe(0);
  });

  test.each([
    ['0', 0],
    [' 120 ', 120_000],
    ['99999999999999999999', 86_400_000],
    ['-1', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['Monday', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%j is %j ms', (header, ms) => {
    expect(retryAfterMs(header)).toBe(ms);
  });
});

describe('the text of a refusal', () => {
  test('ends at 300 characters, counted in code points', () => {
    const { sentence = '' } = readRefusal({ detail: '😀'.repeat(1000) });
    expect([...sentence]).toHaveLength(300);
  });

  test('loses e-mail addresses, telephone numbers and dates', () => {
    const { sentence } = readRefusal({
      detail:
        'testperson@example.com or testperson%40example.com, born 1980-02-29, 02/29/1980 or 1980-02-29T00:00:00Z, ' +
        'phone +1 (555) 010-0123, 555/010/0123 or 5550100123, is known',
    });
    expect(sentence).toBe(
      '<e-mail> or <e-mail>, born <number>, <number> or <number>, phone <number>, <number> or <number>, is known',
    );
  });

  test('keeps identifiers, patterns and small numbers readable', () => {
    const detail = "user 1449752e-0d8a-40e0-9206-91ab099b2537: at most 50, 300 reports, pattern '^\\d{5}(-\\d{4})?$'";
    expect(readRefusal({ detail }).sentence).toBe(detail);
  });

  const nothings = [null, 5, true, [], {}];
  const bodies = [...nothings, ...nothings.map((detail) => ({ detail })), { detail: [null, 5] }];
  const markup = '<html><body>Bad gateway</body></html>';
  test.each([...bodies, markup])('is empty for the body %j, which breaks nothing', (body) => {
    expect(readRefusal(body)).toEqual({ fields: [] });
  });

  // proves 311
  test('has untidy entries of detail as far as they can be read', () => {
    const loc = ['body', 'consents', 0, 'consentType'];
    const detail = ['a sentence', { msg: 'Field required' }, { loc }, { loc: 'x', msg: {} }];
    expect(readRefusal({ detail })).toEqual({
      fields: [
        { field: '', message: 'a sentence' },
        { field: '', message: 'Field required' },
        { field: 'consents.0.consentType', message: 'is invalid' },
        { field: '', message: 'is invalid' },
      ],
    });
  });

  test('names fields of the request and types of rules in a message, and quotes nothing from the service', () => {
    const knownFields = new Set(['patient_address', 'zip', 'consents', 'consentType', 'answers']);
    const call = { method: 'POST', path: '/v3/order', status: 422, knownFields };
    const body = {
      detail: [
        { loc: ['body', 'patient_address', 'zip'], msg: 'Jane Invented lives elsewhere', type: 'value_error' },
        { loc: ['body', 'consents', 0, 'consentType'], msg: 'Jane Invented did not consent' },
        { loc: ['body', 'answers', 'Jane Invented'], msg: 'Jane Invented', type: 'Jane Invented' },
        { loc: ['body', '12 Imaginary Row'], msg: 'no', type: 'missing' },
        { loc: ['body', 'jane'], msg: 'no', type: 'jane_invented' },
        { loc: ['body', 'answers', 'janeinvented'], msg: 'no', type: 'jane.invented' },
        'Jane Invented',
      ],
    };
    expect(refusalError(call, body, undefined).message).toBe(
      'POST /v3/order was refused with status 422 (patient_address.zip: value_error, consents.0.consentType, missing)',
    );
    const broken = { ...call, status: 503 };
    expect(refusalError(broken, { detail: 'Jane Invented' }, undefined).message).toBe(
      'POST /v3/order failed at the service with status 503',
    );
  });

  test('names the fields of each request that its schema, query or form knows, and no other word', async () => {
    const inBody = [
      'client_user_id',
      'testperson',
      'user_id',
      'patient_details.first_name',
      'patient_details.testperson',
    ];
    const words = [
      ...[...inBody, 'file'].map((field) => `body.${field}`),
      'query.page',
      'query.testperson',
      'path.order_id',
    ];
    const detail = words.map((word) => ({ loc: word.split('.'), msg: 'no', type: 'testperson' }));
    const { baseUrl } = await serving((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(422, { 'content-type': 'application/json' }).end(JSON.stringify({ detail }));
      });
    });
    const { users, orders, reports } = serviceAt(baseUrl);
    async function* bytes() {
      yield await Promise.resolve(Buffer.from('%PDF-1.7'));
    }
    const userId = '6f0c0a49-2f0a-4b5e-8d6f-000000000001';
    const file = { contentType: 'application/pdf', bytes: bytes() } as const;
    const calls: [Promise<unknown>, string][] = [
      [users.create({ client_user_id: 'u-1' }), 'client_user_id'],
      [orders.create(orderRequest), 'user_id, patient_details.first_name'],
      [orders.get('order-1'), 'path.order_id'],
      [orders.page({}, 1), 'user_id, query.page'],
      [reports.createJob({ userId, file }), 'user_id, file'],
    ];
    for (const [call, named] of calls) {
      expect(((await rejection(call)) as Error).message).toMatch(new RegExp(`422 \\(${named}\\)$`));
    }
  });

  test('names ten fields in a message at most, and has no more than thirty', () => {
    const names = Array.from({ length: 1000 }, (_, n) => `f${n}`);
    const detail = names.map((name) => ({ loc: ['body', name], msg: 'bad', type: 'missing' }));
    const known = { method: 'POST', path: '/v3/order', status: 422, knownFields: new Set(names) };
    expect(refusalError(known, { detail }, undefined).message).toMatch(/f9: missing\)$/);
    expect(readRefusal({ detail }).fields).toHaveLength(30);
  });
});
