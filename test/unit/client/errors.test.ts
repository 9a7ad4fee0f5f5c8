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
import * as linkErrors from '../../../client/links/errors.js';
import { LinkFailed, LinkInterrupted, linkWords } from '../../../client/links/errors.js';
import * as orderErrors from '../../../client/orders/errors.js';
import { forwardedTo, OrderInterrupted, orderWords } from '../../../client/orders/errors.js';
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

/** What the failures of a link are called; those that are the same for every area are above. */
const wordsOfLinks: Record<string, string> = {
  InvalidCommand: 'LinkInvalid',
  PolicyInvalid: 'LinkInvalid',
  InvalidCode: 'InvalidCode',
  LinkRefused: 'LinkRefused',
  LinkFailed: 'LinkFailed',
  LinkEnded: 'LinkEnded',
  AcceptedUpdateCompletedWorkflow: 'LinkEnded',
  Unauthorized: 'ServiceAccessDenied',
  FeatureNotEnabled: 'FeatureNotEnabled',
  ServiceUnavailable: 'ServiceDown',
  ServiceUnreachable: 'ServiceDown',
  TooManyRequests: 'ServiceDown',
  AnswerLost: 'ServiceDown',
  AnswerUnreadable: 'ServiceDown',
  CommandTimedOut: 'ServiceDown',
};

function exportedBy(module: object, name: string): unknown {
  return (module as Record<string, unknown>)[name];
}

/** Every type that docs/messages.md names as one of a failure: in its sentences, and in the tables of updates. */
async function documentedTypes(): Promise<string[]> {
  const page = await readFile(join(projectFolder, 'docs/messages.md'), 'utf8');
  const updates = [...page.matchAll(/^## Updates of `\w+`\n(.+?)\n## /gms)].map(([, table = '']) => table);
  const sentences = page.match(/^Failure types: [^]+?\n\n/gm) ?? [];
  const named = [...updates, ...sentences].flatMap((text) => text.match(/`[A-Z][A-Za-z]+`/g) ?? []);
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

  test.each(Object.entries(wordsOfLinks))('%s of a link is %s, with its message, fields and status', (type, word) => {
    for (const rejection of rejections(type)) {
      const error = inProductWords(rejection, linkWords);
      expect(error).toBeInstanceOf(LabOperationsError);
      expect(error).toBeInstanceOf(exportedBy(client, word));
      expect(error).toMatchObject({ name: word, message: `a ${type}`, fields: details.fields, status: 422 });
    }
  });

  test('has the error type of a link that failed, as far as there is one', () => {
    const [rejection] = rejections('LinkFailed');
    expect(inProductWords(rejection, linkWords)).toMatchObject({ errorType: 'refused' });
    expect(new LinkFailed('failed').errorType).toBe('unknown');
  });

  test('there is for every type that is documented; only being forwarded is followed instead', async () => {
    const documented = await documentedTypes();
    expect(documented.length).toBeGreaterThan(20);
    expect(documented.filter((type) => ![words, wordsOfLinks].some((known) => Object.hasOwn(known, type)))).toEqual([
      'OrderForwarded',
    ]);
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
      const failed = new WorkflowFailedError('Workflow execution failed', cause, 'NON_RETRYABLE_FAILURE');
      for (const [known, word] of [
        [orderWords, OrderInterrupted],
        [linkWords, LinkInterrupted],
      ] as const) {
        const error = inProductWords(failed, known);
        expect(error).toBeInstanceOf(word);
        expect((error as Error).message).toBe(`Workflow execution failed: ${cause.message}`);
      }
    }
  });

  test.each([new TypeError('a fault of ours'), 'text', undefined])('%s stays as it is', (error) => {
    expect(inProductWords(error, orderWords)).toBe(error);
  });
});

/** What the words are made of; a caller meets only what they are. */
const inner = new Set(['inProductWords', 'Refusal', 'orderWords', 'linkWords', 'forwardedTo']);

test.each([errors, orderErrors, linkErrors])(
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
