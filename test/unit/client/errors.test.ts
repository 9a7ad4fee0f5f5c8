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
import * as appointmentErrors from '../../../client/appointment/errors.js';
import * as errors from '../../../client/errors.js';
import { errors as client } from '../../../client/index.js';
import * as linkErrors from '../../../client/link/errors.js';
import * as matchReviewErrors from '../../../client/match-review/errors.js';
import { notificationErrorMap } from '../../../client/notifications/errors.js';
import * as operatorErrors from '../../../client/operators/errors.js';
import * as orderErrors from '../../../client/order/errors.js';
import * as reportErrors from '../../../client/report/errors.js';
import * as userErrors from '../../../client/user/errors.js';
import * as directCalls from '../../../service/errors.js';
import { LabOperationsError } from '../../../service/lab-operations-error.js';
import { projectFolder } from '../../rig/processes.js';

const { toClientError, UnexpectedFailure } = errors;
const { forwardedTo, orderErrorMap } = orderErrors;
const { linkErrorMap } = linkErrors;

const fields = [{ field: 'patient_details.dob', message: 'is not a date' }];
const details = { status: 422, fields, reason: 'refused' };
const failureOf = (type: string) => ApplicationFailure.nonRetryable(`a ${type}`, type, details);

/** As an update rejects, and as a workflow's result does. */
const rejections = (type: string) => [
  new WorkflowUpdateFailedError('Workflow Update failed', failureOf(type)),
  new WorkflowFailedError('Workflow execution failed', failureOf(type), 'NON_RETRYABLE_FAILURE'),
];

/** The errors that are the same in every area. */
const ofTheService = {
  ...{ Unauthorized: 'ServiceAccessDenied', FeatureNotEnabled: 'FeatureNotEnabled' },
  ...{ ServiceUnavailable: 'ServiceDown', ServiceUnreachable: 'ServiceDown', TooManyRequests: 'ServiceDown' },
  ...{ AnswerLost: 'ServiceDown', AnswerUnreadable: 'ServiceDown', CommandTimedOut: 'ServiceDown' },
};

/** The client's error has the name of the failure. */
const byTheirNames = (names: string) => Object.fromEntries(names.split(' ').map((name) => [name, name]));

const ofOrders: Record<string, string> = {
  ...ofTheService,
  ...byTheirNames('OrderMovedOn AlreadyResolved OrderRefused PhysicianRequired AmbiguousOrder PlacingCancelled'),
  ...byTheirNames('PlacingStopped RegistrationRefused RegisteredAnotherOrder CancelRefused NothingToAcknowledge'),
  ...byTheirNames('AlarmOutdated NothingToResolve NotReplaceable ReplacementLimitReached OrderEnded'),
  ...byTheirNames('OrderNotInChain OrderNotFound'),
  ...{ ReferenceInvalid: 'OrderInvalid', PolicyInvalid: 'OrderInvalid', InvalidCommand: 'OrderInvalid' },
  ...{ ServiceRefused: 'OrderRefused', AcceptedUpdateCompletedWorkflow: 'OrderEnded' },
  ...{ AttemptOutdated: 'ServiceDown', OrderUnclaimed: 'ServiceDown' },
};

const ofLinks: Record<string, string> = {
  ...ofTheService,
  ...byTheirNames('InvalidCode LinkRefused LinkFailed LinkEnded'),
  ...{ PolicyInvalid: 'LinkInvalid', InvalidCommand: 'LinkInvalid', AcceptedUpdateCompletedWorkflow: 'LinkEnded' },
};

const ofReports: Record<string, string> = {
  ...ofTheService,
  ...byTheirNames('SignedUrlRefused ReportFileRefused ReportRefused ReportSubmissionExpired ReportSubmissionCancelled'),
  ...{ ReferenceInvalid: 'ReportInvalid', PolicyInvalid: 'ReportInvalid', InvalidCommand: 'ReportInvalid' },
  ...{ ReferenceConflict: 'ReportReferenceConflict', AcceptedUpdateCompletedWorkflow: 'ReportEnded' },
  ReportEnded: 'ReportEnded',
};

const ofOperators: Record<string, string> = {
  ...ofTheService,
  ...byTheirNames('WebhookRefused WebhookNotFound ManagementKeyMissing EncryptionRequired RejectedEventNotFound'),
  ...byTheirNames('RejectedEventSettled StoreNotConfigured StoreUnavailable NotificationsNotConfigured'),
  ...{ Unauthorized: 'ManagementKeyRefused', InvalidCommand: 'OperatorCallInvalid' },
};

const ofAppointments: Record<string, string> = {
  ...ofTheService,
  ...byTheirNames('AppointmentEnded AddressMissing AvailabilityRefused BookingRefused AppointmentExists'),
  ...byTheirNames('PlacingStopped NothingBooked RescheduleRefused CancellationRefused'),
  ...{ InvalidCommand: 'AppointmentInvalid', AcceptedUpdateCompletedWorkflow: 'AppointmentEnded' },
  ...{ SlotUnavailable: 'SlotGone', BookingKeyExpired: 'SlotGone', ServiceRefused: 'BookingRefused' },
  ...{ AttemptOutdated: 'ServiceDown' },
};

const ofMatchReviews: Record<string, string> = {
  ...ofTheService,
  ...{ InvalidCommand: 'MatchReviewInvalid', ReviewEnded: 'MatchReviewEnded', ActionNotAllowed: 'DecisionNotAllowed' },
  ...{ AcceptedUpdateCompletedWorkflow: 'MatchReviewEnded' },
  ...{ DecisionRefused: 'DecisionRefused', ServiceRefused: 'DecisionRefused' },
};

const ofDeletions: Record<string, string> = {
  ...byTheirNames('UserHasRunningWork UserUnknown DeletionRefused GraceNotBegun GraceEnded NothingToUndo UndoRefused'),
  ...{ InvalidCommand: 'DeletionInvalid', PolicyInvalid: 'DeletionInvalid' },
  ...{ AcceptedUpdateCompletedWorkflow: 'GraceEnded' },
  ...{ Unauthorized: 'ServiceAccessDenied', CommandTimedOut: 'ServiceDown' },
};

const ofDeliveries = { InvalidCommand: 'NotificationsInvalid', NotificationNotFound: 'NotificationNotFound' };

const areas = [
  { workflows: ['placeKitOrder', 'kitOrder'], names: ofOrders, words: orderErrorMap, unnamed: ['OrderForwarded'] },
  { workflows: ['linkProvider'], names: ofLinks, words: linkErrorMap, unnamed: [] },
  { workflows: ['submitReport', 'parsingJob'], names: ofReports, words: reportErrors.reportErrorMap, unnamed: [] },
  { workflows: ['operatorCall'], names: ofOperators, words: operatorErrors.operatorErrorMap, unnamed: [] },
  { workflows: ['bookAppointment'], names: ofAppointments, words: appointmentErrors.appointmentErrorMap, unnamed: [] },
  { workflows: ['matchReview'], names: ofMatchReviews, words: matchReviewErrors.matchReviewErrorMap, unnamed: [] },
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
  const named = [
    ...[...areas, { names: ofDeletions, words: userErrors.userErrorMap }],
    ...[{ names: ofDeliveries, words: notificationErrorMap }],
  ].flatMap(({ names, words }) => Object.entries(names).map(([type, word]) => ({ type, word, words })));

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
    expect(new linkErrors.LinkFailed('failed').errorType).toBe('unknown');
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
    const error = toClientError(new WorkflowUpdateFailedError('failed', bare), orderErrorMap);
    expect(error).toMatchObject({ name: 'OrderEnded', fields: [], status: undefined });
  });

  test.each(['Invented', 'Error', 'constructor', 'toString', '__proto__', ''])(
    'is unexpected for the type %j',
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
    const cancelled = new WorkflowUpdateFailedError('failed', new CancelledFailure('cancelled by hand'));
    expect(toClientError(cancelled, orderErrorMap)).toBeInstanceOf(orderErrors.OrderInterrupted);
    expect(toClientError(cancelled, linkErrorMap)).toBeInstanceOf(linkErrors.LinkInterrupted);
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
        [orderErrorMap, orderErrors.OrderInterrupted],
        [linkErrorMap, linkErrors.LinkInterrupted],
        [reportErrors.reportErrorMap, reportErrors.ReportInterrupted],
        [operatorErrors.operatorErrorMap, operatorErrors.OperatorCallInterrupted],
        [appointmentErrors.appointmentErrorMap, appointmentErrors.AppointmentInterrupted],
        [matchReviewErrors.matchReviewErrorMap, matchReviewErrors.MatchReviewInterrupted],
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

const modules = [errors, orderErrors, linkErrors, reportErrors, operatorErrors, appointmentErrors, matchReviewErrors];

test.each([...modules, userErrors, directCalls])(
  'every error that a caller may get can be imported by a backend',
  (area) => {
    const exported = Object.keys(area).filter((name) => /^[A-Z]/.test(name));
    expect(exported.length).toBeGreaterThan(3);
    for (const name of exported) expect(exportedBy(client, name), name).toBe(exportedBy(area, name));
  },
);

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
