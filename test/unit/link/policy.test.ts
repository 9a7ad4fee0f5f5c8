import { describe, expect, test } from 'vitest';
import { defaultLinkPolicy, type LinkPolicy } from '../../../protocol/link/policy.js';
import { PolicyInvalid } from '../../../protocol/policy-resolution.js';
import { day, hour, minute, second } from './links.js';
import { resolvePolicy } from '../../../protocol/policies.js';

/** Policies come in as JSON, which no type constrains. */
function faultsOf(policy: unknown): string[] {
  try {
    resolvePolicy('link', policy as LinkPolicy);
  } catch (error) {
    if (error instanceof PolicyInvalid) return error.faults;
    throw error;
  }
  return [];
}

test('an empty policy is the documented default, in milliseconds', () => {
  const defaults = {
    version: 2,
    tokenLife: 10 * minute,
    passwordWait: day,
    codeWait: hour,
    codeReminder: 5 * minute,
    totalWait: 3 * day,
    maxCodeAttempts: 3,
    maxPasswordAttempts: 5,
    clockTolerance: minute,
    confirmationWait: 2 * minute,
    notificationDeadline: hour,
  };
  for (const silent of [{}, defaultLinkPolicy]) expect(resolvePolicy('link', silent)).toEqual(defaults);
});

test('given settings count, up to their bounds', () => {
  const given: LinkPolicy = {
    tokenLife: '10s',
    passwordWait: '999.5ms',
    codeWait: '1 sec',
    codeReminder: '36 hours',
    totalWait: '10y',
    maxCodeAttempts: 1,
    maxPasswordAttempts: 20,
    clockTolerance: '1d',
    confirmationWait: '1s',
    notificationDeadline: '2d',
  };
  expect(resolvePolicy('link', given)).toEqual({
    version: 2,
    tokenLife: 10 * second,
    passwordWait: second,
    codeWait: second,
    codeReminder: 36 * hour,
    totalWait: 3652.5 * day,
    maxCodeAttempts: 1,
    maxPasswordAttempts: 20,
    clockTolerance: day,
    confirmationWait: second,
    notificationDeadline: 2 * day,
  });
});

describe('an invalid setting is named with its rule', () => {
  test.each(['9s', '9999ms', 600_000, '600000', 1, 0, 'soon', '25h'])('an invalid life of a token: %j', (tokenLife) => {
    expect(faultsOf({ tokenLife })).toEqual([
      "tokenLife must be a duration with its unit, such as '7d' or '36 hours', at least 10 seconds and at most 1 day",
    ]);
  });

  test.each([0, -1, 1.5, 21, NaN, '3', true])('an invalid limit: %j', (value) => {
    for (const name of ['maxCodeAttempts', 'maxPasswordAttempts']) {
      expect(faultsOf({ [name]: value })).toEqual([`${name} must be a whole number from 1 to 20`]);
    }
  });
});
