import { describe, expect, test } from 'vitest';
import { ServiceError, WorkflowFailedError } from '@temporalio/client';
import { facts, moment, sections, table, waiting } from '../../../client/command-line/output.js';
import { exitCodeOf, failureLine, failureReport, UsageError } from '../../../client/command-line/failures.js';
import { errors as client } from '../../../client/index.js';

describe('a table', () => {
  test('has columns as wide as their widest cell, and no spaces at the end of a line', () => {
    const [first, second] = [['order-1', 'mine', true] as const, ['order-22', undefined, false] as const];
    expect(table(['Order', 'Reference', 'Ended'], [first, second])).toBe(
      ['Order     Reference  Ended', 'order-1   mine       yes', 'order-22             no'].join('\n'),
    );
  });

  test('that is wider than the terminal becomes a list of facts for each row', () => {
    const rows = ['o-1 mine', 'o-2 yours'].map((row) => row.split(' '));
    const shown = (width: number) => table(['Order', 'Reference'], rows, width);
    expect(shown(16)).toBe('Order  Reference\no-1    mine\no-2    yours');
    expect(shown(15)).toBe('Order      o-1\nReference  mine\n\nOrder      o-2\nReference  yours');
  });

  test('shows no character that controls a terminal', () => {
    expect(table(['Status'], [['lost\u001B[2J\nall\r\u009B']])).toBe('Status\nlost·[2J·all··');
  });
});

test('facts leave out unknown values, and keep zero and no', () => {
  const given = Object.entries({ Order: 'order-1', Sample: undefined, Outcome: '', Listed: 0, Registered: false });
  expect(facts(given)).toBe(['Order       order-1', 'Listed      0', 'Registered  no'].join('\n'));
  expect(facts([])).toBe('');
});

test('sections are separated by one empty line, without empty ones', () => {
  expect(sections('one', undefined, '', 'two')).toBe('one\n\ntwo');
});

test('times are in UTC, to the second; one without a zone is not touched', () => {
  expect(moment('2026-11-02T10:00:00.123+01:00')).toBe('2026-11-02T09:00:00Z');
  expect(moment(new Date('2026-11-02T09:00:00.123Z'))).toBe('2026-11-02T09:00:00Z');
  expect(moment('2026-11-02T09:00:00')).toBe('2026-11-02T09:00:00');
  expect(moment(undefined)).toBeUndefined();
  expect(waiting({ for: 'the results', until: '2026-11-02T09:00:00Z' })).toBe('the results until 2026-11-02T09:00:00Z');
  expect(waiting({ for: 'nothing' })).toBe('nothing');
});

test('an error of another library has no remedy, whatever it is called', () => {
  for (const name of ['Error', 'constructor', '__proto__', 'OrderNotFound']) {
    const report = failureReport(Object.assign(new Error('it failed'), { name }));
    expect(report).toEqual({ name, message: 'it failed' });
  }
});

describe('a failure is printed', () => {
  const fields = [{ field: 'dob', message: 'is not a date' }];

  test('a failure is printed with its fields, also with those that no log has', () => {
    const separate = new client.RegistrationRefused('It was refused', { status: 422, fields });
    expect(failureReport(separate)).toMatchObject({ name: 'RegistrationRefused', status: 422, fields });
    expect(failureLine(separate)).toMatch(/^RegistrationRefused: It was refused; dob is not a date\. Fix the fields /);
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
  const ours = [new UsageError('wrong'), new client.KeyRingInvalid(['holds no key']), new client.OrderInvalid('wrong')];
  expect([...ours, new client.RegistrationRefused('wrong')].map(exitCodeOf)).toEqual([2, 2, 2, 2]);
  const refused = [new client.RegistrationRefused('wrong', { status: 422 }), new client.OrderRefused('wrong')];
  expect([...refused, undefined].map(exitCodeOf)).toEqual([1, 1, 1]);
});
