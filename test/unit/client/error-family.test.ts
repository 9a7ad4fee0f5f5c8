import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { errors } from '../../../client/index.js';
import { StoreFailed } from '../../../store/health-data-reader.js';

const classes = Object.entries({ ...errors, StoreFailed }) as [string, typeof errors.LabOperationsError][];

describe('every error of the client', () => {
  /** For `instanceof` only. */
  const bases = new Set(['LabOperationsError', 'ServiceError']);

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
});
