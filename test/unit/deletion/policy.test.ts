import ms from 'ms';
import { describe, expect, test } from 'vitest';
import { defaultDeletionPolicy, resolveDeletionPolicy } from '../../../protocol/deletion/policy.js';
import { PolicyInvalid } from '../../../protocol/policy-resolution.js';

function faultsOf(policy: object): string[] {
  try {
    resolveDeletionPolicy(policy);
  } catch (error) {
    if (error instanceof PolicyInvalid) return error.faults;
    throw error;
  }
  return [];
}

test('settings that are left out have their defaults, in milliseconds', () => {
  expect(resolveDeletionPolicy()).toEqual({
    version: 1,
    onRunningWork: 'refuse',
    reminderBefore: ms('1d'),
    notificationDeadline: ms('3d'),
    grace: ms('7d'),
  });
  expect(resolveDeletionPolicy({ ...defaultDeletionPolicy })).toEqual(resolveDeletionPolicy());
});

describe('the grace', () => {
  test.each(['7d', '1d', '12h', '1s'] as const)('the grace of %s lasts that long', (grace) => {
    expect(resolveDeletionPolicy({ grace }).grace).toBe(ms(grace));
  });

  test.each([0, -1, '8d', '30d', Number.NaN, Number.POSITIVE_INFINITY, 'soon'])(
    'the grace of %j is refused: the service gives 7 days',
    (grace) => {
      expect(faultsOf({ grace })).toEqual([expect.stringMatching(/^grace must be a duration .* at most 7 days/)]);
    },
  );
});
