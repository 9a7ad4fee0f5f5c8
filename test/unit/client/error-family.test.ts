import { inspect } from 'node:util';
import { ApplicationFailure, WorkflowUpdateFailedError } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { toClientError } from '../../../client/errors.js';
import { errors } from '../../../client/index.js';
import { orderErrorMap } from '../../../client/order/errors.js';
import { StoreFailed } from '../../../store/health-data-reader.js';

const classes = Object.entries({ ...errors, StoreFailed }) as [string, typeof errors.LabOperationsError][];

/** For `instanceof` only. */
const bases = new Set(['LabOperationsError', 'ServiceError']);

/** Before anything is known of the case: some classes decide by it. */
const kinds: Record<errors.ErrorKind, string> = {
  invalid:
    'ActorInvalid AppointmentInvalid CallTooLarge DeletionInvalid EncryptionSettingInvalid ' +
    'InstallationInvalid InvalidCode KeyRingInvalid LinkInvalid MatchReviewInvalid NotificationsInvalid ' +
    'OperatorCallInvalid OrderInvalid ProxyInvalid ReadInvalid ReceiptInvalid RegistrationRefused ' +
    'ReportInvalid RequestInvalid TemporalSettingInvalid WebhookSecretInvalid',
  not_found:
    'AppointmentNotFound DeletionNotFound LinkNotFound MatchReviewNotFound NotFound NotificationNotFound ' +
    'OrderNotFound OrderNotInChain RejectedEventNotFound ReportNotFound UserUnknown WebhookNotFound',
  refused:
    'AddressMissing AlarmOutdated AlreadyResolved AmbiguousOrder AppointmentEnded AppointmentExists ' +
    'AppointmentInterrupted AvailabilityRefused BookingKeyExpired BookingRefused CancelRefused ' +
    'CancellationRefused DecisionNotAllowed DecisionRefused DeletionInterrupted DeletionRefused ' +
    'DeliveryInterrupted GraceEnded LinkEnded LinkFailed LinkInterrupted LinkRefused MatchReviewEnded ' +
    'MatchReviewInterrupted NotReplaceable NothingBooked NothingToAcknowledge NothingToResolve ' +
    'NothingToUndo OrderEnded OrderInterrupted OrderMovedOn OrderRefused OrderTaken PhysicianRequired ' +
    'PlacingCancelled ReceiptMissing ReferenceConflict RegisteredAnotherOrder RejectedEventSettled ' +
    'ReplacementLimitReached ReportEnded ReportFileRefused ReportInterrupted ReportReferenceConflict ' +
    'ReportRefused ReportSubmissionCancelled ReportSubmissionExpired RescheduleRefused ServiceRefused ' +
    'SignedUrlRefused SlotGone SlotUnavailable UndoRefused UserHasRunningWork WebhookRefused',
  unavailable:
    'AnswerLost AnswerUnreadable GraceNotBegun NoWorker OperatorCallInterrupted PlacingStopped ' +
    'ReportNotRead ServiceDown ServiceUnavailable ServiceUnreachable StoreFailed StoreUnavailable ' +
    'TemporalUnreachable TimedOut TooManyRequests WorkerFailing',
  misconfigured:
    'EncryptionKeyUnknown EncryptionKeysMissing EncryptionRequired FeatureNotEnabled ManagementKeyMissing ' +
    'ManagementKeyRefused NotificationsNotConfigured PayloadMisplaced PayloadNotAuthentic ' +
    'ServiceAccessDenied ServiceNotConfigured StoreNotConfigured TemporalRefused Unauthorized ' +
    'UnexpectedFailure',
};

describe('every error of the client', () => {
  test('is of one kind', () => {
    const kindOf = ([name, { prototype }]: (typeof classes)[number]) =>
      bases.has(name) ? [] : [[name, (Object.create(prototype) as errors.LabOperationsError).kind]];
    const expected = Object.entries(kinds).flatMap(([kind, names]) => names.split(' ').map((name) => [name, kind]));
    expect(Object.fromEntries(classes.flatMap(kindOf))).toEqual(Object.fromEntries(expected));
  });

  test.each(classes)('%s is of the family, under its own name', (name, error) => {
    const thrown = Object.create(error.prototype) as errors.LabOperationsError;
    expect(thrown).toBeInstanceOf(errors.LabOperationsError);
    expect(thrown.name).toBe(name);
    expect(thrown.code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(thrown.remedy === '').toBe(bases.has(name));
  });

  test('has a code of its own', () => {
    const codes = classes.map(([, { prototype }]) => (Object.create(prototype) as errors.LabOperationsError).code);
    expect(codes).toContain('order_refused');
    expect(new Set(codes).size).toBe(classes.length);
  });
});

describe('an error', () => {
  const fields = [{ field: 'dob', message: 'is not a date' }];
  const quoting = new errors.OrderRefused('It was refused (dob)', {
    status: 422,
    sentence: 'Jane Invented is unknown',
    fields: [{ field: 'Jane', message: 'Invented is unknown' }],
  });

  test('is the service’s words and the fields in one text for a person, and ends with the remedy', () => {
    expect(quoting.sentence).toBe(
      `It was refused (dob); Jane Invented is unknown; Jane Invented is unknown. ${errors.OrderRefused.remedy}`,
    );
    const named = new errors.OrderInvalid('The order is not valid: dob is not a date.', { fields });
    expect(named.sentence).toBe('The order is not valid: dob is not a date. Fix the fields named in the error.');
  });

  test('is shown with its code, its remedy and the fields that break a rule of ours', () => {
    expect(JSON.parse(JSON.stringify(new errors.OrderInvalid('The order is not valid', { fields })))).toEqual({
      name: 'OrderInvalid',
      code: 'order_invalid',
      kind: 'invalid',
      message: 'The order is not valid',
      remedy: 'Fix the fields named in the error.',
      fields,
    });
  });

  test('keeps what the service said about a person from logs, and gives it to the caller', () => {
    const call = { method: 'POST', path: '/v3/order', status: 422 };
    const direct = new errors.ServiceRefused(call, { sentence: 'Jane Invented is unknown', fields });
    for (const error of [quoting, direct]) {
      expect(`${JSON.stringify(error)} ${inspect(error)} ${error.stack}`).not.toMatch(/Jane|is not a date/);
      expect(JSON.parse(JSON.stringify(error))).toMatchObject({ status: 422, fields: [] });
      expect(error.serviceSentence).toBe('Jane Invented is unknown');
      expect(error.fields).toHaveLength(1);
    }
  });

  test('has the cause that it was given', () => {
    const cause = new Error('connection lost');
    expect(new errors.TemporalUnreachable('Temporal is away', { cause }).cause).toBe(cause);
    expect(quoting).not.toHaveProperty('cause');
  });

  test('is invalid input if a registration breaks a rule of ours, and refused if the service says so', () => {
    expect(new errors.RegistrationRefused('It is not valid', { fields }).kind).toBe('invalid');
    expect(new errors.RegistrationRefused('It was refused', { status: 422 }).kind).toBe('refused');
  });

  test('is a report that is not read yet, or could not be read', () => {
    const kindOf = (status?: string) => new errors.ReportNotRead('job-1', status).kind;
    expect([undefined, 'started', 'pending_review', 'invented'].map(kindOf)).toEqual(Array(4).fill('unavailable'));
    expect(['failed', 'completed'].map(kindOf)).toEqual(['refused', 'refused']);
  });

  test('says that a feature is off in the same words, whether a worker asked or the client itself', () => {
    const refusal = { sentence: 'Human review is not enabled', fields: [] };
    const direct = new errors.FeatureNotEnabled({ method: 'POST', path: '/v3/order', status: 403 }, refusal);
    const failure = ApplicationFailure.nonRetryable(direct.message, 'FeatureNotEnabled', { ...refusal, status: 403 });
    const passedOn = toClientError(new WorkflowUpdateFailedError('failed', failure), orderErrorMap);
    expect(passedOn).toBeInstanceOf(errors.FeatureNotEnabled);
    for (const error of [direct, passedOn]) {
      expect(error).toMatchObject({
        ...{ name: 'FeatureNotEnabled', message: 'POST /v3/order was refused with status 403', status: 403 },
        ...{ method: 'POST', path: '/v3/order', serviceSentence: 'Human review is not enabled' },
      });
    }
  });
});
