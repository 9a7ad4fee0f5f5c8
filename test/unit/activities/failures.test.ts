import { expect, test } from 'vitest';
import { asFailures, failureOf, type RefusedAs } from '../../../activities/failures.js';
import {
  AnswerLost,
  AnswerUnreadable,
  FeatureNotEnabled,
  NotFound,
  RequestInvalid,
  type ServiceError,
  ServiceRefused,
  ServiceUnavailable,
  ServiceUnreachable,
  SlotUnavailable,
  TooManyRequests,
  Unauthorized,
} from '../../../service/errors.js';
import { rejection } from '../service/recording-server.js';

const call = { method: 'POST', path: '/v3/order/{order_id}' };
const fields = [{ field: 'patient_details.dob', message: 'is not a date', type: 'date_from_datetime_parsing' }];
const refusal = { sentence: 'Order refused', fields };
const refused = (status: number) => ({ ...call, status });

const tooMany = (ms: number | undefined) => new TooManyRequests(refused(429), refusal, ms);
const away = (status: number, ms?: number) => new ServiceUnavailable(refused(status), refusal, ms);

const creationSettling = 45_000;

/** The activity's own retry policy decides: its interval, or never. */
const bySchedule = { nonRetryable: false, nextRetryDelay: undefined };
const never = { nonRetryable: true, nextRetryDelay: undefined };
const after = (nextRetryDelay: number) => ({ nonRetryable: false, nextRetryDelay });

type Retry = typeof never | typeof bySchedule | ReturnType<typeof after>;

/** Each error, its failure's type, and when it is retried: outside creations, and in one. */
const table: [name: string, error: ServiceError, type: string, retried: Retry, retriedInCreation: Retry][] = [
  ['401', new Unauthorized(refused(401), refusal), 'Unauthorized', never, never],
  ['403', new Unauthorized(refused(403), refusal), 'Unauthorized', never, never],
  ['a feature that is off', new FeatureNotEnabled(refused(403), refusal), 'FeatureNotEnabled', never, never],
  ['404', new NotFound(refused(404), refusal), 'OrderRefused', never, never],
  ['400', new ServiceRefused(refused(400), refusal), 'OrderRefused', never, never],
  ['422', new ServiceRefused(refused(422), refusal), 'OrderRefused', never, never],
  ['a slot that is gone', new SlotUnavailable(refused(400), refusal), 'SlotUnavailable', never, never],
  ['a rule of ours', new RequestInvalid(call, [{ field: 'a', message: 'is missing' }]), 'OrderRefused', never, never],
  ['429', tooMany(undefined), 'TooManyRequests', bySchedule, bySchedule],
  ['429 with a time before settling', tooMany(5_000), 'TooManyRequests', after(5_000), after(creationSettling)],
  ['429 with a time after settling', tooMany(90_000), 'TooManyRequests', after(90_000), after(90_000)],
  // Temporal would fail an activity for good whose next delay is 0.
  ['429 with no time left', tooMany(0), 'TooManyRequests', bySchedule, after(creationSettling)],
  ['500', away(500), 'ServiceUnavailable', bySchedule, bySchedule],
  ['408', away(408), 'ServiceUnavailable', bySchedule, bySchedule],
  ['503 with a time before settling', away(503, 5_000), 'ServiceUnavailable', after(5_000), after(creationSettling)],
  ['503 with a time after settling', away(503, 90_000), 'ServiceUnavailable', after(90_000), after(90_000)],
  ['a lost answer', new AnswerLost(call, 'was not answered'), 'AnswerLost', after(35_000), bySchedule],
  ['an unreadable answer', new AnswerUnreadable(call, 'is not JSON'), 'AnswerUnreadable', bySchedule, bySchedule],
  ['no connection', new ServiceUnreachable(call, 'no connection'), 'ServiceUnreachable', bySchedule, bySchedule],
];

test.each(table)(
  'a failed call of the service, %s, is the failure that the table names',
  (_name, error, type, retried, retriedInCreation) => {
    const { nonRetryable, nextRetryDelay, ...failure } = failureOf(error, 'OrderRefused');
    expect({ nonRetryable, nextRetryDelay }).toEqual(retried);
    expect(failure).toMatchObject({ type, cause: error });
    const inCreation = failureOf(error, 'OrderRefused', creationSettling);
    expect(inCreation).toMatchObject({ type, ...retriedInCreation });
    const unknown =
      error instanceof NotFound ? ': the service does not know the user, the lab test or another id in the order' : '';
    expect(inCreation.message).toBe(`${error.message}${unknown}`);
    // A refusal of the request itself has the type that the caller asked for.
    for (const refusedAs of ['RegistrationRefused', 'CancelRefused', 'ServiceRefused'] as const)
      expect(failureOf(error, refusedAs).type).toBe(type === 'OrderRefused' ? refusedAs : type);
  },
);

const absences = ['404 page not found', 'default backend - 404', 'no Route matched with those values', 'Not Found'];
const unknown = ['Lab test', 'Lab account', 'LabTest', 'Physician'].map((what) => `${what} not found`);

test.each<[RefusedAs, number | undefined, string]>([
  ['OrderRefused', creationSettling, 'AnswerUnreadable'],
  ['LinkRefused', 0, 'AnswerUnreadable'],
  ['ReportRefused', creationSettling, 'AnswerUnreadable'],
  ['LinkRefused', undefined, 'LinkRefused'],
  ['CancelRefused', undefined, 'CancelRefused'],
])('a 404 of a proxy refuses no creation for good, the service’s own does: %s, %s', (refusedAs, settling, type) => {
  const refusedWith = (sentence?: string) =>
    failureOf(
      new NotFound(refused(404), { fields: [], ...(sentence !== undefined && { sentence }) }),
      refusedAs,
      settling,
    );
  for (const sentence of [undefined, ...absences, 'The requested URL was not found on this server.'])
    expect(refusedWith(sentence), sentence).toMatchObject({ type, nonRetryable: type === refusedAs });
  const users = ['User does not exist on this team', 'You have scheduled this user for deletion.'];
  for (const sentence of [...users, ...unknown, 'Unknown provider', 'Not found'])
    expect(refusedWith(sentence), sentence).toMatchObject({ type: refusedAs, nonRetryable: true });
});

const rules = ['a', 'b'].map((field) => ({ field, message: 'is missing' }));
const unreadable = new AnswerUnreadable({ ...call, status: 200 }, 'is not JSON');
const said = { sentence: 'Order refused', fields: [{ field: 'patient_details.dob', message: 'is not a date' }] };

test.each<[string, ServiceError, object]>([
  [
    'sentence and fields, without the rule’s own name',
    new ServiceRefused(refused(422), refusal),
    { status: 422, ...said },
  ],
  ['status', new NotFound(refused(404), { fields: [] }), { status: 404, fields: [] }],
  ['broken rules of ours, and no status: nothing was sent', new RequestInvalid(call, rules), { fields: rules }],
  ['sentence of an outage', away(503), { status: 503, fields: [], sentence: 'Order refused' }],
  ['status of an outage', new ServiceUnavailable(refused(503), { fields: [] }, undefined), { status: 503, fields: [] }],
  ['status of an unreadable answer', unreadable, { status: 200, fields: [] }],
  ['empty list of fields of a lost one', new AnswerLost(call, 'was not answered'), { fields: [] }],
])('a failure’s only detail has the %s', (_what, error, details) => {
  expect(failureOf(error, 'OrderRefused').details).toEqual([details]);
});

test('the service’s sentences are in the details only: not in the message, its cause or a stack', () => {
  const said = {
    sentence: 'Jane Invented is 45',
    fields: [{ field: 'Jane Invented', message: 'Jane Invented is 45' }],
  };
  const errors = [
    new ServiceRefused(refused(422), said),
    new TooManyRequests(refused(429), said, 1),
    new ServiceUnavailable(refused(503), said, 1),
  ];
  for (const error of errors) {
    const { message, stack, cause, details } = failureOf(error, 'OrderRefused');
    expect([message, stack, cause?.message, cause?.stack].join('\n'), error.name).not.toContain('Jane');
    expect(JSON.stringify(details), error.name).toContain('Jane Invented is 45');
  }
});

test('calls of the service pass on how long a creation may still be under way', async () => {
  const error = new TooManyRequests(refused(429), refusal, 1);
  expect(await rejection(asFailures('OrderRefused', () => Promise.reject(error), 7_000))).toMatchObject({
    nextRetryDelay: 7_000,
  });
});
