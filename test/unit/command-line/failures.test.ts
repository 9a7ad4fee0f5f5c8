import { ServiceError, WorkflowFailedError } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { exitCodeOf, failureLine, failureReport, UsageError } from '../../../client/command-line/failures.js';
import { errors as client } from '../../../client/index.js';

test('an error of another library has no remedy, whatever it is called', () => {
  for (const name of ['Error', 'constructor', '__proto__', 'OrderNotFound']) {
    const report = failureReport(Object.assign(new Error('it failed'), { name }));
    expect(report).toEqual({ name, message: 'it failed' });
  }
});

describe('a failure is printed', () => {
  const fields = [{ field: 'dob', message: 'is not a date' }];

  test('a failure is printed with its fields, unless its message names them already', () => {
    const separate = new client.RegistrationRefused('It was refused.', { status: 422, fields });
    expect(failureReport(separate)).toMatchObject({ name: 'RegistrationRefused', status: 422, fields });
    expect(failureLine(separate)).toBe(
      'RegistrationRefused: It was refused.; dob is not a date. Fix the fields named in the error and register again.',
    );
    const inMessage = new client.OrderInvalid('The order is not valid: dob is not a date', { fields });
    expect(failureLine(inMessage)).toBe(
      'OrderInvalid: The order is not valid: dob is not a date. Fix the fields named in the error.',
    );
  });

  test('a failure is printed in one line that is safe for a terminal, whatever its message holds', () => {
    const refused = new client.LinkRefused('no\nsuch\u001B[2J user\n');
    expect(failureLine(refused)).toBe('LinkRefused: no such·[2J user. Check the user and the provider.');
  });

  test('a failure is printed with its advice once, where its message has it already', () => {
    const missing = new client.EncryptionKeysMissing();
    expect(failureLine(missing)).toBe(`EncryptionKeysMissing: ${missing.message}.`);
    expect(failureReport(missing).remedy).toContain('LABOPS_ENCRYPTION_KEYS');
  });

  test("a failure is printed with the cause of Temporal's own errors, and not of ours", () => {
    const cause = new Error('namespace not found');
    const said = (error: Error) => failureReport(error).message;
    expect(said(new ServiceError('Failed to start', { cause }))).toBe('Failed to start: namespace not found');
    expect(said(new WorkflowFailedError('It failed', undefined, 'TIMEOUT'))).toBe('It failed');
    expect(said(new UsageError('The file is not JSON', { cause }))).toBe('The file is not JSON');
  });

  test('a failure is printed even if the thrown value is not an error', () => {
    expect(failureReport('nothing')).toEqual({ name: 'Error', message: 'nothing' });
  });
});

test('errors of settings, usage and invalid input exit with 2, everything else with 1', () => {
  expect(exitCodeOf(new UsageError('wrong'))).toBe(2);
  expect(exitCodeOf(new client.KeyRingInvalid(['holds no key']))).toBe(2);
  expect(exitCodeOf(new client.OrderInvalid('wrong'))).toBe(2);
  expect(exitCodeOf(new client.RegistrationRefused('wrong'))).toBe(2);
  expect(exitCodeOf(new client.RegistrationRefused('wrong', { status: 422 }))).toBe(1);
  expect(exitCodeOf(new client.OrderRefused('wrong'))).toBe(1);
  expect(exitCodeOf(undefined)).toBe(1);
});
