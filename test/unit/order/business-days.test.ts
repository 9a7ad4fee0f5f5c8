import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countOf, timeAfter } from '../../../protocol/business-days.js';
import type { OrderPolicy } from '../../../protocol/order/policy.js';
import { deadlinesOf } from '../../../workflows/order/deadlines.js';
import { caseOf, daysAfterStart, kitOf, pathTo, start } from './histories.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

const day = 24 * 3_600_000;
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
