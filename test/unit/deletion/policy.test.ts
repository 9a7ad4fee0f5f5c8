import ms from 'ms';
import { describe, expect, test } from 'vitest';
import {
  defaultDeletionPolicy,
  resolveDeletionPolicy,
  type DeletionPolicy,
} from '../../../protocol/deletion/policy.js';
import { PolicyInvalid } from '../../../protocol/policy-settings.js';

function faultsOf(policy: object, graceDays?: unknown): string[] {
  try {
    resolveDeletionPolicy(policy, graceDays as number);
  } catch (error) {
    if (error instanceof PolicyInvalid) return error.faults;
    throw error;
  }
  return [];
}

test('settings that are left out have their defaults, in milliseconds', () => {
  expect(resolveDeletionPolicy()).toEqual({
    onRunningWork: 'refuse',
    reminderBefore: ms('1d'),
    notificationDeadline: ms('3d'),
    grace: ms('7d'),
  });
  expect(resolveDeletionPolicy({ ...defaultDeletionPolicy })).toEqual(resolveDeletionPolicy());
});

describe('the grace', () => {
  test.each([
    [7, '7d'],
    [1, '1d'],
    [0.5, '12h'],
  ] as const)('the grace of %s days lasts that long', (days, span) => {
    expect(resolveDeletionPolicy({}, days).grace).toBe(ms(span));
  });

  test.each([0, -1, 7.01, 30, Number.NaN, Number.POSITIVE_INFINITY, '7', null])(
    'the grace of %j is refused: the service gives 7 days',
    (days) => {
      expect(faultsOf({}, days)).toEqual([expect.stringMatching(/^graceDays must be a number of days .* at most 7/)]);
    },
  );
});

test('a setting that is given as undefined is left out', () => {
  const gaps = { onRunningWork: undefined, reminderBefore: null } as unknown as DeletionPolicy;
  expect(resolveDeletionPolicy(gaps)).toEqual(resolveDeletionPolicy());
});

test('every fault is named, all at once', () => {
  const faults = faultsOf({ onRunningWork: 'shrug', reminderBefore: 'soon', toString: 1, notificationDeadline: 0 }, 9);
  expect(faults.map((fault) => fault.split(' ')[0])).toEqual([
    'toString',
    'onRunningWork',
    'reminderBefore',
    'notificationDeadline',
    'graceDays',
  ]);
});
