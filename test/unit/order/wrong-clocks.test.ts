import { describe, expect, test } from 'vitest';
import { day, daysAfterStart, kitOf, start } from './histories.js';
import { acknowledgement, life, orderId, type OrderLife, shipped, shownAt } from './lives.js';

/* The lives of orders whose service has a clock that is wrong. */

const hour = 3_600_000;
const inHours = (hours: number) => new Date(start + hours * hour).toISOString();
const isSaid = ({ run }: OrderLife) =>
  run.logged.filter((line) => line === 'warn: the service reports times in the future: they count as received now');

const dated = (at: string, statuses: readonly string[], more: object = {}) => {
  const events = kitOf(orderId, statuses).events.map((event) => ({ ...event, at }));
  return shownAt(statuses, { events, createdAt: at, updatedAt: at, ...more });
};

describe.each([inHours(1), daysAfterStart(30), '2062-12-06T10:00:00.000Z', '9999-12-31T23:59:59.999Z'])(
  'a service that writes %s',
  (at) => {
    test('does not put off the deadlines of an order, and that is said once', async () => {
      const snapshot = dated(at, shipped);
      const order = await life(shipped, {}, { readOrder: snapshot }, { snapshot });
      const { waiting, timeline } = await order.state();
      expect(waiting.until).toBe(daysAfterStart(10));
      expect(timeline.map((event) => event.at)).toEqual(shipped.map(() => daysAfterStart(0)));
      await order.until(0.5);
      const summaries = order.run.summaries.length;
      await order.signal('orderChanged', snapshot);
      expect(order.run.summaries).toHaveLength(summaries);
      expect((await order.state()).timeline).toEqual(timeline);
      expect(isSaid(order)).toHaveLength(1);
      expect(order.run.shown.details.match(/a time in the future/g)).toHaveLength(1);
      // Then the order is read, and what it says may be true by now.
      const isBelievedLater = Date.parse(at) <= start + 10 * day;
      await order.until(24 * 10 + 0.5);
      expect(order.happened().includes('attention_raised delivery_overdue')).toBe(!isBelievedLater);
      await order.until(24 * 11);
      expect(order.happened()).toContain('attention_raised delivery_overdue');
    });

    test('does not hide what it reports later', async () => {
      const order = await life(['ordered']);
      await order.signal('orderChanged', dated(at, ['ordered'], { interpretation: 'normal' }));
      await order.until(2);
      await order.signal('orderChanged', dated(inHours(2), ['ordered'], { interpretation: 'abnormal' }));
      expect(await order.state()).toMatchObject({ interpretation: 'abnormal' });
    });

    test('does not hide a critical result after the acknowledgement of one', async () => {
      for (const second of [{ updatedAt: inHours(-24) }, { updatedAt: inHours(0) }, { updatedAt: at }, {}]) {
        const order = await life(['ordered']);
        await order.signal('criticalResultReported', { orderId, status: 'final', updatedAt: at });
        await order.update('acknowledgeCriticalResult', acknowledgement);
        expect(await order.reasons()).toEqual([]);
        await order.signal('criticalResultReported', { orderId, status: 'final', ...second });
        expect(await order.reasons()).toEqual(['critical_result']);
        expect(isSaid(order)).toHaveLength(1);
      }
    });
  },
);

test('a time that is ahead by no more than clocks differ is believed', async () => {
  const at = inHours(4 / 60);
  const order = await life(['ordered']);
  await order.signal('orderChanged', dated(at, shipped));
  expect((await order.state()).timeline.at(-1)).toMatchObject({ at });
  expect(isSaid(order)).toEqual([]);
});
