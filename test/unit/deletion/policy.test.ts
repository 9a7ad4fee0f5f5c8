import ms from 'ms';
import { describe, expect, test } from 'vitest';
import { defaultDeletionPolicy } from '../../../protocol/deletion/policy.js';
import { PolicyInvalid } from '../../../protocol/policy-resolution.js';
import { resolvePolicy } from '../../../protocol/policies.js';

function faultsOf(policy: object): string[] {
  try {
    resolvePolicy('deletion', policy);
  } catch (error) {
    if (error instanceof PolicyInvalid) return error.faults;
    throw error;
  }
  return [];
}

test('settings that are left out have their defaults, in milliseconds', () => {
  expect(resolvePolicy('deletion')).toEqual({
    version: 1,
    onRunningWork: 'refuse',
    reminderBefore: ms('1d'),
    notificationDeadline: ms('3d'),
    grace: ms('7d'),
  });
  expect(resolvePolicy('deletion', { ...defaultDeletionPolicy })).toEqual(resolvePolicy('deletion'));
});

describe('the grace', () => {
  test.each(['7d', '1d', '12h', '60 min'] as const)('the grace of %s lasts that long', (grace) => {
    expect(resolvePolicy('deletion', { grace }).grace).toBe(ms(grace));
  });

  test.each([0, -1, '8d', '30d', Number.NaN, Number.POSITIVE_INFINITY, 'soon'])(
    'the grace of %j is refused: the service gives 7 days',
    (grace) => {
      expect(faultsOf({ grace })).toEqual([expect.stringMatching(/^grace must be a duration .* at most 7 days/)]);
    },
  );

  test.each(['59m', '7s', '7 sec', '604800ms', '7', 7, 604_800_000])(
    'the grace of %j is refused: nobody could undo the deletion in time',
    (grace) => {
      expect(faultsOf({ grace })).toEqual([expect.stringMatching(/^grace must be a duration .* at least 1 hour/)]);
    },
  );

  test('a resolved policy may have a grace of seconds, for programs in which days are seconds', () => {
    const policy = { ...resolvePolicy('deletion'), grace: 7_000 };
    expect(resolvePolicy('deletion', policy)).toEqual(policy);
    expect(faultsOf({ ...policy, grace: 7 })).toEqual([expect.stringMatching(/^grace must be .* at least 1 second/)]);
  });
});
