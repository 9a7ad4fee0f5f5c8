import { describe, expect, test } from 'vitest';
import {
  defaultPolicy,
  orderSettings,
  checkedPolicyChanges,
  resolveOrderPolicy,
  type OrderPolicy,
} from '../../../protocol/order/policy.js';
import { PolicyInvalid, PolicyTooNew, resolveSettings } from '../../../protocol/policy-resolution.js';
import { defaultsOf, duration } from '../../../protocol/policy-settings.js';
import { day } from './histories.js';

/** Policies come in as JSON, which no type constrains. */
function faultsOf(policy: object): string[] {
  try {
    resolveOrderPolicy(policy);
  } catch (error) {
    if (error instanceof PolicyInvalid) return error.faults;
    throw error;
  }
  return [];
}

test('an empty policy is the documented default, in milliseconds', () => {
  const defaults = {
    version: 2,
    registrationDeadline: 90 * day,
    registrationReminders: [3 * day, 10 * day, 30 * day],
    assumedDelivery: 7 * day,
    shippingDeadline: 5 * day,
    deliveryDeadline: 10 * day,
    returnReminders: [2 * day, 7 * day],
    returnDeadline: 14 * day,
    transitToLabDeadline: 10 * day,
    resultsDeadline: 14 * day,
    resultsLimit: 60 * day,
    problemLimit: 7 * day,
    onProblem: 'ask',
    onLost: 'ask',
    onSampleError: 'ask',
    replacementLimit: 1,
    redrawWait: day,
    decisionWait: 30 * day,
    recheckEvery: day,
    giveUpAfter: 60 * day,
    criticalResultReminder: 3_600_000,
    holidays: [],
    utcOffset: -5,
    notificationDeadline: 3 * day,
    creationTimeout: 30_000,
    creationSettling: 45_000,
  };
  expect(resolveOrderPolicy()).toEqual(defaults);
  expect(resolveOrderPolicy({})).toEqual(defaults);
  expect(resolveOrderPolicy(defaultPolicy)).toEqual(defaults);
  // It follows from another one.
  expect(Object.keys(defaultsOf(orderSettings))).not.toContain('creationSettling');
});

test('given settings count: durations with their unit, remedies, lists even if empty, the limit even if 0', () => {
  const given = resolveOrderPolicy({
    shippingDeadline: '36 hours',
    deliveryDeadline: '1.5h',
    returnDeadline: '1s',
    resultsDeadline: '999.5ms',
    problemLimit: '10y',
    registrationReminders: [],
    returnReminders: ['1s', '2 Min'],
    onProblem: 'replace',
    onLost: 'fail',
    replacementLimit: 0,
  });
  expect(given).toEqual({
    ...resolveOrderPolicy(),
    shippingDeadline: 1.5 * day,
    deliveryDeadline: 5_400_000,
    returnDeadline: 1000,
    resultsDeadline: 1000,
    problemLimit: 3652.5 * day,
    registrationReminders: [],
    returnReminders: [1000, 120_000],
    onProblem: 'replace',
    onLost: 'fail',
    replacementLimit: 0,
  });
});

test.each([
  ['1s', 1000],
  ['1000ms', 1000],
  ['999.5ms', 1000],
  ['45 seconds', 45_000],
  ['5m', 300_000],
])('a creation may take from 1 second to 5 minutes: %j', (creationTimeout, milliseconds) => {
  expect(resolveOrderPolicy({ creationTimeout } as OrderPolicy).creationTimeout).toBe(milliseconds);
});

test.each([
  [{ creationTimeout: '4s' }, 6_000],
  [{ creationTimeout: '4s', creationSettling: '4s' }, 4_000],
  [{ creationSettling: '3m' }, 180_000],
  [{ creationTimeout: '5m', creationSettling: '10m' }, 600_000],
])('a creation in doubt is searched for after a time of its own: %j', (policy, milliseconds) => {
  expect(resolveOrderPolicy(policy as OrderPolicy).creationSettling).toBe(milliseconds);
});

describe('an invalid setting is named with its rule', () => {
  test.each(['29s', '11m', 'soon', 0])(
    'too little time to settle for a creation of 30 seconds: %j',
    (creationSettling) => {
      expect(faultsOf({ creationSettling })).toEqual([
        "creationSettling must be a duration with its unit, such as '7d' or '36 hours', at least 30 seconds and at most 10 minutes",
      ]);
    },
  );

  test.each(['11m', 'soon'])('its own fault, %j, beside that of the time that the creation may take', (given) => {
    const named = faultsOf({ creationTimeout: 'soon', creationSettling: given }).map((fault) => fault.split(' ')[0]);
    expect(named).toEqual(['creationTimeout', 'creationSettling']);
    expect(faultsOf({ creationTimeout: 'soon' })).toHaveLength(1);
  });

  const badDurations = [
    '',
    ' ',
    'soon',
    '7 fortnights',
    '-1d',
    '0',
    0,
    -1,
    NaN,
    Infinity,
    '11y',
    4e11,
    true,
    {},
    [1],
    '1'.repeat(200),
  ];
  test.each(badDurations)('an invalid duration: %j', (value) => {
    const rule = "must be a duration with its unit, such as '7d' or '36 hours', at least 1 second and at most 10 years";
    expect(faultsOf({ shippingDeadline: value })).toEqual([
      `shippingDeadline ${rule}, or 1 to 999 business days such as '6bd'`,
    ]);
    expect(faultsOf({ returnReminders: ['1d', value] })).toEqual([`returnReminders entry 2 ${rule}`]);
  });

  test.each([0.4, 999, '0.9s', '6m', 300_001, '1d', 0, -1, NaN, 'soon', '', [30_000]])(
    'an invalid time for a creation: %j',
    (creationTimeout) => {
      expect(faultsOf({ creationTimeout })).toEqual([
        "creationTimeout must be a duration with its unit, such as '7d' or '36 hours', at least 1 second and at most 5 minutes",
      ]);
    },
  );

  test.each(['7d', 7, {}, Array.from({ length: 21 }, () => '1d')])('an invalid list of durations: %j', (value) => {
    expect(faultsOf({ registrationReminders: value })).toEqual([
      'registrationReminders must be a list of at most 20 durations',
    ]);
  });

  test.each(['', 'wait', 'ASK', 1, true, {}, ['ask']])('an invalid remedy: %j', (value) => {
    for (const name of ['onProblem', 'onLost', 'onSampleError']) {
      expect(faultsOf({ [name]: value })).toEqual([`${name} must be ask, replace or fail`]);
    }
  });

  test.each([-1, 1.5, 101, NaN, Infinity, '1', true, [1]])('an invalid limit: %j', (value) => {
    expect(faultsOf({ replacementLimit: value })).toEqual(['replacementLimit must be a whole number from 0 to 100']);
  });
});

describe('the limits of a setting', () => {
  const many = (length: number, value: string) => Array.from({ length }, () => value);

  test.each([
    [{ holidays: many(200, '2026-12-25') }, { holidays: many(201, '2026-12-25') }],
    [{ returnReminders: many(20, '7d') }, { returnReminders: many(21, '7d') }],
    [{ shippingDeadline: '1'.padEnd(99).concat('d') }, { shippingDeadline: '1'.padEnd(100).concat('d') }],
    [{ shippingDeadline: '999bd' }, { shippingDeadline: '1000bd' }],
  ])('the greatest is taken, and nothing beyond it', (greatest, tooMuch) => {
    expect(faultsOf(greatest)).toEqual([]);
    expect(faultsOf(tooMuch)).toHaveLength(1);
  });

  test.each([
    ...['x2026-12-25', '2026-12-25x', '2026-12-25T00:00:00Z', '2026-02-30', '2026-13-01', '2026', 'soon'],
    ...[20_261_225, null, ['2026-12-25']],
  ])('a holiday is a date that exists, and no other text: %j', (date) => {
    expect(faultsOf({ holidays: [date] as never })).toHaveLength(1);
  });

  test.each([
    ['6bd', '6bd'],
    ['6 BD', '6bd'],
    ['1 business day', '1bd'],
    [' 6 business days ', '6bd'],
  ])('business days in any spelling: %j', (written, read) => {
    expect(resolveOrderPolicy({ shippingDeadline: written as never }).shippingDeadline).toBe(read);
  });

  test.each(['x6bd', '6bdx', '6 business dayss', '0bd', '-1bd'])('no business days: %j', (written) => {
    expect(faultsOf({ shippingDeadline: written as never })).toHaveLength(1);
  });
});

test('a duration has the bounds that its table gives, or from a second to ten years', () => {
  const settings = { given: duration('1d', { least: '1h', most: '2d' }), open: duration('1d') };
  const resolved = (values: object) => resolveSettings({ of: 'invented', version: 1, settings }, values);
  expect(resolved({ given: '1h', open: '1s' })).toEqual({ given: 3_600_000, open: 1_000, version: 1 });
  expect(resolved({ given: '2d', open: '10y' })).toEqual({ given: 2 * day, open: 3652.5 * day, version: 1 });
  for (const values of [{ given: '59m' }, { given: '49h' }, { open: '999ms' }, { open: '11y' }])
    expect(() => resolved(values)).toThrow(PolicyInvalid);
});

test('all faults are listed at once, in one message', () => {
  const policy = {
    shippingDeadline: 'soon',
    replacementLimit: -1,
    onLost: 'panic',
    returnReminders: 'daily',
    unknown: 1,
  };
  const faults = faultsOf(policy);
  expect(faults.map((fault) => fault.split(' ')[0])).toEqual([
    'shippingDeadline',
    'returnReminders',
    'onLost',
    'replacementLimit',
    'unknown',
  ]);
  expect(() => resolveOrderPolicy(policy as unknown as OrderPolicy)).toThrow(
    `Invalid order policy: ${faults.join('; ')}`,
  );
});

test.each([[[]], ['none'], [7], [true]])(
  'a policy that is not an object is refused, not taken for none: %j',
  (given) => {
    expect(faultsOf(given as never)).toContain('must be an object');
    expect(faultsOf('none' as never)).toEqual(['must be an object']);
  },
);

test.each(['1', 0, -1, 1.5, {}])('a version that no release wrote is refused: %j', (version) => {
  expect(faultsOf({ ...resolveOrderPolicy(), version })).toEqual(['version is not a setting: leave it out']);
});

describe('a policy as the base of another', () => {
  const settings = { first: duration('1d'), second: duration('2d') };
  const known = { of: 'invented', version: 2, settings };

  test('is refused if a later release wrote it: its settings would be lost', () => {
    const later = { ...resolveOrderPolicy(), version: 3, holidayAllowance: 1 };
    expect(() => resolveOrderPolicy({ onLost: 'fail' }, later)).toThrow(PolicyTooNew);
  });

  test('keeps its form if an earlier release wrote it, whose workflow goes on', () => {
    expect(resolveSettings(known, { first: '7s' }, { first: 5_000, version: 1 })).toEqual({ first: 7_000, version: 1 });
    expect(() => resolveSettings(known, { second: '7s' }, { first: 5_000, version: 1 })).toThrow('second is not');
  });
});

describe('settings that change in a policy that is not known here', () => {
  test('are those that are given, as they are given, business days in one spelling', () => {
    const given = { shippingDeadline: '8d', onLost: undefined, returnReminders: null, deliveryDeadline: '6 bd' };
    expect(checkedPolicyChanges(given as never)).toEqual({ shippingDeadline: '8d', deliveryDeadline: '6bd' });
  });

  test('are checked against each other only if both are given', () => {
    expect(checkedPolicyChanges({ creationSettling: '2s' })).toEqual({ creationSettling: '2s' });
    expect(checkedPolicyChanges({ creationTimeout: '1m' })).toEqual({ creationTimeout: '1m' });
    const wrong = { creationTimeout: '1m', creationSettling: '30s' } as const;
    expect(() => checkedPolicyChanges(wrong)).toThrow('creationSettling must be');
  });

  test.each([
    [{}, 'must have at least one setting'],
    [null, 'must have at least one setting'],
    [{ onLost: null }, 'must have at least one setting'],
    [{ graceDays: 2 }, 'graceDays is not a policy setting'],
    [{ shippingDeadline: '8d', version: 1 }, 'version is not a policy setting'],
    [{ creationSettling: '11m' }, 'creationSettling must be'],
    [{ shippingDeadline: 691_200_000 }, 'shippingDeadline must be a duration with its unit'],
    ['8d', 'must be an object'],
  ])('are refused: %j', (given, why) => {
    expect(() => checkedPolicyChanges(given as never)).toThrow(why);
  });

  test('are refused for what is wrong, not also for having none that is right', () => {
    const faults = ['graceDays is not a policy setting'];
    expect(() => checkedPolicyChanges({ graceDays: 2 } as never)).toThrow(expect.objectContaining({ faults }));
  });
});
