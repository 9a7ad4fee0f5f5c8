import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countOf, timeAfter } from '../../../protocol/business-days.js';
import { checkedPolicyChanges, type OrderPolicy } from '../../../protocol/order/policy.js';
import { PolicyInvalid, PolicyTooNew, resolveSettings } from '../../../protocol/policy/resolution.js';
import { duration } from '../../../protocol/policy/settings.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';
import { deadlinesOf } from '../../../workflows/order/deadlines.js';
import { caseOf, day, daysAfterStart, kitOf, pathTo, start } from './histories.js';

/** Policies come in as JSON, which no type constrains. */
function faultsOf(policy: object): string[] {
  try {
    resolvePolicy('order', policy);
  } catch (error) {
    if (error instanceof PolicyInvalid) return error.faults;
    throw error;
  }
  return [];
}

test.each([
  ['shippingDeadline', '36 hours', 1.5 * day],
  ['resultsDeadline', '999.5ms', 1000],
  ['registrationReminders', [], []],
  ['returnReminders', ['1s', '2 Min'], [1000, 120_000]],
  ['onLost', 'fail', 'fail'],
  ['replacementLimit', 0, 0],
])('a setting that is given counts, and no other changes: %s %j', (name, given, resolved) => {
  expect(resolvePolicy('order', { [name]: given })).toEqual({ ...resolvePolicy('order'), [name]: resolved });
});

test.each([
  [{ creationTimeout: '40s' }, 60_000],
  [{ creationTimeout: '4s' }, 35_000],
  [{ creationTimeout: '4s', creationSettling: '4s' }, 4_000],
  [{ creationSettling: '3m' }, 180_000],
  [{ creationTimeout: '5m', creationSettling: '10m' }, 600_000],
])('a creation in doubt is searched for after a time of its own: %j', (policy, milliseconds) => {
  expect(resolvePolicy('order', policy as OrderPolicy).creationSettling).toBe(milliseconds);
});

/* What each kind of setting takes is in test/unit/policies/policies.test.ts, for the policies of all workflows. */

const span = "must be a duration with its unit, such as '7d' or '36 hours', at least";
const businessDays = "or 1 to 999 business days such as '6bd'";

test.each<[object, string]>([
  [{ shippingDeadline: 'soon' }, `shippingDeadline ${span} 1 second and at most 10 years, ${businessDays}`],
  [{ returnReminders: ['1d', 'soon'] }, `returnReminders entry 2 ${span} 1 second and at most 10 years`],
  [{ registrationReminders: '7d' }, 'registrationReminders must be a list of at most 20 durations'],
  [{ creationTimeout: '6m' }, `creationTimeout ${span} 1 second and at most 5 minutes`],
  [{ creationSettling: '29s' }, `creationSettling ${span} 30 seconds and at most 10 minutes`],
  [{ shippingDeadline: '1000bd' }, 'shippingDeadline must be 1 to 999 business days'],
  [{ holidays: Array(201).fill('2026-12-25') }, "holidays must be a list of at most 200 dates such as '2026-12-25'"],
  [{ replacementLimit: 101 }, 'replacementLimit must be a whole number from 0 to 100'],
  [{ onLost: 'wait' }, 'onLost must be ask, replace or fail'],
  [{ holidays: ['2026-12-25', '2026-02-30'] }, 'holidays entry 2 must be a date that exists, written YYYY-MM-DD'],
  [{ utcOffset: 15 }, 'utcOffset must be a whole number from -12 to 14'],
  [{ giveUpAfter: '6bd' }, `giveUpAfter ${span} 1 second and at most 10 years`],
])('an invalid setting is named with its rule: %j', (policy, fault) => {
  expect(faultsOf(policy)).toEqual([fault]);
});

test.each(['11m', 'soon'])('its own fault, %j, is named beside that of the time for the creation', (given) => {
  const named = faultsOf({ creationTimeout: 'soon', creationSettling: given }).map((fault) => fault.split(' ')[0]);
  expect(named).toEqual(['creationTimeout', 'creationSettling']);
  expect(faultsOf({ creationTimeout: 'soon' })).toHaveLength(1);
});

test('all faults are listed at once, in one message, in the order of the settings', () => {
  const policy = { unknown: 1, onLost: 'panic', shippingDeadline: '1000bd' };
  const faults = [
    'shippingDeadline must be 1 to 999 business days',
    'onLost must be ask, replace or fail',
    'unknown is not a policy setting',
  ];
  expect(faultsOf(policy)).toEqual(faults);
  expect(() => resolvePolicy('order', policy as never)).toThrow(`Invalid order policy: ${faults.join('; ')}`);
});

test.each([[[]], ['none'], [7], [true]])('what is not an object is refused, not taken for no policy: %j', (given) => {
  expect(faultsOf(given as never)).toContain('must be an object');
});

test.each(['1', 0, -1, 1.5, {}])('a version that no release wrote is refused: %j', (version) => {
  expect(faultsOf({ ...resolvePolicy('order'), version })).toEqual(['version is not a setting: leave it out']);
});

test('a policy of a later release is refused as the base of another: its settings would be lost', () => {
  const later = { ...resolvePolicy('order'), version: 3, holidayAllowance: 1 };
  expect(() => resolvePolicy('order', { onLost: 'fail' }, later)).toThrow(PolicyTooNew);
});

test('a policy that an earlier release wrote keeps its form as the base of another, whose workflow goes on', () => {
  const settings = { first: duration('1d'), second: duration('2d') };
  const resolved = (given: object) =>
    resolveSettings({ of: 'invented', version: 2, settings }, given, { first: 5_000, version: 1 });
  expect(resolved({ first: '7s' })).toEqual({ first: 7_000, version: 1 });
  expect(() => resolved({ second: '7s' })).toThrow('second is not');
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

const calendar = { holidays: ['2026-12-25', '2027-01-01'], utcOffset: 0 };

describe('a span of business days', () => {
  test('is counted by the days of its zone: Saturday in UTC is still Friday evening in New York', () => {
    const after = (from: string, utcOffset: number) =>
      new Date(timeAfter(Date.parse(from), '1bd', { ...calendar, utcOffset })).toISOString();
    expect(after('2026-12-12T02:00:00Z', 0)).toBe('2026-12-15T00:00:00.000Z');
    expect(after('2026-12-12T02:00:00Z', -5)).toBe('2026-12-15T02:00:00.000Z');
    expect(after('2026-12-13T16:00:00Z', 9)).toBe('2026-12-14T16:00:00.000Z');
  });

  test('ends on a business day, later for more days, and after exactly that much time outside weekends and holidays', () => {
    const moments = fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2027-12-31') });
    fc.assert(
      fc.property(moments, fc.integer({ min: 1, max: 60 }), (from, days) => {
        const until = timeAfter(from, `${days}bd`, calendar);
        const isOff = (at: number) =>
          [0, 6].includes(new Date(at).getUTCDay()) ||
          calendar.holidays.includes(new Date(at).toISOString().slice(0, 10));
        let worked = 0;
        for (let at = from; at < until;) {
          const next = Math.min(until, (Math.floor(at / day) + 1) * day);
          if (!isOff(at)) worked += next - at;
          at = next;
        }
        expect(worked).toBe(days * day);
        expect(isOff(until - 1)).toBe(false);
        expect(timeAfter(from, `${days + 1}bd`, calendar)).toBeGreaterThan(until);
      }),
    );
  });

  test.each(['x6bd', '6bdx', '6bd\n', '06bd', '0bd', '1000bd', '-1bd', '1.5bd', 'bd', '6 bd', '6BD', ['6bd'], 6, null])(
    'is a number of them from 1 to 999 in one spelling: not %j',
    (value) => {
      expect(countOf(value)).toBeUndefined();
      for (const count of [1, 10, 999]) expect(countOf(`${count}bd`)).toBe(count);
    },
  );

  test('ends, whatever it begins with', () => {
    expect(timeAfter(Number.NaN, '6bd', calendar)).toBeNaN();
    expect(timeAfter(0, 5, calendar)).toBe(5);
  });
});

describe('a policy with business days', () => {
  test.each(['6bd', '6 bd', '6BD', ' 6 business days ', '006bd'])('takes %j', (given) => {
    expect(resolvePolicy('order', { shippingDeadline: given as '6bd' }).shippingDeadline).toBe('6bd');
  });

  test('moves the deadlines that it names, and no reminder', () => {
    const daysOf = (policy: OrderPolicy) =>
      deadlinesOf(
        caseOf([kitOf('order-1', pathTo('transit_customer'))], { policy: resolvePolicy('order', policy) }),
      ).map(({ name, at }) => `${name} ${(at - start) / day}`);
    // It ships on Sunday, 3 March 2024, 10:00 UTC: Monday begins in New York 19 hours later.
    expect(daysAfterStart(2)).toBe('2024-03-03T10:00:00.000Z');
    const weekend = daysOf({ deliveryDeadline: '6bd' });
    expect(weekend).toContain(`delivery_overdue ${2 + 19 / 24 + 8}`);
    const withHoliday = daysOf({ deliveryDeadline: '6bd', holidays: ['2024-03-05'] });
    expect(withHoliday).toContain(`delivery_overdue ${2 + 19 / 24 + 9}`);
    expect(weekend.filter((what) => what.includes('reminder'))).toEqual(
      daysOf({}).filter((what) => what.includes('reminder')),
    );
  });
});
