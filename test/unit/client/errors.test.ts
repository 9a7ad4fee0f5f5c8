import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ApplicationFailure,
  QueryNotRegisteredError,
  QueryRejectedError,
  TerminatedFailure,
  WorkflowFailedError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import * as appointmentErrors from '../../../client/appointments/errors.js';
import * as matchReviewErrors from '../../../client/match-reviews/errors.js';
import { MatchReviewInterrupted, matchReviewErrorMap } from '../../../client/match-reviews/errors.js';
import { AppointmentInterrupted, appointmentErrorMap } from '../../../client/appointments/errors.js';
import * as errors from '../../../client/errors.js';
import { LabOperationsError } from '../../../service/lab-operations-error.js';
import { toClientError, UnexpectedFailure } from '../../../client/errors.js';
import * as linkErrors from '../../../client/links/errors.js';
import { LinkFailed, LinkInterrupted, linkErrorMap } from '../../../client/links/errors.js';
import * as orderErrors from '../../../client/orders/errors.js';
import { forwardedTo, OrderInterrupted, orderErrorMap } from '../../../client/orders/errors.js';
import * as reportErrors from '../../../client/reports/errors.js';
import { ReportInterrupted, reportErrorMap } from '../../../client/reports/errors.js';
import { notificationErrorMap } from '../../../client/notifications/errors.js';
import * as operatorErrors from '../../../client/operators/errors.js';
import { OperatorCallInterrupted, operatorErrorMap } from '../../../client/operators/errors.js';
import * as userErrors from '../../../client/users/errors.js';
import { userErrorMap } from '../../../client/users/errors.js';
import { errors as client } from '../../../client/index.js';
import { projectFolder } from '../../rig/processes.js';

const details = {
  status: 422,
  fields: [{ field: 'patient_details.dob', message: 'is not a date' }],
  reason: 'refused',
};
const failureOf = (type: string) => ApplicationFailure.nonRetryable(`a ${type}`, type, details);

/** As an update rejects, and as a workflow's result does. */
const rejections = (type: string) => [
  new WorkflowUpdateFailedError('Workflow Update failed', failureOf(type)),
  new WorkflowFailedError('Workflow execution failed', failureOf(type), 'NON_RETRYABLE_FAILURE'),
];

/** The errors that are the same in every area. */
const ofTheService = {
  Unauthorized: 'ServiceAccessDenied',
  FeatureNotEnabled: 'FeatureNotEnabled',
  ServiceUnavailable: 'ServiceDown',
  ServiceUnreachable: 'ServiceDown',
  TooManyRequests: 'ServiceDown',
  AnswerLost: 'ServiceDown',
  AnswerUnreadable: 'ServiceDown',
  CommandTimedOut: 'ServiceDown',
};

const ofOrders: Record<string, string> = {
  ...ofTheService,
  ReferenceInvalid: 'OrderInvalid',
  PolicyInvalid: 'OrderInvalid',
  InvalidCommand: 'OrderInvalid',
  OrderMovedOn: 'OrderMovedOn',
  AlreadyResolved: 'AlreadyResolved',
  OrderRefused: 'OrderRefused',
  ServiceRefused: 'OrderRefused',
  PhysicianRequired: 'PhysicianRequired',
  AmbiguousOrder: 'AmbiguousOrder',
  PlacingCancelled: 'PlacingCancelled',
  RegistrationRefused: 'RegistrationRefused',
  RegisteredAnotherOrder: 'RegisteredAnotherOrder',
  CancelRefused: 'CancelRefused',
  NothingToAcknowledge: 'NothingToAcknowledge',
  AlarmOutdated: 'AlarmOutdated',
  NothingToResolve: 'NothingToResolve',
  NotReplaceable: 'NotReplaceable',
  ReplacementLimitReached: 'ReplacementLimitReached',
  OrderEnded: 'OrderEnded',
  AcceptedUpdateCompletedWorkflow: 'OrderEnded',
  OrderNotInChain: 'OrderNotInChain',
  OrderNotFound: 'OrderNotFound',
  AttemptOutdated: 'ServiceDown',
  OrderUnclaimed: 'ServiceDown',
};

const ofLinks: Record<string, string> = {
  ...ofTheService,
  PolicyInvalid: 'LinkInvalid',
  InvalidCommand: 'LinkInvalid',
  InvalidCode: 'InvalidCode',
  LinkRefused: 'LinkRefused',
  LinkFailed: 'LinkFailed',
  LinkEnded: 'LinkEnded',
  AcceptedUpdateCompletedWorkflow: 'LinkEnded',
};

const ofReports: Record<string, string> = {
  ...ofTheService,
  ReferenceInvalid: 'ReportInvalid',
  ReferenceConflict: 'ReportReferenceConflict',
  PolicyInvalid: 'ReportInvalid',
  InvalidCommand: 'ReportInvalid',
  SignedUrlRefused: 'SignedUrlRefused',
  ReportFileRefused: 'ReportFileRefused',
  ReportRefused: 'ReportRefused',
  ReportSubmissionExpired: 'ReportSubmissionExpired',
  ReportSubmissionCancelled: 'ReportSubmissionCancelled',
  ReportEnded: 'ReportEnded',
  AcceptedUpdateCompletedWorkflow: 'ReportEnded',
};

const ofOperators: Record<string, string> = {
  ...ofTheService,
  Unauthorized: 'ManagementKeyRefused',
  InvalidCommand: 'OperatorCallInvalid',
  WebhookRefused: 'WebhookRefused',
  WebhookNotFound: 'WebhookNotFound',
  ManagementKeyMissing: 'ManagementKeyMissing',
  EncryptionRequired: 'EncryptionRequired',
  RejectedEventNotFound: 'RejectedEventNotFound',
  RejectedEventSettled: 'RejectedEventSettled',
  StoreNotConfigured: 'StoreNotConfigured',
  StoreUnavailable: 'StoreUnavailable',
};

const ofAppointments: Record<string, string> = {
  ...ofTheService,
  InvalidCommand: 'AppointmentInvalid',
  AppointmentEnded: 'AppointmentEnded',
  AcceptedUpdateCompletedWorkflow: 'AppointmentEnded',
  AddressMissing: 'AddressMissing',
  AvailabilityRefused: 'AvailabilityRefused',
  SlotUnavailable: 'SlotGone',
  BookingKeyExpired: 'SlotGone',
  BookingRefused: 'BookingRefused',
  ServiceRefused: 'BookingRefused',
  AppointmentExists: 'AppointmentExists',
  NothingBooked: 'NothingBooked',
  RescheduleRefused: 'RescheduleRefused',
  CancellationRefused: 'CancellationRefused',
  AttemptOutdated: 'ServiceDown',
};

const ofMatchReviews: Record<string, string> = {
  ...ofTheService,
  InvalidCommand: 'MatchReviewInvalid',
  ReviewEnded: 'MatchReviewEnded',
  AcceptedUpdateCompletedWorkflow: 'MatchReviewEnded',
  ActionNotAllowed: 'DecisionNotAllowed',
  DecisionRefused: 'DecisionRefused',
  ServiceRefused: 'DecisionRefused',
};

const ofDeletions: Record<string, string> = {
  InvalidCommand: 'DeletionInvalid',
  PolicyInvalid: 'DeletionInvalid',
  UserHasRunningWork: 'UserHasRunningWork',
  UserUnknown: 'UserUnknown',
  DeletionRefused: 'DeletionRefused',
  GraceNotBegun: 'GraceNotBegun',
  GraceEnded: 'GraceEnded',
  NothingToUndo: 'NothingToUndo',
  AcceptedUpdateCompletedWorkflow: 'GraceEnded',
  UndoRefused: 'UndoRefused',
  Unauthorized: 'ServiceAccessDenied',
  CommandTimedOut: 'ServiceDown',
};

const ofDeliveries = { InvalidCommand: 'NotificationsInvalid', NotificationNotFound: 'NotificationNotFound' };

const areas = [
  { workflows: ['placeKitOrder', 'kitOrder'], names: ofOrders, words: orderErrorMap, unnamed: ['OrderForwarded'] },
  { workflows: ['linkProvider'], names: ofLinks, words: linkErrorMap, unnamed: [] },
  { workflows: ['submitReport', 'parsingJob'], names: ofReports, words: reportErrorMap, unnamed: [] },
  { workflows: ['operatorCall'], names: ofOperators, words: operatorErrorMap, unnamed: [] },
  { workflows: ['bookAppointment'], names: ofAppointments, words: appointmentErrorMap, unnamed: [] },
  { workflows: ['matchReview'], names: ofMatchReviews, words: matchReviewErrorMap, unnamed: [] },
];

function exportedBy(module: object, name: string): unknown {
  return (module as Record<string, unknown>)[name];
}

const messagesPage = () => readFile(join(projectFolder, 'docs/messages.md'), 'utf8');

/** Every type that docs/messages.md names as one of a workflow's failures: in its sentences, and beside its updates. */
async function documentedTypes(workflow: string): Promise<string[]> {
  const sections = (await messagesPage()).split(/^(?=##+ )/m);
  const updates = sections.filter((section) => section.startsWith(`### Updates of \`${workflow}\`\n`));
  const own = sections.filter((section) => section.startsWith(`### \`${workflow}\`\n`));
  const sentences = own.flatMap((section) => section.match(/^Failure types: [^]+?\n\n/gm) ?? []);
  const named = [...updates, ...sentences].flatMap((text) => text.match(/`[A-Z][A-Za-z]+`/g) ?? []);
  return [...new Set(named.map((type) => type.slice(1, -1)))];
}

describe('the client error for a failure', () => {
  const others = [
    { names: ofDeletions, words: userErrorMap },
    { names: ofDeliveries, words: notificationErrorMap },
  ];
  const named = [...areas, ...others].flatMap(({ names, words }) =>
    Object.entries(names).map(([type, word]) => ({ type, word, words })),
  );

  test.each(named)('$type is $word, with its message, fields and status', ({ type, word, words }) => {
    for (const rejection of rejections(type)) {
      const error = toClientError(rejection, words);
      expect(error).toBeInstanceOf(LabOperationsError);
      expect(error).toBeInstanceOf(exportedBy(client, word));
      // A missing order is not the fault of any field.
      const more = word === 'OrderNotFound' ? {} : { fields: details.fields, status: 422 };
      expect(error).toMatchObject({ name: word, message: `a ${type}`, ...more });
    }
  });

  test('has the error type of a link that failed, if there is one', () => {
    const [rejection] = rejections('LinkFailed');
    expect(toClientError(rejection, linkErrorMap)).toMatchObject({ errorType: 'refused' });
    expect(new LinkFailed('failed').errorType).toBe('unknown');
  });

  test('exists for every documented type; only a forwarded command is followed instead', async () => {
    const workflowsOfPage = [...(await messagesPage()).matchAll(/^### `(\w+)`$/gm)].map(([, name]) => name);
    expect(workflowsOfPage).toEqual(areas.flatMap(({ workflows }) => workflows));
    for (const { workflows, names, unnamed } of areas) {
      const documented = (await Promise.all(workflows.map(documentedTypes))).flat();
      expect(documented.length).toBeGreaterThan(5);
      expect(documented.filter((type) => !Object.hasOwn(names, type))).toEqual(unnamed);
    }
  });

  test('has no fields and no status if the failure has no details', () => {
    const bare = ApplicationFailure.nonRetryable('ended', 'OrderEnded');
    expect(toClientError(new WorkflowUpdateFailedError('failed', bare), orderErrorMap)).toMatchObject({
      name: 'OrderEnded',
      fields: [],
      status: undefined,
    });
  });

  test.each(['Invented', 'Error', 'constructor', 'toString', '__proto__', ''])(
    'does not exist for the type %j: the failure is unexpected, and named',
    (type) => {
      const withoutType = new WorkflowUpdateFailedError('failed', ApplicationFailure.create({ message: 'no type' }));
      for (const rejection of [...rejections(type), withoutType]) {
        const error = toClientError(rejection, orderErrorMap);
        expect(error).toBeInstanceOf(UnexpectedFailure);
        expect(error).toMatchObject({ cause: rejection });
        // An unknown failure's message might quote a person: its type is enough to search for it.
        expect((error as Error).message).not.toContain(`: ${rejection.cause?.message}`);
      }
    },
  );

  test('exists for a command that was cancelled with its workflow', () => {
    const cancelled = new WorkflowUpdateFailedError(
      'Workflow Update failed',
      new CancelledFailure('cancelled by hand'),
    );
    expect(toClientError(cancelled, orderErrorMap)).toBeInstanceOf(OrderInterrupted);
    expect(toClientError(cancelled, linkErrorMap)).toBeInstanceOf(LinkInterrupted);
  });

  test('exists for a query that the worker does not know or was not allowed to answer', () => {
    for (const refused of [new QueryNotRegisteredError('unknown query', 3), new QueryRejectedError(2)]) {
      expect(toClientError(refused, orderErrorMap)).toBeInstanceOf(UnexpectedFailure);
    }
  });

  test('exists for a workflow that an operator ended, and says how', () => {
    for (const cause of [new TerminatedFailure('terminated by hand'), new CancelledFailure('cancelled by hand')]) {
      const failed = new WorkflowFailedError('Workflow execution failed', cause, 'NON_RETRYABLE_FAILURE');
      for (const [words, word] of [
        [orderErrorMap, OrderInterrupted],
        [linkErrorMap, LinkInterrupted],
        [reportErrorMap, ReportInterrupted],
        [operatorErrorMap, OperatorCallInterrupted],
        [appointmentErrorMap, AppointmentInterrupted],
        [matchReviewErrorMap, MatchReviewInterrupted],
      ] as const) {
        const error = toClientError(failed, words);
        expect(error).toBeInstanceOf(word);
        expect((error as Error).message).toBe(`Workflow execution failed: ${cause.message}`);
      }
    }
  });

  test.each([new TypeError('a fault of ours'), 'text', undefined])('%s stays as it is', (error) => {
    expect(toClientError(error, orderErrorMap)).toBe(error);
  });
});

/** Exports that are not errors. */
const inner = new Set([
  'toClientError',
  'orderErrorMap',
  'linkErrorMap',
  'forwardedTo',
  'reportErrorMap',
  'operatorErrorMap',
  'appointmentErrorMap',
  'matchReviewErrorMap',
  'userErrorMap',
]);

const modules = [errors, orderErrors, linkErrors, reportErrors, operatorErrors, appointmentErrors, matchReviewErrors];

test.each([...modules, userErrors])('every error that a caller may get can be imported by a backend', (area) => {
  const exported = Object.keys(area).filter((name) => !inner.has(name));
  expect(exported.length).toBeGreaterThan(3);
  for (const name of exported) expect(exportedBy(client, name), name).toBe(exportedBy(area, name));
});

describe('the root that a command was forwarded to', () => {
  const forwarded = ApplicationFailure.nonRetryable('forwarded', 'OrderForwarded', { fields: [], reason: 'order-1' });

  test('is named by the failure', () => {
    expect(forwardedTo(new WorkflowUpdateFailedError('failed', forwarded))).toBe('order-1');
  });

  test.each([
    new WorkflowUpdateFailedError('failed', failureOf('OrderEnded')),
    new WorkflowUpdateFailedError('failed', undefined),
    new WorkflowUpdateFailedError('failed', ApplicationFailure.nonRetryable('forwarded', 'OrderForwarded')),
    forwarded,
    undefined,
  ])('is absent from another rejection: %s', (error) => {
    expect(forwardedTo(error)).toBeUndefined();
  });
});
