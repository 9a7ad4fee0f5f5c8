import { ServiceError, WorkflowFailedError } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { exitCodeOf, failureLine, failureReport, UsageError } from '../../../client/command-line/exit-codes.js';
import { remedyFor } from '../../../client/command-line/remedies.js';
import * as client from '../../../client/index.js';

/** What the command line cannot meet: it has no service, receives no webhook, and makes no payload of its own. */
const ofOthers = [
  'LabOperationsError',
  'ServiceNotConfigured',
  'ReportNotRead',
  ...['ServiceError', 'ServiceRefused', 'ServiceUnavailable', 'ServiceUnreachable', 'AnswerLost', 'AnswerUnreadable'],
  ...['NotFound', 'RequestInvalid', 'TooManyRequests', 'Unauthorized'],
];

test('every error that the client exports has a remedy', () => {
  const errors = Object.values(client as Record<string, unknown>).filter(
    (exported): exported is new (message: string) => Error =>
      typeof exported === 'function' && exported.prototype instanceof Error,
  );
  const names = errors.map(({ name }) => name).filter((name) => !ofOthers.includes(name));
  expect(names.length).toBeGreaterThan(40);
  const withName = (name: string) => Object.assign(new Error('it failed'), { name });
  expect(names.filter((name) => remedyFor(withName(name)) === undefined)).toEqual([]);
});

test('an error of a name that nobody gave has no remedy', () => {
  for (const name of ['Error', 'constructor', '__proto__', 'toString']) {
    expect(remedyFor(Object.assign(new Error('it failed'), { name }))).toBeUndefined();
  }
});

describe('a failure is told', () => {
  const fields = [{ field: 'dob', message: 'is not a date' }];

  test('with its fields, unless its message names them already', () => {
    const untold = failureReport(new client.RegistrationRefused('It was refused.', { status: 422, fields }));
    expect(untold).toMatchObject({ name: 'RegistrationRefused', status: 422, fields });
    expect(failureLine(untold)).toBe(
      'RegistrationRefused: It was refused.; dob is not a date. Correct what is named and register again.',
    );
    const told = failureReport(new client.OrderInvalid('The order is not valid: dob is not a date', { fields }));
    expect(failureLine(told)).toBe('OrderInvalid: The order is not valid: dob is not a date. Correct what is named.');
  });

  test('in one line that a terminal can show, whatever its message holds', () => {
    const report = failureReport(new client.LinkRefused('no\nsuch\u001B[2J user\n'));
    expect(failureLine(report)).toBe('LinkRefused: no such·[2J user. Check user and provider.');
  });

  test("with the cause of Temporal's own errors, and not of ours", () => {
    const cause = new Error('namespace not found');
    expect(failureReport(new ServiceError('Failed to start Workflow', { cause }))).toMatchObject({
      message: 'Failed to start Workflow: namespace not found',
    });
    expect(failureReport(new WorkflowFailedError('It failed', undefined, 'TIMEOUT'))).toMatchObject({
      message: 'It failed',
    });
    expect(failureReport(new UsageError('The file is no JSON', { cause }))).toMatchObject({
      message: 'The file is no JSON',
    });
  });

  test('also where what was thrown is no error', () => {
    expect(failureReport('nothing')).toEqual({ name: 'Error', message: 'nothing' });
  });
});

test('settings and usage end with 2, everything else with 1', () => {
  expect(exitCodeOf(new UsageError('wrong'))).toBe(2);
  expect(exitCodeOf(new client.KeyRingInvalid(['holds no key']))).toBe(2);
  expect(exitCodeOf(new client.OrderInvalid('wrong'))).toBe(1);
  expect(exitCodeOf(undefined)).toBe(1);
});
