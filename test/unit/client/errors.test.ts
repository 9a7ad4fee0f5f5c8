import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import {
  ApplicationFailure,
  QueryNotRegisteredError,
  QueryRejectedError,
  TerminatedFailure,
  WorkflowFailedError,
  WorkflowNotFoundError,
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
import { answerToUndo } from '../../../client/user/deletion-handle.js';
import * as userErrors from '../../../client/user/errors.js';
import * as directCalls from '../../../service/errors.js';
import { LabOperationsError } from '../../../service/lab-operations-error.js';
import { StoreFailed } from '../../../store/health-data-reader.js';
import { projectFolder } from '../../rig/processes.js';

const { toClientError, UnexpectedFailure } = errors;
const { forwardedTo, orderErrorMap } = orderErrors;
const { linkErrorMap } = linkErrors;
const { userErrorMap } = userErrors;

const fields = [{ field: 'patient_details.dob', message: 'is not a date' }];
const details = { status: 422, fields, reason: 'refused' };
const failureOf = (type: string) => ApplicationFailure.nonRetryable(`a ${type}`, type, details);

/** As an update rejects, and as a workflow's result does. */
const rejections = (type: string) => [
  new WorkflowUpdateFailedError('Workflow Update failed', failureOf(type)),
  new WorkflowFailedError('Workflow execution failed', failureOf(type), 'NON_RETRYABLE_FAILURE'),
];

/** The areas of docs/errors.md: the beginning of the names of their own errors, and the headings of docs/messages.md that are about them. */
const areas: [area: string, of: string, words: errors.ErrorMap, headings: string[], ended?: string][] = [
  ['Orders', 'Order', orderErrorMap, ['placeKitOrder', 'kitOrder'], 'OrderEnded'],
  ['Links', 'Link', linkErrorMap, ['linkProvider'], 'LinkEnded'],
  ['Reports', 'Report', reportErrors.reportErrorMap, ['submitReport', 'parsingJob'], 'ReportEnded'],
  ['Webhook endpoints', 'OperatorCall', operatorErrors.operatorErrorMap, ['operatorCall']],
  ['Appointments', 'Appointment', appointmentErrors.appointmentErrorMap, ['bookAppointment'], 'AppointmentEnded'],
  ['Match reviews', 'MatchReview', matchReviewErrors.matchReviewErrorMap, ['matchReview'], 'MatchReviewEnded'],
  ['Deletions', 'Deletion', userErrorMap, ['User deletion'], 'GraceEnded'],
  ['Notifications', 'Notifications', notificationErrorMap, ['Undelivered notifications']],
];

function exportedBy(module: object, name: string): unknown {
  return (module as Record<string, unknown>)[name];
}

const pageOf = (name: string) => readFile(join(projectFolder, `docs/${name}.md`), 'utf8');

/** The failure types below a heading of docs/messages.md: in a workflow's sentences about them, and beside its updates. */
async function documentedTypes(name: string): Promise<string[]> {
  const texts = (await pageOf('messages')).split(/^(?=##+ )/m).flatMap((section) => {
    const [heading = ''] = section.split('\n', 1);
    if (heading.endsWith(`# \`${name}\``)) return section.match(/^Failure types[:,] [^]+?\n\n/gm) ?? [];
    return heading.endsWith(`# Updates of \`${name}\``) || heading.endsWith(`# ${name}`) ? [section] : [];
  });
  return texts.flatMap((text) => text.match(/(?<=`)[A-Z][A-Za-z]+(?=`)/g) ?? []);
}

const down = ['ServiceUnavailable', 'ServiceUnreachable', 'TooManyRequests', 'AnswerLost', 'AnswerUnreadable'];

/** The failure types whose error has another name, by area. */
const renamings: Record<string, Record<string, string>> = {
  'Every workflow': {
    Unauthorized: 'ServiceAccessDenied',
    ...Object.fromEntries([...down, 'CommandTimedOut', 'AttemptOutdated'].map((type) => [type, 'ServiceDown'])),
  },
  Orders: { ServiceRefused: 'OrderRefused', OrderUnclaimed: 'ServiceDown', EarlierPlacingUnsettled: 'ServiceDown' },
  Appointments: { SlotUnavailable: 'SlotGone', BookingKeyExpired: 'SlotGone', ServiceRefused: 'BookingRefused' },
  'Match reviews': {
    ...{ ReviewEnded: 'MatchReviewEnded', ActionNotAllowed: 'DecisionNotAllowed', ServiceRefused: 'DecisionRefused' },
  },
  Reports: { ReferenceConflict: 'ReportReferenceConflict' },
  'Webhook endpoints': { Unauthorized: 'ManagementKeyRefused' },
};

/** An adoption fails with them: docs/messages.md says so in a sentence of another form. */
const undocumented = ['ReferenceConflict', 'OrderTaken'];

describe('the client error for a failure', () => {
  test.each(areas)(
    'has the name of its type, or the listed one, for every type that docs/messages.md names for %s, with its message, fields and status',
    async (area, of, words, headings, ended) => {
      const documented = (await Promise.all(headings.map(documentedTypes))).flat();
      const renamed: Record<string, string> = {
        ...{ InvalidCommand: `${of}Invalid`, PolicyInvalid: `${of}Invalid`, ReferenceInvalid: `${of}Invalid` },
        ...(ended !== undefined && { AcceptedUpdateCompletedWorkflow: ended }),
        ...renamings['Every workflow'],
        ...renamings[area],
      };
      expect([...documented, ...Object.keys(renamed), ...undocumented]).toEqual(
        expect.arrayContaining(Object.keys(words.refusals)),
      );
      for (const type of new Set([...documented, ...Object.keys(renamed)])) {
        // Its command is followed to another workflow instead.
        if (type === 'OrderForwarded') continue;
        const word = renamed[type] ?? type;
        // A missing order is not the fault of any field.
        const more = word === 'OrderNotFound' ? {} : { fields: details.fields, status: 422 };
        for (const rejection of rejections(type)) {
          const error = toClientError(rejection, words);
          expect(error, type).toBeInstanceOf(LabOperationsError);
          expect(error, type).toBeInstanceOf(exportedBy(client, word));
          expect(error).toMatchObject({ name: word, message: `a ${type}`, ...more });
        }
      }
    },
  );

  test('is listed in docs/errors.md if its name is another', async () => {
    const rows = [...(await pageOf('errors')).matchAll(/^\| (.+?) \| `(\w+)` \| `(\w+)` \|$/gm)];
    const listed = Object.entries(renamings).flatMap(([area, renamed]) =>
      Object.entries(renamed).map((renaming) => [area, ...renaming]),
    );
    expect(new Set(rows.map(([, ...row]) => row.join(' ')))).toEqual(new Set(listed.map((row) => row.join(' '))));
  });

  test('is documented for every workflow', async () => {
    const workflows = [...(await pageOf('messages')).matchAll(/^### `(\w+)`$/gm)].map(([, name]) => name);
    expect(areas.flatMap(([, , , headings]) => headings)).toEqual([
      ...workflows,
      'User deletion',
      'Undelivered notifications',
    ]);
  });

  test('has the error type of a link that failed, if there is one', () => {
    const [rejection] = rejections('LinkFailed');
    expect(toClientError(rejection, linkErrorMap)).toMatchObject({ errorType: 'refused' });
    expect(new linkErrors.LinkFailed('failed').errorType).toBe('unknown');
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

  test('exists for a query that the worker does not know or was not allowed to answer', () => {
    for (const refused of [new QueryNotRegisteredError('unknown query', 3), new QueryRejectedError(2)]) {
      expect(toClientError(refused, orderErrorMap)).toBeInstanceOf(UnexpectedFailure);
    }
  });

  test('exists for a workflow that an operator ended, and says how, and for a command that was cancelled with it', () => {
    const cancelled = new WorkflowUpdateFailedError('failed', new CancelledFailure('cancelled by hand'));
    for (const cause of [new TerminatedFailure('terminated by hand'), new CancelledFailure('cancelled by hand')]) {
      const failed = new WorkflowFailedError('Workflow execution failed', cause, 'NON_RETRYABLE_FAILURE');
      for (const [, of, words] of areas) {
        const word = exportedBy(client, `${of.replace('Notifications', 'Delivery')}Interrupted`);
        const error = toClientError(failed, words);
        expect(error).toBeInstanceOf(word);
        expect((error as Error).message).toBe(`Workflow execution failed: ${cause.message}`);
        expect(toClientError(cancelled, words)).toBeInstanceOf(word);
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

test('an unknown deletion is not found', () => {
  const unknown = new WorkflowNotFoundError('not found', 'delete-user/user-1', undefined);
  expect(toClientError(unknown, userErrorMap)).toBeInstanceOf(client.DeletionNotFound);
});

test('running work is named by the error', () => {
  const workflows = [{ workflowId: 'kit-order/1', name: 'kitOrder' }];
  const failure = ApplicationFailure.nonRetryable('no', 'UserHasRunningWork', { fields: [], workflows });
  const rejection = new WorkflowUpdateFailedError('failed', failure);
  expect(toClientError(rejection, userErrorMap)).toMatchObject({ workflows });
});

const failed = (cause: Error) => new WorkflowFailedError('It failed', cause, 'NON_RETRYABLE_FAILURE');

test('a deletion that failed leaves nothing to undo, also once the reason is corrected', () => {
  for (const type of ['Unauthorized', 'FeatureNotEnabled', 'PolicyInvalid', 'DeletionRefused', 'UserUnknown']) {
    const answer = answerToUndo(failed(ApplicationFailure.nonRetryable('invented', type)));
    expect(answer, type).toBeInstanceOf(client.NothingToUndo);
  }
});

test('another end of a deletion says nothing about what there is to undo, and neither does a call that got no answer', () => {
  const unanswered = new client.TimedOut('invented');
  expect(answerToUndo(unanswered)).toBe(unanswered);
  const terminated = failed(new TerminatedFailure('invented'));
  expect(answerToUndo(terminated)).toBe(terminated);
});

const classes = Object.entries({ ...client, StoreFailed }) as [string, typeof client.LabOperationsError][];

/** For `instanceof` only. */
const bases = new Set(['LabOperationsError', 'ServiceError']);

describe('every error of the client', () => {
  test.each(classes)('%s is of the family, under its own name', (name, error) => {
    const thrown = Object.create(error.prototype) as client.LabOperationsError;
    expect(thrown).toBeInstanceOf(client.LabOperationsError);
    expect(thrown.name).toBe(name);
    expect(thrown.code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(thrown.remedy === '').toBe(bases.has(name));
  });

  test('has a code of its own', () => {
    const codes = classes.map(([, { prototype }]) => (Object.create(prototype) as client.LabOperationsError).code);
    expect(codes).toContain('order_refused');
    expect(new Set(codes).size).toBe(classes.length);
  });

  test('has a kind, which docs/errors.md says, but for the one that is not of the client itself', () => {
    expect((Object.create(StoreFailed.prototype) as client.LabOperationsError).kind).toBe('unavailable');
  });
});

describe('an error', () => {
  const fields = [{ field: 'dob', message: 'is not a date' }];
  const quoting = new client.OrderRefused('It was refused (dob)', {
    status: 422,
    sentence: 'Jane Invented is unknown',
    fields: [{ field: 'Jane', message: 'Invented is unknown' }],
  });

  test('is the service’s words and the fields in one text for a person, and ends with the remedy', () => {
    expect(quoting.sentence).toBe(
      `It was refused (dob); Jane Invented is unknown; Jane Invented is unknown. ${client.OrderRefused.remedy}`,
    );
    const named = new client.OrderInvalid('The order is not valid: dob is not a date.', { fields });
    expect(named.sentence).toBe('The order is not valid: dob is not a date. Fix the fields named in the error.');
  });

  test('is shown with its code, its remedy and the fields that break a rule of ours', () => {
    expect(JSON.parse(JSON.stringify(new client.OrderInvalid('The order is not valid', { fields })))).toEqual({
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
    const direct = new client.ServiceRefused(call, { sentence: 'Jane Invented is unknown', fields });
    for (const error of [quoting, direct]) {
      expect(`${JSON.stringify(error)} ${inspect(error)} ${error.stack}`).not.toMatch(/Jane|is not a date/);
      expect(JSON.parse(JSON.stringify(error))).toMatchObject({ status: 422, fields: [] });
      expect(error.serviceSentence).toBe('Jane Invented is unknown');
      expect(error.fields).toHaveLength(1);
    }
  });

  test('has the cause that it was given', () => {
    const cause = new Error('connection lost');
    expect(new client.TemporalUnreachable('Temporal is away', { cause }).cause).toBe(cause);
    expect(quoting).not.toHaveProperty('cause');
  });

  test('is invalid input if a registration breaks a rule of ours, and refused if the service says so', () => {
    expect(new client.RegistrationRefused('It is not valid', { fields }).kind).toBe('invalid');
    expect(new client.RegistrationRefused('It was refused', { status: 422 }).kind).toBe('refused');
  });

  test('is a report that is not read yet, or could not be read', () => {
    const kindOf = (status?: string) => new client.ReportNotRead('job-1', status).kind;
    expect([undefined, 'started', 'pending_review', 'invented'].map(kindOf)).toEqual(Array(4).fill('unavailable'));
    expect(['failed', 'completed'].map(kindOf)).toEqual(['refused', 'refused']);
  });

  test('says that a feature is off in the same words, whether a worker asked or the client itself', () => {
    const refusal = { sentence: 'Human review is not enabled', fields: [] };
    const direct = new client.FeatureNotEnabled({ method: 'POST', path: '/v3/order', status: 403 }, refusal);
    const failure = ApplicationFailure.nonRetryable(direct.message, 'FeatureNotEnabled', { ...refusal, status: 403 });
    const passedOn = toClientError(new WorkflowUpdateFailedError('failed', failure), orderErrorMap);
    expect(passedOn).toBeInstanceOf(client.FeatureNotEnabled);
    for (const error of [direct, passedOn]) {
      expect(error).toMatchObject({
        ...{ name: 'FeatureNotEnabled', message: 'POST /v3/order was refused with status 403', status: 403 },
        ...{ method: 'POST', path: '/v3/order', serviceSentence: 'Human review is not enabled' },
      });
    }
  });
});
