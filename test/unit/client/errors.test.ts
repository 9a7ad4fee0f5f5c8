import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ApplicationFailure,
  TerminatedFailure,
  WorkflowFailedError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import * as errors from '../../../client/errors.js';
import { inProductWords, LabOperationsError } from '../../../client/errors.js';
import * as orderErrors from '../../../client/orders/errors.js';
import { forwardedTo, OrderInterrupted, orderWords } from '../../../client/orders/errors.js';
import * as reportErrors from '../../../client/reports/errors.js';
import { ReportInterrupted, reportWords } from '../../../client/reports/errors.js';
import * as client from '../../../client/index.js';
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

const words: Record<string, string> = {
  ReferenceInvalid: 'OrderInvalid',
  PolicyInvalid: 'OrderInvalid',
  InvalidCommand: 'OrderInvalid',
  OrderRefused: 'OrderRefused',
  ServiceRefused: 'OrderRefused',
  PhysicianRequired: 'PhysicianRequired',
  AmbiguousOrder: 'AmbiguousOrder',
  RegistrationRefused: 'RegistrationRefused',
  RegisteredAnotherOrder: 'RegisteredAnotherOrder',
  CancelRefused: 'CancelRefused',
  NothingToResolve: 'NothingToResolve',
  NotReplaceable: 'NotReplaceable',
  ReplacementLimitReached: 'ReplacementLimitReached',
  OrderEnded: 'OrderEnded',
  AcceptedUpdateCompletedWorkflow: 'OrderEnded',
  OrderNotInChain: 'OrderNotInChain',
  OrderNotFound: 'OrderNotFound',
  Unauthorized: 'ServiceAccessDenied',
  FeatureNotEnabled: 'FeatureNotEnabled',
  ServiceUnavailable: 'ServiceDown',
  ServiceUnreachable: 'ServiceDown',
  TooManyRequests: 'ServiceDown',
  AnswerLost: 'ServiceDown',
  AnswerUnreadable: 'ServiceDown',
  CommandTimedOut: 'ServiceDown',
  AttemptOutdated: 'ServiceDown',
  OrderUnclaimed: 'ServiceDown',
};

const ofReports: Record<string, string> = {
  ReferenceInvalid: 'ReportInvalid',
  PolicyInvalid: 'ReportInvalid',
  InvalidCommand: 'ReportInvalid',
  SignedUrlRefused: 'SignedUrlRefused',
  ReportFileRefused: 'ReportFileRefused',
  ReportRefused: 'ReportRefused',
  ReportEnded: 'ReportEnded',
  AcceptedUpdateCompletedWorkflow: 'ReportEnded',
  Unauthorized: 'ServiceAccessDenied',
  FeatureNotEnabled: 'FeatureNotEnabled',
  AnswerUnreadable: 'ServiceDown',
};

function exportedBy(module: object, name: string): unknown {
  return (module as Record<string, unknown>)[name];
}

/** Every type that docs/messages.md names as one of a failure: in its sentences, and in the table of updates. */
async function documentedTypes(): Promise<string[]> {
  const page = await readFile(join(projectFolder, 'docs/messages.md'), 'utf8');
  const [, updates = ''] = /## Updates of `kitOrder`\n(.+?)\n## /s.exec(page) ?? [];
  const sentences = page.match(/^Failure types: [^]+?\n\n/gm) ?? [];
  const named = [updates, ...sentences].flatMap((text) => text.match(/`[A-Z][A-Za-z]+`/g) ?? []);
  return [...new Set(named.map((type) => type.slice(1, -1)))];
}

describe('a failure in the product’s words', () => {
  test.each(Object.entries(words))('%s is %s, with its message, fields and status', (type, word) => {
    for (const rejection of rejections(type)) {
      const error = inProductWords(rejection, orderWords);
      expect(error).toBeInstanceOf(LabOperationsError);
      expect(error).toBeInstanceOf(exportedBy(client, word));
      // That there is no such order is no fault of any field.
      const more = word === 'OrderNotFound' ? {} : { fields: details.fields, status: 422 };
      expect(error).toMatchObject({ name: word, message: `a ${type}`, ...more });
    }
  });

  test.each(Object.entries(ofReports))('of a report: %s is %s', (type, word) => {
    for (const rejection of rejections(type)) {
      const error = inProductWords(rejection, reportWords);
      expect(error).toBeInstanceOf(exportedBy(client, word));
      expect(error).toMatchObject({ name: word, message: `a ${type}`, fields: details.fields, status: 422 });
    }
  });

  test('of a report that an operator ended', () => {
    const cause = new TerminatedFailure('terminated by hand');
    const failed = new WorkflowFailedError('Workflow execution failed', cause, 'NON_RETRYABLE_FAILURE');
    expect(inProductWords(failed, reportWords)).toBeInstanceOf(ReportInterrupted);
  });

  test('there is for every type that is documented; only being forwarded is followed instead', async () => {
    const documented = await documentedTypes();
    expect(documented.length).toBeGreaterThan(20);
    const known = { ...words, ...ofReports };
    expect(documented.filter((type) => !Object.hasOwn(known, type))).toEqual(['OrderForwarded']);
  });

  test('has no fields and no status where the failure has no details', () => {
    const bare = ApplicationFailure.nonRetryable('ended', 'OrderEnded');
    expect(inProductWords(new WorkflowUpdateFailedError('failed', bare), orderWords)).toMatchObject({
      name: 'OrderEnded',
      fields: [],
      status: undefined,
    });
  });

  test.each(['Invented', 'Error', 'constructor', 'toString', '__proto__', ''])(
    'there is none for the type %j: the error stays as it is',
    (type) => {
      for (const rejection of rejections(type)) expect(inProductWords(rejection, orderWords)).toBe(rejection);
      const withoutType = new WorkflowUpdateFailedError('failed', ApplicationFailure.create({ message: 'no type' }));
      expect(inProductWords(withoutType, orderWords)).toBe(withoutType);
    },
  );

  test('there is for a workflow that an operator ended, which says how', () => {
    for (const cause of [new TerminatedFailure('terminated by hand'), new CancelledFailure('cancelled by hand')]) {
      const error = inProductWords(
        new WorkflowFailedError('Workflow execution failed', cause, 'NON_RETRYABLE_FAILURE'),
        orderWords,
      );
      expect(error).toBeInstanceOf(OrderInterrupted);
      expect((error as Error).message).toBe(`Workflow execution failed: ${cause.message}`);
    }
  });

  test.each([new TypeError('a fault of ours'), 'text', undefined])('%s stays as it is', (error) => {
    expect(inProductWords(error, orderWords)).toBe(error);
  });
});

/** What the words are made of; a caller meets only what they are. */
const inner = new Set(['inProductWords', 'Refusal', 'orderWords', 'forwardedTo', 'reportWords']);

test.each([errors, orderErrors, reportErrors])(
  'every word that a caller may meet is one that a backend can import',
  (area) => {
    const exported = Object.keys(area).filter((name) => !inner.has(name));
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
  ])('is none of another rejection: %s', (error) => {
    expect(forwardedTo(error)).toBeUndefined();
  });
});
